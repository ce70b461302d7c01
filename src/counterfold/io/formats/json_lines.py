"""One JSON object per line."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.json

from counterfold.io.formats.base import BYTES, Piece, Reader, Survey, merge_types, open_stream

LEAST, MOST, LONGEST = 1 << 16, 1 << 22, 1 << 26
"""How many bytes are read at a time, at first and later, and how many a line may have at most."""

TEXT = re.compile(rb'"(?:[^"\\]|\\.)*"')

LINES = 'write one object per line, as `to_json(path, orient="records", lines=True)` of pandas does'
"""What to do with other layouts of JSON."""

DEEPEST = 100
"""How many lists and objects may be within each other; pyarrow takes the whole process down on far more."""


class Block(NamedTuple):
    """Some lines of a file, and how many of them are rows."""

    text: bytes
    rows: int


class JsonLines(Reader):
    """One JSON object per line; probabilities may be lists, or objects from action to probability."""

    suffixes = (".jsonl", ".ndjson", ".json")

    def survey(self, file: Path) -> Survey:
        blocks, rows, size = Blocks(file), 0, 0
        types: dict[str, pa.DataType] = {}
        for block in blocks:
            table = parse(block, rows, pa.json.ParseOptions())
            types |= {one.name: merge_types(one.name, types.get(one.name, one.type), one.type) for one in table.schema}
            rows, size = rows + len(table), size + table.nbytes
            blocks.limit_rows(len(table), count_leaves(table.schema))
        if rows == 1 and types and all(map(pa.types.is_nested, types.values())):
            raise pa.ArrowInvalid(f"every line must be one row, but it is one object that holds all rows; {LINES}")
        return Survey(pa.schema(list(types.items())), rows, size)

    def pieces(self, file: Path, survey: Survey, columns: Sequence[str]) -> Iterator[Piece]:
        schema = pa.schema([survey.schema.field(name) for name in columns])
        options = pa.json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")
        blocks, first, leaves = Blocks(file), 0, count_leaves(schema)
        for block in blocks:
            yield Piece(first, partial(parse_piece, block, first, options))
            first += block.rows
            blocks.limit_rows(block.rows, leaves)


@dataclass(eq=False)
class Blocks:
    """Whole lines of a file, many at a time; fewer after `limit_rows` where rows take much more memory than text."""

    file: Path
    size: int = LEAST

    def __iter__(self) -> Iterator[Block]:
        with open_stream(self.file) as stream:
            waiting = stream.read(3).removeprefix(b"\xef\xbb\xbf")  # the mark of UTF-8
            while read := stream.read(max(self.size, len(waiting))):
                waiting += read
                end = waiting.rfind(b"\n") + 1
                if end:
                    yield check_lines(waiting[:end])
                    waiting = waiting[end:]
                if len(waiting) > LONGEST:
                    raise pa.ArrowInvalid(f"every line must be an object of at most {LONGEST} bytes, got more")
        if waiting.strip():
            yield check_lines(waiting)

    def limit_rows(self, rows: int, leaves: int) -> None:
        """Read twice as much as before from now on, unless so many numbers per row would take much memory."""
        per_byte = 8 * leaves * rows / self.size
        self.size = int(max(LEAST // 16, min(MOST, 2 * self.size, BYTES / max(per_byte, 1e-9))))


def check_lines(text: bytes) -> Block:
    """Return the lines, if all are objects that are not nested too deep; pyarrow ends the process on some others."""
    lines = [line for line in map(bytes.strip, text.splitlines()) if line]
    other = next((line for line in lines if not line.startswith(b"{")), None)
    if other is not None:
        start = other[:1].decode(errors="replace")
        rule = "every line must be one object, not a part or a list"
        raise pa.ArrowInvalid(f"{rule}, but one starts with {start!r}; {LINES}")
    for line in lines:
        if line.count(b"[") + line.count(b"{") > DEEPEST:
            require_flat(line)
    return Block(text, len(lines))


def require_flat(line: bytes) -> None:
    """Refuse lists and objects too deep in each other."""
    marks = np.frombuffer(TEXT.sub(b"", line), dtype=np.uint8) & 0xDF  # the same for [ and {, and for ] and }
    depth = np.cumsum((marks == ord("[")).astype(np.int32) - (marks == ord("]"))).max()
    if depth > DEEPEST:
        raise pa.ArrowInvalid(f"lists and objects must be at most {DEEPEST} deep, got {depth}")


def parse(block: Block, first: int, options: pa.json.ParseOptions) -> pa.Table:
    """Return the rows of a block, of which `first` is the number of the first one."""
    whole = pa.json.ReadOptions(use_threads=False, block_size=len(block.text) + 1)
    try:
        table = pa.json.read_json(pa.BufferReader(block.text), whole, options)
    except pa.ArrowInvalid as error:
        raise pa.ArrowInvalid(explain(str(error), block, first)) from None
    if len(table) != block.rows:
        raise pa.ArrowInvalid(f"every line must be one object, got {len(table)} in {block.rows} lines")
    return table


def explain(reason: str, block: Block, first: int) -> str:
    """Return why a block could not be parsed, and what to do."""
    if block.text.strip().splitlines()[0].rstrip().endswith(b","):
        return f"lines must not end with a comma; {LINES}"
    reason = re.sub(r"\.? in row (\d+)", lambda found: f" in row {first + int(found[1])}", reason)
    way = "write all values of a column in one way" if "changed from" in reason else "mend that line, or take it away"
    return f"{reason}; {way}"


def parse_piece(block: Block, first: int, options: pa.json.ParseOptions) -> Iterator[pa.Table]:
    """Yield the rows of a block."""
    yield parse(block, first, options)


def count_leaves(fields: Iterable[pa.Field]) -> int:
    """Return how many numbers or texts a row holds, where lists count as one."""
    return sum(count_leaves(one.type) if pa.types.is_struct(one.type) else 1 for one in fields)
