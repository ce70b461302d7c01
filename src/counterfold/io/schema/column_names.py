"""How a user names columns: by text, whatever lists several."""

from collections.abc import Iterable, Mapping, Sequence

from counterfold.base.errors import ParameterError
from counterfold.base.messages import shorten, show


def require_name(argument: str, value: object) -> None:
    """Require the name of one column."""
    if not isinstance(value, str):
        raise ParameterError(f"`{argument}` must be the name of a column, as text, got {shorten(value)}.")


def require_rewards(value: object) -> None:
    """Require the name of one column, or of several different ones, or expressions in their place."""
    several = [value] if isinstance(value, str) else value
    if not isinstance(several, (list, tuple)) or not all(isinstance(one, str) for one in several) or not several:
        rule = "must be the name of a column, as text"
        raise ParameterError(f"`reward` {rule}, got {shorten(value)}. Several rewards are a list of such names.")
    twice = next((one for one in several if several.count(one) > 1), None)
    if twice is not None:
        raise ParameterError(f"`reward` must be given once each, got `{show(twice)}` more than once.")


def list_names(argument: str, value: object) -> Sequence[str]:
    """Return the names of columns that are listed in any way, or the only one."""
    several = [value] if isinstance(value, str) or not isinstance(value, Iterable) else value
    found = several if isinstance(several, (list, tuple)) else list(several)
    if isinstance(value, Mapping) or not all(isinstance(one, str) for one in found):
        raise ParameterError(f"`{argument}` must be names of columns, as a list of texts, got {shorten(value)}.")
    return found
