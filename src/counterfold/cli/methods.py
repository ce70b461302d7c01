"""The command `methods`: everything that the folders hold."""

import sys
from dataclasses import asdict
from typing import Annotated

import typer

from counterfold.cli.options import Json
from counterfold.cli.printing import print_json

Markdown = Annotated[bool, typer.Option("--markdown", help="Print Markdown, with summaries and papers.")]


def methods(*, as_json: Json = False, as_markdown: Markdown = False) -> None:
    """List every estimator, selector, reward model, interval, learner and diagnostic, with parameters and needs."""
    from counterfold.report import console
    from counterfold.report import methods as found

    every = found.methods()
    if as_json:
        print_json({"methods": [asdict(one) for one in every]})
    elif as_markdown:
        typer.echo(found.markdown(every), file=sys.stdout, nl=False)
    else:
        console.show(*(found.table(every, folder) for folder in found.FOLDERS))
