"""Loggers: several policies that logged, and whether they are given as they must be."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from counterfold.base import validation
from counterfold.base.arrays import Floats, Ints
from counterfold.base.errors import DataError
from counterfold.base.per_row import ByRow, take_second
from counterfold.base.validation import Checker
from counterfold.log.known_actions import KnownActions
from counterfold.log.label_checks import check_labels
from counterfold.log.labels import encode_labels
from counterfold.log.log_checks import check_policy

LOGGER_WEIGHTS = ("balanced", "own")
"""Whose probabilities weigh the rows of several loggers: all loggers' by their shares, or the row's own logger's."""


@dataclass(frozen=True, eq=False)
class Loggers:
    """Several logging policies: which one took each decision (n), and what each would have done (L x n x A)."""

    labels: tuple[Any, ...]
    codes: Annotated[Ints, ByRow()]
    probs: Annotated[Floats, ByRow(take_second)]

    def find_shares(self, known: Mapping[Any, float] | None, counts: Floats | None) -> Floats:
        """Return which share of all decisions each policy took (L), by these rows unless others told.

        `counts` are how many decisions each row stands for, if that differs.
        """
        if known is not None:
            return np.array([known.get(str(label), 0.0) for label in self.labels])
        taken = np.bincount(self.codes, counts, len(self.labels))
        return np.asarray(taken / taken.sum())

    @property
    def own(self) -> Floats:
        """Return the probabilities of the policy that took each decision (n x A)."""
        return validation.freeze(self.probs[self.codes, np.arange(len(self.codes))])


def check_loggers(logger: Any, probs: Any, rows: int, actions: KnownActions, check: Checker) -> Loggers:
    """Return the logging policies: which one took each decision, and what each would have done."""
    known = tuple(probs)
    codes = encode_labels("logger", check_labels("logger", logger, rows, check), known, check, kind="logger")
    named = {label: check.rename("logger_probs", f"of `{label}`") for label in known}
    every = [check_policy("logger_probs", probs[label], rows, actions, named[label]) for label in known]
    return Loggers(known, codes, validation.freeze(np.stack(every)))


def has_several_loggers(logger: Any, probs: Any, check: Checker) -> bool:
    """Say whether several policies logged; what is known of them must come in pairs."""
    if logger is None and probs is None:
        return False
    if logger is None or not isinstance(probs, Mapping) or not probs:
        wanted = "a label per row, and the probabilities of every logging policy in every row by label"
        got = "no `logger`" if logger is None else "no such `logger_probs`"
        raise DataError(f"{check.called('logger')} and `logger_probs` must come together: {wanted}, got {got}.")
    return True
