"""Features of nested JSON as numbers and words by name, the names of objects and fields joined by dots."""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from counterfold.io.formats._events import Line, name_feature

SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
"""How half of a character is written in JSON; where both halves stand together, they are one character."""


@dataclass(eq=False)
class Flat:
    """Numbers and words by name; what begins with `_` is none, and true and false are 1 and 0.

    >>> Flat().add_all({"User": {"age": 31, "city": "Oslo"}, "_multi": [], "hour": [7, 8]})
    ({'User.age': 31.0, 'hour.0': 7.0, 'hour.1': 8.0}, {'User.city': 'Oslo'})
    """

    numbers: dict[str, float] = field(default_factory=dict)
    words: dict[str, str] = field(default_factory=dict)

    def add_all(self, values: Mapping[str, Any]) -> tuple[dict[str, float], dict[str, str]]:
        """Return the features of an object."""
        for name, value in values.items():
            if not name.startswith("_"):
                self.add(name_feature(name), value)
        return self.numbers, self.words

    def add(self, name: str, value: Any) -> None:
        """Add what a field holds; objects in a list are taken for one."""
        if isinstance(value, str):
            self.words[name] = value
        elif isinstance(value, (int, float)):
            self.numbers[name] = to_float(value)
        elif isinstance(value, dict):
            for inner, one in value.items():
                if not inner.startswith("_"):
                    self.add(f"{name}.{inner}", one)
        elif isinstance(value, list):
            for place, one in enumerate(value):
                self.add(name if isinstance(one, dict) else f"{name}.{place}", one)


def parse_object(line: Line) -> dict[str, Any]:
    """Return the object of JSON that a line holds."""
    try:
        found = json.loads(line.text)
    except (ValueError, RecursionError) as error:
        cut = "" if line.text.endswith("}") else "; it may be cut off"
        raise line.error(f"it must be one object of JSON, got {str(error).partition(':')[0].lower()}{cut}") from None
    if not isinstance(found, dict):
        raise line.error("it must be one object of JSON, got something else")
    if SURROGATE.search(line.text):
        require_characters(found, line)
    return found


def require_characters(found: dict[str, Any], line: Line) -> None:
    r"""Refuse texts that hold half of a character, as `\ud83d` without the other half, which no UTF-8 can hold."""
    text = json.dumps(found, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        half = ascii(text[error.start])[1:-1]
        rule = "texts must hold whole characters, got half of one"
        raise line.error(f"{rule} (`{half}`), as where a text was cut; write the text anew") from None


def read_number(value: Any, name: str, line: Line) -> float:
    """Return a number of JSON."""
    if type(value) is float:  # nearly all are
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise line.error(f"`{name}` must be a number, got {str(value)[:40]!r}")
    return to_float(value)


def to_float(value: float) -> float:
    """Return a number of JSON as Python has it, infinity where a whole number is too large."""
    try:
        return float(value)
    except OverflowError:
        return math.inf
