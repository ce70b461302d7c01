"""Evidence from sums over buckets of rows, and from a sample of the rows."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from counterfold.base.arrays import Bools
from counterfold.base.threads import Pool
from counterfold.estimators.base import Estimator
from counterfold.estimators.estimates import Estimate, Moves
from counterfold.estimators.rows import Rows
from counterfold.estimators.sums import Sums
from counterfold.evidence.evidence import Evidence, refit_on_blocks
from counterfold.evidence.segments.sums import AllSegmentSums, SegmentUnits
from counterfold.models import Fitted
from counterfold.selectors.base import Selection, Selector

ENOUGH = 1 << 13
"""At most this many rows of the sample tell the noise of fitting a model."""


@dataclass(frozen=True, eq=False)
class SumEvidence(Evidence):
    """Evidence from sums: a unit is a bucket of rows or groups, unless there are few of them.

    `all_rows` are the rows of the log with the reward model that is not fitted yet, if the sample holds all of them.
    """

    sums: Sums
    model: Fitted | None
    segments: AllSegmentSums | None = None
    all_rows: Rows | None = None

    @property
    def mean_weight(self) -> Estimate:
        return Estimate("mean weight", self.sums.weights / self.sums.sizes, sizes=self.sums.sizes)

    @property
    def total_weight(self) -> float:
        return float(self.sums.weights.sum())

    def estimate(self, name: str, estimator: Estimator) -> Estimate:
        is_by_row = len(self.sums) == self.row_count == len(self.rows)  # as on short logs; buckets have no order
        order = self.rows.order if is_by_row else None
        if order is not None:
            order = np.unique(self.rows.examples.units, return_inverse=True)[1][order]  # units are not in this order
        return replace(self.sums.estimate(name, estimator), order=order)

    def choose(
        self, selector: Selector, candidates: Sequence[Estimator], rng: np.random.Generator, pool: Pool
    ) -> Selection:
        return selector.select_from_sums(self.sums, candidates, rng)

    def sum_units(self, estimators: Sequence[Estimator], pool: Pool) -> Sums:
        return self.sums.some(estimators)

    def sum_segments(self, estimators: Sequence[Estimator], pool: Pool) -> AllSegmentSums | None:
        return self.segments

    def estimate_segment(self, name: str, estimator: Estimator, units: SegmentUnits, is_there: Bools) -> Estimate:
        some = units.of_segment
        times = self.rows.times
        is_by_row = len(self.sums) == self.row_count == len(self.rows) and len(some) == int(is_there.sum())
        order = None
        if is_by_row and times is not None:
            place = np.unique(self.rows.examples.units[is_there], return_inverse=True)[1]  # units are in another order
            order = place[np.argsort(times[is_there], kind="stable")]
        return replace(some.estimate(name, estimator), weights=some.weights / some.sizes, order=order)

    def include_fitting(self, answer: Estimate, estimator: Estimator, pool: Pool) -> Estimate:
        """Return the answer with an error that includes how models fitted on some of the rows differ.

        Where the sample holds all rows, the model is refitted on them as it is in memory. Elsewhere, models fitted
        without one of several equal parts of the rows answer on the sample; their jackknife variance adds to that of
        the contributions, which takes the model as given.
        """
        if self.all_rows is not None:
            return refit_on_blocks(answer, self.all_rows, estimator, pool)
        if self.model is None or not self.model.without or not estimator.uses("model"):
            return answer
        some = self.rows.take(slice(None, None, -(-len(self.rows) // ENOUGH)))  # from one end of the log to the other
        values = np.array([estimator.value(replace(some, model=Fitted((one,)))) for one in self.model.without])
        fits = Moves.by_jackknife("", values)
        moves = np.concatenate([answer.units.moves, fits.values])
        return replace(answer, moves=Moves("units and fits", moves))

    def predict_out_of_sample(self) -> Rows | None:
        """Return the sample, predicted by models that were fitted on other rows where there are such."""
        if self.model is None or not self.model.elsewhere:
            return None if self.rows.model is None else self.rows
        return replace(self.rows, model=Fitted(self.model.elsewhere), refit=None)

    def estimate_out_of_sample(self, inside: Estimate, estimator: Estimator) -> Estimate | None:
        """Return the estimate, moved and stretched as the sample tells."""
        outside = self.predict_out_of_sample()
        if outside is None or outside is self.rows:
            return None
        several = (self.rows, outside)
        before, after = (Estimate("", estimator.contributions(rows), rows.groups, rows.counts) for rows in several)
        stretch = after.stderr / before.stderr if before.stderr else 1.0
        moved = inside.value + after.value - before.value + stretch * (inside.contributions - inside.value)
        return replace(inside, contributions=moved)
