"""Question: what is asked of a log, resolved from names to objects as far as the log itself need not be known."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from counterfold import intervals
from counterfold.base import messages, registry, validation
from counterfold.base.errors import ParameterError
from counterfold.estimators.base import Estimator, LoggedValue
from counterfold.estimators.needs import NEEDS
from counterfold.estimators.rows import Rows
from counterfold.estimators.unseen_rewards import Limits
from counterfold.evaluation.candidates import Offer, Wanted, gather_candidates, resolve_candidates
from counterfold.intervals.base import Interval
from counterfold.log.log import Kind
from counterfold.selectors.base import Selector

SELECTORS: dict[Kind, str] = {"labels": "ladder", "doses": "ocv"}
"""The selector for each kind of action, where the user does not say."""


@dataclass(frozen=True, eq=False)
class Choice:
    """The candidates that apply to one target, by name; why others do not; and the selector that chooses.

    `is_settled` says that the user named one estimator and no selector, so that there is nothing to choose.
    """

    estimators: dict[str, Estimator]
    left_out: dict[str, str]
    selector: Selector
    is_settled: bool = False

    @property
    def candidates(self) -> list[Estimator]:
        """Return the candidates in their order."""
        return list(self.estimators.values())

    @property
    def required_estimators(self) -> list[Estimator]:
        """Return what evidence must know to choose and to compare: candidates, what judges them, and the log."""
        return list(dict.fromkeys([*self.candidates, *self.selector.witnesses, LoggedValue()]))

    @property
    def answers_segments(self) -> bool:
        """Say whether the selector chooses anew in every segment, and does not take the answer of the whole log."""
        return self.selector.answers_segments(self.candidates)

    @property
    def segmented_estimators(self) -> list[Estimator]:
        """Return what evidence must know of every segment: what is chosen among, or judged by, and the log."""
        several = self.selector.witnesses if self.answers_segments else self.candidates
        return list(dict.fromkeys([*several, LoggedValue()]))


@dataclass(frozen=True, eq=False)
class Question:
    """What is asked of a log, whatever the engine.

    Candidates depend on what an action is. `selector` is None if the user named none; the kind of action then decides.
    A reward model that is given by name is built once the kind of action is known. `reward_range` are the least and the
    largest possible reward, if the user knows them.
    """

    candidates: Mapping[Kind, Sequence[Offer]]
    selector: Selector | None
    reward_model: Any
    seed: int
    level: float
    interval: Interval
    reward_range: Limits | None = None

    @classmethod
    def of(
        cls,
        candidates: Wanted | Sequence[Wanted] = "default",
        selector: Selector | str = "default",
        reward_model: Any = "default",
        seed: int = 0,
        level: float = 0.95,
        interval: Interval | str = intervals.DEFAULT,
        reward_range: Any = None,
    ) -> "Question":
        """Return the question that the arguments of `evaluate` ask, or say which of them is wrong."""
        validation.inside(0, 1, level=level)
        validation.seeds(seed=seed)
        method = registry.resolve("intervals", Interval, interval, "`interval` must be an interval")
        is_default = isinstance(selector, str) and selector == "default"
        chosen = None if is_default else registry.resolve("selectors", Selector, selector, "`selector` must be one")
        offers: dict[Kind, list[Offer]] = {kind: resolve_candidates(candidates, kind) for kind in get_args(Kind)}
        return cls(offers, chosen, reward_model, int(seed), level, method, as_limits(reward_range))

    @property
    def needs_sample(self) -> bool:
        """Say whether the candidates or the selector must see rows of a large log before it is summed up."""
        if self.is_settled_for("labels"):
            return False
        has_grids = any(isinstance(one, type) and one.has_grid() for one in self.candidates["labels"])
        return has_grids or self.selector_for("labels").needs_sample

    def is_settled_for(self, kind: Kind) -> bool:
        """Say whether the user named one estimator and no selector: then nothing is left to choose."""
        offers = self.candidates[kind]
        if self.selector is not None or len(offers) != 1:
            return False
        offer = offers[0]
        return isinstance(offer, Estimator) or not offer.has_grid()

    @property
    def needed_reward_model(self) -> Any:
        """Return the reward model, or None where the user named neither one nor an estimator that uses one.

        On a log of doses the second opinion uses one, whatever the candidate.
        """
        is_default = isinstance(self.reward_model, str) and self.reward_model == "default"
        if not is_default or not self.is_settled_for("labels"):
            return self.reward_model
        offer = self.candidates["labels"][0]
        is_needed = uses_model(offer) or "doses" in offer.kinds
        return self.reward_model if is_needed else None

    def selector_for(self, kind: Kind) -> Selector:
        """Return the selector, or the usual one for such actions."""
        return registry.find("selectors", SELECTORS[kind])() if self.selector is None else self.selector

    def refuse_need_of_rows(self) -> None:
        """Refuse a selector that needs all rows; engines that have only sums read logs of labels, never of doses."""
        selector = self.selector_for("labels")
        if "all_rows" in selector.needs:
            raise ParameterError(f"the selector {type(selector).__name__} {NEEDS['all_rows']}.")

    def resolve(self, rows: Rows) -> Choice:
        """Return who competes on the rows of one target, and who chooses."""
        selector = self.selector_for(rows.kind)
        if self.is_settled_for(rows.kind):
            found, left_out = gather_candidates(self.candidates[rows.kind], rows, selector.extend_grid)
            return Choice(found, left_out, selector, is_settled=True)
        reason = rows.explain_lack(selector.needs, selector.kinds)
        if reason:
            raise ParameterError(f"the selector {type(selector).__name__} {reason}.")
        selector = selector.resolve(rows)
        selector = selector if rows.all_rows else selector.without_refits()
        return Choice(*gather_candidates(self.candidates[rows.kind], rows, selector.extend_grid), selector)


def uses_model(offer: Offer) -> bool:
    """Say whether an estimator, or all of a class, need predicted rewards."""
    return offer.uses("model") if isinstance(offer, Estimator) else "model" in offer.needs


def as_limits(value: Any) -> Limits | None:
    """Return the least and the largest possible reward, if they are given."""
    if value is None:
        return None
    try:
        low, high = map(float, value)
    except (TypeError, ValueError, OverflowError):
        low, high = math.nan, math.nan
    if not low < high:  # nor if one is NaN
        wanted = "the least and the largest possible reward, in this order"
        raise ParameterError(f"`reward_range` must be {wanted}, got {messages.shorten(value)}.")
    return low, high
