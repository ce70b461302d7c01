"""RowBuilder: from a batch to the rows of every target, the same way in the sample and in both passes."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from counterfold import capacity
from counterfold.arrays import Ints
from counterfold.checks import Checker
from counterfold.hashing import hash_labels
from counterfold.log import Log
from counterfold.models import as_model
from counterfold.models.base import Examples, RewardModel
from counterfold.rows import Rows
from counterfold.tables import roles
from counterfold.tables.batches import Batch
from counterfold.tables.layout import Layout
from counterfold.tables.targets import TargetReader


@dataclass(frozen=True, eq=False)
class RowBuilder:
    """Builds rows of a log that is laid out in columns.

    `predictions` is the column of predicted rewards, if they take the place of a reward model.
    """

    layout: Layout
    targets: Mapping[str, TargetReader]
    predictions: str | None = None

    @property
    def has_groups(self) -> bool:
        """Say whether rows belong to groups."""
        return "group" in self.layout.roles

    def units(self, batch: Batch) -> Ints:
        """Return the number of each row's unit: its group's hash, or its own number in the log."""
        table, row_numbers = batch
        return hash_labels(self.layout.read_labels(table, "group", row_numbers)) if self.has_groups else row_numbers

    def build(self, batch: Batch, model: RewardModel | None) -> tuple[Log, dict[str, Rows]]:
        """Return the log of a batch and, for every target, its rows."""
        log = self.layout.log(*batch)
        if self.predictions is not None:
            check = Checker(batch.row_numbers)
            values = roles.read_predictions(batch.table, self.predictions, check)
            model = as_model(values, log, check=check.name_columns({"reward_model": self.predictions}))
        return log, dict(self._build_targets(batch, log, model))

    def split(self, batch: Batch) -> list[Batch]:
        """Return a batch in parts of fewer rows, where a row holds many numbers: one for each action, or of context."""
        numbers = max(len(self.layout.actions or ()), self.layout.width or 0)
        return batch.split(capacity.count_rows(numbers, len(batch.row_numbers)))

    def examples(self, batch: Batch) -> Examples:
        """Return what a reward model learns from, aimed at where the targets go on average."""
        return Examples.join([aim_examples(self.build(some, None)[1]) for some in self.split(batch)])

    def _build_targets(self, batch: Batch, log: Log, model: RewardModel | None) -> Iterator[tuple[str, Rows]]:
        units, shared = self.units(batch), None
        for name, reader in self.targets.items():
            rows = Rows.of(log, reader.read(log, *batch), model)
            rows = replace(rows, examples=replace(rows.examples, units=units))
            shared = shared or rows  # predictions are the same for all targets, and computed once
            yield name, rows if model is None else replace(rows, refit=partial(getattr, shared, "q"))


def aim_examples(targets: Mapping[str, Rows]) -> Examples:
    """Return what a reward model learns from rows of several targets, aimed at where these go on average."""
    several = list(targets.values())
    return replace(several[0].examples, importance=np.mean([rows.weights for rows in several], axis=0))
