"""The answer for every segment, by the same rules as for the whole log, on the rows of the segment."""

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from counterfold.base.arrays import Bools, Floats, Ints
from counterfold.base.cached import cached_property
from counterfold.base.threads import Pool
from counterfold.estimators.base import Estimator, LoggedValue
from counterfold.estimators.estimates import STILL, Estimate, Exposure, Moves
from counterfold.evaluation.question import Choice, Question
from counterfold.evidence.evidence import Evidence, count_alike
from counterfold.evidence.figure_tables import Answered
from counterfold.evidence.segments.answers import Kept, Noise, SegmentAnswer, SegmentedColumn, subtract
from counterfold.evidence.segments.pulls import find_pulls, match_units
from counterfold.evidence.segments.sums import AllSegmentSums, SegmentSums, SegmentUnits
from counterfold.log.segments.cuts import Cut
from counterfold.selectors.base import UnitAnswer

SEGMENT_SOURCE = "units of a column"
"""The source of the moves of all estimates on one segment; such moves are paired."""


class RowsOfSegment(NamedTuple):
    """The rows of one segment.

    - `is_there`: which rows of the evidence are in the segment.
    - `decisions`: how many decisions all of its rows stand for.
    - `rows`: how many rows it has.
    - `effective`: how many effective rows it has for the target.
    - `logged_effective`: how many effective rows it has for the log.
    """

    is_there: Bools
    decisions: float
    rows: int
    effective: float
    logged_effective: float


@dataclass(frozen=True, eq=False)
class SegmentAssembly:
    """Everything that the answers for the segments of one target are computed from.

    - `question`: what the user asked.
    - `choice`: the candidates that apply to this target, and the selector.
    - `evidence`: what the engine computed from the log for this target.
    - `answered`: the answer for all rows.
    - `winner`: the estimator that gave this answer.

    A segment of all rows has exactly the answer of the log: value, error, interval and difference.
    """

    question: Question
    choice: Choice
    evidence: Evidence
    answered: Answered
    winner: Estimator

    @cached_property
    def design_effect(self) -> float:
        """Return the design effect of grouping: how many rows of a group count as one independent row."""
        return count_alike(self.evidence)

    @cached_property
    def propensity_variance(self) -> float:
        """Return what fitting propensities adds to the variance in the whole log."""
        return self.evidence.find_propensity_variance(self.winner)

    def answer_all(self, pool: Pool) -> tuple[SegmentedColumn, ...]:
        """Return the answers for the segments of every column that is cut."""
        sums_of_columns = self.evidence.sum_segments(self.choice.segmented_estimators, pool)
        segments = self.evidence.rows.segments
        if sums_of_columns is None or segments is None:
            return ()
        cuts = self.evidence.contents.cuts
        columns = zip(cuts, sums_of_columns.columns, np.transpose(segments), strict=True)
        return tuple(self.answer_column(cut, sums, codes, sums_of_columns) for cut, sums, codes in columns)

    def answer_column(
        self, cut: Cut, sums: SegmentSums, codes: Ints, sums_of_columns: AllSegmentSums
    ) -> SegmentedColumn:
        """Return the answers for the segments of one column that have rows."""
        contents = self.evidence.contents
        rewards = contents.rewards
        sums = match_units(sums, sums_of_columns)
        pull_estimators = [estimator for estimator in self.choice.segmented_estimators if estimator.is_pull]
        answers = []
        for code in np.flatnonzero(sums.facts.rows).tolist():
            is_there = codes == code
            pulls = find_pulls(self.evidence.rows, is_there, pull_estimators, sums_of_columns, sums.unit_sizes)
            units = sums.of_segment(code, pulls)
            answers.append(self.answer_segment(cut.labels[code], code, sums, units, is_there))
        return SegmentedColumn(
            name=cut.column,
            answers=tuple(answers),
            whole=self.answered.uplift,
            scale=math.sqrt(rewards.squares / rewards.weight),
            shares_units=contents.groups is not None,
            tests_weights=self.evidence.rows.kind == "labels" and contents.fitted is None,
            note=cut.note,
        )

    def answer_segment(
        self, name: str, code: int, column: SegmentSums, units: SegmentUnits, is_there: Bools
    ) -> SegmentAnswer:
        """Return the answer for one segment."""
        own_units = units.of_segment
        facts = column.facts
        decisions = float(own_units.sizes.sum())
        weight = float(own_units.weights.sum())
        unsupported = float(facts.unsupported[code])
        segment_rows = RowsOfSegment(
            is_there=is_there,
            decisions=decisions,
            rows=int(facts.rows[code]),
            effective=weight**2 / float(facts.squared_weight[code]) if weight else 0.0,
            logged_effective=decisions**2 / float(facts.squared_counts[code]),
        )
        kept = Kept(
            rows=segment_rows.rows,
            groups=len(own_units),
            effective=segment_rows.effective,
            unsupported=unsupported / decisions,
        )
        answer = self.choose(units, segment_rows)
        moves_of_log = self.find_moves_of_log(units)
        logged = self.estimate_log(units, segment_rows, moves_of_log)
        if isinstance(self.winner, LoggedValue):  # the target is the policy that logged
            estimate = logged
            noise = Noise(target=moves_of_log, gap=np.zeros_like(moves_of_log))
        else:
            is_supported = unsupported == 0
            estimate = self.estimate_target(units, segment_rows, answer, is_supported=is_supported)
            less_shrunk = answer.for_differences
            if less_shrunk is not None:
                for_differences = self.estimate_target(units, segment_rows, less_shrunk, is_supported=is_supported)
                estimate = replace(estimate, for_differences=for_differences)
            noise = Noise(target=answer.moves, gap=answer.in_differences.moves - moves_of_log)
        return SegmentAnswer(
            name=name,
            kept=kept,
            estimate=estimate,
            logged=logged,
            gap=subtract(estimate, logged),
            noise=noise,
            weight=Estimate("mean weight", own_units.weights / own_units.sizes, sizes=own_units.sizes),
            expected=1 - kept.unsupported,
        )

    def choose(self, units: SegmentUnits, segment_rows: RowsOfSegment) -> UnitAnswer:
        """Return the answer for the target in a segment: chosen there, or by the estimator of the whole log."""
        if len(units.of_segment) < 2:  # the noise of a single unit is unknown
            return UnitAnswer(estimator=self.winner, moves=np.zeros(len(units)), bias_variance=math.inf)
        selector = self.choice.selector
        if self.choice.answers_segments:
            return selector.answer_segment(units, segment_rows.decisions / self.evidence.decision_count)
        moves = selector.find_moves(units, self.winner)
        return UnitAnswer(estimator=self.winner, moves=moves, bias_variance=0.0)

    def find_moves_of_log(self, units: SegmentUnits) -> Floats:
        """Return how each unit moves what the log earned in a segment."""
        if len(units.of_segment) < 2:
            return np.zeros(len(units))
        _, moves = units.jackknife([LoggedValue()])
        return np.asarray(moves[0])

    def estimate_target(
        self, units: SegmentUnits, segment_rows: RowsOfSegment, answer: UnitAnswer, *, is_supported: bool
    ) -> Estimate:
        """Return the estimate of the target in a segment, with everything that its interval needs.

        If the selector does not choose in segments, the noise of fitting and choosing there is not known. It is then
        taken from the whole log, and is as many times larger as the segment is smaller.
        """
        name = self.answered.estimate.name
        estimate = self.evidence.estimate_segment(name, answer.estimator, units, segment_rows.is_there)
        # Intervals may use weights only if these are known to be 1 on average.
        is_of_labels = self.evidence.rows.kind == "labels"
        has_known_mean = is_of_labels and self.evidence.unsupported is not None and is_supported
        times_smaller = self.evidence.decision_count / segment_rows.decisions
        if self.choice.answers_segments:
            moves = Moves(source=SEGMENT_SOURCE, values=answer.moves)
            added_variance = self.propensity_variance * times_smaller
        else:
            moves = STILL
            added_variance = self.answered.estimate.hidden_variance * times_smaller
        estimate = replace(
            estimate,
            weights=estimate.weights if has_known_mean else None,
            moves=moves,
            bias_variance=answer.bias_variance,
            added_variance=added_variance,
        )
        weights = self.evidence.rows.weights[segment_rows.is_there]
        return self.complete(estimate, weights, segment_rows, segment_rows.effective)

    def estimate_log(self, units: SegmentUnits, segment_rows: RowsOfSegment, moves: Floats) -> Estimate:
        """Return the estimate of what the log earned in a segment.

        It has moves if those of the target are over the same units, so that the difference has a paired error.
        """
        logged = self.evidence.estimate_segment("log", LoggedValue(), units, segment_rows.is_there)
        paired = Moves(source=SEGMENT_SOURCE, values=moves) if self.choice.answers_segments else STILL
        logged = replace(logged, weights=None, moves=paired)
        weights = np.ones(int(segment_rows.is_there.sum()))
        return self.complete(logged, weights, segment_rows, segment_rows.logged_effective)

    def complete(self, estimate: Estimate, weights: Floats, segment_rows: RowsOfSegment, effective: float) -> Estimate:
        """Return an estimate with everything that its interval needs, within the possible rewards if known.

        `weights` are those of the segment's rows, and `effective` is its number of effective rows.
        """
        counts = self.evidence.rows.counts
        if counts is not None and len(weights):
            counts_there = counts[segment_rows.is_there]
            weights = weights * (counts_there / counts_there.mean())
        question = self.question
        # The evidence may hold a sample of the rows of a large log, with none of this segment.
        exposure = Exposure(weights, segment_rows.rows / self.design_effect) if len(weights) else None
        unseen = self.evidence.foresee(estimate.value, effective / self.design_effect, question.reward_range)
        shift = float(np.clip(estimate.value, *unseen.limits)) - estimate.value
        contributions = estimate.contributions + shift if shift else estimate.contributions
        return replace(
            estimate,
            contributions=contributions,
            exposure=exposure,
            unseen=unseen,
            level=question.level,
            method=question.interval,
        )
