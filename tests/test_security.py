"""What SECURITY.md promises of the source: which dangerous things are used, and where; and that licences are listed."""

import ast
import tomllib
from pathlib import Path

import pytest

import licences

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"
FILES = sorted(file for package in ("counterfold", "counterfold_lab") for file in (SOURCE / package).rglob("*.py"))

MODULES = {
    # Partial sums, between driver and workers.
    "pickle": {"counterfold/engines/spark.py"},
    # Names of errors, and quoted texts.
    "urllib": {
        "counterfold_lab/paper/datasets.py",
        "counterfold/io/files/folders.py",
        "counterfold/io/sources/_uris.py",
    },
    "multiprocessing": {"counterfold_lab/runner.py"},
    # Gone with the process, or when nobody needs them.
    "tempfile": {"counterfold/io/formats/_events.py", "counterfold/io/sources/_fetched.py"},
}
"""Modules that can run code, reach the network or write elsewhere, and the files that may import them."""

NEVER = {
    "code",
    "ctypes",
    "ftplib",
    "http",
    "marshal",
    "pty",
    "runpy",
    "shelve",
    "smtplib",
    "socket",
    "ssl",
}
NEVER |= {"cloudpickle", "dill", "joblib", "requests", "subprocess", "webbrowser", "xml", "yaml"}

IMPORTERS = {
    "counterfold/cli/__init__.py",
    "counterfold/base/display.py",
    "counterfold/base/records.py",
    "counterfold/base/registry.py",
    "counterfold/io/sources/_database.py",
}
"""The files that import a module by its name.

These are commands, the report, records of JSON, methods, `--add`, `--target`, models' classes and drivers.
"""

CALLS = {"eval", "exec", "compile", "__import__", "breakpoint", "input"}
METHODS = {
    "system",
    "popen",
    "execv",
    "execvp",
    "spawnv",
    "startfile",
    "fromfile",
    "memmap",
    "read_pickle",
    "to_pickle",
}


def list_imports(tree):
    for node in ast.walk(tree):
        names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
        names += [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
        yield from (name.partition(".")[0] for name in names)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(SOURCE).as_posix())
def test_nothing_dangerous_is_used_but_where_it_is_said(file):
    place, tree = file.relative_to(SOURCE).as_posix(), ast.parse(file.read_text(encoding="utf-8"))
    found = set(list_imports(tree))
    assert not found & NEVER
    assert not {name for name in found if place not in MODULES.get(name, {place})}
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        name = call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")
        assert not (isinstance(call.func, ast.Name) and name in CALLS), ast.unparse(call)
        assert name not in METHODS, ast.unparse(call)
        assert name not in {"import_module", "entry_points"} or place in IMPORTERS
        if ast.unparse(call.func) in {"np.load", "numpy.load"}:
            assert "allow_pickle=False" in ast.unparse(call)


def test_every_text_on_the_terminal_passes_the_console_that_cleans_it():
    for file in FILES:
        place, source = file.relative_to(SOURCE).as_posix(), file.read_text(encoding="utf-8")
        assert place in {"counterfold/report/console.py", "counterfold/base/progress.py"} or "Console(" not in source, (
            place
        )
        assert place == "counterfold/report/console.py" or "rich.text" not in source, place
        assert " err=True" not in source or place == "counterfold/cli/printing.py", place


def test_the_licence_is_stated_and_there():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["license"] == "Apache-2.0"
    assert "Apache License" in (ROOT / project["license-files"][0]).read_text(encoding="utf-8")
    assert "Apache-2.0" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_every_dependency_has_its_licence_in_the_docs():
    page = (ROOT / "docs" / "licences.md").read_text(encoding="utf-8")
    listed = {line.split(" | ")[0].removeprefix("| ") for line in page.splitlines() if line.startswith("| ")}
    installed = {name for name in licences.find_owners() if licences.find_licence(name) is not None}
    assert installed <= listed, "run `make licences`"
