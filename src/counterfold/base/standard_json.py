"""Answers as standard JSON, which other languages read as well, and the schema of what they hold."""

import json
from collections.abc import Mapping
from typing import Any

from counterfold.base.questions import QUESTIONS

VERSION = 1
"""The version of the schema. It is raised when a field is removed, renamed or given another meaning."""


def json_schema() -> dict[str, Any]:
    """Return the JSON schema of everything that `to_json` and `--json` write; each kind of answer is in its `$defs`.

    It is generated from the records that results fill in.

    >>> {"evaluate", "compare", "check", "evaluation", "comparison"} <= set(json_schema()["$defs"])
    True
    """
    from counterfold.base.records import load_records
    from counterfold.base.schema import generate_schema

    return generate_schema(load_records(), VERSION)


def write(answer: Mapping[str, Any]) -> str:
    r"""Return plain numbers, texts, lists and dictionaries as JSON in ASCII, null for NaN and infinity, which it lacks.

    The version of the schema comes first.

    >>> print(write({"score": float("inf"), "label": "\x1b[31mé"}))
    {
      "version": 1,
      "score": null,
      "label": "\u001b[31m\u00e9"
    }
    """
    finite = json.loads(json.dumps({"version": VERSION, **answer}), parse_constant=lambda _: None)
    return json.dumps(finite, indent=2, allow_nan=False)


def write_answer(answer: Mapping[str, Any]) -> str:
    """Return an answer as JSON, with the questions that no check can tell."""
    return write({**answer, "questions": list(QUESTIONS)})
