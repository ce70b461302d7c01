"""Write the page of the docs on mistakes, what a user sees and what to do: `python -m traps.page > docs/traps.md`."""

import sys
import tempfile

from traps import REFUSED, RIGHT, find_traps, spring

HEAD = """# Mistakes and how they end

Logs are messy, and a wrong number with a small error bar is the worst that can come of that. Each line is a log with a
known truth and one realistic mistake, evaluated with default options on the memory and the local engine by the tests
(`tests/support/traps/`), and what a user then reads. "Right" means that the answer is not fooled: its interval holds
the truth. This page is written by `make traps`.

| mistake | how it ends | what a user sees | what to do |
| --- | --- | --- | --- |
"""


def write_page():
    """Return the page; what differs between engines is told by the memory engine."""
    lines = []
    for trap in find_traps().values():
        with tempfile.TemporaryDirectory() as folder:
            ending = spring(trap.case(), "memory", folder)
        ends = trap.ends if trap.ends in {RIGHT, REFUSED} else f"finding `{trap.ends}`"
        seen = ending.problem.replace(folder + "/", "") if trap.ends != RIGHT else "the right answer"
        lines.append(f"| {trap.mistake} | {ends} | {escape(seen)} | {escape(ending.remedy)} |")
    return HEAD + "\n".join(lines) + "\n"


def escape(text):
    """Return a text for a cell of a table."""
    return text.replace("|", "\\|").replace("\n", " ")


if __name__ == "__main__":
    sys.stdout.write(write_page())
