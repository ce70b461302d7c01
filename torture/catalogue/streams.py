"""Streams: a full disk for output, terminals that know ASCII alone, closed pipes, escape sequences."""

import os
import subprocess
import sys

from torture.cases import LogCase, ProcessCase
from torture.catalogue import EITHER, REFUSED, RIGHT, entry
from torture.logs import make_rows, make_table, write_csv, write_parquet

ASCII = {"PYTHONIOENCODING": "ascii", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
PLAIN = ("--candidates", "ips", "--reward-model", "none")


QUICK = (
    "evaluate to a full disk",
    "evaluate --json to a full disk",
    "evaluate on an ASCII terminal",
    "synth to a full disk",
)
"""What the short form tries, besides escape sequences: starting a process takes a second or more."""


def add(name, allowed, arguments, table=None, file="log.parquet", **case):
    """Register a command in a process of its own, on a log in this table."""
    is_slow = name not in QUICK and not name.startswith("evaluate of ")

    @entry(name, allowed, ("process",), seconds=60, is_slow=is_slow)
    def make(folder):
        (folder / file).write_bytes(write_parquet(table))
        return ProcessCase(arguments, **case)


def find_controls(_code, out, err):
    """Return whether control characters were shown."""
    bad = {byte for byte in out + err if (byte < 32 and byte != 10) or byte == 127}
    return f"control characters reach the terminal: {sorted(bad)}" if bad else ""


ACCENTS = make_table(action=[row["action"].replace("e", "é") for row in make_rows()])
ESCAPES = make_table(action=[f"\x1b[31m{row['action']}\x07" for row in make_rows()])
LOG = ["log.parquet", *PLAIN]
for command in (
    ["evaluate", *LOG],
    ["evaluate", *LOG, "--json"],
    ["check", "log.parquet"],
    ["compare", *LOG],
    ["methods"],
    ["--help"],
):
    name = " ".join(command[:1] + command[-1:] if "--json" in command else command[:1])
    add(f"{name} to a full disk", REFUSED, command, stdout="/dev/full")
    add(f"{name} on an ASCII terminal", RIGHT, command, ACCENTS, environment=ASCII)
for command in ("evaluate", "check", "compare"):
    options = PLAIN if command != "check" else ()
    add(
        f"{command} of labels with escape sequences",
        EITHER,
        [command, "log.parquet", *options],
        ESCAPES,
        check=find_controls,
    )
    named = make_table(**{"\x1b[2Jx2": [row["x0"] for row in make_rows()]})
    add(
        f"{command} of columns with escape sequences",
        EITHER,
        [command, "log.parquet", *options],
        named,
        check=find_controls,
    )
    file = "\x1b]0;title\x07log.parquet"
    add(
        f"{command} of a file with escape sequences", EITHER, [command, file, *options], None, file, check=find_controls
    )
add("a missing column on an ASCII terminal", REFUSED, ["evaluate", "log.parquet", "--target", "é"], environment=ASCII)
add("a missing file on an ASCII terminal", REFUSED, ["evaluate", "é.parquet"], environment=ASCII)
add("synth to a full disk", REFUSED, ["synth", "new.parquet", "--rows", "10"], stdout="/dev/full")
add("evaluate in a terminal without width", RIGHT, ["evaluate", *LOG], environment={"COLUMNS": "0"})
add("evaluate in a terminal of one column", RIGHT, ["evaluate", *LOG], environment={"COLUMNS": "1"})
add("evaluate in a terminal of no kind", RIGHT, ["evaluate", *LOG], environment={"TERM": "dumb"})
add("evaluate without a home", RIGHT, ["evaluate", *LOG], environment={"HOME": "/nowhere"})
add("evaluate without a folder for temporary files", RIGHT, ["evaluate", *LOG], environment={"TMPDIR": "/nowhere"})
add("evaluate in a Turkish locale", RIGHT, ["evaluate", *LOG], environment={"LC_ALL": "tr_TR.UTF-8"})


class PipeCase(ProcessCase):
    """A command whose reader goes away after the first byte, as `head` does."""

    def run(self, _way):
        """Run the command, and close the pipe at once."""
        code = "from counterfold.cli import main; main()"
        command = [sys.executable, "-c", code, *self.arguments]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ) as process:
            process.stdout.close()
            err = process.stderr.read()
            end = process.wait(60)
        return self.judge(end if end not in {1, 141, -13} else 0, b"", err)


@entry("evaluate into a closed pipe", EITHER, ("process",), seconds=60, is_slow=True)
def closed_pipe(folder):
    """Write a log, and a command whose output nobody reads."""
    (folder / "log.parquet").write_bytes(write_parquet())
    return PipeCase(["evaluate", *LOG])


@entry("an error of a row with escape sequences", REFUSED)
def broken_row(folder):
    """Write a row that breaks a rule and has escape sequences in it."""
    lines = write_csv().splitlines()
    (folder / "log.csv").write_text("\n".join([*lines, "\x1b[31m1,\x1b]0;title\x07,3,\x1b[2J"]))
    return LogCase(folder / "log.csv")
