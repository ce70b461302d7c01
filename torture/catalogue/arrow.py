"""Arrow files and streams: cut at borders of batches and within, buffers that do not fit, flipped bytes."""

import struct

import numpy as np
import pyarrow as pa

from torture.cases import LogCase
from torture.catalogue import AGREED, EITHER, REFUSED, RIGHT, entry
from torture.logs import LABELS, know_answer, make_rows, make_table, write_arrow, write_csv, write_parquet

FILE, STREAM = write_arrow(), write_arrow(kind="stream")
KINDS = {"file": FILE, "stream": STREAM}
ROWS = len(make_rows())
CODES = [LABELS.index(row["action"]) for row in make_rows()]


def add(name, data, allowed, file="log.arrow", known=None, **settings):
    """Register a file with these bytes, or those that a function makes."""

    @entry(name, allowed, **settings)
    def make(folder):
        (folder / file).write_bytes(data() if callable(data) else data)
        return LogCase(folder / file, known or know_answer())


for kind, data in KINDS.items():
    add(f"clean {kind}", data, RIGHT)
    add(f"clean {kind}, lz4", lambda k=kind: write_arrow(kind=k, compression="lz4"), RIGHT)
    add(f"clean {kind}, zstd", lambda k=kind: write_arrow(kind=k, compression="zstd"), RIGHT)
    add(f"clean {kind}, one row at a time", lambda k=kind: write_arrow(kind=k, batch=1), RIGHT)
add("clean, feather", FILE, RIGHT, "log.feather")
add("clean, arrows", STREAM, RIGHT, "log.arrows")
add("engine that cannot read it", FILE, REFUSED, ways=("spark",))


def find_borders(data):
    """Return where the messages of a stream begin."""
    borders, place = [], 0
    while place < len(data):
        borders.append(place)
        length = struct.unpack("<i", data[place + 4 : place + 8])[0]
        if length == 0:
            break
        message = pa.ipc.read_message(pa.py_buffer(data[place:]))
        place += 8 + length + (message.body.size if message.body is not None else 0)
    return borders


BORDERS = find_borders(STREAM)
for number, place in enumerate(BORDERS[1:], 1):
    add(f"stream cut before message {number}", STREAM[:place], REFUSED if place < BORDERS[-1] else EITHER)
    add(f"stream cut within message {number}", STREAM[: place + 5], REFUSED if place < BORDERS[-1] else EITHER)
for share in (0.1, 0.3, 0.5, 0.7, 0.9, 0.99):
    for kind, data in KINDS.items():
        add(f"{kind} cut at {share:.0%}", data[: int(share * len(data))], REFUSED)

DAMAGED = {
    "nothing": b"",
    "magic only": b"ARROW1\0\0",
    "magic twice": b"ARROW1\0\0ARROW1",
    "file, the last byte missing": FILE[:-1],
    "file, wrong magic at the end": FILE[:-6] + b"ARROW2",
    "file, wrong magic at the start": b"ARROW2" + FILE[6:],
    "file, a footer of no length": FILE[:-10] + b"\0\0\0\0" + FILE[-6:],
    "file, a footer longer than the file": FILE[:-10] + b"\xff\xff\xff\x7f" + FILE[-6:],
    "file, a negative footer": FILE[:-10] + b"\xff\xff\xff\xff" + FILE[-6:],
    "file, zeros for the footer": FILE[:-200] + bytes(190) + FILE[-10:],
    "file, without its start": FILE[8:],
    "stream, end only": STREAM[-8:],
    "stream, without its schema": STREAM[BORDERS[1] :],
    "stream, a message of 2 GB": STREAM[: BORDERS[1] + 4] + b"\xff\xff\xff\x7f" + STREAM[BORDERS[1] + 8 :],
    "stream, a message of negative length": STREAM[: BORDERS[1] + 4] + b"\x80\xff\xff\xff" + STREAM[BORDERS[1] + 8 :],
    "nothing but zeros": bytes(4096),
    "garbage": b"garbage" * 100,
    "a CSV": write_csv().encode(),
    "a Parquet file": write_parquet(),
}
for name, data in DAMAGED.items():
    add(name, data, EITHER if name in {"file, without its start", "file, wrong magic at the start"} else REFUSED)
add("stream, garbage behind", STREAM + b"garbage", EITHER)
add("two streams in one", STREAM + STREAM, EITHER)
add("stream, a batch twice", STREAM[: BORDERS[2]] + STREAM[BORDERS[1] :], AGREED)


def bad_text(offsets=None, texts=None):
    """Return labels whose offsets or bytes are not as they must be."""
    good = pa.array([LABELS[code] for code in CODES])
    _, places, letters = good.buffers()
    found = np.frombuffer(places, np.int32)[: ROWS + 1].copy()
    found = found if offsets is None else offsets(found)
    letters = letters if texts is None else pa.py_buffer(texts(letters.to_pybytes()))
    return pa.StringArray.from_buffers(len(good), pa.py_buffer(found.tobytes()), letters)


def put(place, value):
    """Return a function that changes one number."""

    def change(numbers):
        numbers[place] = value
        return numbers

    return change


def bad_lists(place, value):
    """Return probabilities of all actions as lists with a wrong offset."""
    offsets = put(place, value)(np.arange(ROWS + 1, dtype=np.int32) * 3)
    inner = pa.array([0.5, 0.25, 0.25] * ROWS)
    return pa.ListArray.from_buffers(
        pa.list_(pa.float64()), ROWS, [None, pa.py_buffer(offsets.tobytes())], children=[inner]
    )


def bad_codes(place, value, kind=np.int32):
    """Return labels as a dictionary with an index out of range."""
    codes = put(place, value)(np.array(CODES, kind))
    return pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(list(LABELS)), safe=False)


def repeated_keys():
    """Return the target as maps that name an action twice."""
    rows = [[("red", 0.125), ("red", 0.125), ("green", 0.5), ("blue", 0.25)] for _ in range(ROWS)]
    return pa.array(rows, pa.map_(pa.string(), pa.float64()))


BUFFERS = {
    "an offset of labels beyond the end": {"action": lambda: bad_text(put(100, 2**30))},
    "a negative offset of labels": {"action": lambda: bad_text(put(100, -5))},
    "offsets of labels that go back": {"action": lambda: bad_text(put(100, 0))},
    "labels that are not UTF-8": {"action": lambda: bad_text(texts=lambda text: text.replace(b"green", b"gr\xffen"))},
    "half a character in labels": {"action": lambda: bad_text(texts=lambda text: text[:-1] + b"\xc3")},
    "a list offset beyond the end": {"logging_probs": lambda: bad_lists(100, 2**30)},
    "a negative list offset": {"logging_probs": lambda: bad_lists(100, -3)},
    "list offsets that go back": {"logging_probs": lambda: bad_lists(100, 0)},
    "a dictionary index out of range": {"action": lambda: bad_codes(100, 7)},
    "a dictionary index far out of range": {"action": lambda: bad_codes(100, 2**30)},
    "a negative dictionary index": {"action": lambda: bad_codes(100, -1)},
    "a dictionary index of int8 out of range": {"action": lambda: bad_codes(100, 100, np.int8)},
    "a map that names an action twice": {"target": repeated_keys},
}
for name, columns in BUFFERS.items():
    for kind in KINDS:
        add(
            f"{kind}, {name}",
            lambda c=columns, k=kind: write_arrow(make_table(**{n: f() for n, f in c.items()}), k, ROWS),
            REFUSED,
        )

LENGTHS = np.cumsum([0, *(len(LABELS[code]) for code in CODES)], dtype=np.int32)
LISTS = np.arange(ROWS + 1, dtype=np.int32) * 3
PATCHES = {
    "the last offset of labels beyond the end": ({}, LENGTHS, ROWS, 2**30),
    "the first offset of labels negative": ({}, LENGTHS, 0, -(2**30)),
    "the last list offset beyond the end": ({"logging_probs": [[0.5, 0.25, 0.25]] * ROWS}, LISTS, ROWS, 2**30),
    "rewards shorter than their count": ({}, np.array([ROWS * 8, 0, 0], np.int64)[:1], 0, 80),
}
"""Numbers of a file that pyarrow would not write as they are: what they belong to, all of them, which one, and what."""


def patch(columns, numbers, place, value, kind):
    """Return a file in which one number of several is another one."""
    data = write_arrow(make_table(**columns), kind, ROWS)
    before = numbers.tobytes()
    assert before in data
    return data.replace(before, put(place, value)(numbers.copy()).tobytes(), 1)


for name, patched in PATCHES.items():
    for kind in KINDS:
        add(f"{kind}, {name}", lambda p=patched, k=kind: patch(*p, k), REFUSED)

for kind, data in KINDS.items():
    for number, place in enumerate(np.random.default_rng(2).integers(8, len(data), size=12).tolist()):
        flipped = data[:place] + bytes([data[place] ^ 1 << number % 8]) + data[place + 1 :]
        add(f"{kind}, a flipped bit, {number}", flipped, AGREED)
