"""The examples in the docs run."""

import runpy

import pytest

from places import ROOT

EXAMPLES = sorted((ROOT / "docs" / "examples").glob("*.py"))


def test_there_are_examples():
    assert EXAMPLES


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(path, capsys):
    runpy.run_path(str(path))
    assert "95 %" in capsys.readouterr().out
