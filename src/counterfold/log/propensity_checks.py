"""Propensities, densities and chances to be kept, each checked alone or against the others."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from counterfold.base import validation
from counterfold.base.arrays import Floats, Ints
from counterfold.base.errors import DataError, ParameterError
from counterfold.base.validation import Checker
from counterfold.log.known_actions import KnownActions
from counterfold.log.log_checks import Matrix, order_columns
from counterfold.log.propensities import Precision

TOLERANCE = 1e-6
"""How far two probabilities may be apart that are the same; one that is above 1 by no more is 1."""

LOWEST_LOGARITHM = -30
"""The lowest number that is taken for the logarithm of a propensity."""

SCALE = " They look like {}; in files and frames, give the expression {} as `propensity` (--propensity)."
"""What to do with propensities that are on another scale."""

STEPS = 4
"""How many steps two probabilities may be apart that are counted or rounded, of rows that are divided by their sums."""

FIT = 'If none were logged, `propensity="fit"` (--propensity fit) fits them from the context.'
"""What to do without propensities."""

ROUGH = " If they are counted in draws, or rounded, say so: `propensity_precision='1000 draws'` or '3 digits'."
"""What to do with propensities of 0, and rows that do not sum to 1."""


def check_propensity(
    propensity: ArrayLike | None,
    logged: Floats | None,
    rows: int,
    source: str,
    precision: Precision | None,
    check: Checker,
) -> Floats:
    """Return the probability with which each logged action was taken; where it is known twice, both must agree.

    `logged` are those that the probabilities of all actions tell, whose `source` is a role, if these are known.
    """
    if propensity is None and logged is None:
        raise DataError(f"a log must have `logging_probs` or `propensity`, got neither. {FIT}")
    found = logged
    if propensity is not None:
        given, least = round_to_one(check.numbers("propensity", propensity, rows)), validation.SMALLEST_PROPENSITY
        if precision is None:
            hint = ROUGH if given.min(initial=1.0) == 0 else explain_scale(given)
            check.every("propensity", given, (given > 0) & (given <= 1), "in (0, 1]", hint)
            check.every("propensity", given, given >= least, f"at least {least:g} to be true")
        check.every("propensity", given, (given >= 0) & (given <= 1), "in [0, 1]", explain_scale(given))
        if logged is not None:
            slack = TOLERANCE + (0.0 if precision is None else STEPS * precision.step)
            agree = np.abs(given - logged) <= slack
            check.every("propensity", given, agree, f"the logged action's entry of `{source}`")
        found = given if found is None else found
    values: Any = found
    return values if precision is None else validation.freeze(precision.correct(values))


def round_to_one(given: Floats) -> Floats:
    """Return propensities, 1 where they are above it by no more than single precision makes of a softmax."""
    if given.max(initial=0.0) <= 1:
        return given
    return validation.freeze(np.where((given > 1) & (given <= 1 + TOLERANCE), 1.0, given))


def explain_scale(given: Floats) -> str:
    """Return what propensities look like that are none in most rows, and what to do; nothing if nobody knows."""
    low, high = given.min(initial=1.0), given.max(initial=0.0)
    if LOWEST_LOGARITHM <= low < 0 and high <= 0:
        return SCALE.format("logarithms", '"exp(COLUMN)"')
    if low < 0 < high and 2 * np.sum((given < 0) | (given > 1)) > len(given):
        return SCALE.format("logits", '"1 / (1 + exp(-COLUMN))"')
    if low >= 1 and 1 < high <= 100:
        return SCALE.format("percent, or like 1 / probability", '"COLUMN / 100" or "1 / COLUMN"')
    return ""


def take_logged(probs: Floats, codes: Ints, source: str, precision: Precision | None, check: Checker) -> Floats:
    """Return the logged actions' entries of probabilities, which may not be 0 unless they are counted or rounded."""
    logged = validation.freeze(probs[np.arange(len(codes)), codes])
    if precision is None:
        likely, least = logged >= validation.SMALLEST_PROPENSITY, validation.SMALLEST_PROPENSITY
        hint = ROUGH if logged.min(initial=1.0) == 0 else ""
        check.every(source, logged, likely, f"at least {least:g} for the logged action", hint)
    return logged


def refuse_precision(precision: Precision | None, others: Mapping[str, Any]) -> None:
    """Refuse probabilities that are counted or rounded where none are given, or those of several policies are."""
    found = next((name for name, value in others.items() if value is not None), None)
    if precision is not None and found is not None:
        rule = "go with `propensity` or `logging_probs` that are logged"
        got = "fitted ones" if found == "fit" else f"`{found}`"
        raise ParameterError(f"`propensity_precision` must {rule}, got it with {got}.")


def check_kept(kept: ArrayLike, rows: int, check: Checker) -> Floats:
    """Return the probability with which each row was kept."""
    given = check.numbers("kept", kept, rows)
    rule = "in (0, 1], the probability with which the row was kept"
    check.every("kept", given, (given > 0) & (given <= 1), rule)
    least = validation.SMALLEST_PROPENSITY
    check.every("kept", given, given >= least, f"at least {least:g} to be true")
    return given


def order_logging(matrix: Matrix, actions: KnownActions, precision: Precision | None, check: Checker) -> Floats:
    """Return the probabilities of the logging policy, which may be counted or rounded, with one column per action."""
    probs = order_columns("logging_probs", matrix, actions, check, sparse=True)
    probs = probs if precision is None else validation.freeze(precision.even_out(probs))
    check.probabilities("logging_probs", probs, ROUGH)
    return probs


def check_densities(propensity: ArrayLike | None, rows: int, check: Checker) -> Floats:
    """Return the densities with which doses were given; unlike probabilities they may exceed 1."""
    if propensity is None:
        raise DataError("a log of doses must have `propensity`, the probability density of each, got none.")
    given = check.numbers("propensity", propensity, rows)
    least = validation.SMALLEST_PROPENSITY
    check.every("propensity", given, given >= least, f"a probability density of at least {least:g}")
    return given
