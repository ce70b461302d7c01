"""Trial: sets of candidates on one problem, and what each way to choose makes of them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from counterfold.errors import ParameterError
from counterfold.estimators.base import Estimator
from counterfold.experiments.files import Row
from counterfold.experiments.paper.candidates import EVERYTHING, CandidateSets
from counterfold.pool import Pool
from counterfold.rows import Rows
from counterfold.selectors.base import Selector

ORACLE = "oracle"


@dataclass(frozen=True, eq=False)
class Trial:
    """Sets of candidates on the rows of one problem; the seed is that of the selectors."""

    rows: Rows
    sets: CandidateSets
    seed: int

    def choose_by_scores(self, method: str, selector: Selector) -> list[Row]:
        """Return the best of each set; a candidate's score does not depend on the others, so each is scored once."""
        every = list(dict.fromkeys(one for candidates in self.sets.values() for one in candidates))
        scores = selector.resolve(self.rows).scores(self.rows, every, np.random.default_rng(self.seed), Pool(1))
        score = dict(zip(every, scores.tolist(), strict=True))
        return [self._row(name, method, min(some, key=lambda one: score[one])) for name, some in self.sets.items()]

    def choose_within_sets(self, method: str, selector: Selector, *, everything: bool = False) -> list[Row]:
        """Return the choice of a selector that must see a set as a whole; the set of everything may be left out."""
        found = []
        ready = selector.resolve(self.rows)
        for name, candidates in self.sets.items():
            kind = type(candidates[0])
            if selector.can_tune(kind) and (everything or name != EVERYTHING):
                grid = [*candidates, *selector.extend_grid(kind, self.rows)]
                choice = ready.select(self.rows, grid, np.random.default_rng(self.seed), Pool(1))
                found.append(self._row(name, method, choice.answer(grid)))
        return found

    def choose_in_hindsight(self, truth: float) -> list[Row]:
        """Return the candidate of each set that is the nearest to the truth."""
        errors = {one: abs(one.value(self.rows) - truth) for some in self.sets.values() for one in some}
        return [self._row(name, ORACLE, min(some, key=lambda one: errors[one])) for name, some in self.sets.items()]

    def choose_always(self, candidates: Sequence[Estimator]) -> list[Row]:
        """Return each candidate as the choice within every set."""
        return [self._row(name, one.name, one) for name in self.sets for one in candidates]

    def _row(self, set_name: str, method: str, chosen: Estimator) -> Row:
        """Return a result, whose value must be finite."""
        value = chosen.value(self.rows)
        if not np.isfinite(value):
            raise ParameterError(f"{chosen.name} must give finite values, got {value}.")
        return {"family": set_name, "method": method, "chosen": chosen.name, "value": value}
