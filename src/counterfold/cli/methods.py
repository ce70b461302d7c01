"""The command `methods`: everything that the folders hold."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from counterfold.cli.options import Json
from counterfold.cli.printing import print_json

if TYPE_CHECKING:
    from counterfold.cli.records import MethodsRecord

Markdown = Annotated[bool, typer.Option("--markdown", help="Print Markdown, with summaries and papers.")]


def methods(*, as_json: Json = False, as_markdown: Markdown = False) -> None:
    """List every estimator, selector, reward model, interval, learner and diagnostic, with parameters and needs."""
    from counterfold.report import console
    from counterfold.report import methods as found

    every = found.methods()
    if as_json:
        record: MethodsRecord = {"methods": every}
        print_json(record)
    elif as_markdown:
        typer.echo(found.markdown(every), file=sys.stdout, nl=False)
    else:
        console.show(*(found.table(every, folder) for folder in found.FOLDERS))
