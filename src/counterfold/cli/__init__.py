"""The command line: each file here holds the command of its name, but for those in `SHARED`.

Other packages, such as `counterfold_lab`, add commands by entry points of the group `counterfold.commands`. No
estimator, selector or model is named here: names come from the folders.
"""

import os
import sys
from contextlib import suppress
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.metadata import version as find_version
from io import TextIOWrapper
from typing import Annotated, Any, NoReturn

import typer

from counterfold.base import registry
from counterfold.base.errors import CounterfoldError, ParameterError
from counterfold.cli.options import Command
from counterfold.cli.printing import say

__all__ = ["app", "main"]

UsageError: Any = typer.BadParameter.__base__  # typer gives it no name of its own

SHARED = {"options", "printing"}
"""The modules of this folder that are no commands. Commands of other packages may import them, too."""

GROUP = "counterfold.commands"
"""The group of entry points by which other packages add commands."""

OUT_OF_MEMORY = (
    "this took more memory than there is: use `--engine local`, which reads a few rows at a time, on fewer threads "
    "(`--threads 1`), or leave out columns and rarely taken actions"
)

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="rich")


@app.callback(invoke_without_command=True)
def start(
    context: typer.Context, *, version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False
) -> None:
    """What would this new policy have earned, judging only by the logs of the old one, and how far to trust that?"""
    if version:
        typer.echo(find_version("counterfold"))
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())


def add_commands() -> None:
    """Add the command of each file here and of each entry point, sorted by name.

    A package cannot replace a command of this folder, but it can add one.
    """
    own = [name for name in registry.names("cli") if name not in SHARED]
    others = {entry.name: entry for entry in entry_points(group=GROUP) if entry.name not in own}
    for name in sorted([*own, *others]):
        if name in others:
            add_entry_point(others[name])
        else:
            module = name.replace("-", "_")
            add_command(name, getattr(import_module(f"{__name__}.{module}"), module))


def add_command(name: str, command: typer.Typer | Command) -> None:
    """Add a function, or a group of commands."""
    if isinstance(command, typer.Typer):
        app.add_typer(command, name=name)
    else:
        app.command(name)(command)


def add_entry_point(entry: EntryPoint) -> None:
    """Add the command of another package; if it cannot be loaded, add one that says so.

    A package that is broken or missing does not keep the other commands from working.
    """
    try:
        add_command(entry.name, entry.load())
    except Exception as error:  # noqa: BLE001 (a module of another package may raise anything)
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        settings = {"allow_extra_args": True, "ignore_unknown_options": True}

        @app.command(entry.name, help="Not available: it could not be loaded.", context_settings=settings)
        def refuse() -> None:
            raise ParameterError(f"`{entry.name}` must be importable from `{entry.value}`, got {reason}.")


def main() -> None:
    """Run the command line; what is wrong with the input or the output is one sentence on stderr and exit code 2."""
    prepare_streams()
    try:
        code = app(standalone_mode=False)
        sys.stdout.flush()
    except UsageError as error:
        fail(error.format_message())
    except CounterfoldError as error:
        fail(str(error))
    except MemoryError:
        fail(OUT_OF_MEMORY)
    except BrokenPipeError:  # whoever reads the output has seen enough
        drop_output()
        sys.exit(1)
    except OSError as error:
        drop_output()
        what = "the output could not be" if error.filename is None else f"`{error.filename}` could not be read or"
        fail(f"{what} written: {error.strerror or error}")
    except (typer.Abort, KeyboardInterrupt):
        sys.exit(130)
    sys.exit(code)


def prepare_streams() -> None:
    """Refuse a closed stdout, and let characters that a terminal does not know be escaped instead of ending the run."""
    if sys.stdout is None:
        fail("stdout must be open, because the answer goes there")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def drop_output() -> None:
    """Throw away what could not be written, so that nothing tries again when the process ends."""
    with suppress(OSError):  # tests have streams without a file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def fail(message: str) -> NoReturn:
    """End with one line on stderr."""
    line = " ".join(message.split())
    with suppress(OSError):  # where stderr is full or closed, the exit code has to do
        say(f"Error: {line}" if line.endswith(("?", ".")) else f"Error: {line}.")
    sys.exit(2)


add_commands()
