"""The table of outcomes, on the terminal and as a page of the docs."""

import inspect
from collections import Counter

from rich.console import Console
from rich.table import Table
from rich.text import Text

from torture.outcomes import FAILURES, OUTCOMES

HEAD = """# Torture

`make torture` attacks counterfold: corrupted files and calls, mutated bytes, fuzzing, kills, bombs, a long run, and
other versions of what it depends on. A short form of it is part of `make test`. This page is written by `make torture`.

- **refused**: one sentence that says what is wrong (exit code 2 on the command line), at most 1,000 characters, none of
  them control characters, no traceback.
- **right**: the number that a plain loop gives, or the right end of whatever was asked for.
- **unclear**: a refusal that is not such a sentence, or of a good log.
- **crashed**: any other exception, or a process that died. **hung**: no end within the time limit.
- **silent**: a number where a refusal was due, a wrong number, or engines that do not say the same.

`python -m torture --only NAME` repeats one attack, as in `--only "csv/byte order mark"`; the name of a kind, or the
part of a name before its slash, repeats all of them. Anything but the first two makes the command fail.

"""

MOST_NAMED = 20
"""How many failures of a kind the page names; the terminal names all."""


def count(results):
    """Return a line of the table: how many were tried, and how many ended in each way."""
    found = Counter(result.outcome for result in results)
    return [len(results), *(found[outcome] for outcome in OUTCOMES)]


def show(found, console=None):
    """Print the table, what was measured, and every failure with how to repeat it."""
    console = console or Console()
    table = Table("kind of attack", "tried", *OUTCOMES)
    for kind, results in found.items():
        table.add_row(kind, *map(str, count(results)))
    console.print(table)
    for result in (one for results in found.values() for one in results):
        for name, value in result.measured.items():
            console.print(Text(f"{result.name}: {name} {value}"))
    for result in (one for results in found.values() for one in results if one.outcome in FAILURES):
        text = "".join(letter if letter.isprintable() else " " for letter in result.text)
        console.print(Text(f"\n{result.outcome.upper()} {result.name}\n  {text[:1200]}"))
        console.print(Text(f"  repeat: python -m torture --only {result.name!r}"))


def write_page(found, kinds, before=""):
    """Return the page; a kind of attack that was not run keeps what the page said before.

    Nothing in it depends on the day or the machine but what was measured.
    """
    head = "| kind of attack | tried | " + " | ".join(OUTCOMES) + " |\n| --- |" + " ---: |" * (len(OUTCOMES) + 1)
    known = {line.partition("[")[2].partition("]")[0]: line for line in before.splitlines() if line.startswith("| [")}
    known |= {kind: write_line(f"[{kind}](#{kind})", count(results)) for kind, results in found.items()}
    parts = {part.partition("\n")[0]: f"\n## {part}" for part in before.split("\n## ")[1:]}
    parts = {
        kind: parts[kind] if kind in parts and kind not in found else write_kind(kind, kinds, found) for kind in kinds
    }
    return HEAD + "\n".join([head, *(known[kind] for kind in kinds if kind in known), ""]) + "".join(parts.values())


def write_line(first, cells):
    """Return a line of a table."""
    return f"| {first} | " + " | ".join(map(str, cells)) + " |"


def write_kind(kind, kinds, found):
    """Return the part of the page on a kind: what it does, what was measured, and what is not as it should be."""
    lines = ["", f"## {kind}", "", inspect.getdoc(kinds[kind]), ""]
    rows = [one for one in found.get(kind, []) if one.measured]
    if rows:
        names = list(rows[0].measured)
        lines += [write_line("", ["outcome", *names]), "| --- | --- |" + " ---: |" * len(names)]
        lines += [write_line(one.name.partition("/")[2], [one.outcome, *one.measured.values()]) for one in rows] + [""]
    failed = [one for one in found.get(kind, []) if one.outcome in FAILURES]
    if failed:
        named = [f"- {one.outcome}: `{one.name}`" for one in failed[:MOST_NAMED]]
        lines += [f"Not as it should be are {len(failed)}, of which these are the first:", "", *named, ""]
    if kind not in found:
        lines += ["It was never run.", ""]
    return "\n".join(lines)
