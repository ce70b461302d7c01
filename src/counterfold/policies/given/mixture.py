"""Mixture: one of several policies, drawn anew for every decision."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any

from counterfold.base import validation
from counterfold.base.arrays import Floats
from counterfold.base.cached import cached_property
from counterfold.base.errors import ParameterError
from counterfold.base.validation import Checker
from counterfold.log.log import Log
from counterfold.policies.given.base import Reads, Target, TargetForm

TOLERANCE = 1e-9
"""How far from 1 the sum of shares may be, for rounding alone."""


@dataclass(frozen=True, eq=False)
class Mixture(TargetForm):
    r"""The policy that follows one of several, drawn with known shares for every decision.

    $$\pi(a \mid x_i) = \sum_k c_k \, \pi_k(a \mid x_i)$$

    `parts` are pairs of a share and whatever may be a target. An epsilon-greedy policy is `0.1 * cf.Uniform() + 0.9 *
    cf.Greedy("score")`, which makes such a mixture.

    >>> import counterfold as cf
    >>> log = cf.Log(action=[0, 1, 0, 1], reward=[0.0, 1.0, 0.0, 3.0], propensity=[0.5, 0.5, 0.5, 0.5])
    >>> cf.estimate(log, cf.Mixture([(0.25, 0), (0.75, 1)]), cf.IPS()).value
    1.5
    """

    parts: Sequence[tuple[float, Any]]
    syntax = "SHARE*TARGET + SHARE*TARGET"

    def __post_init__(self) -> None:
        if not isinstance(self.parts, Sequence) or not self.parts or not all(map(is_pair, self.parts)):
            raise ParameterError("`parts` must be a list of pairs (share, target), at least one.")
        for share, _ in self.parts:
            validation.within(0, 1, share=share)

    @staticmethod
    def list_parts(form: TargetForm) -> Sequence[tuple[float, Any]]:
        """Return the parts of a mixture, or any other form as its only part."""
        return form.parts if isinstance(form, Mixture) else [(1.0, form)]

    @cached_property
    def forms(self) -> list[TargetForm]:
        """Return what is mixed, each as its form."""
        from counterfold.policies.given import find_form

        return [find_form(one) for _, one in self.parts]

    @property
    def reads(self) -> tuple[Reads, ...]:
        return tuple(dict.fromkeys(one for form in self.forms for one in form.reads))

    @property
    def is_full(self) -> bool:
        return all(form.is_full for form in self.forms)

    @property
    def is_streamable(self) -> bool:
        return all(form.is_streamable for form in self.forms)

    def uses_context(self, *, has_table: bool) -> bool:
        return any(form.uses_context(has_table=has_table) for form in self.forms)

    def bind(self, find: Callable[[Any], TargetForm]) -> TargetForm:
        return replace(self, parts=[(share, find(one)) for share, one in self.parts])

    def fill(self, values: Mapping[str, Any]) -> TargetForm:
        shares = (share for share, _ in self.parts)
        return replace(self, parts=[(share, form.fill(values)) for share, form in zip(shares, self.forms, strict=True)])

    def require_known(self, log: Log) -> None:
        total = sum(share for share, _ in self.parts)
        if abs(total - 1) > TOLERANCE:
            raise ParameterError(f"the shares of a mixture must sum to 1, got {total:g}.")
        for form in self.forms:
            form.require_known(log)

    def explain_ambiguity(self, log: Log, check: Checker) -> str | None:
        return next(filter(None, (form.explain_ambiguity(log, check) for form in self.forms)), None)

    def resolve(self, log: Log, check: Checker) -> Target:
        self.require_known(log)
        found = [form.resolve(log, check) for form in self.forms]
        shares = [share for share, _ in self.parts]
        full = [one.probs for one in found if one.probs is not None]
        probs = mix(shares, full) if len(full) == len(found) else None
        taken = [one for share, one in zip(shares, found, strict=True) if share > 0]
        return Target(mix(shares, [one.logged for one in found]), probs).remember(taken)


def mix(shares: Sequence[float], several: Sequence[Floats]) -> Floats:
    """Return the sum of arrays, each times its share."""
    return reduce(add, (share * one for share, one in zip(shares, several, strict=True)))


def is_pair(value: Any) -> bool:
    """Say whether a value is a pair."""
    return isinstance(value, Sequence) and not isinstance(value, str) and len(value) == 2
