"""Folder -> {name: class}: how the command line, tests, docs and benchmarks find every estimator and its like."""

import inspect
import pkgutil
import sys
from contextlib import suppress
from dataclasses import fields
from functools import cache
from importlib import import_module
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from counterfold.base import messages
from counterfold.base.errors import ParameterError
from counterfold.base.notation import read_setting, refuse_number, split_head, split_text, unquote

FOLDERS = {
    "figures": "report.figures",
    "learners": "learning.learners",
    "readers": "io.formats",
    "sources": "io.sources",
    "targets": "policies.given",
}
"""Where the classes of a kind are, unless the folder is called like the kind."""

SHARED = (
    "base",
    "records",
    *("estimates", "examples", "needs", "rows", "sums", "unseen_rewards"),  # of estimators
)
"""Modules beside strategies that hold none: what these have in common, and what JSON says about them."""


def locate(kind: str) -> str:
    """Return the dotted path of the folder that holds all classes of a kind."""
    return f"counterfold.{FOLDERS.get(kind, kind)}"


@cache
def names(folder: str) -> tuple[str, ...]:
    """Return the command-line names in a folder, from its file names; nothing is imported.

    >>> names("selectors")
    ('kfold-cv', 'ladder', 'ocv', 'opera', 'pasif', 'pseudo-target', 'slope', 'theory')
    """
    place = Path(__file__).parents[1].joinpath(*FOLDERS.get(folder, folder).split("."))
    modules = pkgutil.iter_modules([str(place)])
    found = (module.name for module in modules if not module.ispkg)
    return tuple(sorted(name.replace("_", "-") for name in found if name not in SHARED and not name.startswith("_")))


@cache
def find(folder: str, name: str, also: tuple[str, ...] = ()) -> type[Any]:
    """Return the class behind a name, which may also be written like the class.

    Otherwise suggest the nearest name, among those of the folder and those that the caller knows `also`.

    >>> find("estimators", "switch-dr") is find("estimators", "SwitchDR")
    True
    """
    known = {_normalise(known): known for known in names(folder)}
    if _normalise(name) not in known:
        kind, choices = folder.removesuffix("s"), (*also, *names(folder))
        raise ParameterError(f"unknown {kind} `{name}`.{messages.suggest(name, choices)} Known: {', '.join(choices)}.")
    module = import_module(f"{locate(folder)}.{known[_normalise(name)].replace('-', '_')}")
    classes = inspect.getmembers(module, inspect.isclass)
    return next(member for label, member in classes if _normalise(label) == _normalise(name))


def build(folder: str, text: str, **given: Any) -> Any:
    """Return an instance from `NAME` or `NAME:FIELD=VALUE:...`; values are read as the fields' types say.

    A value that is itself such an object takes the settings behind it that are not the outer one's. Fields may also be
    `given` as they are. `base/notation.py` describes the language.

    >>> build("estimators", "switch-dr:threshold=5")
    SwitchDR(threshold=5.0)
    >>> build("selectors", "ocv:validator=ips:splits=100").splits
    100
    >>> build("models", "cross-fitted:model=ridge-per-action:alpha=1:folds=3").model
    RidgePerAction(alpha=1.0)
    """
    name, *settings = split_text(text, ":", "NAME:FIELD=VALUE")
    found = find(folder, name)
    hints = get_type_hints(found)
    known = [field.name for field in fields(found)]
    takes = f"takes {messages.join_choices(known)}" if known else "has no parameters"
    texts: dict[str, str] = {}
    nested = ""
    for setting in settings:
        field, value = read_setting(setting)
        if field in given or field in texts:
            raise ParameterError(f"`{field}` must be set once, got it again in `{text}`.")
        if field not in known and nested:
            texts[nested] += f":{setting}"
        elif value is None or field not in known:
            raise ParameterError(f"`{text}` must be NAME or NAME:FIELD=VALUE; `{name}` {takes}, got `{setting}`.")
        else:
            texts[field], nested = value, field if _find_folder(hints[field]) else ""
    if not given.keys() <= set(known):
        raise ParameterError(f"`{name}` {takes}, got {messages.join_choices(given.keys() - set(known))}.")
    return found(**{field: _read(field, hints[field], value) for field, value in texts.items()}, **given)


def resolve(folder: str, kind: type, value: Any, rule: str) -> Any:
    """Return an object of a folder's kind from one or from its name; `rule` says what it must be."""
    found = build(folder, value) if isinstance(value, str) else value
    if not isinstance(found, kind):
        raise ParameterError(f"{rule} or the name of one, got {messages.shorten(value)}.")
    return found


def _find_folder(hint: Any) -> str | None:
    """Return the folder of the strategies that a field takes, if it takes one."""
    modules = (getattr(option, "__module__", "").split(".")[1:2] for option in _options(hint))
    return next((folder[0] for folder in modules if folder and folder[0] in ("estimators", "models")), None)


def _options(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def _read(field: str, hint: Any, text: str) -> Any:
    """Return the text as a number, a word or an object of the package, whichever the field's type allows."""
    text = unquote(text)
    folder = _find_folder(hint)
    if folder:
        return build(folder, text)
    options = _options(hint)
    if bool in options:
        return {"true": True, "false": False}.get(text.lower(), text)
    for number in (option for option in options if option in (int, float)):
        with suppress(ValueError):
            return number(text)
    if hint is Any:
        return _import_class(field, text)
    if set(options) <= {int, float}:
        raise refuse_number(field, text)
    return text


def _import_class(field: str, path: str) -> Any:
    """Return a model of the class that a dotted path such as `sklearn.linear_model.Lasso` names."""
    module, _, name = path.rpartition(".")
    with suppress(ImportError, ValueError, AttributeError, TypeError):
        found = getattr(import_module(module), name)
        if isinstance(found, type) and hasattr(found, "fit") and hasattr(found, "predict"):
            return found()
    raise ParameterError(f"`{field}` must be a class like sklearn.linear_model.Lasso, got {path!r}.")


def allow_current_folder() -> None:
    """Let modules of the current folder be imported, after all others."""
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.append(here)


def import_name(path: str, rule: str) -> Any:
    """Return what `MODULE:NAME` names, also in the current folder; what goes wrong breaks a rule, in one sentence."""
    module, name = split_head(path)
    allow_current_folder()
    try:
        return getattr(import_module(module), name)
    except (Exception, SystemExit) as error:  # noqa: BLE001 (a user's module may raise anything, and a script may exit)
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise ParameterError(f"{rule}, got `{path}` ({reason}).") from None


def _normalise(name: str) -> str:
    return name.replace("-", "").replace("_", "").lower()
