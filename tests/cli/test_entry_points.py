"""Commands of other packages: they join by entry points, and one that is broken or missing harms no other command."""

import subprocess
import sys
from importlib.metadata import entry_points

import pytest

OWN = {"check", "compare", "demo", "evaluate", "learn", "methods"}
LAB = {"bench", "paper", "synth"}

GREETINGS = '''
def greet(name: str) -> None:
    """Greet somebody."""
    print(f"Good morning, {name}.")
'''

BROKEN = "raise RuntimeError('this module is\\nbroken')"

RUN = """
import importlib.metadata, sys

entries = {entries}
if entries is not None:
    points = [importlib.metadata.EntryPoint(name, value, "counterfold.commands") for name, value in entries]
    importlib.metadata.entry_points = lambda group: points
if {lab_is_missing}:
    sys.modules["counterfold_lab"] = None  # what an import of a package that is not there ends like

from counterfold.cli import main

main()
"""


@pytest.fixture
def start(tmp_path):
    """Return a function that runs a command with other entry points than the installed ones, or without the lab."""
    (tmp_path / "greetings.py").write_text(GREETINGS)
    (tmp_path / "broken.py").write_text(BROKEN)

    def run(*arguments, entries=None, lab_is_missing=False):
        code = f"import sys; sys.path.insert(0, {str(tmp_path)!r})" + RUN.format(
            entries=entries, lab_is_missing=lab_is_missing
        )
        done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr

    return run


def list_commands(text):
    """Return the names in the list of commands that `--help` prints."""
    lines = text.partition("Commands")[2].splitlines()[1:]
    return {line.strip("│ ").partition(" ")[0] for line in lines if line.startswith("│ ") and line[2] != " "}


def test_the_lab_is_installed_with_the_product(start):
    assert {entry.name for entry in entry_points(group="counterfold.commands")} >= LAB, "install the package again"
    code, out, _ = start("--help")
    assert (code, list_commands(out) - OWN >= LAB) == (0, True)


def test_a_package_adds_a_command_but_replaces_none(start):
    entries = [("greet", "greetings:greet"), ("methods", "greetings:greet")]
    assert start("greet", "Ada", entries=entries) == (0, "Good morning, Ada.\n", "")
    code, out, _ = start("methods", "--json", entries=entries)
    assert (code, out[:1]) == (0, "{")
    assert list_commands(start("--help", entries=entries)[1]) == OWN | {"greet"}


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("broken:command", "RuntimeError: this module is broken"),
        ("nowhere:command", "ModuleNotFoundError: No module named 'nowhere'"),
        ("greetings:leave", "AttributeError: module 'greetings' has no attribute 'leave'"),
    ],
)
def test_a_broken_command_says_so_and_the_others_work(start, value, reason):
    entries = [("added", value)]
    code, out, err = start("added", "figure1", "--out", "here", entries=entries)
    assert (code, out) == (2, "")
    assert err == f"Error: `added` must be importable from `{value}`, got {reason}.\n"
    assert list_commands(start("--help", entries=entries)[1]) == OWN | {"added"}
    code, out, err = start("methods", "--json", entries=entries)
    assert (code, out[:1], err) == (0, "{", "")


def test_without_the_lab_its_commands_say_so_and_the_others_work(start):
    code, out, err = start("paper", "figure1", "--out", "here", lab_is_missing=True)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "`paper` must be importable from `counterfold_lab.commands.paper:paper`" in err
    code, out, err = start("demo", "--json", lab_is_missing=True)
    assert (code, out[:1], err) == (0, "{", "")
    assert list_commands(start("--help", lab_is_missing=True)[1]) >= OWN | LAB


def test_a_product_that_is_not_installed_has_its_own_commands(start):
    assert list_commands(start("--help", entries=[])[1]) == OWN
    assert start("paper", entries=[])[0] == 2
