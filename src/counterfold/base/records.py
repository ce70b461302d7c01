"""Records: typed descriptions of the objects that JSON answers hold.

A record is a `TypedDict` or a dataclass. Each field has a type and, below it, a docstring that says what it means. The
JSON schema is generated from both. Results fill records in, and `as_dictionary` turns these into plain dictionaries.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from importlib import import_module
from typing import Any

AREAS = ("log", "evidence", "diagnostics", "evaluation", "learning", "cli")
"""The packages with a module `records`. They lie above this one, so it names them and imports them when asked."""

GROUP = "counterfold.records"
"""The group of entry points by which another distribution adds its `Records` to the schema."""


@dataclass(frozen=True)
class Answer:
    """A complete JSON answer: what a command prints with `--json`, or what a `to_json` returns.

    - `description`: when the answer is written.
    - `records`: the record that it is, or several of which it is one.
    - `has_questions`: whether `write_answer` writes it, which adds the questions that no check can answer.
    """

    description: str
    records: Sequence[type]
    has_questions: bool = True


@dataclass(frozen=True)
class Records:
    """What one package adds to the JSON schema.

    - `parts`: records by the names of their definitions. A record without a name is described in place.
    - `answers`: complete answers by the names of their definitions.
    - `numbers`: further fields of a part, each a number or null, with their descriptions: what plug-ins declare.
    """

    parts: Mapping[str, type] = field(default_factory=dict)
    answers: Mapping[str, Answer] = field(default_factory=dict)
    numbers: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


def load_records() -> Records:
    """Return the records of all packages together."""
    from importlib.metadata import entry_points

    several = [import_module(f"counterfold.{area}.records").RECORDS for area in AREAS]
    several += [entry.load() for entry in entry_points(group=GROUP)]
    parts: dict[str, type] = {}
    answers: dict[str, Answer] = {}
    numbers: dict[str, Mapping[str, str]] = {}
    for records in several:
        parts |= records.parts
        answers |= records.answers
        numbers |= records.numbers
    return Records(parts, answers, numbers)


def as_dictionary(record: Any) -> dict[str, Any]:
    """Return a record as a dictionary of plain numbers, texts, lists and dictionaries.

    >>> as_dictionary({"answer": Answer("An example.", records=(), has_questions=False)})
    {'answer': {'description': 'An example.', 'records': [], 'has_questions': False}}
    """
    plain: dict[str, Any] = _as_plain(record)
    return plain


def _as_plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _as_plain(entry) for name, entry in value.items()}
    if is_dataclass(value):
        return {one.name: _as_plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, (list, tuple)):
        return [_as_plain(entry) for entry in value]
    return value
