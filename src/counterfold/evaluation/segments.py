"""The answer for every segment: the estimator of the whole, on the rows of the segment."""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from counterfold.arrays import Bools, Floats, Ints
from counterfold.cached import cached_property
from counterfold.estimates import Estimate, Exposure, Moves
from counterfold.estimators.base import Estimator, LoggedValue
from counterfold.evaluation.question import Choice, Question
from counterfold.evidence import Evidence, count_alike
from counterfold.exhibits.base import Answered
from counterfold.pool import Pool
from counterfold.segments.answers import Kept, SegmentAnswer, SegmentedColumn, subtract
from counterfold.segments.cuts import Cut
from counterfold.segments.sums import SegmentSums
from counterfold.sums import Sums


@dataclass(frozen=True, eq=False)
class SegmentAssembly:
    """What is asked of every segment, and what is known to answer it.

    `answered` is the answer for all rows, and `winner` the estimator that gave it.
    """

    question: Question
    choice: Choice
    evidence: Evidence
    answered: Answered
    winner: Estimator

    @cached_property
    def alike(self) -> float:
        """Return how many rows of a group tell as much as one independent row."""
        return count_alike(self.evidence)

    def answer_all(self, pool: Pool) -> tuple[SegmentedColumn, ...]:
        """Return the answers for the segments of every column that is cut."""
        found = self.evidence.sum_segments(self.choice.segmented_estimators, pool)
        if found is None:
            return ()
        cuts = self.evidence.contents.cuts
        segments: Any = self.evidence.rows.segments  # which are there if columns are cut
        columns = zip(cuts, found.columns, np.transpose(segments), strict=True)
        return tuple(self.answer_column(cut, sums, codes) for cut, sums, codes in columns)

    def answer_column(self, cut: Cut, sums: SegmentSums, codes: Ints) -> SegmentedColumn:
        """Return the answers for the segments of one column that have rows."""
        contents, rewards = self.evidence.contents, self.evidence.contents.rewards
        there = np.flatnonzero(sums.facts.rows).tolist()
        answers = [self.answer_segment(cut.labels[place], place, sums, codes == place) for place in there]
        scale = math.sqrt(rewards.squares / rewards.weight)
        tests_weights = self.evidence.rows.kind == "labels" and contents.fitted is None
        known = scale, contents.groups is not None, tests_weights
        return SegmentedColumn(cut.column, tuple(answers), self.answered.uplift, *known, cut.note)

    def answer_segment(self, name: str, place: int, column: SegmentSums, is_there: Bools) -> SegmentAnswer:
        """Return the answer for one segment."""
        sums, rows = column.of_segment(place), self.evidence.rows
        some, size = sums.without_empty, float(sums.sizes.sum())
        weight = float(some.weights.sum())
        effective = weight**2 / float(column.facts.squared_weight[place]) if weight else 0.0
        kept = Kept(int(column.facts.rows[place]), len(some), effective, float(column.facts.unsupported[place]) / size)
        counts = np.ones(len(rows)) if rows.counts is None else rows.counts / rows.counts.mean()
        logged = self.estimate_one(LoggedValue(), sums, counts[is_there], kept.rows)
        if isinstance(self.winner, LoggedValue):  # the target is the policy that logged
            estimate = logged
        else:
            estimate = self.estimate_one(self.winner, sums, (counts * rows.weights)[is_there], effective)
            estimate = self.include_hidden(estimate, some)
        weights = Estimate("mean weight", some.weights / some.sizes, sizes=some.sizes)
        return SegmentAnswer(name, kept, estimate, logged, subtract(estimate, logged), weights, 1 - kept.unsupported)

    def estimate_one(self, estimator: Estimator, sums: Sums, weights: Floats, effective: float) -> Estimate:
        """Return what an estimator says of one segment, with all that its interval rests on."""
        some, question = sums.without_empty, self.question
        estimate = some.estimate(self.answered.estimate.name, estimator)
        unseen = self.evidence.foresee(estimate.value, effective / self.alike, question.reward_range)
        shift = float(np.clip(estimate.value, *unseen.limits)) - estimate.value
        contributions = estimate.contributions + shift if shift else estimate.contributions
        moves = np.zeros(len(sums))
        moves[sums.sizes > 0] = jackknife(estimator, some)
        exposure = Exposure(weights, float(sums.sizes.sum()) / self.alike) if len(weights) else None
        known = replace(estimate, contributions=contributions, moves=Moves("units of a column", moves), unseen=unseen)
        return replace(known, exposure=exposure, level=question.level, method=question.interval)

    def include_hidden(self, estimate: Estimate, sums: Sums) -> Estimate:
        """Return an answer whose error holds what units of a segment do not show: what may be left of a bias, and fits.

        A selector may know what is left of the bias by the segment's own sums. Where it does not, the noise of fitting
        and choosing is as much larger than in the whole log as the segment is smaller.
        """
        if len(sums) < 2:
            return replace(estimate, bias_variance=math.inf)
        times = self.evidence.decision_count / float(sums.sizes.sum())
        if self.answered.selection.moves is None:
            return replace(estimate, added_variance=self.answered.estimate.hidden_variance * times)
        added = self.propensity_variance * times
        return replace(estimate, bias_variance=self.choice.selector.find_doubt(sums), added_variance=added)

    @cached_property
    def propensity_variance(self) -> float:
        """Return what fitting propensities adds to the variance in the whole log."""
        return self.evidence.find_propensity_variance(self.winner)


def jackknife(estimator: Estimator, sums: Sums) -> Floats:
    """Return how an estimator, or a mixture of several, moves when a unit is left out; not if it is the only one."""
    if len(sums) < 2:
        return np.zeros(len(sums))
    members = estimator.weighted_members
    moves = sums.jackknife([one for one, _ in members])[1]
    return np.asarray(np.array([share for _, share in members]) @ moves)
