"""Estimators and selectors of a user's own that take part in an experiment, named as MODULE:CLASS."""

import hashlib
import sys
from collections.abc import Collection, Sequence
from inspect import isabstract
from pathlib import Path
from typing import Any

from counterfold import Estimator, ParameterError, Rows, Selector
from counterfold.base import registry
from counterfold.estimators.estimates import standard_error
from counterfold_lab.paper.figures import EVERYTHING, ONLY_SET, CandidateSets


def load_classes(paths: Sequence[str], taken: Collection[str] = ()) -> list[Any]:
    """Return the classes that `MODULE:CLASS` name, also in modules of the current folder; refuse `taken` names."""
    found: list[Any] = []
    for path in paths:
        kind = registry.import_name(path, "`add` must be MODULE:CLASS")
        if not (isinstance(kind, type) and issubclass(kind, (Estimator, Selector)) and not isabstract(kind)):
            raise ParameterError(f"`add` must name an estimator or a selector class, got `{path}`.")
        try:
            hash(kind())
        except Exception as error:  # noqa: BLE001 (a user's class may raise anything)
            raise ParameterError(f"`{path}` must be a frozen dataclass with defaults, got: {error}.") from None
        if kind.__name__ in {*taken, *(one.__name__ for one in found)}:
            raise ParameterError(f"`add` must bring new names, got `{path}`, but there is a `{kind.__name__}`.")
        found.append(kind)
    return found


def digest_source(path: str) -> str:
    """Return 16 digits that change when the file of `MODULE:CLASS`, which is imported already, does."""
    file = sys.modules[path.partition(":")[0]].__file__
    return "" if file is None else hashlib.sha256(Path(file).read_bytes()).hexdigest()[:16]


def add_estimator(sets: CandidateSets, kind: type[Estimator], rows: Rows) -> list[Estimator]:
    """Add a user's estimator to the sets of candidates, and return its grid.

    A set that is the only one takes it in, from high to low variance, as SLOPE needs them. Where each set is the grid
    of one estimator, it becomes a set of its own, and joins the set of everything.
    """
    grid = list(kind.candidates(rows))
    reason = kind.find_obstacle(rows) or (None if grid else "has an empty grid here")
    if reason:
        raise ParameterError(f"{kind.__name__} {reason}.")
    if ONLY_SET in sets:
        noise = {one: standard_error(one.contributions(rows)) for one in [*sets[ONLY_SET], *grid]}
        sets[ONLY_SET] = sorted(noise, key=lambda one: -noise[one])
    else:
        sets[kind.__name__] = grid
        sets[EVERYTHING] += grid
    return grid
