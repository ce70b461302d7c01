"""The small language in which a text says what a target does; nothing in it is evaluated.

    TARGET  = PART | SHARE * PART + SHARE * PART + ...
    PART    = a column | a label | NAME | NAME:VALUE | NAME:VALUE:FIELD=VALUE | MODULE:OBJECT[:FIELD=VALUE]

The text is taken apart by `base/notation.py`, whose rules on quotes and numbers hold.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from typing import Any

from counterfold.base import messages, registry
from counterfold.base.errors import ParameterError
from counterfold.base.notation import read_setting, read_term, split_text, starts_with_factor, unquote
from counterfold.policies.given.base import TargetForm

MODULE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")
OBJECT = re.compile(r"[^\W\d]\w*")

USUAL_WORDS: Mapping[str, tuple[str, ...]] = {
    "uniform": ("random", "uniform-random", "uniform_random", "equal"),
    "logger": ("behavior", "behaviour", "logging", "logged", "log", "logging_policy", "behavior_policy", "pi_b"),
    "greedy:COLUMNS": ("greedy", "argmax", "best", "max"),
    "always:LABEL": ("always", "constant", "fixed"),
    "0.1*uniform + 0.9*TARGET": ("epsilon", "eps", "epsilon-greedy", "epsilon_greedy", "egreedy", "mixture", "mix"),
}
"""What forms are often called elsewhere. They are suggested, and never taken by themselves."""

ENDINGS = {".onnx": "onnx", ".skops": "skops"}
PICKLES = (".pkl", ".pickle", ".joblib", ".cloudpickle")
"""Endings of files that hold a model, and of those that would run code when they are loaded."""


@cache
def list_forms() -> Mapping[str, type[TargetForm]]:
    """Return the forms that a text can name."""
    known = {name: registry.find("targets", name) for name in registry.names("targets")}
    return {name: form for name, form in known.items() if form.syntax.partition(":")[0] == name}


def parse_target(text: str) -> TargetForm | None:
    """Return what a text says, or nothing of a plain word, which may be a label.

    >>> parse_target("softmax:score:temperature=0.5")
    Softmax(scores='score', temperature=0.5)
    >>> parse_target("0.1*uniform + 0.9*always:red").parts
    [(0.1, 'uniform'), (0.9, 'always:red')]
    """
    pieces = split_text(text, "+", "target")
    if not any(starts_with_factor(piece) for piece in pieces):
        return parse_part(text)
    from counterfold.policies.given.mixture import Mixture

    parts = []
    for piece in pieces:
        share, part = read_term(piece)
        if share is None or read_term(part).factor is not None:
            got = f"got `{messages.show(piece)}` in `{messages.show(text)}`"
            raise ParameterError(f"every part of a mixture must have one share, as in 0.1*uniform + 0.9*red, {got}.")
        parts.append((share, part))
    return Mixture(parts)


def parse_part(text: str) -> TargetForm | None:
    """Return what a text says that is no mixture; in quotes it is a name."""
    if unquote(text) != text:
        return None
    head, *rest = split_text(text, ":", "target")
    forms = list_forms()
    if head in forms:
        return build_form(forms[head], text, rest)
    if not rest:
        refuse_files(text)
        return None
    if MODULE.fullmatch(head) and OBJECT.fullmatch(rest[0]) and has_module(head):
        return import_form(f"{head}:{rest[0]}", rest[1:])
    is_object = MODULE.fullmatch(head) and OBJECT.fullmatch(rest[0])
    missing = f" There is no module `{messages.show(head)}`." if is_object else ""
    hint = missing + suggest_form(head)
    raise ParameterError(f"`target` must be a column, a label, {list_syntax()}, got `{messages.show(text)}`.{hint}")


def suggest_form(word: str, others: Sequence[str] = ()) -> str:
    """Return a sentence that suggests the form which a word may stand for, or the nearest of it and other names."""
    usual = next((form for form, words in USUAL_WORDS.items() if word.casefold() in words), None)
    stem = word.rstrip("*._")
    if stem != word and sum(other.startswith(stem) for other in others) > 1:
        usual = stem  # of columns that are spread, as in `new_*`
    return f" Did you mean `{usual}`?" if usual else messages.suggest(word, [*others, *list_forms()])


def list_syntax() -> str:
    """Return the names of all forms that can be written."""
    return f"{', '.join(list_forms())}, MODULE:FUNCTION, or shares of these"


def build_form(form: type[TargetForm], text: str, pieces: Sequence[str]) -> TargetForm:
    """Return a form from its name and what stands behind it."""
    if bool(pieces) != bool(form.takes) or "" in pieces:
        raise ParameterError(f"`target` must be `{form.syntax}`, got `{messages.show(text)}`.")
    values = {}
    if pieces:
        first, *others = form.takes
        values = {first: form.takes[first](pieces[0]), **read_settings(form, others, pieces[1:])}
    build: Callable[..., TargetForm] = form
    return build(**values)


def read_settings(form: type[TargetForm], known: Sequence[str], pieces: Sequence[str]) -> dict[str, Any]:
    """Return the values of fields from texts FIELD=VALUE."""
    values: dict[str, Any] = {}
    for piece in pieces:
        field, value = read_setting(piece)
        if value is None or field not in known or field in values:
            takes = f"takes {messages.join_choices(known)}, each once" if known else "takes no settings"
            hint = messages.suggest(field, known) or " Write what holds a colon in quotes."
            raise ParameterError(f"`{form.syntax}` {takes}, got `{messages.show(piece)}`.{hint}")
        values[field] = form.takes[field](value)
    return values


def has_module(name: str) -> bool:
    """Say whether there is a package that a module may be in, without importing anything."""
    registry.allow_current_folder()
    try:
        return find_spec(name.partition(".")[0]) is not None
    except ValueError:  # what is run as a script, and a few others, cannot be found
        return False


def import_form(path: str, pieces: Sequence[str]) -> TargetForm:
    """Return the form of what MODULE:OBJECT names: a function, a model, or a form."""
    from counterfold.policies.given import find_form
    from counterfold.policies.given.classifier import Classifier, can_predict
    from counterfold.policies.given.function import Function

    settings = read_settings(Function, ("columns",), pieces)
    found = registry.import_name(path, "`target` must be MODULE:OBJECT")
    is_usable = isinstance(found, TargetForm) or can_predict(found) or callable(found)
    if isinstance(found, type) or not is_usable:
        rule = "a function of the context, a fitted model or a target"
        raise ParameterError(f"`{path}` must be {rule}, got {messages.shorten(found)}.")
    form = find_form(found)
    if not settings:
        return form
    if not isinstance(form, (Function, Classifier)):
        raise ParameterError(f"`{path}` must be a function or a model to take columns, got {messages.shorten(found)}.")
    return replace(form, **settings)


def refuse_files(text: str) -> None:
    """Refuse the path of a model's file without a word on what it is."""
    ending = next((one for one in (*ENDINGS, *PICKLES) if text.lower().endswith(one)), None)
    if ending in ENDINGS:
        shown = messages.show(text)
        raise ParameterError(
            f"`target` must say what file it is, got `{shown}`. Did you mean `{ENDINGS[ending]}:{shown}`?"
        )
    if ending is not None:
        way = "Save the model by `skops.io.dump`, and name it as skops:FILE, or write MODULE:OBJECT"
        raise ParameterError(f"`target` must be no pickle, which can run any code, got `{messages.show(text)}`. {way}.")
