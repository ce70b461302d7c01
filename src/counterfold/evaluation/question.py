"""Question: what is asked of a log, resolved from names to objects as far as the log itself need not be known."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from counterfold import checks, registry
from counterfold.errors import ParameterError
from counterfold.estimates import resolve_interval
from counterfold.estimators.base import Estimator
from counterfold.evaluation.candidates import Offer, Wanted, gather_candidates, resolve_candidates
from counterfold.evaluation.logged_value import LoggedValue
from counterfold.intervals.base import Interval
from counterfold.log import Kind
from counterfold.rows import NEEDS, Rows
from counterfold.selectors.base import Selector

SELECTORS: dict[Kind, str] = {"labels": "ladder", "doses": "ocv"}
"""The selector for each kind of action, where the user does not say."""


@dataclass(frozen=True, eq=False)
class Choice:
    """The candidates that apply to one target, by name; why others do not; and the selector that chooses."""

    estimators: dict[str, Estimator]
    left_out: dict[str, str]
    selector: Selector

    @property
    def candidates(self) -> list[Estimator]:
        """Return the candidates in their order."""
        return list(self.estimators.values())

    @property
    def needed(self) -> list[Estimator]:
        """Return what evidence must know to choose and to compare: candidates, what judges them, and the log."""
        return list(dict.fromkeys([*self.candidates, *self.selector.witnesses, LoggedValue()]))


@dataclass(frozen=True, eq=False)
class Question:
    """What is asked of a log, whatever the engine.

    Candidates depend on what an action is. `selector` is None if the user named none; the kind of action then decides.
    A reward model that is given by name is built once the kind of action is known.
    """

    candidates: Mapping[Kind, Sequence[Offer]]
    selector: Selector | None
    reward_model: Any
    seed: int
    level: float
    interval: Interval

    @classmethod
    def of(
        cls,
        candidates: Wanted | Sequence[Wanted] = "default",
        selector: Selector | str = "default",
        reward_model: Any = "default",
        seed: int = 0,
        level: float = 0.95,
        interval: Interval | str = "student-t",
    ) -> "Question":
        """Return the question that the arguments of `evaluate` ask, or say which of them is wrong."""
        checks.inside(0, 1, level=level)
        checks.whole(0, seed=seed)
        method = resolve_interval(interval, "interval")
        chosen = None if isinstance(selector, str) and selector == "default" else resolve_selector(selector)
        offers: dict[Kind, list[Offer]] = {kind: resolve_candidates(candidates, kind) for kind in get_args(Kind)}
        return cls(offers, chosen, reward_model, int(seed), level, method)

    @property
    def needs_sample(self) -> bool:
        """Say whether the candidates or the selector must see rows of a large log before it is summed up."""
        has_grids = any(isinstance(one, type) and one.has_grid() for one in self.candidates["labels"])
        return has_grids or self.selector_for("labels").needs_sample

    def selector_for(self, kind: Kind) -> Selector:
        """Return the selector, or the usual one for such actions."""
        return resolve_selector(SELECTORS[kind]) if self.selector is None else self.selector

    def refuse_need_of_rows(self) -> None:
        """Refuse a selector that needs all rows, which is for logs of labels: doses need them anyway."""
        selector = self.selector_for("labels")
        if "all_rows" in selector.needs:
            raise ParameterError(f"the selector {type(selector).__name__} {NEEDS['all_rows']}.")

    def resolve(self, rows: Rows) -> Choice:
        """Return who competes on the rows of one target, and who chooses."""
        selector = self.selector_for(rows.kind)
        reason = rows.explain_lack(selector.needs, selector.kinds)
        if reason:
            raise ParameterError(f"the selector {type(selector).__name__} {reason}.")
        selector = selector.resolve(rows)
        selector = selector if rows.all_rows else selector.without_refits()
        return Choice(*gather_candidates(self.candidates[rows.kind], rows, selector.extend_grid), selector)


def resolve_selector(value: Selector | str) -> Selector:
    """Return a selector from one or from its name."""
    built = registry.build("selectors", value) if isinstance(value, str) else value
    if not isinstance(built, Selector):
        raise ParameterError(f"`selector` must be one or the name of one, got {value!r}.")
    return built


def resolve_estimator(value: Estimator | str) -> Estimator:
    """Return an estimator from one or from its name."""
    built = registry.build("estimators", value) if isinstance(value, str) else value
    if not isinstance(built, Estimator):
        raise ParameterError(f"`estimator` must be one or the name of one, got {value!r}.")
    return built
