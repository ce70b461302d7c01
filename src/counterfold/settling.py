"""From what a user names to what is used, and what is said before anything is computed."""

import warnings
from typing import Any

from counterfold import registry
from counterfold.diagnostics import SOME_UNSUPPORTED, Diagnostics
from counterfold.errors import ParameterError, SupportWarning
from counterfold.log import Kind
from counterfold.rows import Rows
from counterfold.selectors.base import Selector

DEFAULTS: dict[Kind, str] = {"labels": "ladder", "doses": "ocv"}
"""The selector for each kind of action, where the user does not say."""


def part(folder: str, value: Any, kind: type) -> Any:
    """Return an estimator or selector from one or from its name."""
    built = registry.build(folder, value) if isinstance(value, str) else value
    if not isinstance(built, kind):
        raise ParameterError(f"`{folder.removesuffix('s')}` must be one or the name of one, got {value!r}.")
    return built


def judge_of(value: Any, kind: Kind) -> Selector:
    """Return a selector from one or from its name, or the usual one for such actions."""
    judge: Selector = part("selectors", DEFAULTS[kind] if value == "default" else value, Selector)
    return judge


def settled(judge: Selector, rows: Rows) -> Selector:
    """Return the selector, ready for these rows, unless they lack what it needs."""
    reason = rows.lacks(judge.needs, judge.kinds)
    if reason:
        raise ParameterError(f"the selector {type(judge).__name__} {reason}.")
    return judge.settled(rows)


def warned(diagnostics: Diagnostics, target: str) -> Diagnostics:
    """Warn if the target may take actions that the log could never take, and return the diagnostics."""
    if (diagnostics.unsupported_mass or 0.0) >= SOME_UNSUPPORTED:
        warning = SupportWarning(
            f"the target puts {diagnostics.unsupported_mass:.2%} of its probability, in {diagnostics.unsupported_rows} "
            f"of {diagnostics.rows} rows, on actions that the log could never take; it cannot tell what they earn",
        )
        warning.target = target
        warnings.warn(warning, stacklevel=4)
    return diagnostics
