"""What an entry asks of counterfold, in each of its ways: a question to a log, a call, or a command."""

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

import counterfold as cf
from torture.logs import Answer, know_answer

PLAIN = {"candidates": ["ips"], "reward_model": None, "progress": False}
"""Options of `evaluate` by which an answer is known from a plain loop."""

COMMAND = ("--json", "--candidates", "ips", "--reward-model", "none")


class Refused(Exception):  # noqa: N818
    """A command ended with exit code 2; the message is what stands on stderr."""


class Broken(Exception):  # noqa: N818
    """Something ended in a way that no user should see."""


@dataclass(frozen=True, eq=False)
class LogCase:
    """A log to evaluate, the arguments of its `LogScan`, more options of `evaluate`, and the known answer, if any."""

    source: Any
    known: Answer | None = field(default_factory=know_answer)
    target: Any = "target"
    columns: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)

    def run(self, way):
        """Return the answer by an engine, through Python or the command line."""
        if way.startswith("command "):
            return self.run_command(way.removeprefix("command "))
        if way == "spark":
            from torture.spark import start_session

            start_session()
        scan = cf.LogScan(self.source, **self.columns)
        return read_evaluation(cf.evaluate(scan, self.target, engine=way, **PLAIN | dict(self.options)))

    def run_command(self, engine):
        """Return the answer by the command line."""
        columns = [f"--{name.replace('_', '-')}={value}" for name, value in self.columns.items()]
        arguments = [
            "evaluate",
            os.fspath(self.source),
            "--engine",
            engine,
            "--target",
            self.target,
            *COMMAND,
            *columns,
        ]
        found = json.loads(run_command(arguments))
        one = found["evaluations"][0]
        context = (*found["log"]["context"], *found["log"]["left_out"])
        return Answer(one["value"], one["stderr"], found["log"]["rows"], context)


@dataclass(frozen=True, eq=False)
class CallCase:
    """A function that is called, and what it must return if it returns: an evaluation, a number, or anything."""

    function: Callable
    known: Answer | None = None

    def run(self, _way):
        """Return what the call returns, as an answer."""
        found = self.function()
        if isinstance(found, cf.Evaluation):
            return read_evaluation(found)
        return Answer(float(found)) if isinstance(found, int | float) else Answer()


@dataclass(frozen=True, eq=False)
class CommandCase:
    """Arguments of the command line, run within the worker."""

    arguments: Sequence[str]
    known: Answer | None = None

    def run(self, _way):
        """Run the command."""
        run_command(self.arguments)
        return Answer()


@dataclass(frozen=True, eq=False)
class ProcessCase:
    """Arguments of the command line, run in a process of its own, whose streams and environment are special.

    `check` looks at the exit code, stdout and stderr, as bytes, and returns what is wrong with them.
    """

    arguments: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    stdout: str | None = None
    check: Callable = lambda *_: ""
    known: Answer | None = None

    def run(self, _way):
        """Run the command, and look at how it ended and at what it wrote."""
        command = [sys.executable, "-c", "from counterfold.cli import main; main()", *self.arguments]
        out = subprocess.PIPE if self.stdout is None else os.open(self.stdout, os.O_WRONLY)
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.PIPE,
            env=os.environ | dict(self.environment),
            check=False,
            timeout=60,
        )
        return self.judge(done.returncode, done.stdout or b"", done.stderr)

    def judge(self, code, out, err):
        """Return an answer, or raise a refusal, or what is wrong."""
        wrong = self.check(code, out, err)
        if b"Traceback" in err or b"Exception ignored" in err or code not in {0, 2}:
            raise Broken(f"exit code {code}: {err[-300:].decode(errors='replace')}")
        if wrong:
            raise Broken(wrong)
        if code == 2:
            raise Refused(err.decode(errors="replace").removesuffix("\n"))
        return Answer()


def run_command(arguments):
    """Return what a command prints; a refusal prints nothing on stdout, and one line on stderr besides warnings."""
    from counterfold.cli import main

    out, err, code = io.StringIO(), io.StringIO(), 0
    with redirect_stdout(out), redirect_stderr(err), mock.patch.object(sys, "argv", ["counterfold", *arguments]):
        try:
            main()
        except SystemExit as stop:
            code = stop.code or 0
    if code == 2 and not out.getvalue():
        before, mark, message = err.getvalue().removesuffix("\n").partition("Error: ")
        raise Refused(message if mark else before)  # warnings and a bar may stand before it
    if code:
        raise Broken(f"exit code {code}: {err.getvalue()[-300:]}")
    return out.getvalue()


def read_evaluation(found):
    """Return what an evaluation says; a column that is left out with a reason counts as seen."""
    seen = found.contents
    return Answer(found.value, found.stderr, seen.rewards.count, (*seen.context, *seen.left_out))
