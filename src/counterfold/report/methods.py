"""Every estimator, selector, reward model, interval, learner and diagnostic, as read from the code."""

import inspect
import math
import re
from collections.abc import Sequence
from dataclasses import MISSING, dataclass, fields
from typing import Any

from rich.console import ConsoleRenderable

from counterfold.base import registry
from counterfold.estimators.base import MORE_CLUSTERS_THAN_ACTIONS
from counterfold.report import make_table

FOLDERS = ("estimators", "selectors", "models", "intervals", "learners", "diagnostics")
NEEDS = {
    "target_probs": "full target",
    "logging_probs": "full logging policy",
    "model": "reward model",
    "action_features": "action features",
    "loggers": "several loggers",
    "all_rows": "a log in memory",
    "even_rows": "rows that were all kept alike",
}
"""What a method may need of a log, in the words of the table."""

LEGEND = (
    "A policy is full where its probabilities of all actions are known, not those of the logged ones alone. Weights "
    "alone means that the latter are enough."
)


@dataclass(frozen=True)
class Method:
    """A method."""

    folder: str
    """The kind of method: estimators, selectors and so on."""

    name: str
    """Its name on the command line."""

    summary: str
    """What it does."""

    parameters: str
    """Its parameters."""

    limits: str
    """What it equals at some values of its parameters."""

    needs: str
    """What it needs of a log."""

    reference: str
    """The paper that it is from."""


def methods() -> list[Method]:
    """Return every method there is, folder by folder.

    >>> next(one for one in methods() if one.name == "switch-dr").limits
    '0 is DM, ∞ is DR'
    """
    return [describe(folder, name) for folder in FOLDERS for name in registry.names(folder)]


def describe(folder: str, name: str) -> Method:
    """Return what the code says of one method."""
    kind = registry.find(folder, name)
    paragraphs = [" ".join(paragraph.split()) for paragraph in (inspect.getdoc(kind) or "").split("\n\n")]
    limits = getattr(kind, "limits", {}).items()
    cited = (re.match(r'(.*\(\d{4}\), ".*?")', paragraph) for paragraph in paragraphs)
    return Method(
        folder=folder,
        name=name,
        summary=paragraphs[0],
        parameters=", ".join(f"{field.name} = {format_default(field)}" for field in fields(kind) if field.repr),
        limits=", ".join(f"{format_number(value)} is {class_name(text)}" for value, text in limits),
        needs=describe_needs(folder, kind),
        reference=next((match.group(1) for match in cited if match), ""),
    )


def describe_needs(folder: str, kind: Any) -> str:
    """Return what a log must have; an estimator that needs nothing more works with the weights alone."""
    needs = [NEEDS[need] for need in getattr(kind, "needs", ())]
    if getattr(kind, "kinds", ("labels",)) == ("doses",):
        needs = ["doses", *needs]
    if getattr(kind, "extra", None):
        needs.append(f"the extra `{kind.extra}`")
    return ", ".join(needs) or ("weights alone" if folder == "estimators" else "")


def format_default(field: Any) -> str:
    """Return the default of a field as a user would write it."""
    value = field.default_factory() if field.default is MISSING else field.default
    return format_number(value) if isinstance(value, float) else str(value)


def format_number(value: float) -> str:
    """Return a number as text; infinite and very large ones have a sign or a word."""
    return "∞" if value == math.inf else "many" if value == MORE_CLUSTERS_THAN_ACTIONS else f"{value:g}"


def class_name(text: str) -> str:
    """Return the class of an estimator's name, or any other text as it is."""
    return registry.find("estimators", text).__name__ if text in registry.names("estimators") else text


def markdown(found: Sequence[Method]) -> str:
    """Return a table per folder for the docs."""
    source = "Generated from the code by `make methods`; `counterfold methods` shows the same."
    lines = ["# Methods", "", source, "", LEGEND]
    for folder in FOLDERS:
        lines += ["", f"## {folder.capitalize()}", ""]
        lines += ["| name | what it does | parameters | limits | needs | reference |", "| --- " * 6 + "|"]
        for one in found:
            if one.folder == folder:
                cells = f"`{one.name}`", one.summary, one.parameters, one.limits, one.needs, one.reference
                lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def table(found: Sequence[Method], folder: str) -> ConsoleRenderable:
    """Return one folder's table for the terminal."""
    shown = make_table(folder.capitalize(), ("name", "parameters", "limits", "needs"))
    for one in found:
        if one.folder == folder:
            shown.add_row(one.name, one.parameters, one.limits, one.needs)
    return shown
