"""Rules of the source that no linter knows: private modules stay at home, and what is not inherited is explained."""

import ast
import inspect
import pkgutil
from importlib import import_module
from pathlib import Path

import pytest

import counterfold
import counterfold_lab
from places import ROOT

SOURCE = ROOT / "src"
PACKAGES = (counterfold, counterfold_lab)
FILES = sorted(file for package in PACKAGES for file in (SOURCE / package.__name__).rglob("*.py"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(SOURCE).as_posix())
def test_no_package_imports_a_private_module_of_another(file):
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("counterfold"):
            for path in (node.module, *(f"{node.module}.{alias.name}" for alias in node.names)):
                *package, name = path.split(".")
                home = SOURCE.joinpath(*package)
                assert not name.startswith("_") or file.is_relative_to(home), f"{file} imports {path}"


def modules():
    found = [one for package in PACKAGES for one in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")]
    return [one.name for one in found if one.name != "counterfold.selectors._subsampling"]  # which needs torch


@pytest.mark.parametrize("name", modules())
def test_every_method_that_overrides_nothing_says_what_it_does(name):
    module = import_module(name)
    for _, kind in inspect.getmembers(module, inspect.isclass):
        if kind.__module__ != name:
            continue
        for label, member in vars(kind).items():
            function = (
                getattr(member, "fget", None) or getattr(member, "func", None) or getattr(member, "__func__", member)
            )
            if inspect.isfunction(function) and not label.startswith("_") and Path(inspect.getfile(function)) in FILES:
                inherited = any(hasattr(base, label) for base in kind.__mro__[1:])
                assert inherited or function.__doc__, f"{name}.{kind.__name__}.{label} has no docstring"
