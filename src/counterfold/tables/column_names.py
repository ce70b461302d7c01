"""How a user names columns: by text, whatever lists several."""

from collections.abc import Iterable, Sequence

from counterfold.errors import ParameterError
from counterfold.messages import shorten


def require_name(argument: str, value: object) -> None:
    """Require the name of one column."""
    if not isinstance(value, str):
        raise ParameterError(f"`{argument}` must be the name of a column, as text, got {shorten(value)}.")


def list_names(argument: str, value: object) -> Sequence[str]:
    """Return the names of columns that are listed in any way, or the only one."""
    several = [value] if isinstance(value, str) or not isinstance(value, Iterable) else value
    found = several if isinstance(several, (list, tuple)) else list(several)
    if not all(isinstance(one, str) for one in found):
        raise ParameterError(f"`{argument}` must be names of columns, as a list of texts, got {shorten(value)}.")
    return found
