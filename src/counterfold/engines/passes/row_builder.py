"""RowBuilder: from a batch to the rows of every target, the same way in the sample and in both passes."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from counterfold.base import capacity
from counterfold.base.arrays import Ints
from counterfold.base.hashing import hash_labels, rank_rows
from counterfold.base.validation import Checker
from counterfold.estimators.rows import Rows
from counterfold.io.schema import roles
from counterfold.io.schema.batches import Batch
from counterfold.io.schema.schema import Schema
from counterfold.log.log import Log
from counterfold.models import as_model
from counterfold.models.base import Examples, RewardModel
from counterfold.policies.from_tables import TargetReader


@dataclass(frozen=True, eq=False)
class RowBuilder:
    """Builds rows of a log from tables.

    - `schema`: what the columns of the tables hold.
    - `targets`: how each target is read.
    - `predictions`: the column of predicted rewards, if they take the place of a reward model.
    - `ranks`: the numbers of all rows, ascending, and the rank of what each holds, in a short log without groups.
    """

    schema: Schema
    targets: Mapping[str, TargetReader]
    predictions: str | None = None
    ranks: tuple[Ints, Ints] | None = None

    @property
    def has_groups(self) -> bool:
        """Say whether rows belong to groups."""
        return "group" in self.schema.columns

    def units(self, batch: Batch) -> Ints:
        """Return the number of each row's unit: its group's hash, its rank, or its own number in a long log."""
        table, row_numbers = batch
        if self.has_groups:
            return hash_labels(self.schema.read_labels(table, "group", row_numbers))
        if self.ranks is None:
            return row_numbers
        numbers, ranks = self.ranks
        places = np.searchsorted(numbers, row_numbers)
        places = np.minimum(places, len(numbers) - 1)  # a file that grows is refused at the end of the pass
        return np.asarray(ranks[places], dtype=np.intp)

    def rank_rows(self, batch: Batch) -> "RowBuilder":
        """Return the same for a log of which a batch holds all rows, which are known by what they hold."""
        keys = np.concatenate([self.schema.read_log(*part).content_keys for part in self.split(batch)])
        order = np.argsort(batch.row_numbers)
        return replace(self, ranks=(batch.row_numbers[order], rank_rows(keys[order])))

    def build(self, batch: Batch, models: Mapping[str, RewardModel]) -> tuple[Log, dict[str, Rows]]:
        """Return the log of a batch and, for every target, its rows, predicted by its model if it has one."""
        log = self.schema.read_log(*batch)
        if self.predictions is not None:
            check = Checker(batch.row_numbers)
            values = roles.read_predictions(batch.table, self.predictions, check)
            predicted = as_model(values, log, check=check.name_columns({"reward_model": self.predictions}))
            models = {} if predicted is None else dict.fromkeys(self.targets, predicted)
        return log, dict(self._build_targets(batch, log, models))

    def split(self, batch: Batch) -> list[Batch]:
        """Return a batch in parts of fewer rows, where a row holds many numbers: one for each action, or of context."""
        numbers = max(self.schema.actions.count, self.schema.context.width or 0)
        return batch.split(capacity.count_rows(numbers, len(batch.row_numbers)))

    def examples(self, batch: Batch) -> dict[str, Examples]:
        """Return what reward models learn from, for every target."""
        parts = [self.build(part, {})[1] for part in self.split(batch)]
        return {name: Examples.join([rows[name].examples for rows in parts]) for name in self.targets}

    def _build_targets(self, batch: Batch, log: Log, models: Mapping[str, RewardModel]) -> Iterator[tuple[str, Rows]]:
        """Yield the rows of every target."""
        units = self.units(batch)
        rows_by_model: dict[int, Rows] = {}
        for name, reader in self.targets.items():
            model = models.get(name)
            rows = Rows.of(log, reader.read(log, *batch), model)
            rows = replace(rows, examples=replace(rows.examples, units=units))
            if model is not None:
                # Targets with the same model have the same predictions, which are computed once.
                first = rows_by_model.setdefault(id(model), rows)
                rows = replace(rows, refit=partial(getattr, first, "q"))
            yield name, rows
