"""From the fields of dataclasses to the options of a command, and from given options back to dataclasses."""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import update_wrapper
from inspect import Parameter
from typing import Annotated, Any, get_args, get_origin

import typer

Command = Callable[..., None]
COLUMNS = "The log and its columns"
"""The heading in `--help` of the options that say where the log and its columns are."""


def make_option(metavar: str, help_: str, default: str = "", *, panel: str | None = None) -> Any:
    """Return an option; `default` tells what is used by default, unless the default value itself does."""
    return typer.Option(metavar=metavar, help=help_, show_default=default or True, rich_help_panel=panel)


def take_options(command: Command) -> Command:
    """Give a command an option for each field of the dataclasses among its parameters.

    A field is an option if typer annotates it, or if its metadata holds the texts of an option. A field whose type is a
    dataclass stands for the options of that one.
    """
    own = inspect.signature(command).parameters
    options = [option for one in own.values() for option in expand_parameter(one)]

    def run(**given: Any) -> None:
        command(**{name: build_value(one.annotation, name, given) for name, one in own.items()})

    update_wrapper(run, command)
    run.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined] # what typer looks at
    run.__annotations__ = {one.name: one.annotation for one in options}
    return run


def expand_parameter(parameter: Parameter) -> Iterator[Parameter]:
    """Yield the parameter itself, or those for the fields of its dataclass."""
    if not is_dataclass(parameter.annotation):
        yield parameter.replace(kind=Parameter.KEYWORD_ONLY)
        return
    for field in fields(parameter.annotation):
        kind: Any = annotate_field(field) if "option" in field.metadata else field.type
        if is_dataclass(kind) or get_origin(kind) is Annotated:
            default = field.default if field.default_factory is MISSING else field.default_factory()
            default = Parameter.empty if default is MISSING else default
            yield from expand_parameter(Parameter(field.name, Parameter.KEYWORD_ONLY, default=default, annotation=kind))


def annotate_field(field: "Field[Any]") -> Any:
    """Return what typer needs to know of a field of `LogScan`: a sequence is an option that can be repeated."""
    if field.default is MISSING:
        return Annotated[str, typer.Argument(**field.metadata["option"])]
    kind: Any = list[str] if any(get_origin(one) is Sequence for one in get_args(field.type)) else str
    return Annotated[kind | None, typer.Option(rich_help_panel=COLUMNS, **field.metadata["option"])]


def build_value(kind: Any, name: str, given: Mapping[str, Any]) -> Any:
    """Return an option's value, or a dataclass whose fields are options; a field without one keeps its default."""
    if not is_dataclass(kind):
        return given[name]
    known = [field for field in fields(kind) if is_dataclass(field.type) or field.name in given]
    build: Any = kind
    return build(**{field.name: build_value(field.type, field.name, given) for field in known})
