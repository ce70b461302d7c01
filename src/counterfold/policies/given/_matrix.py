"""Policies that are given as plain values: probabilities of all actions, row by row or the same in every row."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np

from counterfold.base.validation import Checker
from counterfold.log.indices import align_rows
from counterfold.log.log import Log
from counterfold.log.log_checks import Matrix, check_policy, count_dimensions, order_columns
from counterfold.policies.given.base import Reads, Target, TargetForm


@dataclass(frozen=True, eq=False)
class Policy(TargetForm):
    """The target's probabilities of all actions (n x A), or the name of the column that holds them."""

    values: Any

    @property
    def reads(self) -> tuple[Reads, ...]:
        return (Reads(self.values, "matrix"),) if isinstance(self.values, str) else ()

    @property
    def is_streamable(self) -> bool:
        return count_dimensions(self.values) == 0

    def fill(self, values: Mapping[str, Any]) -> TargetForm:
        return replace(self, values=values[self.values]) if isinstance(self.values, str) else self

    def resolve(self, log: Log, check: Checker) -> Target:
        value = align_rows("target", self.values, log.index, check)
        return Target.of(check_policy("target", value, len(log), log.known_actions, check), log)

    def list_doses(self, log: Log) -> Any:
        return self.values


@dataclass(frozen=True, eq=False)
class FixedShares(TargetForm):
    """A policy that draws from the same probabilities in every row, {label: probability}."""

    shares: Mapping[Any, Any]

    def resolve(self, log: Log, check: Checker) -> Target:
        given = check.rename("target", "as {label: probability}").floats("target", [list(self.shares.values())], ndim=2)
        line = order_columns("target", Matrix(given, tuple(self.shares)), log.known_actions, check, sparse=True)
        check.probabilities("target", line)
        return Target(line[0][log.action], np.tile(line, (len(log), 1)))

    def list_doses(self, log: Log) -> Any:
        return self.shares


def has_fixed_shares(value: Any) -> bool:
    """Say whether a mapping is one policy, {label: probability}, and not several targets by name."""
    numbers = value.values() if isinstance(value, Mapping) else ()
    return bool(numbers) and all(isinstance(one, Real) and not isinstance(one, bool) for one in numbers)
