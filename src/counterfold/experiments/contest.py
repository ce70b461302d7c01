"""All candidates on one problem: what each says, and what each selector makes of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from counterfold.arrays import Floats
from counterfold.errors import ParameterError
from counterfold.estimators.base import Estimator
from counterfold.experiments.figures import EVERYTHING, Families
from counterfold.experiments.runner import Row
from counterfold.pool import Pool
from counterfold.rows import Rows
from counterfold.selectors.base import Selector

ORACLE = "oracle"


@dataclass(frozen=True, eq=False)
class Contest:
    """Families of candidates on the rows of one problem; the seed is the selectors'."""

    rows: Rows
    families: Families
    seed: int

    def values(self, candidates: Sequence[Estimator]) -> Floats:
        """Return what each candidate says."""
        return np.array([candidate.value(self.rows) for candidate in candidates])

    def row(self, family: str, method: str, chosen: Estimator) -> Row:
        """Return a result."""
        return {"family": family, "method": method, "chosen": chosen.name, "value": chosen.value(self.rows)}

    def scored(self, method: str, selector: Selector) -> list[Row]:
        """Return the best of each family by scores that do not depend on the others, computed once for all."""
        every = list(dict.fromkeys(one for family in self.families.values() for one in family))
        scores = selector.settled(self.rows).scores(self.rows, every, np.random.default_rng(self.seed), Pool(1))
        score = dict(zip(every, scores.tolist(), strict=True))
        return [
            self.row(name, method, min(family, key=lambda one: score[one])) for name, family in self.families.items()
        ]

    def apart(self, method: str, selector: Selector) -> list[Row]:
        """Return the choice within each family but the one of everything, where the selector has a rule for it."""
        found = []
        for name, family in self.families.items():
            if name == EVERYTHING:
                continue
            grid = [*family, *selector.beyond(type(family[0]), self.rows)]
            try:
                choice = selector.select(self.rows, grid, np.random.default_rng(self.seed), Pool(1))
            except ParameterError:  # an estimator without a rule of its own
                continue
            found.append(self.row(name, method, choice.answer(grid)))
        return found

    def alone(self, candidates: Sequence[Estimator]) -> list[Row]:
        """Return what single candidates say, whatever the family."""
        return [self.row(name, one.name, one) for name in self.families for one in candidates]

    def oracle(self, truth: float) -> list[Row]:
        """Return the best of each family in hindsight."""
        found = []
        for name, family in self.families.items():
            best = family[int(np.argmin(np.abs(self.values(family) - truth)))]
            found.append(self.row(name, ORACLE, best))
        return found


def join(families: Families, kind: type[Estimator], rows: Rows) -> None:
    """Put a user's estimator into the contest: into every family that compares estimators, and as one of its own."""
    reason = kind.obstacle(rows)
    if reason:
        raise ParameterError(f"{kind.__name__} {reason}.")
    grid = list(kind.candidates(rows))
    if "" in families:
        families[""] += grid
    else:
        families[kind.__name__] = grid
        families[EVERYTHING] += grid


def added(paths: Sequence[str]) -> list[Any]:
    """Return the classes that `MODULE:CLASS` name, estimators or selectors, also of modules in the current folder."""
    import sys
    from importlib import import_module

    found = []
    for path in paths:
        module, _, name = path.partition(":")
        if "" not in sys.path:
            sys.path.insert(0, "")
        try:
            part = getattr(import_module(module), name)
        except (ImportError, AttributeError, ValueError) as error:
            raise ParameterError(f"`add` must be MODULE:CLASS, got `{path}`: {error}.") from None
        if not (isinstance(part, type) and issubclass(part, (Estimator, Selector))):
            raise ParameterError(f"`add` must name an estimator or a selector class, got `{path}`.")
        found.append(part)
    return found
