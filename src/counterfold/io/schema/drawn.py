"""DrawnUnits: whole units of a log that were drawn for one purpose, so that the others can serve another one."""

from dataclasses import dataclass

from counterfold.base.arrays import Ints
from counterfold.base.hashing import draw_keys, hash_labels
from counterfold.base.validation import Checker
from counterfold.io.schema import columns
from counterfold.io.schema.batches import Batch
from counterfold.log.label_checks import check_labels


@dataclass(frozen=True)
class DrawnUnits:
    """The rows, or groups of rows, whose keys are below `limit`, wherever they are read.

    `group` names the column of groups, if there is one; `row_count` rows were drawn, of `total`. The others earned
    `reward` on average.
    """

    limit: int
    group: str | None
    row_count: int
    total: int
    reward: float

    @property
    def columns(self) -> list[str]:
        """Return the columns that tell which units were drawn."""
        return [] if self.group is None else [self.group]

    def leave_out(self, batch: Batch) -> Batch:
        """Return the rows of units that were not drawn."""
        return batch.filter(draw_row_keys(batch, self.group) >= self.limit)

    @property
    def note(self) -> tuple[str, str]:
        """Return what an answer on all other rows must say."""
        done = f"{self.row_count:,} of {self.total:,} rows were left out, because the policy was learnt from them"
        return done, "nothing: on rows that it was learnt from, a policy looks too good"


def draw_row_keys(batch: Batch, group: str | None) -> Ints:
    """Return the key of each row's unit: the row itself, or its group if the column of groups is named."""
    if group is None:
        return draw_keys(batch.row_numbers)
    check = Checker(batch.row_numbers).name_columns({"group": group})
    labels = check_labels("group", columns.read_labels(batch.table, group), batch.table.num_rows, check)
    return draw_keys(hash_labels(labels))
