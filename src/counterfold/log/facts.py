"""LogFacts: what a log keeps of the table that its rows were read from, beside the values themselves."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from counterfold.base.arrays import Floats, Ints
from counterfold.log.missing_rewards import MissingRewards
from counterfold.log.skewed_columns import SkewedColumns


@dataclass(frozen=True, eq=False)
class ActionFeatures:
    """Numbers that describe each action of a log.

    - `values`: one row per action (A x k), in the order of the actions.
    - `notes`: what became of columns of text, and what to do about it.
    """

    values: Floats
    notes: Sequence[tuple[str, str]]

    def read(self, actions: Sequence[Any]) -> "ActionFeatures":
        """Return the features, which are in the order of these actions already."""
        return self


class ActionFeatureSource(Protocol):
    """Whatever has features of actions, maybe of more than those of one log."""

    def read(self, actions: Sequence[Any]) -> ActionFeatures:
        """Return the features of these actions, in their order."""


@dataclass(frozen=True, eq=False)
class LogFacts:
    """What a log keeps of the table that its rows were read from, beside the values themselves.

    - `left_out`: columns that are not context though they might have been, with the reason.
    - `notes`: how the rows were made where that matters, and what to do about it.
    - `taken`: columns that have a role because of their names alone, by role.
    - `missing_rewards`: rewards that were dropped or taken as 0.
    - `by_context`: whether groups are rows of one context each, because nobody named groups.
    - `identifiers`: a hash per row of columns without a role whose values may belong to users or sessions.
    - `repeated`: those of the `identifiers` whose values repeat, and whether they hold numbers.
    - `skewed`: skewed columns of the context as all rows of a longer log tell. Otherwise the log's own rows tell.
    - `action_features`: where features of the actions come from, once the log has found its actions.
    """

    left_out: Mapping[str, str] = field(default_factory=dict)
    notes: Sequence[tuple[str, str]] = ()
    taken: Mapping[str, str] = field(default_factory=dict)
    missing_rewards: MissingRewards | None = None
    by_context: bool = False
    identifiers: Mapping[str, Ints] = field(default_factory=dict)
    repeated: Mapping[str, bool] = field(default_factory=dict)
    skewed: SkewedColumns | None = None
    action_features: ActionFeatureSource | None = None
