"""The few turns of phrase that messages share; imports nothing, so that the command line starts at once."""

import difflib
from collections.abc import Collection, Iterable


def join_choices(choices: Iterable[str]) -> str:
    """Return the choices as `a`, `b` or `c`."""
    *first, last = (f"`{choice}`" for choice in choices)
    return f"{', '.join(first)} or {last}" if first else last


def suggest(name: str, choices: Iterable[str]) -> str:
    """Return a sentence that suggests the choice nearest to `name`, or nothing."""
    match = difflib.get_close_matches(name, list(choices), n=1)
    return f" Did you mean `{match[0]}`?" if match else ""


def list_some(labels: Collection[object], most: int = 5) -> str:
    """Return the first few labels as text."""
    return ", ".join(map(str, list(labels)[:most])) + (", ..." if len(labels) > most else "")
