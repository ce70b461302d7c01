"""Layout: which columns of a table hold what; turns tables of any length into checked logs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa

from counterfold.base import capacity
from counterfold.base.arrays import Bools, Floats, Ints
from counterfold.base.errors import DataError
from counterfold.base.row_counts import Tally
from counterfold.base.validation import FIRST, Checker
from counterfold.io.schema import columns, roles
from counterfold.io.schema.action_features import ActionFeatures, ActionTable
from counterfold.io.schema.same_context import COLUMN
from counterfold.io.schema.usual_names import LEAVE_OUT, TAKEN, note_bad_times, note_names
from counterfold.log.encoding import ColumnEncoding, ContextSummary, EncodedContext, Part, Summary, choose_summary
from counterfold.log.encoding.lists import is_vector, refuse_columns_beside
from counterfold.log.known_actions import KnownActions
from counterfold.log.label_checks import check_labels
from counterfold.log.log import Fit, Log
from counterfold.log.log_checks import check_action_features
from counterfold.log.missing_rewards import MissingRewards
from counterfold.log.propensities import Precision
from counterfold.log.propensity_checks import check_kept
from counterfold.log.segments.by import By
from counterfold.log.segments.cuts import Cut
from counterfold.log.segments.segmentation import Segmentation
from counterfold.log.segments.summaries import BySummary
from counterfold.log.skewed_columns import SkewedColumns
from counterfold.log.times import WAYS, Clock, read_moments, read_times


@dataclass(frozen=True, eq=False)
class Layout:
    """The column of each role and its kind, the columns of the context, and what else is known of the actions.

    `width` is the number of numbers in the context of a row, and `seen` are the actions that were ever logged, if a
    table of other rows told. Nobody chose the columns of the context unless `named_context`, and `left_out` says why
    some are not among them. Tables may be parts of a longer log, in which `row_numbers` are the places of their rows;
    nobody else holds their numbers if `is_private`. `notes` are what the answer must say of how rows were made. `fit`
    says how propensities are fitted, or holds what was fitted; `logger_weights` and `logger_shares` say how rows of
    several loggers are weighed, and `least_kept` how unlikely a row was to be kept at most; `precision` is that of the
    logged probabilities, and `clock` says how times are written. `outcomes` are columns that are known only after the
    decision, besides the reward's; `missing_rewards` are those that were dropped or taken as 0. `summaries` say how
    each column of the context is summed up that holds no lists, and `encodings` how it becomes numbers, once all rows
    told. `action_table` says what is known of actions, and `action_features` what is known of the log's, once these are
    known. `taken` are columns that have their role because of their names alone, by role, and `identifiers` those that
    are called like users or sessions, or whose values are `repeated`: these come with the edges of bins for numbers.
    `by` are columns whose values are segments, and `cuts` how, once all rows told.
    `skewed` are the skewed columns of a long log, of which reward models see normal scores.
    """

    roles: dict[str, str]
    kinds: dict[str, str]
    context: Sequence[str]
    actions: Sequence[Any] | KnownActions | None
    action_table: ActionTable | None = None
    action_features: ActionFeatures | None = None
    width: int | None = None
    seen: Bools | None = None
    named_context: bool = True
    left_out: Mapping[str, str] = field(default_factory=dict)
    is_private: bool = False
    notes: Sequence[tuple[str, str]] = ()
    fit: Fit | None = None
    logger_weights: str = "balanced"
    logger_shares: Mapping[str, float] | None = None
    least_kept: float | None = None
    precision: Precision | None = None
    clock: Clock | None = None
    outcomes: Sequence[str] = ()
    missing_rewards: MissingRewards | None = None
    summaries: Mapping[str, type[Summary]] = field(default_factory=dict)
    encodings: Mapping[str, ColumnEncoding] = field(default_factory=dict)
    taken: Mapping[str, str] = field(default_factory=dict)
    identifiers: Sequence[str] = ()
    repeated: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    by: tuple[By, ...] = ()
    cuts: tuple[Cut, ...] = ()
    skewed: SkewedColumns = field(default_factory=SkewedColumns)

    def read_clock(self, table: pa.Table) -> "Layout":
        """Return the same with what the first rows of a table tell of how times are written."""
        if "time" not in self.roles:
            return self
        return replace(self, clock=Clock.of(table.column(self.roles["time"]), self.checker(None)))

    @property
    def guesses_time(self) -> bool:
        """Say whether times are those of a column that nobody named."""
        return "time" in self.taken

    def tally_times(self, table: pa.Table, row_numbers: Ints | None = None) -> Tally:
        """Return how the times of some rows are written."""
        column = table.column(self.roles["time"])
        numbers = range(table.num_rows) if row_numbers is None else row_numbers
        return read_moments("time", column, self.checker(row_numbers)).tally(column, numbers)

    def judge_times(self, tally: Tally) -> "Layout":
        """Return the same without a column of times that nobody named, if not all rows have one; a note says so."""
        good = [] if self.clock is None else self.clock.good
        name, bad = self.roles["time"], tally.rows - tally.count(*(WAYS[way].name for way in good))
        if not bad:
            return self
        others, taken = (
            {role: one for role, one in some.items() if role != "time"} for some in (self.roles, self.taken)
        )
        notes, left_out = [*self.notes, note_bad_times(name, bad, tally.rows)], {**self.left_out, name: roles.DATE}
        return replace(self, roles=others, taken=taken, clock=None, notes=notes, left_out=left_out)

    def places(self, table: pa.Table) -> list[str]:
        """Return every column that is read."""
        taken = [place for role, name in self.roles.items() for place in roles.places(table, role, name)]
        return list(dict.fromkeys([*taken, *self.context, *self.identifiers, *(one.column for one in self.by)]))

    def checker(self, row_numbers: Ints | None) -> Checker:
        """Return what names rows and columns of a table in errors."""
        hints = {"kept": LEAVE_OUT} | {role: TAKEN.format(name) for role, name in self.taken.items()}
        return Checker(row_numbers, are_private=self.is_private, hints=hints).name_columns(self.roles)

    def log(
        self, table: pa.Table, row_numbers: Ints | None = None, index: Any = None, *, is_whole: bool = False
    ) -> Log:
        """Return the table's rows, checked; `index` is that of the pandas frame that the table was, if any.

        They are a part of a longer log if they have numbers, unless they are the whole of what is left of it.
        """
        plain = Checker(row_numbers, is_whole=is_whole)
        check = replace(self.checker(row_numbers), is_whole=is_whole)
        if index is not None and row_numbers is not None:
            index = index[row_numbers]
        values = self._read_roles(table, plain)
        if "time" in values:
            values["time"] = read_times(values["time"], table.num_rows, check, self.clock)
        fitted: dict[str, Any] = {} if self.fit is None else {"propensity": self.fit}
        log = Log(
            **values | fitted,
            context=self.read_context(table, plain),
            actions=self.actions,
            check=check,
            seen=self.seen,
            index=index,
            named_context=self.named_context,
            logger_weights=self.logger_weights,
            logger_shares=self.logger_shares,
            least_kept=self.least_kept,
            propensity_precision=self.precision,
            by=tuple(Segmentation(cut, cut.encode(table.column(cut.column))) for cut in self.cuts),
        )
        log = log.leave_out(self.left_out).add_notes([*self.notes, *note_names(self.taken)])
        log.missing_rewards, log.taken = self.missing_rewards, self.taken
        if plain.is_part:
            log.skewed = self.skewed  # its own rows would tell of a part alone
            if row_numbers is not None:
                log.row_units = row_numbers
        log.by_context = self.roles.get("group") == COLUMN
        log.identifiers = {name: self._hash_identifiers(table, name) for name in self.identifiers}
        log.repeated = {name: len(edges) > 0 for name, edges in self.repeated.items()}
        return self._describe_actions(log)

    def _hash_identifiers(self, table: pa.Table, name: str) -> Ints:
        """Return a hash for each value of a column, -1 where it has none."""
        hashes = columns.hash_values(table, name)
        edges = self.repeated.get(name, ())
        return columns.mark_bins(table, name, hashes, edges) if edges else hashes

    def know_actions(self, actions: KnownActions) -> "Layout":
        """Return the same with all actions of the log, and with what a table says of these alone."""
        if self.action_table is None:
            return replace(self, actions=actions)
        features = self.action_table.read(actions.labels)
        return replace(self, actions=actions, action_table=None, action_features=features)

    def _describe_actions(self, log: Log) -> Log:
        """Return a log with the features of its actions, if any are known."""
        found = self.action_features if self.action_table is None else self.action_table.read(log.actions)
        if found is None:
            return log
        log = log.add_notes(found.notes)
        log.action_features = check_action_features(found.values, log.actions)
        return log

    def _read_roles(self, table: pa.Table, check: Checker) -> dict[str, Any]:
        """Return what a `Log` takes for each role; the labels of loggers tell which columns are theirs."""
        single = {role: name for role, name in self.roles.items() if self.kinds[role] != "matrices"}
        values = {role: self._read_role(table, role, check) for role in single}
        labels = {str(label) for label in values.get("logger", ())}
        several = {role: name for role, name in self.roles.items() if role not in single}
        return values | {role: columns.read_matrices(table, name, labels, check) for role, name in several.items()}

    def _read_role(self, table: pa.Table, role: str, check: Checker) -> Any:
        """Return what a `Log` takes for one role."""
        name = self.roles[role]
        try:
            return columns.READERS[self.kinds[role]](table, name, check)
        except DataError as error:
            if role not in self.taken:
                raise
            raise DataError(f"{error}{TAKEN.format(name)}") from None

    def summarise(self, table: pa.Table, row_numbers: Ints | None = None) -> ContextSummary:
        """Return what the rows of a table tell of the columns of the context."""
        return ContextSummary.of(self.summaries, table, Checker(row_numbers))

    def learn(self, summary: ContextSummary) -> "Layout":
        """Return the layout with all that the rows told of the context; what nobody named may be none of it."""
        reasons = {} if self.named_context else summary.explain()
        context = [name for name in self.context if name not in reasons]
        summaries = {name: one for name, one in self.summaries.items() if name not in reasons}
        encodings = summary.without(reasons).learn()
        left_out = {**self.left_out, **reasons}
        return replace(self, context=context, summaries=summaries, encodings=encodings, left_out=left_out)

    def learn_from(self, table: pa.Table) -> "Layout":
        """Return the layout with all that a table of all rows tells, if there is room for what becomes of it."""
        layout = self.judge_times(self.tally_times(table)) if self.guesses_time else self
        layout = layout.learn(self.summarise(table)).learn_cuts(self.summarise_by(table))
        more = max(0, layout.count_outputs() - len(layout.context))
        capacity.require_rows(table.num_rows, table.nbytes + capacity.NUMBER * table.num_rows * more)
        return layout

    def summarise_by(self, table: pa.Table, row_numbers: Ints | None = None) -> BySummary | None:
        """Return what the rows of a table tell of columns whose values are segments; nothing if there are none."""
        return BySummary.of(self.by, table, row_numbers) if self.by else None

    def learn_cuts(self, summary: BySummary | None) -> "Layout":
        """Return the layout with how columns are cut into segments."""
        return self if summary is None else replace(self, cuts=summary.learn(self.by))

    def count_outputs(self) -> int:
        """Return how many numbers the context of a row has, if lists count as one."""
        return len(self.context) + sum(len(one.outputs) - 1 for one in self.encodings.values())

    def read_context(self, table: pa.Table, check: Checker) -> EncodedContext | None:
        """Return the context of a table's rows as numbers; nothing if there are no columns of context."""
        if not self.context:
            return None
        parts = [part for name in self.context for part in self._read_parts(table, name, check)]
        found = EncodedContext.of(parts, table.num_rows, self.encodings)
        width = len(found.column_names)
        if self.width and width != self.width:
            got = f"{width} at row {check.row(0)}"
            raise DataError(f"`context` must be {self.width} numbers in every row, got {got}.")
        return found

    def _read_parts(self, table: pa.Table, name: str, check: Checker) -> list[Part]:
        """Return a column of the context as numbers; each element of lists is a column of its own."""
        if name in self.encodings:
            encoding = self.encodings[name]
            return [Part(name, encoding.outputs, encoding.encode(table.column(name), check))]
        found = columns.read_features(table, [name], check)
        refuse_columns_beside(name, [one for one in found.column_names if one != name and one in self.context])
        return [Part(one, [one], [found.column(one).to_numpy()]) for one in found.column_names]

    def read_labels(self, table: pa.Table, role: str, row_numbers: Ints | None = None) -> Any:
        """Return the column of a role that holds labels, one in every row."""
        found = columns.read_labels(table, self.roles[role])
        return check_labels(role, found, table.num_rows, self.checker(row_numbers))

    def read_kept(self, table: pa.Table, row_numbers: Ints | None = None) -> Floats:
        """Return the column of probabilities with which rows were kept."""
        found = self._read_role(table, "kept", Checker(row_numbers))
        return check_kept(found, table.num_rows, self.checker(row_numbers))


def choose_summaries(table: pa.Table, names: Sequence[str]) -> dict[str, type[Summary]]:
    """Return how columns of the context are summed up, by the first rows; columns of lists are not."""
    first = table.slice(0, FIRST).select(list(names))
    known = {name: first.column(name) for name in names if not is_vector(first.column(name))}
    return {name: choose_summary(name, column) for name, column in known.items()}
