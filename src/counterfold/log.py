"""Log: validated logged data, one row per decision."""

from collections.abc import Collection, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from counterfold import checks, log_checks
from counterfold.arrays import Bools, Floats, Ints
from counterfold.checks import WHOLE, Checker, freeze
from counterfold.encoding import ColumnEncoding
from counterfold.errors import DataError, ParameterError
from counterfold.indices import align_rows, choose_index
from counterfold.label_checks import check_labels
from counterfold.labels import KnownActions, encode_labels, find_actions, find_categories
from counterfold.logger_checks import LOGGER_WEIGHTS, Loggers, check_loggers, has_several_loggers
from counterfold.propensities import Decisions, FittedPropensities, PropensityFit, as_fit

Fit = PropensityFit | FittedPropensities
"""Propensities that are to be fitted, or that are fitted on other rows already."""

Kind = Literal["labels", "doses"]
"""What an action is: one of a few labels, or a number such as a price."""

CERTAIN = 1 - 1e-9
"""An action that had this probability or more was the only one that could be taken."""


class Log:
    """What the old policy saw, did and got; checked once, here, and trusted everywhere else.

    Every argument takes a numpy array or anything that turns into one: a list, a pandas or polars column or frame, a
    pyarrow array; the log keeps copies. Give `logging_probs` if you have them, as `propensity` alone leaves some
    estimators out.

    - `context`: one row per decision; without it the reward model knows the action alone. Text and dates of a data
      frame, and missing numbers, are encoded, see the page on context.
    - `action`: labels of any one kind. `actions` lists all labels in the order of the probabilities' columns; by
      default it is the columns' names, an ordered categorical's categories, 0 to A - 1 or 1 to A for whole-number
      labels, or the sorted labels seen. In the last case columns without names are refused: their order is unknown.
    - `dose`: instead of `action`, a number such as a price; `propensity` is then its probability density.
    - `group`: a user or session per row. Splits keep groups together and errors treat a group as one observation.
    - `available`: which actions could be taken in each row (n x A of booleans).
    - `action_features`: numbers that describe each action (A x k), in the order of `actions` or by label.
    - `logger`, `logger_probs`: which of several policies took each decision, and by label the probabilities (n x A)
      that each of them gives in every row, whoever decided there. `logging_probs` follow from them: those of all
      loggers mixed by how often each decided (`logger_weights="balanced"`), or the row's own logger's ("own").
    - `propensity="fit"`: nobody logged any, and they are fitted from the context; see the page on propensities.
    - `check`, `seen`, `logger_shares`, `index`: for a log that is a part of a longer one, how its rows and columns are
      named in errors, which actions the longer one ever took and how often each logger decided there; and the index of
      the pandas frame that a log was read from.
      `named_context` says whether somebody chose the columns of the context; `evaluate` leaves out those that are none
      if nobody did.

    Rows of pandas frames and columns belong together by their index: in another order they are put in that of the
    actions or doses, and with another index they are refused. Everything else goes by position.

    >>> import counterfold as cf
    >>> cf.Log(action=["a", "b", "a"], reward=[1.0, 0.0, 0.5], propensity=[0.5, 0.5, 0.8])
    Log(3 rows, 2 actions, 0 context columns, propensities only)
    >>> cf.Log(dose=[9.9, 12.5, 11.0], reward=[1.0, 0.0, 0.5], propensity=[0.1, 0.3, 0.2])
    Log(3 rows, doses from 9.9 to 12.5, 0 context columns, propensities only)
    """

    reward: Floats
    propensity: Floats
    context: Floats
    context_names: tuple[str, ...]
    context_sources: tuple[str, ...]
    encodings: Mapping[str, ColumnEncoding]
    action: Ints
    known_actions: KnownActions = KnownActions((), is_ordered=False)
    index: Any
    dose: Floats | None = None
    group: Ints | None
    available: Bools | None = None
    logging_probs: Floats | None = None
    loggers: Loggers | None = None
    logger_shares: Floats | None = None
    action_features: Floats | None = None
    fitted: FittedPropensities | None = None
    units: Ints | None = None
    row_numbers: Ints | None
    seen: Bools | None
    named_context: bool
    left_out: Mapping[str, str] = MappingProxyType({})
    notes: Sequence[tuple[str, str]] = ()

    def __init__(  # noqa: PLR0913 (a log has many columns)
        self,
        *,
        reward: ArrayLike,
        action: ArrayLike | None = None,
        context: ArrayLike | None = None,
        logging_probs: ArrayLike | None = None,
        propensity: ArrayLike | PropensityFit | FittedPropensities | None = None,
        group: ArrayLike | None = None,
        available: ArrayLike | None = None,
        actions: Sequence[Any] | KnownActions | None = None,
        action_features: ArrayLike | Mapping[Any, ArrayLike] | None = None,
        logger: ArrayLike | None = None,
        logger_probs: Mapping[Any, ArrayLike] | None = None,
        dose: ArrayLike | None = None,
        check: Checker = WHOLE,
        seen: Bools | None = None,
        index: Any = None,
        named_context: bool = True,
        logger_weights: str = "balanced",
        logger_shares: Mapping[str, float] | None = None,
    ) -> None:
        """Check every argument and keep what the estimators need."""
        self.named_context = named_context
        fit = propensity if isinstance(propensity, FittedPropensities) else as_fit(propensity)
        propensity = propensity if fit is None else None
        by_row = {"action": action, "dose": dose, "reward": reward, "context": context, "propensity": propensity}
        by_row |= {"group": group, "logger": logger, "available": available, "logging_probs": logging_probs}
        self.index = choose_index(by_row.values()) if index is None else index
        given = {name: align_rows(name, value, self.index, check) for name, value in by_row.items()}
        self.reward = log_checks.check_rewards(given["reward"], check)
        context = log_checks.check_context(given["context"], len(self), check)
        self.context, self.context_names, self.context_sources, self.encodings = context.fields
        self.group = None if group is None else log_checks.check_groups(given["group"], len(self), check)
        self.action = np.zeros(len(self), dtype=np.intp)
        self.row_numbers, self.seen = check.row_numbers, seen
        if dose is not None:
            refused = given | {"actions": actions, "action_features": action_features, "logger_probs": logger_probs}
            log_checks.refuse_beside_doses(refused)
            if fit is not None:
                raise ParameterError("`propensity` must be densities for a log of doses, which cannot be fitted.")
            self.dose = log_checks.check_doses(given["dose"], len(self), check)
            self.propensity = log_checks.check_densities(given["propensity"], len(self), check)
        else:
            if isinstance(logger_probs, Mapping):
                several = logger_probs.items()
                logger_probs = {key: align_rows("logger_probs", one, self.index, check) for key, one in several}
            self._know_actions(given, actions, logger_probs, fit, check)
            self._mix_loggers(logger_weights, logger_shares)
            if action_features is not None:
                self.action_features = log_checks.check_action_features(action_features, self.actions)
        if not check.is_part:
            log_checks.refuse_copies(self.reward, self.propensity, len(self), check)

    def _know_actions(
        self, given: Mapping[str, Any], actions: Any, logger_probs: Any, fit: Fit | None, check: Checker
    ) -> None:
        """Find all actions, from the labels and from whatever has a column for each, and what was logged of them."""
        if given["action"] is None:
            raise DataError("a log must have `action` or `dose`, got neither.")
        labels = check_labels("action", given["action"], len(self), check)
        several = has_several_loggers(given["logger"], logger_probs, check)
        probs, source = given["logging_probs"], "logger_probs" if several else "logging_probs"
        shown = [("logging_probs", probs), *(("logger_probs", one) for one in (logger_probs or {}).values())]
        matrices = [log_checks.check_matrix(name, one, len(self), check) for name, one in shown if one is not None]
        naming = log_checks.find_naming(matrices, find_categories(given["action"]))
        self.known_actions = find_actions(labels, actions, naming, check)
        self.action = encode_labels("action", labels, self.actions, check)
        if probs is not None:
            self.logging_probs = log_checks.order_policy("logging_probs", matrices[0], self.known_actions, check)
        if several:
            loggers = given["logger"], logger_probs, len(self)
            self._know_loggers(check_loggers(*loggers, self.known_actions, check), check)
        self.available = log_checks.check_availability(given["available"], self.action, self.known_actions, check)
        if self.logging_probs is not None and self.available is not None:
            allowed = self.available | (self.logging_probs == 0)
            check.every("logging_probs", self.logging_probs, allowed, "0 where an action is not `available`")
        if fit is not None:
            self.units = log_checks.identify_units(given["group"], len(self), check)
            self.fit_propensities(fit)
            return
        known = self.logging_probs
        self.propensity = log_checks.check_propensity(given["propensity"], known, self.action, source, check)

    def fit_propensities(self, fit: Fit, without: Collection[str] = ()) -> None:
        """Fit the logging policy on the context, unless that was done before, and predict it in every row.

        It is fitted `without` some columns of the context, if these are none.
        """
        if self.logging_probs is not None:
            what = "`logger_probs`" if self.loggers is not None else "`logging_probs`"
            way = "leave `propensity` away, or give the log without these"
            raise ParameterError(f"`propensity` must not be fitted where there are {what}, which tell it; {way}.")
        units: Any = self.units
        if isinstance(fit, PropensityFit):
            places = np.array([at for at, one in enumerate(self.context_sources) if one not in without], dtype=np.intp)
            seen = self.context[:, places]
            fit = fit.fit(Decisions(seen, self.action, units, len(self.actions), self.available))
            fit = replace(fit, places=places) if without else fit
        probs = fit.predict(self.context, units, self.available)
        self.fitted, self.logging_probs = fit, freeze(probs)
        self.propensity = freeze(probs[np.arange(len(self)), self.action])

    def _know_loggers(self, loggers: Loggers, check: Checker) -> None:
        """Keep several loggers, with whose probabilities those of the log must agree if both are given."""
        given, self.loggers, self.logging_probs = self.logging_probs, loggers, loggers.own
        if given is not None:
            agree = np.abs(given - self.logging_probs) <= log_checks.PROPENSITY_TOLERANCE
            check.every("logging_probs", given, agree, "those of the row's own logger in `logger_probs`")

    def _mix_loggers(self, weights: str, shares: Mapping[str, float] | None) -> None:
        """Weigh rows as if any of several loggers might have decided there, each with its share of the log."""
        checks.one_of(LOGGER_WEIGHTS, logger_weights=weights)
        if self.loggers is None or weights != "balanced":
            return
        self.logger_shares = self.loggers.find_shares(shares)
        self.logging_probs = freeze(np.einsum("l,lna->na", self.logger_shares, self.loggers.probs))
        self.propensity = freeze(self.logging_probs[np.arange(len(self)), self.action])

    @property
    def actions(self) -> tuple[Any, ...]:
        """Return the labels of all actions, in the order of the columns of every matrix."""
        return self.known_actions.labels

    @property
    def drawn_probs(self) -> Floats | None:
        """Return the probabilities with which the logger of each row drew its action (n x A), if they are known."""
        return self.logging_probs if self.loggers is None else self.loggers.own

    def leave_out(self, reasons: Mapping[str, str]) -> "Log":
        """Return the same log without some columns of its context, and with the reason for each of them."""
        kept = [place for place, source in enumerate(self.context_sources) if source not in reasons]
        log = copy(self)
        if len(kept) < len(self.context_names):
            log.context = freeze(np.ascontiguousarray(self.context[:, kept]))
            log.context_names = tuple(self.context_names[place] for place in kept)
            log.context_sources = tuple(self.context_sources[place] for place in kept)
        log.left_out = {**self.left_out, **reasons}
        return log.refit() if self.fitted is not None and len(kept) < len(self.context_names) else log

    def refit(self, without: Collection[str] = ()) -> "Log":
        """Return the same log with propensities that are fitted anew, without some columns of the context."""
        log = copy(self)
        if self.fitted is not None:
            log.logging_probs = None
            log.fit_propensities(self.fitted.wish, without)
        return log

    def add_notes(self, notes: Sequence[tuple[str, str]]) -> "Log":
        """Return the same log with more to be said of how its rows were made: what was done, and what to do."""
        log = copy(self)
        log.notes = (*self.notes, *notes)
        return log

    def __len__(self) -> int:
        return len(self.reward)

    def __repr__(self) -> str:
        known = "propensities only" if self.logging_probs is None else "full logging probabilities"
        return f"Log({len(self)} rows, {self.choices}, {self.context.shape[1]} context columns, {known})"

    @property
    def kind(self) -> Kind:
        """Return what an action is here."""
        return "labels" if self.dose is None else "doses"

    @property
    def choices(self) -> str:
        """Say in a few words what could be done."""
        if self.dose is None:
            return f"{len(self.actions)} actions"
        return f"doses from {self.dose.min():g} to {self.dose.max():g}"

    @cached_property
    def supports_all(self) -> bool:
        """Return whether the log could have taken every action in every row."""
        return bool(self.supported.all())

    @cached_property
    def supported(self) -> Bools:
        """Return which actions the log could have taken in each row (n x A), as far as the log tells."""
        possible = self._possible
        if not self.is_certain.any():
            return possible
        own = np.arange(len(self.actions)) == self.action[:, None]
        return np.asarray(np.where(self.is_certain[:, None], own, possible))

    @property
    def is_certain(self) -> Bools:
        """Return in which rows the logged action had probability 1, so that nothing else was ever tried there."""
        return np.asarray((self.propensity >= CERTAIN) & (self.kind == "labels"))

    @property
    def _possible(self) -> Bools:
        """Return which actions might have been taken (n x A), whatever the propensities say."""
        if self.logging_probs is not None:
            return np.asarray(self.logging_probs > (0 if self.fitted is None else self.fitted.least))
        if self.available is not None:
            return self.available
        seen = np.bincount(self.action, minlength=len(self.actions)) > 0 if self.seen is None else self.seen
        return np.broadcast_to(seen, (len(self), len(self.actions)))
