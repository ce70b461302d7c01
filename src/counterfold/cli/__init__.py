"""The command line: each file here holds the command of its name, but for `options.py`, which they share.

No estimator, selector or model is named here: names come from the folders.
"""

import sys
from importlib import import_module
from typing import Annotated, Any

import typer

from counterfold import registry
from counterfold.errors import CounterfoldError

__all__ = ["app", "main"]

UsageError: Any = typer.BadParameter.__base__  # typer gives it no name of its own

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="rich")


@app.callback(invoke_without_command=True)
def start(
    context: typer.Context, *, version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False
) -> None:
    """What would this new policy have earned, judging only by the logs of the old one, and how far to trust that?"""
    if version:
        from importlib.metadata import version as find_version

        typer.echo(find_version("counterfold"))
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())


def add_commands() -> None:
    """Add the command of each file: a function of its name, or a group of commands."""
    for name in (name for name in registry.names("cli") if name != "options"):
        module = name.replace("-", "_")
        command = getattr(import_module(f"{__name__}.{module}"), module)
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name)
        else:
            app.command(name)(command)


def main() -> None:
    """Run the command line; a user's mistake is one sentence on stderr and exit code 2."""
    try:
        sys.exit(app(standalone_mode=False))
    except UsageError as error:
        fail(error.format_message())
    except CounterfoldError as error:
        fail(str(error))
    except (typer.Abort, KeyboardInterrupt):
        sys.exit(130)


def fail(message: str) -> None:
    """End with one line on stderr."""
    line = " ".join(message.split())
    typer.echo(f"Error: {line}" if line.endswith(("?", ".")) else f"Error: {line}.", err=True)
    sys.exit(2)


add_commands()
