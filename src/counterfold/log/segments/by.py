"""By: which columns are cut into segments, as users write it."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from counterfold.base import messages
from counterfold.base.errors import ParameterError
from counterfold.base.notation import read_cut

MOST = 50
"""Of more different values the largest ones are segments, and all others are one together."""


class By(NamedTuple):
    """A column whose values are segments, and into how many parts its numbers are cut, if that was said."""

    column: str
    parts: int | None

    @classmethod
    def of(cls, text: str, columns: Iterable[str]) -> "By":
        """Return what a text such as "device" or "age:5" names; a column that is called so comes first."""
        column, parts = (text, None) if text in columns else read_cut(text)
        if parts is None:
            return cls(text, None)
        if not 2 <= parts <= MOST:
            shown = messages.show(text)
            raise ParameterError(f"`by` must cut numbers into 2 to {MOST} parts, as in `age:5`, got `{shown}`.")
        return cls(column, int(parts))


def resolve_by(texts: Sequence[str], columns: Sequence[str]) -> tuple[By, ...]:
    """Return the columns that texts name, each once."""
    found = tuple(By.of(one, columns) for one in texts)
    twice = [name for name, count in Counter(one.column for one in found).items() if count > 1]
    if twice:
        raise ParameterError(f"`by` must name each column once, got `{messages.show(twice[0])}` more than once.")
    return found
