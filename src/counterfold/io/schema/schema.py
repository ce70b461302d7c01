"""Schema: what the columns of a table hold, resolved once per log; turns tables of any length into checked logs."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa

from counterfold.base.arrays import Bools, Floats, Ints
from counterfold.base.errors import DataError
from counterfold.base.row_counts import Tally
from counterfold.base.validation import FIRST, Checker
from counterfold.io.schema import columns, roles
from counterfold.io.schema.same_context import COLUMN
from counterfold.io.schema.usual_names import LEAVE_OUT, TAKEN, note_bad_times, note_names
from counterfold.log.encoding import ColumnEncoding, ContextSummary, EncodedContext, Part, Summary, choose_summary
from counterfold.log.encoding.lists import is_vector, refuse_columns_beside
from counterfold.log.facts import ActionFeatureSource, LogFacts
from counterfold.log.known_actions import KnownActions
from counterfold.log.label_checks import check_labels
from counterfold.log.log import Fit, Log
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
class ColumnRoles:
    """Which column has which role, and how its values are read.

    - `columns`: the column of each role.
    - `kinds`: the kind of values of each role, a key of `READERS` in `columns.py`, or "matrices".
    - `taken`: the roles whose column has them because of its name alone, with that column.
    - `outcomes`: columns that are known only after the decision, besides that of the reward.
    - `clock`: how times are written, as the first rows show.
    - `are_private`: whether nobody else holds the arrays that are read, so that they need not be copied.
    """

    columns: Mapping[str, str]
    kinds: Mapping[str, str]
    taken: Mapping[str, str] = field(default_factory=dict)
    outcomes: Sequence[str] = ()
    clock: Clock | None = None
    are_private: bool = False

    def without(self, role: str) -> "ColumnRoles":
        """Return the same without a role."""
        return replace(
            self,
            columns={other: column for other, column in self.columns.items() if other != role},
            taken={other: column for other, column in self.taken.items() if other != role},
        )

    def read_clock(self, table: pa.Table) -> "ColumnRoles":
        """Return the same with how times are written, as the first rows of a table show."""
        if "time" not in self.columns:
            return self
        return replace(self, clock=Clock.of(table.column(self.columns["time"]), self.checker(None)))

    def places(self, table: pa.Table) -> list[str]:
        """Return the columns of all roles, and those that roles are spread over."""
        return [place for role, column in self.columns.items() for place in roles.places(table, role, column)]

    def checker(self, row_numbers: Ints | None, *, is_whole: bool = False) -> Checker:
        """Return what names rows and columns of a table in errors."""
        hints = {"kept": LEAVE_OUT} | {role: TAKEN.format(column) for role, column in self.taken.items()}
        check = Checker(row_numbers, are_private=self.are_private, hints=hints, is_whole=is_whole)
        return check.name_columns(self.columns)

    def read_all(self, table: pa.Table, check: Checker) -> dict[str, Any]:
        """Return what a `Log` takes for each role, not checked yet."""
        values: dict[str, Any] = {}
        for role in self.columns:
            if self.kinds[role] != "matrices":
                values[role] = self.read(table, role, check)
        # The labels of loggers say where the name of a logger ends, and that of an action begins.
        loggers = {str(label) for label in values.get("logger", ())}
        for role, column in self.columns.items():
            if self.kinds[role] == "matrices":
                values[role] = columns.read_matrices(table, column, loggers, check)
        return values

    def read(self, table: pa.Table, role: str, check: Checker) -> Any:
        """Return what a `Log` takes for one role, not checked yet."""
        column = self.columns[role]
        read_column = columns.READERS[self.kinds[role]]
        try:
            return read_column(table, column, check)
        except DataError as error:
            if role not in self.taken:
                raise
            raise DataError(f"{error}{TAKEN.format(column)}") from None


@dataclass(frozen=True, eq=False)
class ContextColumns:
    """Which columns describe the situation before the decision, and how they become numbers.

    - `names`: the columns, in the order of the table or of the user.
    - `is_named`: whether the user chose them. If not, columns that look like outcomes or identifiers are left out.
    - `left_out`: columns that might have been context, with the reason why they are not.
    - `summaries`: what sums up each column, except lists.
    - `encodings`: how each column becomes numbers, except lists, once all rows were summed up.
    - `width`: how many numbers the context of a row has, once the first rows showed it.
    - `skewed`: the skewed columns of a long log, of which reward models see normal scores.
    """

    names: Sequence[str]
    is_named: bool = True
    left_out: Mapping[str, str] = field(default_factory=dict)
    summaries: Mapping[str, type[Summary]] = field(default_factory=dict)
    encodings: Mapping[str, ColumnEncoding] = field(default_factory=dict)
    width: int | None = None
    skewed: SkewedColumns = field(default_factory=SkewedColumns)

    def without(self, names: Collection[str]) -> "ContextColumns":
        """Return the same without some columns."""
        return replace(self, names=[name for name in self.names if name not in names])

    def summarise(self, table: pa.Table, check: Checker) -> ContextSummary:
        """Return what the rows of a table show of the columns."""
        return ContextSummary.of(self.summaries, table, check)

    def learn(self, summary: ContextSummary) -> "ContextColumns":
        """Return the same with the encodings that all rows show, without columns that turned out to be no context."""
        reasons = {} if self.is_named else summary.explain()
        return replace(
            self.without(reasons),
            summaries={name: kind for name, kind in self.summaries.items() if name not in reasons},
            encodings=summary.without(reasons).learn(),
            left_out={**self.left_out, **reasons},
        )

    def count_outputs(self) -> int:
        """Return how many numbers the context of a row has, if lists count as one."""
        return len(self.names) + sum(len(encoding.outputs) - 1 for encoding in self.encodings.values())

    def read(self, table: pa.Table, check: Checker) -> EncodedContext | None:
        """Return the context of a table's rows as numbers; nothing if there are no columns of context."""
        if not self.names:
            return None
        parts = [part for name in self.names for part in self._read_parts(table, name, check)]
        context = EncodedContext.of(parts, table.num_rows, self.encodings)
        width = len(context.column_names)
        if self.width and width != self.width:
            got = f"{width} at row {check.row(0)}"
            raise DataError(f"`context` must be {self.width} numbers in every row, got {got}.")
        return context

    def _read_parts(self, table: pa.Table, name: str, check: Checker) -> list[Part]:
        """Return a column as numbers; each element of lists is a column of its own."""
        if name in self.encodings:
            encoding = self.encodings[name]
            return [Part(name, encoding.outputs, encoding.encode(table.column(name), check))]
        elements = columns.read_features(table, [name], check)
        refuse_columns_beside(name, [one for one in elements.column_names if one != name and one in self.names])
        return [Part(one, [one], [elements.column(one).to_numpy()]) for one in elements.column_names]


@dataclass(frozen=True, eq=False)
class LoggedActions:
    """Which actions exist, and what describes them.

    - `labels`: all actions, as far as the user or the rows of a long log told them.
    - `features`: where features of actions come from: a table, or the features of the log's actions.
    - `seen`: which actions were ever logged in a long log.
    """

    labels: Sequence[Any] | KnownActions | None = None
    features: ActionFeatureSource | None = None
    seen: Bools | None = None

    @property
    def count(self) -> int:
        """Return how many actions there are, 0 if that is not known yet."""
        return len(self.labels or ())

    def name_all(self, labels: KnownActions) -> "LoggedActions":
        """Return the same with all actions of the log, and with the features of these alone."""
        features = None if self.features is None else self.features.read(labels.labels)
        return replace(self, labels=labels, features=features)


@dataclass(frozen=True, eq=False)
class RowWeights:
    """What decides how much a row counts: how likely its action was, and how likely it was to be kept.

    - `fit`: how propensities are fitted, or what was fitted on other rows. None if they were logged.
    - `precision`: how exactly the logged probabilities were written.
    - `logger_weights`: "balanced" or "own": by whose probabilities rows of several loggers are weighed.
    - `logger_shares`: the share of all rows that each logger decided, if the rows of a long log told.
    - `least_kept`: the least probability of a row to be kept, if the rows of a long log told.
    """

    fit: Fit | None = None
    precision: Precision | None = None
    logger_weights: str = "balanced"
    logger_shares: Mapping[str, float] | None = None
    least_kept: float | None = None


@dataclass(frozen=True, eq=False)
class SegmentColumns:
    """The columns whose values are segments.

    - `by`: the columns, and into how many parts numbers are cut.
    - `cuts`: how each column is cut, once all rows told.
    """

    by: tuple[By, ...] = ()
    cuts: tuple[Cut, ...] = ()

    @property
    def names(self) -> list[str]:
        """Return the names of the columns."""
        return [one.column for one in self.by]

    def summarise(self, table: pa.Table, row_numbers: Ints) -> BySummary | None:
        """Return what the rows of a table show of the columns; nothing if there are none."""
        return BySummary.of(self.by, table, row_numbers) if self.by else None

    def learn(self, summary: BySummary | None) -> "SegmentColumns":
        """Return the same with how the columns are cut."""
        return self if summary is None else replace(self, cuts=summary.learn(self.by))

    def read(self, table: pa.Table) -> tuple[Segmentation, ...]:
        """Return the segment of each row of a table, by each column."""
        return tuple(Segmentation(cut, cut.encode(table.column(cut.column))) for cut in self.cuts)


@dataclass(frozen=True, eq=False)
class IdentifierColumns:
    """The columns without a role whose values may belong to users or sessions, so that rows may not be independent.

    - `names`: columns that are called like users, that look like identifiers, or whose values repeat.
    - `repeated`: those whose values repeat, with the edges of the bins that numbers are cut into. Text has no edges.
    """

    names: Sequence[str] = ()
    repeated: Mapping[str, tuple[float, ...]] = field(default_factory=dict)

    def read(self, table: pa.Table) -> dict[str, Ints]:
        """Return a hash for each value of each column, -1 where there is no value."""
        return {name: self._hash(table, name) for name in self.names}

    def _hash(self, table: pa.Table, name: str) -> Ints:
        hashes = columns.hash_values(table, name)
        edges = self.repeated.get(name, ())
        return columns.mark_bins(table, name, hashes, edges) if edges else hashes


@dataclass(frozen=True, eq=False)
class SourceNotes:
    """What an answer must say of how the rows of a table were made.

    - `notes`: what was done, and what to do about it.
    - `missing_rewards`: rewards that were dropped or taken as 0.
    """

    notes: Sequence[tuple[str, str]] = ()
    missing_rewards: MissingRewards | None = None


@dataclass(frozen=True, eq=False)
class Schema:
    """What the columns of a table hold: resolved once per log, and used for every batch of its rows."""

    roles: ColumnRoles
    context: ContextColumns
    actions: LoggedActions
    weights: RowWeights = field(default_factory=RowWeights)
    segments: SegmentColumns = field(default_factory=SegmentColumns)
    identifiers: IdentifierColumns = field(default_factory=IdentifierColumns)
    source: SourceNotes = field(default_factory=SourceNotes)

    @property
    def columns(self) -> Mapping[str, str]:
        """Return the column of each role."""
        return self.roles.columns

    @property
    def guesses_time(self) -> bool:
        """Say whether times are those of a column that nobody named."""
        return "time" in self.roles.taken

    def places(self, table: pa.Table) -> list[str]:
        """Return every column that is read."""
        needed = [*self.roles.places(table), *self.context.names, *self.identifiers.names, *self.segments.names]
        return list(dict.fromkeys(needed))

    def tally_times(self, table: pa.Table, row_numbers: Ints) -> Tally:
        """Return how the times of some rows are written."""
        column = table.column(self.columns["time"])
        return read_moments("time", column, self.roles.checker(row_numbers)).tally(column, row_numbers)

    def judge_times(self, tally: Tally) -> "Schema":
        """Return the same without a column of times that nobody named, if not all rows have one; a note says so."""
        clock = self.roles.clock
        good_ways = [] if clock is None else clock.good
        column = self.columns["time"]
        bad_rows = tally.rows - tally.count(*(WAYS[way].name for way in good_ways))
        if not bad_rows:
            return self
        note = note_bad_times(column, bad_rows, tally.rows)
        return replace(
            self,
            roles=replace(self.roles.without("time"), clock=None),
            context=replace(self.context, left_out={**self.context.left_out, column: roles.DATE}),
            source=replace(self.source, notes=[*self.source.notes, note]),
        )

    def read_log(
        self, table: pa.Table, row_numbers: Ints | None = None, index: Any = None, *, is_whole: bool = False
    ) -> Log:
        """Return the table's rows, checked; `index` is that of the pandas frame that the table was, if any.

        They are a part of a longer log if they have numbers, unless they are the whole of what is left of it.
        """
        plain = Checker(row_numbers, is_whole=is_whole)
        check = self.roles.checker(row_numbers, is_whole=is_whole)
        if index is not None and row_numbers is not None:
            index = index[row_numbers]
        values = self.roles.read_all(table, plain)
        if "time" in values:
            values["time"] = read_times(values["time"], table.num_rows, check, self.roles.clock)
        if self.weights.fit is not None:
            values["propensity"] = self.weights.fit
        return Log(
            **values,
            context=self.context.read(table, plain),
            actions=self.actions.labels,
            check=check,
            seen=self.actions.seen,
            index=index,
            named_context=self.context.is_named,
            logger_weights=self.weights.logger_weights,
            logger_shares=self.weights.logger_shares,
            least_kept=self.weights.least_kept,
            propensity_precision=self.weights.precision,
            by=self.segments.read(table),
            facts=self._list_facts(table, is_part=plain.is_part),
        )

    def _list_facts(self, table: pa.Table, *, is_part: bool) -> LogFacts:
        """Return what a log keeps of this table besides the values of its columns."""
        return LogFacts(
            left_out=self.context.left_out,
            notes=[*self.source.notes, *note_names(self.roles.taken)],
            taken=self.roles.taken,
            missing_rewards=self.source.missing_rewards,
            by_context=self.columns.get("group") == COLUMN,
            identifiers=self.identifiers.read(table),
            repeated={name: len(edges) > 0 for name, edges in self.identifiers.repeated.items()},
            skewed=self.context.skewed if is_part else None,
            action_features=self.actions.features,
        )

    def read_labels(self, table: pa.Table, role: str, row_numbers: Ints | None = None) -> Any:
        """Return the column of a role that holds labels, one in every row."""
        labels = columns.read_labels(table, self.columns[role])
        return check_labels(role, labels, table.num_rows, self.roles.checker(row_numbers))

    def read_kept(self, table: pa.Table, row_numbers: Ints) -> Floats:
        """Return the column of probabilities with which rows were kept."""
        kept = self.roles.read(table, "kept", Checker(row_numbers))
        return check_kept(kept, table.num_rows, self.roles.checker(row_numbers))


def choose_summaries(table: pa.Table, names: Sequence[str]) -> dict[str, type[Summary]]:
    """Return how columns of the context are summed up, by the first rows; columns of lists are not."""
    first = table.slice(0, FIRST).select(list(names))
    plain = [name for name in names if not is_vector(first.column(name))]
    return {name: choose_summary(name, first.column(name)) for name in plain}
