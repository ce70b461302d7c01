"""Answers as standard JSON, which other languages read as well."""

import json
from typing import Any


def write(answer: Any) -> str:
    r"""Return plain numbers, texts, lists and dictionaries as JSON in ASCII, null for NaN and infinity, which it lacks.

    >>> print(write({"score": float("inf"), "label": "\x1b[31mé"}))
    {
      "score": null,
      "label": "\u001b[31m\u00e9"
    }
    """
    finite = json.loads(json.dumps(answer), parse_constant=lambda _: None)
    return json.dumps(finite, indent=2, allow_nan=False)
