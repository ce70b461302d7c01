"""Columns of text and categories: a column of 0 and 1 for each frequent value, one for all rare ones together."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pyarrow as pa

from counterfold.base.arrays import Floats, Ints, as_plain
from counterfold.base.errors import DataError
from counterfold.base.messages import list_some, show
from counterfold.base.validation import Checker, is_number
from counterfold.log.encoding.base import CONSTANT, MISSING, ColumnEncoding, Split, Summary
from counterfold.log.encoding.kinds import is_numeric

if TYPE_CHECKING:
    from counterfold.log.records import EncodingRecord

MOST, CHARACTERS, BYTES = 1 << 16, 1 << 24, 1 << 26
"""The different values of a column are counted if there are at most so many, with at most so many characters.

No text of so few characters has more BYTES.
"""

FREQUENT, SHARE = 10, 20
"""A value is frequent from FREQUENT rows on, or from one SHARE of the rows on if that is less."""

LONG = 64
"""Texts that are longer on average are not taken for categories by themselves."""

FEW = 10
"""So many different values tell whether all are dates."""

DAY_FIRST = re.compile(r"\d{1,4}[./-]\d{1,2}[./-]\d{1,4}\b")
"""What dates look like that are not written as ISO wants it; those that are have been found before."""

DATE = "it looks like dates; write them as 2024-01-31 or 2024-01-31T12:30:00 to name it as `time`"

COVERED = 0.5
"""Which share of the rows must have one of the frequent values, so that a text is taken for context by itself."""

SURPRISING, FEW = 1e-6, 20
"""Rows whose values were all rare before are no chance if it is as unlikely as this; fewer rows may be of one user."""

RARE, ABSENT = "(rare)", "missing"
"""What values that are rare are called together, and gaps."""


@dataclass(frozen=True)
class LevelEncoding(ColumnEncoding):
    """A column for each of the `levels` but the first, which is the most frequent; `rare` values have one together.

    These were in `rare_rows` rows.
    """

    levels: tuple[str, ...]
    rare: int
    rare_rows: int = 0

    @property
    def labels(self) -> tuple[str, ...]:
        """Return what is told apart; the first one is where all columns are 0."""
        rare = (RARE,) if self.rare or not self.levels else ()
        return (*self.levels, *rare, *((ABSENT,) if self.missing else ()))

    @property
    def outputs(self) -> tuple[str, ...]:
        named = len(self.labels) - bool(self.missing)
        known = tuple(f"{self.name}={show(level)}" for level in self.labels[1:named])
        return (*known, self.indicator) if self.missing else known

    def encode(self, column: pa.ChunkedArray, check: Checker) -> Sequence[Floats]:
        places = {level: place for place, level in enumerate(self.levels)}
        rare = len(self.levels) if RARE in self.labels[len(self.levels) :] else 0
        missing = len(self.labels) - 1 if self.missing else rare
        found = [np.empty(0, dtype=np.intp)]
        for values, codes in map(read_chunk, encode_chunks(column)):
            known = [missing if one is None else places.get(one, rare) for one in values]
            found.append(np.array([*known, missing], dtype=np.intp)[codes])
        codes = np.concatenate(found)
        return [(codes == place).astype(np.float64) for place in range(1, len(self.labels))]

    def explain_strangers(self, column: pa.ChunkedArray) -> str | None:
        if pa.types.is_nested(column.type):
            return f"column `{show(self.name)}` must be text, got {column.type}."
        counts = count_values(encode_chunks(column))
        if not counts or not self.levels or any(level in counts for level in self.levels):
            return None
        if not self.is_other_kind(column.type) and not self.looks_like(counts) and self.can_be_rare(counts.total()):
            return None
        rule = f"hold values that the policy was learnt with ({list_some(self.levels)})"
        got = f"got none of these, but {list_some(counts)}"
        way = "Write values as in the log that it was learnt from, and leave away one that is new"
        return f"column `{show(self.name)}` must {rule}, {got}. {way}."

    def is_other_kind(self, kind: pa.DataType) -> bool:
        """Say whether a column holds numbers, though none of the levels is one."""
        plain = kind.value_type if pa.types.is_dictionary(kind) else kind
        return is_numeric(plain) and not any(map(is_number, self.levels))

    def looks_like(self, values: Iterable[str]) -> bool:
        """Say whether a value differs from a level by its case alone."""
        levels = {level.casefold() for level in self.levels}
        return any(value.casefold() in levels for value in values)

    def can_be_rare(self, rows: int) -> bool:
        """Say whether so many rows may have rare values alone by chance, as often as these were there before."""
        share = self.rare_rows / (self.rows - self.missing)
        return bool(rows < FEW or share**rows > SURPRISING)

    @property
    def values(self) -> tuple[str, ...]:
        return self.levels

    def restore(self, columns: Sequence[Floats], rows: int) -> pa.Array:
        codes = sum((place * column for place, column in enumerate(columns, start=1)), np.zeros(rows))
        labels = [*self.labels[:-1], None] if self.missing else self.labels
        return pa.array(labels, pa.string()).take(pa.array(codes.astype(np.intp)))

    def find_lost(self, values: Collection[str]) -> Sequence[str]:
        return [one for one in values if one not in self.levels] if self.rare else ()

    def tell_value_split(self, place: int, threshold: float) -> Split:
        known = [show(level) for level in self.levels]
        return Split.mark(show(self.name), [*known, "a rare value"][place + 1])

    def describe(self) -> str:
        if not self.outputs:
            why = "it is the same in every row" if self.levels else "none of its values is frequent"
            return f"`{self.name}` by nothing, as {why}"
        more = f" and {self.rare} rare ones together" if self.rare else ""
        gaps = f", {self.gaps}" if self.missing else ""
        return f"`{self.name}` by {len(self.levels)} values{more}{gaps}"

    def to_dict(self) -> "EncodingRecord":
        return {"kind": "levels", "missing": self.missing, "levels": list(self.levels), "rare_levels": self.rare}


@dataclass(frozen=True, eq=False)
class LevelCounts(Summary):
    """How often each value is there, unless they are too many; and how many characters all rows have together."""

    rows: int
    missing: int
    characters: int
    counts: Mapping[str, int] | None
    has_levels = True

    @classmethod
    def of(cls, name: str, column: pa.ChunkedArray, check: Checker) -> Self:
        coded = encode_chunks(column)
        if any(len(one.dictionary) > MOST or one.dictionary.nbytes > BYTES for one in coded):
            return cls(len(column), column.null_count, 0, None)  # which would take much room to write out
        counts = count_values(coded)
        present = counts.total()
        characters = sum(len(level) * number for level, number in counts.items())
        return cls(len(column), len(column) - present, characters, limit_counts(counts))

    def __add__(self, other: "LevelCounts") -> "LevelCounts":
        counts = None
        if self.counts is not None and other.counts is not None:
            counts = limit_counts(Counter(self.counts) + Counter(other.counts))
        rows, missing = self.rows + other.rows, self.missing + other.missing
        return LevelCounts(rows, missing, self.characters + other.characters, counts)

    def rank(self, levels: int) -> list[str]:
        """Return the frequent values, the most frequent first, at most so many."""
        least = max(1, min(FREQUENT, self.rows // SHARE))
        known = self.counts or {}
        frequent = sorted((level for level in known if known[level] >= least), key=lambda one: (-known[one], one))
        return frequent[:levels]

    def explain(self, levels: int) -> str | None:
        present = self.rows - self.missing
        if not present:
            return MISSING
        if self.counts is None or 2 * len(self.counts) > present:
            is_date = self.counts and all(DAY_FIRST.match(one) for one in islice(self.counts, FEW))
            return DATE if is_date else "it is an identifier or free text, different in most rows"
        if self.characters > LONG * present:
            return "it is free text"
        if len(self.counts) == 1 and not self.missing:
            return CONSTANT
        frequent = self.rank(levels)
        share = sum(self.counts[level] for level in frequent) / present
        if share >= COVERED:
            return None
        some = f"the {len(frequent)} most frequent ones are in {100 * share:.0f} % of the rows"
        return f"it has {len(self.counts)} values, and {some}; name it in `context` to have it taken"

    def learn(self, name: str, levels: int) -> LevelEncoding:
        if self.missing == self.rows:
            raise DataError(f"`context` column `{name}` must hold values, got none in all {self.rows} rows.")
        if self.counts is None:
            rule = f"at most {MOST} different values with {CHARACTERS} characters in all"
            way = "Put rare values together as one, or leave the column out"
            raise DataError(f"`context` column `{name}` must have {rule} to be encoded, got more. {way}.")
        kept = self.rank(levels)
        rare_rows = self.rows - self.missing - sum(self.counts[one] for one in kept)
        return LevelEncoding(name, self.rows, self.missing, tuple(kept), len(self.counts) - len(kept), rare_rows)


def limit_counts(counts: "Counter[str]") -> Mapping[str, int] | None:
    """Return counts of values, or nothing if these are too many; so it does not matter how rows were added up."""
    is_small = len(counts) <= MOST and sum(map(len, counts)) <= CHARACTERS
    return counts if is_small else None


def encode_chunks(column: pa.ChunkedArray) -> list[pa.DictionaryArray]:
    """Return the chunks of a column, each with a dictionary of its different values."""
    return [one if pa.types.is_dictionary(one.type) else one.dictionary_encode() for one in column.chunks]


def count_values(coded: Iterable[pa.DictionaryArray]) -> "Counter[str]":
    """Return in how many rows each value is."""
    counts: Counter[str] = Counter()
    for values, codes in map(read_chunk, coded):
        times = np.bincount(codes, minlength=len(values) + 1).tolist()
        for level, number in zip(values, times, strict=False):
            if level is not None and number:
                counts[level] += number
    return counts


def read_chunk(coded: pa.DictionaryArray) -> tuple[list[str | None], Ints]:
    """Return the different values of some rows, and the place of each row's among them, one beyond where it has none.

    Spaces around a text are dropped; an empty text is a missing one.
    """
    values = [write_level(one) for one in coded.dictionary.to_pylist()]
    return values, coded.indices.fill_null(len(values)).to_numpy(zero_copy_only=False).astype(np.intp)


def write_level(value: Any) -> str | None:
    """Return a value as text, or nothing if it is missing; 7.0 is written like 7, as a gap makes floats of numbers.

    >>> write_level(" Paris "), write_level(""), write_level(7.0), write_level(b"NA"), write_level(np.nan)
    ('Paris', None, '7', 'NA', None)
    """
    if value is None or value != value:  # noqa: PLR0124 (NaN does not equal itself)
        return None
    text = value.decode(errors="replace") if isinstance(value, bytes) else str(as_plain(value))
    return text.strip() or None
