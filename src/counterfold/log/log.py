"""Log: validated logged data, one row per decision."""

from collections.abc import Collection, Mapping, Sequence
from copy import copy
from dataclasses import replace
from types import MappingProxyType
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from counterfold.base import validation
from counterfold.base.arrays import Bools, Floats, Ints
from counterfold.base.cached import cached_property
from counterfold.base.display import Displayed
from counterfold.base.errors import DataError, ParameterError
from counterfold.base.hashing import add_hashes, drop_last_bits, hash_labels, hash_rows, rank_rows, thin_rows
from counterfold.base.per_row import ByRow, take_each, take_fields, take_marked
from counterfold.base.validation import WHOLE, Checker, freeze
from counterfold.log import log_checks, propensity_checks
from counterfold.log.encoding import ColumnEncoding
from counterfold.log.facts import LogFacts
from counterfold.log.indices import align_rows, align_several, choose_index
from counterfold.log.known_actions import KnownActions, find_actions, find_categories
from counterfold.log.label_checks import check_labels
from counterfold.log.logger_checks import LOGGER_WEIGHTS, Loggers, check_loggers, has_several_loggers
from counterfold.log.missing_rewards import MissingRewards
from counterfold.log.propensities import Decisions, FittedPropensities, Precision, PropensityFit, as_fit, as_precision
from counterfold.log.segments.segmentation import Segmentation, read_segments, take_segments
from counterfold.log.skewed_columns import MOST_RANKED, SkewedColumns
from counterfold.log.times import Times, read_times

Fit = PropensityFit | FittedPropensities
"""Propensities that are to be fitted, or that are fitted on other rows already."""

Kind = Literal["labels", "doses"]
"""What an action is: one of a few labels, or a number such as a price."""


class Log(Displayed):
    """What the old policy saw, did and got; checked once, here, and trusted everywhere else.

    Every argument takes a numpy array or anything that turns into one: a list, a pandas or polars column or frame, a
    pyarrow array; the log keeps copies. Give `logging_probs` if you have them, as some estimators need them.

    - `context`: one row per decision, without which the reward model knows the action alone; see the page on context.
    - `action`: labels of any one kind. `actions` lists all labels in the order of the probabilities' columns; by
      default it is the columns' names, an ordered categorical's categories, 0 to A - 1 or 1 to A for whole-number
      labels, or the sorted labels seen. In the last case columns without names are refused: their order is unknown.
    - `dose`: instead of `action`, a number such as a price; `propensity` is then its probability density.
    - `group`: a user or session per row. Splits keep groups together and errors treat a group as one observation.
    - `time`: when each decision was made, in any order: dates, timestamps, ISO text or numbers.
    - `available`: which actions could be taken in each row (n x A of booleans).
    - `action_features`: numbers that describe each action (A x k), in the order of `actions` or by label.
    - `logger`, `logger_probs`: which of several policies took each decision, and by label the probabilities (n x A)
      that each of them gives in every row, whoever decided there. `logging_probs` follow from them: those of all
      loggers mixed by how often each decided (`logger_weights="balanced"`), or the row's own logger's ("own").
    - `kept`: the probability with which each row was kept, if not all were: it stands for 1 / `kept` decisions.
    - `by`: columns by name whose values are segments, each answered for itself; "age:5" cuts numbers into five parts.
    - `propensity="fit"`: nobody logged any, and they are fitted from the context; see the page on propensities.
    - `propensity_precision`: "1000 draws" if probabilities are shares of draws, "3 digits" or "float16" if rounded.
    - The rest is for logs that are read from tables, which may be parts of a longer one.

    Rows of pandas belong together by their index: in another order they are put in that of the actions or doses, and
    with another index they are refused. Everything else goes by position.

    >>> import counterfold as cf
    >>> cf.Log(action=["a", "b", "a"], reward=[1.0, 0.0, 0.5], propensity=[0.5, 0.5, 0.8])
    Log(3 rows, 2 actions, 0 context columns, propensities only)
    """

    reward: Annotated[Floats, ByRow()]
    propensity: Annotated[Floats, ByRow()]
    context: Annotated[Floats, ByRow()]
    context_names: tuple[str, ...]
    context_sources: tuple[str, ...]
    encodings: Mapping[str, ColumnEncoding]
    action: Annotated[Ints, ByRow()]
    known_actions: KnownActions = KnownActions((), is_ordered=False)
    index: Any
    dose: Annotated[Floats | None, ByRow()] = None
    group: Annotated[Ints | None, ByRow()]
    by_context: bool = False
    available: Annotated[Bools | None, ByRow()] = None
    logging_probs: Annotated[Floats | None, ByRow()] = None
    loggers: Annotated[Loggers | None, ByRow(take_marked)] = None
    logger_shares: Floats | None = None
    action_features: Floats | None = None
    fitted: FittedPropensities | None = None
    units: Annotated[Ints | None, ByRow()] = None
    precision: Precision | None
    kept: Annotated[Floats | None, ByRow()]
    least_kept: float
    time: Annotated[Times | None, ByRow(take_marked)] = None
    row_numbers: Annotated[Ints | None, ByRow()]
    seen: Bools | None
    named_context: bool
    left_out: Mapping[str, str] = MappingProxyType({})
    notes: Sequence[tuple[str, str]] = ()
    missing_rewards: MissingRewards | None = None
    taken: Mapping[str, str] = MappingProxyType({})
    identifiers: Annotated[Mapping[str, Ints], ByRow(take_each)] = MappingProxyType({})
    repeated: Mapping[str, bool] = MappingProxyType({})
    segments: Annotated[tuple[Segmentation, ...], ByRow(take_segments)]

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
        kept: ArrayLike | None = None,
        check: Checker = WHOLE,
        seen: Bools | None = None,
        index: Any = None,
        named_context: bool = True,
        propensity_precision: str | Precision | None = None,
        logger_weights: str = "balanced",
        logger_shares: Mapping[str, float] | None = None,
        least_kept: float | None = None,
        time: ArrayLike | Times | None = None,
        by: Mapping[str, ArrayLike] | tuple[Segmentation, ...] | None = None,
        facts: LogFacts | None = None,
    ) -> None:
        """Check every argument and keep what the estimators need."""
        self.named_context, self.precision = named_context, as_precision(propensity_precision)
        fit = propensity if isinstance(propensity, FittedPropensities) else as_fit(propensity)
        propensity_checks.refuse_precision(self.precision, {"fit": fit, "dose": dose, "logger_probs": logger_probs})
        by_row: dict[str, Any] = {"action": action, "dose": dose, "reward": reward, "context": context, "group": group}
        by_row |= {"propensity": propensity if fit is None else None, "logging_probs": logging_probs}
        by_row |= {"logger": logger, "available": available, "kept": kept}
        self.index = choose_index(by_row.values()) if index is None else index
        given = {name: align_rows(name, value, self.index, check) for name, value in by_row.items()}
        self.reward = log_checks.check_rewards(given["reward"], check)
        context = log_checks.check_context(given["context"], len(self), check)
        self.context, self.context_names, self.context_sources, self.encodings = context.fields
        self.group = None if group is None else log_checks.check_groups(given["group"], len(self), check)
        self._know_kept(given["kept"], least_kept, check)
        self.time = read_times(align_rows("time", time, self.index, check), len(self), check)
        self.segments = read_segments(by, len(self), self.index, check)
        self.row_numbers, self.seen, self.action = check.row_numbers, seen, np.zeros(len(self), dtype=np.intp)
        if dose is not None:
            refused = given | {"actions": actions, "action_features": action_features, "logger_probs": logger_probs}
            log_checks.refuse_beside_doses(refused)
            self._know_doses(given, fit, check)
        else:
            logger_probs = align_several("logger_probs", logger_probs, self.index, check)
            self._know_actions(given, actions, logger_probs, fit, check)
            self._mix_loggers(logger_weights, logger_shares)
            if action_features is not None:
                self.action_features = log_checks.check_action_features(action_features, self.actions)
        if check.is_part:
            self.row_units = np.asarray(check.row_numbers)  # folds go by the places in the longer log
        else:
            log_checks.refuse_copies(self.reward, self.propensity, len(self), check)
        if facts is not None:
            self._keep_facts(facts)

    def _keep_facts(self, facts: LogFacts) -> None:
        """Keep what is known of the table that the rows were read from."""
        self.left_out = facts.left_out
        self.notes = tuple(facts.notes)
        self.taken = facts.taken
        self.missing_rewards = facts.missing_rewards
        self.by_context = facts.by_context
        self.identifiers = facts.identifiers
        self.repeated = facts.repeated
        if facts.skewed is not None:
            self.skewed = facts.skewed
        if facts.action_features is not None:
            described = facts.action_features.read(self.actions)
            self.notes = (*self.notes, *described.notes)
            self.action_features = log_checks.check_action_features(described.values, self.actions)

    def _know_doses(self, given: Mapping[str, Any], fit: Fit | None, check: Checker) -> None:
        """Keep doses and their densities."""
        if fit is not None:
            raise ParameterError("`propensity` must be densities for a log of doses, which cannot be fitted.")
        self.dose = log_checks.check_doses(given["dose"], len(self), check)
        self.propensity = propensity_checks.check_densities(given["propensity"], len(self), check)

    def _know_kept(self, kept: Any, least: float | None, check: Checker) -> None:
        """Keep how likely each row was to be kept; if all were equally likely, they count the same."""
        given = None if kept is None else propensity_checks.check_kept(kept, len(self), check)
        self.kept = None if given is None or (not check.is_part and given.min() == given.max()) else given
        self.least_kept = (1.0 if given is None else float(given.min())) if least is None else least

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
        self.action = self.known_actions.encode(labels, check)
        if probs is not None:
            self.logging_probs = propensity_checks.order_logging(matrices[0], self.known_actions, self.precision, check)
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
        probs, precision, codes = self.logging_probs, self.precision, self.action
        logged = None if probs is None else propensity_checks.take_logged(probs, codes, source, precision, check)
        known = given["propensity"], logged, len(self), source, precision
        self.propensity = propensity_checks.check_propensity(*known, check)

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
            decisions = Decisions(self.context[:, places], self.action, units, len(self.actions), self.available)
            fit = fit.fit(decisions if self.kept is None else decisions.take(self.list_evenly_kept()))
            fit = replace(fit, places=places) if without else fit
        probs = fit.predict(self.context, units, self.available)
        self.fitted, self.logging_probs = fit, freeze(probs)
        self.propensity = freeze(probs[np.arange(len(self)), self.action])

    def _know_loggers(self, loggers: Loggers, check: Checker) -> None:
        """Keep several loggers, with whose probabilities those of the log must agree if both are given."""
        given, self.loggers, self.logging_probs = self.logging_probs, loggers, loggers.own
        if given is not None:
            agree = np.abs(given - self.logging_probs) <= propensity_checks.TOLERANCE
            check.every("logging_probs", given, agree, "those of the row's own logger in `logger_probs`")

    def _mix_loggers(self, weights: str, shares: Mapping[str, float] | None) -> None:
        """Weigh rows as if any of several loggers might have decided there, each with its share of the log."""
        validation.one_of(LOGGER_WEIGHTS, logger_weights=weights)
        if self.loggers is None or weights != "balanced":
            return
        self.logger_shares = self.loggers.find_shares(shares, self.counts)
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

    def take(self, index: Ints) -> "Log":
        """Return some rows as a log of their own, which knows nothing of the other rows.

        Rows keep their numbers in the whole log, and so their folds.

        >>> log = Log(action=["a", "b", "a"], reward=[1.0, 0.0, 0.5], propensity=[0.5, 0.5, 0.8])
        >>> rows = log.take(np.array([0, 2]))
        >>> rows, rows.reward
        (Log(2 rows, 2 actions, 0 context columns, propensities only), array([1. , 0.5]))
        """
        log = Log.__new__(Log)  # not `Log(...)`, because these rows are checked already
        for name, value in take_fields(self, index).items():
            setattr(log, name, value)
        if self.row_numbers is None:
            log.row_numbers = index
        log.index = None  # the index of pandas is that of all rows
        return log

    def leave_out(self, reasons: Mapping[str, str]) -> "Log":
        """Return the same log without some columns of its context, and with the reason for each of them."""
        kept = [place for place, source in enumerate(self.context_sources) if source not in reasons]
        # Engines that read in batches know rows by all columns, as they leave some out later. Where propensities are
        # fitted, they leave them out before.
        if len(kept) < len(self.context_names) and self.fitted is None:
            _ = self.row_units
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

    def group_by_context(self, groups: Ints) -> "Log":
        """Return the same log, whose groups are rows of one context each; fitted propensities are fitted anew."""
        log = copy(self)
        log.group = freeze(groups)
        log.by_context = True
        if self.fitted is None:
            return log
        log.units = log.group
        return log.refit()

    def add_notes(self, notes: Sequence[tuple[str, str]]) -> "Log":
        """Return the same log with more to be said of how its rows were made: what was done, and what to do."""
        log = copy(self)
        log.notes = (*self.notes, *notes)
        return log

    @cached_property
    def counts(self) -> Floats | None:
        """Return how many decisions each row stands for, if not all stand for the same number."""
        return None if self.kept is None else freeze(1 / self.kept)

    @cached_property
    def skewed(self) -> SkewedColumns:
        """Return the skewed columns of the context, as all rows tell."""
        numbers = np.arange(len(self)) if self.row_numbers is None else self.row_numbers
        return SkewedColumns.of(self.context, self.context_names, numbers)

    @property
    def normal_scores(self) -> Floats | None:
        """Return the context with normal scores in place of skewed columns; nothing where there are none."""
        return self.skewed.apply(self.context, self.context_names)

    @property
    def content_keys(self) -> Ints:
        """Return a hash of what each row holds besides the reward, so that a row has no say in its own fold."""
        columns: list[Floats | Ints] = [add_hashes(self.context)]
        if self.dose is None:
            labels = np.array([str(label) for label in self.actions], dtype=object)  # numbers are those of a batch
            columns.append(hash_labels(labels)[self.action])
        else:
            columns.append(self.dose)
        if self.fitted is None and self.loggers is None:  # else propensities are computed, not the same everywhere
            columns.append(self.propensity)
        return hash_rows([columns[0], *map(drop_last_bits, columns[1:])])

    @cached_property
    def row_units(self) -> Ints:
        """Return the number of each row by which it falls into a fold, where rows do not belong to groups.

        Up to `MOST_RANKED` rows it is the rank of what the row holds, so that the answer does not depend on the order
        of the rows. Rows that differ by nothing but their rewards keep their order: several rewards of a log have the
        same folds, so that their errors can be paired. In longer logs it is the place of the row.
        """
        if len(self) <= MOST_RANKED:
            return freeze(rank_rows(self.content_keys))
        return freeze(np.arange(len(self))) if self.row_numbers is None else self.row_numbers

    def list_evenly_kept(self) -> Ints:
        """Return the places of some rows, drawn as if all were kept as seldom as the least likely one."""
        shares = np.ones(len(self)) if self.kept is None else self.least_kept / self.kept
        return np.flatnonzero(thin_rows(np.arange(len(self)) if self.row_numbers is None else self.row_numbers, shares))

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
        doses = self.dose
        return f"{len(self.actions)} actions" if doses is None else f"doses from {doses.min():g} to {doses.max():g}"
