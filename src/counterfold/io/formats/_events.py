"""Events: texts of other tools in which every decision has fields of its own; they become the columns of a log."""

import mmap
import tempfile
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import ClassVar, NamedTuple

import pyarrow as pa

from counterfold.base import messages
from counterfold.io.formats._parsed import PARSED, Decision, make_batch, read_parsed
from counterfold.io.formats.base import ROLE, Note, Piece, Reader, Survey, leave_out, open_stream

MOST, KNOWN = 256, 1 << 17
"""How many features are columns, those of the most decisions, and how many are told apart to know that."""

BATCH = 1 << 13
"""How many decisions are parsed at a time."""

BLOCK, LONGEST = 1 << 20, 1 << 26
"""How many bytes are read at a time, and how many a line may have at most."""

RESERVED = frozenset(
    ("action", "dose", "reward", "propensity", "logging_probs", "logger_probs", "logger", "group", "available", "kept")
) | {"target", "embedding"}
"""What a feature must not be called, because a column of that name has a role."""

OUTCOME, WHEN = "it is known only after the decision", "it is when the decision was taken"
"""Why some columns are no context."""

FEW = Note(
    f"the {MOST} features that the most decisions have are columns, {{count}} others are not",
    "name the features that matter in a file of your own if the reward model lacks one",
)


class Line(NamedTuple):
    """A line of a text, without spaces around it, and its number from 1 on."""

    number: int
    text: str

    def error(self, problem: str) -> pa.ArrowInvalid:
        """Return the error that something is wrong with this line."""
        return pa.ArrowInvalid(f"line {self.number}: {problem}")


@dataclass(frozen=True)
class Events(Reader):
    """A text of decisions. It is parsed once; its rows are then in a temporary file without a name.

    `missing` is the number of a feature that a decision does not have, if it has one. `no_context` are the features
    that are no context by themselves, and why.
    """

    missing: ClassVar[float | None] = None
    no_context: ClassVar[Mapping[str, str]] = MappingProxyType({})
    notes: ClassVar[Sequence[Note]] = ()

    @abstractmethod
    def decide(self, lines: Iterable[Line]) -> Iterator[Decision | Note]:
        """Yield each decision of a text, or a note on why something in it is none."""

    def survey(self, file: Path) -> Survey:
        seen = Seen()
        with tempfile.TemporaryFile() as parsed:
            with pa.ipc.new_file(parsed, PARSED, options=pa.ipc.IpcWriteOptions(compression="lz4")) as writer:
                decisions = seen.count(self.decide(read_lines(file)))
                while some := take(decisions):
                    writer.write_batch(make_batch(some))
            parsed.flush()
            rows = pa.py_buffer(mmap.mmap(parsed.fileno(), 0, access=mmap.ACCESS_READ))
        seen.require_rows()
        notes = [*((note, seen.rows) for note in self.notes), *seen.notes.items()]
        others = len(seen.features) - MOST + seen.untold
        notes += [(FEW, others)] if others > 0 else []
        return Survey(self._columns(seen), seen.rows, seen.size, notes, rows, seen.describe())

    def _columns(self, seen: "Seen") -> pa.Schema:
        """Return the columns of the log: those of roles that any decision has, and its features."""
        roles = [PARSED.field(name) for name in PARSED.names if name in seen.fields]
        roles[0] = pa.field("action", pa.int64() if seen.are_whole else pa.string())
        kinds = {name: pa.string() if name in seen.words else pa.float64() for name in seen.list_features()}
        roles = [one.with_metadata({ROLE: ""}) for one in roles]
        fields = [*roles, *(pa.field(name, kind) for name, kind in kinds.items())]
        why = {"reward": OUTCOME, **self.no_context}
        return pa.schema([leave_out(one, why[one.name]) if one.name in why else one for one in fields])

    def pieces(self, file: Path, survey: Survey, columns: Sequence[str]) -> Iterator[Piece]:
        batches, first = pa.ipc.open_file(survey.parsed), 0
        wanted = pa.schema([survey.schema.field(name) for name in columns])
        for place in range(batches.num_record_batches):
            yield Piece(first, partial(read_parsed, survey, place, wanted, self.missing))
            first += min(BATCH, survey.rows - first)


def take(decisions: Iterator[Decision]) -> list[Decision]:
    """Return the next decisions."""
    try:
        return list(islice(decisions, BATCH))
    except RecursionError:
        raise pa.ArrowInvalid("lists and objects must not be hundreds deep in each other") from None


@dataclass(eq=False)
class Seen:
    """What is known of the decisions of a text so far; `fields` are what any of them has."""

    rows: int = 0
    lines: int = 0
    size: int = 0
    fields: set[str] = field(default_factory=lambda: {"action", "reward"})
    features: Counter[str] = field(default_factory=Counter)
    untold: int = 0
    words: set[str] = field(default_factory=set)
    notes: Counter[Note] = field(default_factory=Counter)
    are_whole: bool = True
    choices: Sequence[str] | None = None

    def count(self, found: Iterable[Decision | Note]) -> Iterator[Decision]:
        """Yield the decisions, and count what is none."""
        for one in found:
            if isinstance(one, Note):
                self.notes[one] += 1
                continue
            self._add(one)
            yield one

    def _add(self, one: Decision) -> None:
        self.rows += 1
        told = ("propensity", "kept", "logging_probs", "embedding")
        self.fields.update(name for name in told if getattr(one, name) is not None)
        self.are_whole = self.are_whole and all(map(is_whole, one.available or (one.action,)))
        if one.available is not None:
            self.choices = self.choices or sorted(one.available)
            if len(one.available) != len(self.choices) or sorted(one.available) != self.choices:
                self.fields.add("available")
        for names in (one.numbers, one.words):
            self.size += 8 * len(names)
            for name in names:
                if name in self.features or len(self.features) < KNOWN:
                    self.features[name] += 1
                else:
                    self.untold += 1
        self.words.update(one.words)
        self.size += 64 + 24 * len(one.available or ()) + 24 * len(one.logging_probs or ())

    def describe(self) -> str:
        """Return what all files of one log must have in common, as it decides what their rows mean."""
        roles = [name for name in PARSED.names if name in self.fields]
        actions = "that differ from row to row" if "available" in roles else messages.list_some(self.choices or ())
        return f"{messages.list_names(roles)}; actions {actions}"

    def list_features(self) -> list[str]:
        """Return the features of the most decisions, in the order in which they came."""
        most = {name for name, _ in self.features.most_common(MOST)}
        return [name for name in self.features if name in most]

    def require_rows(self) -> None:
        """Refuse a text without any decision, and say what it holds instead."""
        if not self.rows and self.notes:
            what = "; ".join(note.problem.format(count=f"{count:,}") for note, count in self.notes.items())
            raise pa.ArrowInvalid(f"it holds no decision: {what}")


def is_whole(label: str) -> bool:
    """Say whether a label is a whole number as one writes it."""
    return label.isascii() and label.isdigit() and len(label) < 19 and (label == "0" or label[0] != "0")


def name_feature(name: str) -> str:
    """Return what the column of a feature is called."""
    return f"context.{name}" if name in RESERVED else name


def read_lines(file: Path) -> Iterator[Line]:
    """Yield the lines of a text in UTF-8, empty ones too."""
    number, waiting = 0, b""
    with open_stream(file) as stream:
        waiting = stream.read(3).removeprefix(b"\xef\xbb\xbf")  # the mark of UTF-8
        while read := stream.read(BLOCK):
            *lines, waiting = (waiting + read).split(b"\n")
            for place, line in enumerate(lines, number + 1):
                yield Line(place, decode(place, line))
            number += len(lines)
            if len(waiting) > LONGEST:
                raise pa.ArrowInvalid(f"line {number + 1}: a line must have at most {LONGEST} bytes, got more")
    if waiting.strip():
        yield Line(number + 1, decode(number + 1, waiting))


def decode(number: int, line: bytes) -> str:
    """Return a line as text."""
    if b"\0" in line:
        raise pa.ArrowInvalid(f"line {number}: it must be text, got bytes of 0, as in a file that was damaged")
    try:
        return line.decode().strip()
    except UnicodeDecodeError as error:
        raise pa.ArrowInvalid(f"line {number}: it must be UTF-8, got byte {line[error.start]:#x}") from None
