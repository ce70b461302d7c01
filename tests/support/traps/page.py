"""Write the page of the docs on mistakes, what a user sees and what to do: `python -m traps.page > docs/traps.md`."""

import sys
import tempfile
import warnings

import counterfold as cf
from traps import REFUSED, RIGHT, find_traps, spring

HEAD = """# Mistakes and how they end

Logs are messy, and a wrong number with a small error bar is the worst that can come of that. Each line is a log with a
known truth and one realistic mistake, evaluated with default options. The tests do so on the memory and the local
engine (`tests/support/traps/`), and none may end in a wrong number with the verdict "good". This page is written by
`make traps`.

"Right" means that the answer is not fooled: its interval holds the truth, and no check speaks against it. A finding
makes the verdict "caution" or "not answerable"; [diagnostics.md](diagnostics.md) explains each. Some mistakes leave no
trace in a log, and are not here; [a list](diagnostics.md#mistakes-in-how-a-log-was-made) says which.

| mistake | how it ends | what a user reads | what to do |
| --- | --- | --- | --- |
"""

CLEAN = """
## No mistakes

These look like mistakes, or like logs that checks might be alarmed by, and must end right:

"""

NONE = "none: "
"""How the words of a trap begin that is none."""


def write_page():
    """Return the page; what differs between engines is told by the memory engine."""
    warnings.simplefilter("ignore", cf.SupportWarning)
    traps = find_traps().values()
    lines = [write_line(trap) for trap in traps if not trap.mistake.startswith(NONE)]
    clean = [f"- {trap.mistake.removeprefix(NONE)}" for trap in traps if trap.mistake.startswith(NONE)]
    return HEAD + "\n".join(lines) + "\n" + CLEAN + "\n".join(clean) + "\n"


def write_line(trap):
    """Return the line of a trap."""
    with tempfile.TemporaryDirectory() as folder:
        ending = spring(trap.case(), "memory", folder)
    read, remedy = ending.words[trap.ends]
    if trap.ends == RIGHT:
        read = "; ".join(["the answer", *ending.left_out])
    ends = trap.ends if trap.ends in {RIGHT, REFUSED} else f"finding `{trap.ends}`"
    return f"| {trap.mistake} | {ends} | {escape(read.replace(folder + '/', ''))} | {escape(remedy)} |"


def escape(text):
    """Return a text for a cell of a table."""
    return text.replace("|", "\\|").replace("\n", " ")


if __name__ == "__main__":
    sys.stdout.write(write_page())
