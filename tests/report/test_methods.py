"""The table of methods: in the docs, on the command line, and complete."""

import json
import re

import pytest

from counterfold.base import registry
from counterfold.report.methods import FOLDERS, markdown, methods
from places import ROOT

DOCS = ROOT / "docs"


def test_the_docs_hold_the_table_as_the_code_has_it():
    assert (DOCS / "methods.md").read_text() == markdown(methods()), "run `make methods`"


def test_every_method_is_there():
    assert [(one.folder, one.name) for one in methods()] == [
        (folder, name) for folder in FOLDERS for name in registry.names(folder)
    ]


@pytest.mark.parametrize(
    "one", [one for one in methods() if one.folder not in {"models", "diagnostics"}], ids=lambda one: one.name
)
def test_every_estimator_selector_and_interval_names_its_paper_and_what_it_does(one):
    assert re.fullmatch(r'.+ \(\d{4}\), ".+"', one.reference)
    assert one.summary.endswith(".")
    assert one.needs or one.folder != "estimators"


def test_needs_are_those_that_are_enforced():
    needs = {one.name: one.needs for one in methods()}
    assert needs["ips"] == needs["snips"] == needs["exponential-ips"] == "weights alone"
    assert needs["mips"] == "full target, full logging policy, action features"
    assert needs["kernel-dr"] == "doses, reward model"
    assert needs["pseudo-target"] == "a log in memory, several loggers"
    assert needs["pasif"] == "a log in memory, full logging policy, rows that were all kept alike, the extra `torch`"


def test_on_the_command_line(run):
    code, out, err = run("methods")
    assert (code, err) == (0, "")
    for one in methods():
        assert one.name in out
    code, out, err = run("methods", "--json")
    assert (code, err) == (0, "")
    assert len(json.loads(out)["methods"]) == len(methods())
    code, out, err = run("methods", "--markdown")
    assert (code, err) == (0, "")
    assert out == markdown(methods())
