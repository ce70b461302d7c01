"""All candidates on one problem: what each says, and what each selector makes of them."""

import sys
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from importlib import import_module
from inspect import isabstract
from pathlib import Path
from typing import Any

import numpy as np

from counterfold.errors import ParameterError
from counterfold.estimates import standard_error
from counterfold.estimators.base import Estimator
from counterfold.experiments.paper.figures import EVERYTHING, Families
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

    def row(self, family: str, method: str, chosen: Estimator) -> Row:
        """Return a result, which must be a number."""
        value = chosen.value(self.rows)
        if not np.isfinite(value):
            raise ParameterError(f"{chosen.name} must give finite values, got {value}.")
        return {"family": family, "method": method, "chosen": chosen.name, "value": value}

    def scored(self, method: str, selector: Selector) -> list[Row]:
        """Return the best of each family by scores that do not depend on the others, computed once for all."""
        every = list(dict.fromkeys(one for family in self.families.values() for one in family))
        scores = selector.settled(self.rows).scores(self.rows, every, np.random.default_rng(self.seed), Pool(1))
        score = dict(zip(every, scores.tolist(), strict=True))
        return [
            self.row(name, method, min(family, key=lambda one: score[one])) for name, family in self.families.items()
        ]

    def apart(self, method: str, selector: Selector, *, everything: bool = False) -> list[Row]:
        """Return the choice within each family, by selectors that must see it whole; maybe also among everything."""
        found = []
        ready = selector.settled(self.rows)
        for name, family in self.families.items():
            if selector.tunes(type(family[0])) and (everything or name != EVERYTHING):
                grid = [*family, *selector.beyond(type(family[0]), self.rows)]
                choice = ready.select(self.rows, grid, np.random.default_rng(self.seed), Pool(1))
                found.append(self.row(name, method, choice.answer(grid)))
        return found

    def alone(self, candidates: Sequence[Estimator]) -> list[Row]:
        """Return what single candidates say, whatever the family."""
        return [self.row(name, one.name, one) for name in self.families for one in candidates]

    def oracle(self, truth: float) -> list[Row]:
        """Return the best of each family in hindsight."""
        found = []
        for name, family in self.families.items():
            found.append(self.row(name, ORACLE, min(family, key=lambda one: abs(one.value(self.rows) - truth))))
        return found


def join(families: Families, kind: type[Estimator], rows: Rows) -> list[Estimator]:
    """Put a user's estimator into the contest, and return its grid.

    It joins every family that compares estimators, from high to low variance then, as SLOPE wants them, and is one of
    its own where families are single estimators.
    """
    grid = list(kind.candidates(rows))
    reason = kind.obstacle(rows) or (None if grid else "has an empty grid here")
    if reason:
        raise ParameterError(f"{kind.__name__} {reason}.")
    if "" in families:
        noise = {one: standard_error(one.contributions(rows)) for one in [*families[""], *grid]}
        families[""] = sorted(noise, key=lambda one: -noise[one])
    else:
        families[kind.__name__] = grid
        families[EVERYTHING] += grid
    return grid


def added(paths: Sequence[str], taken: Collection[str] = ()) -> list[Any]:
    """Return the classes that `MODULE:CLASS` name, also in modules of the current folder; their names must be free."""
    found: list[Any] = []
    for path in paths:
        part = imported(path)
        usable = isinstance(part, type) and issubclass(part, (Estimator, Selector)) and not isabstract(part)
        if not usable:
            raise ParameterError(f"`add` must name an estimator or a selector class, got `{path}`.")
        try:
            hash(part())
        except Exception as error:  # noqa: BLE001 (whatever a user's class does)
            raise ParameterError(f"`{path}` must be a frozen dataclass with defaults, got: {error}.") from None
        if part.__name__ in {*taken, *(one.__name__ for one in found)}:
            raise ParameterError(f"`add` must bring new names, got `{path}`, but there is a `{part.__name__}`.")
        found.append(part)
    return found


def imported(path: str) -> Any:
    """Return what `MODULE:NAME` names; whatever goes wrong in the module is one sentence."""
    module, _, name = path.partition(":")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)
    try:
        return getattr(import_module(module), name)
    except Exception as error:  # noqa: BLE001 (whatever a user's module does)
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise ParameterError(f"`add` must be MODULE:CLASS, got `{path}` ({reason}).") from None
