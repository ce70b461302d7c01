"""The notebooks of the docs run without an error, and hold what they show now, and nothing of any machine."""

import json
import re
import subprocess
import sys

import pytest

from places import ROOT

FOLDER = ROOT / "docs" / "notebooks"
BOOKS = sorted(FOLDER.glob("*.ipynb"))
SLOW = {"recommender", "shipped_policy"}
"""Those that take more than a few seconds."""


def read_texts(path):
    """Return what the cells of a notebook say, without pictures."""
    cells = [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]
    outputs = [output for cell in cells for output in cell["outputs"]]
    return ["".join(one.get("text") or one["data"]["text/plain"]) for one in outputs]


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=[pytest.mark.slow] if path.stem in SLOW else [], id=path.stem) for path in BOOKS],
)
def test_a_notebook_runs_and_says_what_is_stored(path, tmp_path):
    command = [sys.executable, FOLDER / "execute.py", path, "--out", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert read_texts(tmp_path / path.name) == read_texts(path), "run `make notebooks`"


@pytest.mark.parametrize("path", BOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_small_and_tells_nothing_of_a_machine(path):
    text = path.read_text()
    book = json.loads(text)
    shown = [one for cell in book["cells"] for one in cell.get("outputs", [])]
    assert len(text) < 300_000
    assert set(book["metadata"]["kernelspec"]) == {"display_name", "language", "name"}
    assert not re.search(r"/(tmp|home|root|usr|Users)/|\.venv|0x[0-9a-f]{8}", text)
    assert any("image/png" in one.get("data", {}) for one in shown)
    assert not any(one["output_type"] == "error" or one.get("name") == "stderr" for one in shown)
