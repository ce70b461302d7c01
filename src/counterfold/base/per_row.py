"""ByRow: marks the fields of an object that hold something for every row, and says how some rows of them are taken."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple, get_type_hints

import numpy as np
from numpy.typing import NDArray

from counterfold.base.arrays import Ints, Scalar
from counterfold.base.cached import cached_property
from counterfold.base.validation import freeze


def take_array(array: NDArray[Scalar], index: Ints) -> NDArray[Scalar]:
    """Return some rows of an array, which cannot be written to."""
    return freeze(np.take(array, index, axis=0))


def take_each(several: Mapping[str, NDArray[Scalar]], index: Ints) -> dict[str, NDArray[Scalar]]:
    """Return some rows of several arrays by name."""
    return {name: take_array(one, index) for name, one in several.items()}


def take_second(array: NDArray[Scalar], index: Ints) -> NDArray[Scalar]:
    """Return some rows of an array whose second dimension are the rows."""
    return freeze(np.take(array, index, axis=1))


def take_marked(owner: Any, index: Ints) -> Any:
    """Return a dataclass, with some rows alone of those of its fields that are marked."""
    return replace(owner, **{name: mark.take(getattr(owner, name), index) for name, mark in find_marks(owner).items()})


class ByRow(NamedTuple):
    """The mark of a field that holds something for every row, in `Annotated`; `take` returns some rows of it."""

    take: Callable[[Any, Ints], Any] = take_array


def take_fields(owner: object, index: Ints) -> dict[str, Any]:
    """Return all attributes of an object by name, with some rows alone of those that are marked.

    What was computed once of all rows is left out, and so computed anew.
    """
    marks, own = find_marks(owner), vars(type(owner))
    computed = {name for name, one in own.items() if isinstance(one, cached_property)}
    kept = {name: one for name, one in vars(owner).items() if name not in computed}
    there = {name: one for name, one in kept.items() if name in marks and one is not None}
    return kept | {name: marks[name].take(one, index) for name, one in there.items()}


def find_marks(owner: object) -> dict[str, ByRow]:
    """Return the marks of the fields of an object, by name."""
    hints = get_type_hints(type(owner), include_extras=True)
    return {name: mark for name, hint in hints.items() for mark in getattr(hint, "__metadata__", ())}
