"""Reads and writes Thrift's compact protocol, so that the footers and page headers of Parquet can be made to lie.

A struct is a dictionary from a field's number to `[kind, value]`; a list is `[kind, values]`.
"""

import struct

TRUE, FALSE, BYTE, DOUBLE, TEXT, LIST, STRUCT = 1, 2, 3, 7, 8, 9, 12


class Input:
    """Bytes and a place in them."""

    def __init__(self, data):
        self.data, self.place = data, 0

    def take(self, count):
        """Return the next bytes."""
        self.place += count
        return self.data[self.place - count : self.place]

    def number(self):
        """Return the next whole number of variable length."""
        found, shift = 0, 0
        while True:
            byte = self.take(1)[0]
            found |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return found

    def value(self, kind):
        """Return the next value of a kind."""
        if kind in {TRUE, FALSE}:
            return kind == TRUE
        if kind == STRUCT:
            return self.struct()
        if kind == TEXT:
            return self.take(self.number())
        if kind == LIST:
            head = self.take(1)[0]
            count = head >> 4 if head >> 4 < 15 else self.number()
            return [head & 15, [self.element(head & 15) for _ in range(count)]]
        return self.take(8 if kind == DOUBLE else 1) if kind in {DOUBLE, BYTE} else self.number()

    def element(self, kind):
        """Return the next value of a list, where truth values take a byte."""
        return self.take(1) if kind in {TRUE, FALSE} else self.value(kind)

    def struct(self):
        """Return the next struct."""
        found, last = {}, 0
        while head := self.take(1)[0]:
            if not head >> 4:
                raise ValueError("long field numbers are not used by Parquet")
            last += head >> 4
            found[last] = [head & 15, self.value(head & 15)]
        return found


def write_number(value):
    """Return a whole number of variable length."""
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def write_value(kind, value):
    """Return a value as bytes."""
    if kind == STRUCT:
        return write_struct(value)
    if kind == TEXT:
        return write_number(len(value)) + value
    if kind == LIST:
        inner, values = value
        head = (
            bytes([len(values) << 4 | inner]) if len(values) < 15 else bytes([240 | inner]) + write_number(len(values))
        )
        return head + b"".join(
            one if isinstance(one, bytes) and inner != TEXT else write_value(inner, one) for one in values
        )
    if kind in {TRUE, FALSE}:
        return b""
    return value if isinstance(value, bytes) else write_number(value)


def write_struct(fields):
    """Return a struct as bytes."""
    out, last = b"", 0
    for number, (kind, value) in sorted(fields.items()):
        kept = (TRUE if value else FALSE) if kind in {TRUE, FALSE} else kind
        out += bytes([(number - last) << 4 | kept]) + write_value(kept, value)
        last = number
    return out + b"\0"


def zigzag(value):
    """Return how a signed number is stored."""
    return (value << 1) ^ (value >> 63) if value >= 0 else (-value << 1) - 1


def read_footer(data):
    """Return the footer of a Parquet file, and where it begins."""
    (length,) = struct.unpack("<I", data[-8:-4])
    start = len(data) - 8 - length
    return Input(data[start:]).struct(), start


def replace_footer(data, change):
    """Return the file with a footer that a function has changed in place."""
    footer, start = read_footer(data)
    change(footer)
    made = write_struct(footer)
    return data[:start] + made + struct.pack("<I", len(made)) + data[-4:]
