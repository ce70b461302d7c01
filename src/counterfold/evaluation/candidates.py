"""Candidates: from what a user names to the estimators that apply, each with a name of its own."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from counterfold.base import registry
from counterfold.base.errors import ParameterError, blame, is_own
from counterfold.base.messages import shorten
from counterfold.estimators.base import Estimator, require_frozen
from counterfold.estimators.rows import Rows
from counterfold.log.log import Kind

Wanted = str | Estimator | type[Estimator]
"""An estimator; or a class or name of one, which stand for its own grid; or the name of a set."""

PLAIN = ("ips", "snips", "dm", "dr", "sndr")
SETS = {
    "default": (*PLAIN, "truncated-snips", "truncated-sndr"),
    "plain": PLAIN,
    "paper": (*PLAIN, "truncated-ips", "switch-dr", "cab", "dros", "drps", "ips-lambda", "group-ips"),
    "doses": ("dm", "kernel-ips", "kernel-dr"),
}
"""Named sets: what we recommend, those without parameters to tune, all that the paper tunes jointly, and for doses."""

Offer = Estimator | type[Estimator]
"""An estimator, or a class that stands for its own grid."""

Extension = Callable[[type[Estimator], Rows], Sequence[Estimator]]
"""What joins the grid of an estimator."""


def resolve_candidates(wanted: Wanted | Sequence[Wanted], kind: Kind) -> list[Offer]:
    """Return the estimators and classes that a user names, for actions of one kind."""
    several = wanted if isinstance(wanted, Sequence) and not isinstance(wanted, str) else [wanted]
    several = ["doses" if isinstance(one, str) and one == "default" and kind == "doses" else one for one in several]
    return [offer for one in several for offer in _resolve(one)]


def _resolve(item: Wanted) -> list[Offer]:
    if not isinstance(item, str):
        kind = item if isinstance(item, type) else type(item)
        if not issubclass(kind, Estimator):
            what = "estimators, classes or names of estimators"
            raise ParameterError(f"`candidates` must be {what}, got {shorten(item)}.")
        require_frozen(kind)
        return [item]
    if item in SETS:
        return [registry.find("estimators", name) for name in SETS[item]]
    if ":" in item:
        return [registry.build("estimators", item)]
    return [registry.find("estimators", item, also=tuple(SETS))]


def gather_candidates(
    offers: Sequence[Offer], rows: Rows, extend: Extension
) -> tuple[dict[str, Estimator], dict[str, str]]:
    """Return the candidates that apply, by distinct names, and why the others do not."""
    found: list[Estimator] = []
    left_out: dict[str, str] = {}
    for offer in offers:
        reason, tried = _find_grid(offer, rows, extend)
        if not tried:
            name = offer.__name__ if isinstance(offer, type) else offer.name
            left_out[name] = reason or "has no grid where no weight is positive"
        found.extend(tried)
    if not found:
        why = "; ".join(f"{name} {reason}" for name, reason in left_out.items())
        raise ParameterError(f"`candidates` must hold an estimator that applies, got {why or 'none'}.")
    return dict(zip(number_repeated(candidate.name for candidate in found), found, strict=True)), left_out


def _find_grid(offer: Offer, rows: Rows, extend: Extension) -> tuple[str | None, Sequence[Estimator]]:
    """Return why an offer does not apply, or else its grid."""
    kind = offer if isinstance(offer, type) else type(offer)
    with nullcontext() if is_own(kind) else blame(ParameterError, "the estimator {}", kind.__name__):
        reason = offer.find_obstacle(rows)
        several = [] if reason else _grid(offer, rows, extend)
    for one in several:
        try_out(one, rows)
    return reason, several


def try_out(estimator: Estimator, rows: Rows) -> None:
    """Require that an estimator of a user returns an array with a finite number for each row."""
    if is_own(type(estimator)):
        return
    name = type(estimator).__name__
    with blame(ParameterError, "the estimator {}", name):
        found: Any = estimator.contributions(rows)
    if not isinstance(found, np.ndarray) or found.shape != (len(rows),) or found.dtype.kind not in "fiub":
        rule = f"return an array of one number per row ({len(rows)})"
        raise ParameterError(f"the estimator {name} must {rule}, got {shorten(found)}.")
    bad = np.flatnonzero(~np.isfinite(found))
    if len(bad):
        where = f"{len(bad)} of {len(rows)} rows, first at row {bad[0]}"
        raise ParameterError(f"the estimator {name} must return finite numbers, got {found[bad[0]]} in {where}.")
    with blame(ParameterError, "the estimator {}", name):
        terms = estimator.terms(rows)
        means = terms.mean(axis=1, keepdims=True)
        is_mean = len(terms) == 1 and np.allclose(estimator.combine_means(means), means[0], rtol=1e-9)
    if estimator.is_linear and not is_mean:
        rule = "set `is_linear = False`, as its estimate is not the mean of one term"
        raise ParameterError(f"the estimator {name} must {rule}.")


def _grid(offer: Offer, rows: Rows, extend: Extension) -> Sequence[Estimator]:
    return [*offer.candidates(rows), *extend(offer, rows)] if isinstance(offer, type) else [offer]


def number_repeated(names: Iterable[str]) -> list[str]:
    """Return the names with a number behind those that were there before, so that no candidate hides another.

    >>> number_repeated(["IPS", "DR", "IPS"])
    ['IPS', 'DR', 'IPS #2']
    """
    seen: Counter[str] = Counter()
    result = []
    for name in names:
        seen[name] += 1
        result.append(name if seen[name] == 1 else f"{name} #{seen[name]}")
    return result
