"""The answer for every segment: that of the rules of the whole log, on the rows of the segment."""

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

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

UNITS = "units of a column"
"""The source of moves that all answers on one segment share."""


class RowsOfSegment(NamedTuple):
    """Which rows of the evidence are in a segment, and how many decisions and effective rows all of its rows are.

    The target and the log have effective rows of their own.
    """

    is_there: Bools
    decisions: float
    rows: int
    effective: float
    logged_effective: float


@dataclass(frozen=True, eq=False)
class SegmentAssembly:
    """What is asked of every segment, and what is known to answer it.

    `answered` is the answer for all rows, and `winner` the estimator that gave it. A segment of all rows has the very
    answer of the log: value, error, interval and difference.
    """

    question: Question
    choice: Choice
    evidence: Evidence
    answered: Answered
    winner: Estimator

    @cached_property
    def alike(self) -> float:
        """Return the design effect of grouping: how many rows of a group count as one independent row."""
        return count_alike(self.evidence)

    def answer_all(self, pool: Pool) -> tuple[SegmentedColumn, ...]:
        """Return the answers for the segments of every column that is cut."""
        estimators = self.choice.segmented_estimators
        found = self.evidence.sum_segments(estimators, pool)
        if found is None:
            return ()
        cuts = self.evidence.contents.cuts
        segments: Any = self.evidence.rows.segments  # which are there if columns are cut
        columns = zip(cuts, found.columns, np.transpose(segments), strict=True)
        return tuple(self.answer_column(cut, sums, codes, found) for cut, sums, codes in columns)

    def answer_column(self, cut: Cut, sums: SegmentSums, codes: Ints, found: AllSegmentSums) -> SegmentedColumn:
        """Return the answers for the segments of one column that have rows."""
        contents = self.evidence.contents
        rewards = contents.rewards
        sums = match_units(sums, found)
        pulls = [one for one in self.choice.segmented_estimators if one.is_pull]
        answers = []
        for place in np.flatnonzero(sums.facts.rows).tolist():
            is_there = codes == place
            moved = find_pulls(self.evidence.rows, is_there, pulls, found, sums.unit_sizes)
            units = sums.of_segment(place, moved)
            answers.append(self.answer_segment(cut.labels[place], place, sums, units, is_there))
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
        self, name: str, place: int, column: SegmentSums, units: SegmentUnits, is_there: Bools
    ) -> SegmentAnswer:
        """Return the answer for one segment."""
        some, facts = units.of_segment, column.facts
        size = float(some.sizes.sum())
        weight = float(some.weights.sum())
        effective = weight**2 / float(facts.squared_weight[place]) if weight else 0.0
        unsupported = float(facts.unsupported[place])
        known = RowsOfSegment(
            is_there=is_there,
            decisions=size,
            rows=int(facts.rows[place]),
            effective=effective,
            logged_effective=size**2 / float(facts.squared_counts[place]),
        )
        kept = Kept(rows=known.rows, groups=len(some), effective=effective, unsupported=unsupported / size)
        answer = self.choose(units, known)
        moves_of_log = self.find_moves_of_log(units)
        logged = self.estimate_log(units, known, moves_of_log)
        if isinstance(self.winner, LoggedValue):  # the target is the policy that logged
            estimate = logged
            noise = Noise(target=moves_of_log, gap=np.zeros_like(moves_of_log))
        else:
            is_supported = unsupported == 0
            estimate = self.estimate_target(units, known, answer, is_supported=is_supported)
            less_shrunk = answer.for_differences
            if less_shrunk is not None:
                other = self.estimate_target(units, known, less_shrunk, is_supported=is_supported)
                estimate = replace(estimate, for_differences=other)
            noise = Noise(target=answer.moves, gap=answer.in_differences.moves - moves_of_log)
        return SegmentAnswer(
            name=name,
            kept=kept,
            estimate=estimate,
            logged=logged,
            gap=subtract(estimate, logged),
            noise=noise,
            weight=Estimate("mean weight", some.weights / some.sizes, sizes=some.sizes),
            expected=1 - kept.unsupported,
        )

    def choose(self, units: SegmentUnits, known: RowsOfSegment) -> UnitAnswer:
        """Return what answers for the target in a segment: chosen there, or as for the whole log."""
        if len(units.of_segment) < 2:  # without a second unit nothing tells the noise
            return UnitAnswer(self.winner, np.zeros(len(units)), math.inf)
        selector = self.choice.selector
        if self.choice.answers_segments:
            return selector.answer_segment(units, known.decisions / self.evidence.decision_count)
        return UnitAnswer(self.winner, selector.find_moves(units, self.winner), 0.0)

    def find_moves_of_log(self, units: SegmentUnits) -> Floats:
        """Return how each unit moves what the log earned in a segment."""
        if len(units.of_segment) < 2:
            return np.zeros(len(units))
        return np.asarray(units.jackknife([LoggedValue()])[1][0])

    def estimate_target(
        self, units: SegmentUnits, known: RowsOfSegment, answer: UnitAnswer, *, is_supported: bool
    ) -> Estimate:
        """Return what the target would have earned in a segment, with all that its error and its interval rest on.

        Where the selector does not choose in segments, it does not know the noise of fitting and choosing there. That
        is as much larger than in the whole log as the segment is smaller.
        """
        name = self.answered.estimate.name
        estimate = self.evidence.estimate_segment(name, answer.estimator, units, known.is_there)
        knows_weights = self.evidence.rows.kind == "labels" and self.evidence.unsupported is not None and is_supported
        times = self.evidence.decision_count / known.decisions
        if self.choice.answers_segments:
            moves = Moves(UNITS, answer.moves)
            added = self.propensity_variance * times
        else:
            moves = STILL
            added = self.answered.estimate.hidden_variance * times
        estimate = replace(
            estimate,
            weights=estimate.weights if knows_weights else None,
            moves=moves,
            bias_variance=answer.bias_variance,
            added_variance=added,
        )
        return self.complete(estimate, self.evidence.rows.weights[known.is_there], known, known.effective)

    def estimate_log(self, units: SegmentUnits, known: RowsOfSegment, moves: Floats) -> Estimate:
        """Return what the log earned in a segment, with its moves if they are paired with those of the target."""
        logged = self.evidence.estimate_segment("log", LoggedValue(), units, known.is_there)
        paired = Moves(UNITS, moves) if self.choice.answers_segments else STILL
        logged = replace(logged, weights=None, moves=paired)
        return self.complete(logged, np.ones(int(known.is_there.sum())), known, known.logged_effective)

    def complete(self, estimate: Estimate, weights: Floats, known: RowsOfSegment, effective: float) -> Estimate:
        """Return an estimate with all that its interval rests on, and within the possible rewards if they are known."""
        counts = self.evidence.rows.counts
        if counts is not None:
            mine = counts[known.is_there]
            weights = weights * (mine / mine.mean()) if len(mine) else weights
        question = self.question
        exposure = Exposure(weights, known.rows / self.alike) if len(weights) else None
        unseen = self.evidence.foresee(estimate.value, effective / self.alike, question.reward_range)
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

    @cached_property
    def propensity_variance(self) -> float:
        """Return what fitting propensities adds to the variance in the whole log."""
        return self.evidence.find_propensity_variance(self.winner)
