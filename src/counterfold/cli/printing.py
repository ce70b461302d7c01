"""What commands print besides answers for people: JSON, and sentences and warnings on stderr."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer

from counterfold.base import messages, standard_json
from counterfold.base.errors import SupportWarning
from counterfold.base.records import as_dictionary


def print_json(record: Any) -> None:
    """Print a record as standard JSON."""
    typer.echo(standard_json.write(as_dictionary(record)))


def print_answer(record: Any) -> None:
    """Print an answer as standard JSON, with the questions that no check can answer."""
    typer.echo(standard_json.write_answer(as_dictionary(record)))


def say(sentence: str) -> None:
    """Print a sentence on stderr, safe to show whatever it quotes."""
    typer.echo(messages.clean_sentence(sentence), file=sys.stderr, err=True)


@contextmanager
def print_warnings() -> Iterator[None]:
    """Print each different warning as one sentence on stderr that names the target."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    sentences = []
    for warning in caught:
        name = warning.message.target if isinstance(warning.message, SupportWarning) else None
        about = f"`{messages.show(name)}`: " if name else ""
        sentences.append(f"Warning: {about}{str(warning.message).removesuffix('.')}.")
    for sentence in dict.fromkeys(sentences):  # each reward of a log says the same of a target
        say(sentence)
