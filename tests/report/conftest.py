"""A small log, what is found on it, and a page with it, which all tests of the report share."""

import json
import re
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

import counterfold as cf
from shown_results import make

pytest.importorskip("altair")
pytest.importorskip("jinja2")
pytest.importorskip("vl_convert")

LABELS = (
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(2)>",
    "{{7*7}}",
    "\u202e\u05e2\u05d1\u05e8",
    "\x1b[31m\x00",
)
"""Labels that would do harm if they were not escaped."""


@pytest.fixture(scope="session")
def frame():
    """Return a table with hostile labels and a time, a target and rewards."""
    rng = np.random.default_rng(0)
    rows, probs = 1500, np.array([0.4, 0.2, 0.2, 0.1, 0.1])
    action = rng.choice(5, size=rows, p=probs)
    x = rng.normal(size=rows)
    click = rng.random(rows) < 0.2 + 0.1 * action * (x > 0)
    wanted = np.where(x[:, None] > 0, [0.1, 0.1, 0.1, 0.2, 0.5], [0.4, 0.3, 0.1, 0.1, 0.1])
    return pa.table(
        {
            "x": x,
            "action": [LABELS[one] for one in action],
            "click": click.astype(int),
            "money": rng.exponential(size=rows) * (1 + action),
            "propensity": probs[action],
            "time": np.datetime64("2026-01-01") + np.sort(rng.integers(60, size=rows)).astype("timedelta64[D]"),
            "new": wanted[np.arange(rows), action],
            "<b>bold</b>": [LABELS[one] for one in wanted.argmax(axis=1)],
        }
    )


@pytest.fixture(scope="session")
def found(frame):
    """Return a comparison of two targets with hostile names."""
    targets = {"new": "new", "<b>bold</b>": "<b>bold</b>"}
    return cf.compare(frame, targets, reward="click", time="time", ignore=["money"])


@pytest.fixture(scope="session")
def answer(frame):
    """Return the evaluation of a target whose probabilities are all known, so that there is a reward model."""
    return cf.evaluate(frame, "0.5*uniform + 0.5*<b>bold</b>", reward="click", time="time", ignore=["money", "new"])


@pytest.fixture(scope="session")
def refused():
    """Return an evaluation that is not answerable."""
    rng = np.random.default_rng(1)
    logging = np.tile([0.98, 0.02, 0.0], (400, 1))
    action = (rng.random(400) < 0.02).astype(int)
    log = cf.Log(action=action, reward=rng.normal(3.25, 1, size=400) + 2 * action, logging_probs=logging)
    with pytest.warns(cf.SupportWarning):
        result = cf.evaluate(log, np.tile([0.1, 0.1, 0.8], (400, 1)))
    assert not result.answerable
    return result


@pytest.fixture(scope="session")
def answer_page(answer, tmp_path_factory):
    """Return the report of one evaluation."""
    return write_page(answer, tmp_path_factory.mktemp("answer"))


@pytest.fixture(scope="session")
def refused_page(refused, tmp_path_factory):
    """Return the report of an evaluation that is not answerable."""
    return write_page(refused, tmp_path_factory.mktemp("refused"))


@pytest.fixture(scope="session")
def found_page(found, tmp_path_factory):
    """Return the report of a comparison."""
    return write_page(found, tmp_path_factory.mktemp("found"))


@pytest.fixture(scope="session")
def learned_page(tmp_path_factory):
    """Return the report of a policy that was learnt, a tree with hostile labels."""
    return write_page(make("learned"), tmp_path_factory.mktemp("learned"))


@pytest.fixture
def write(tmp_path):
    """Return a function that writes the report of a result and returns what is in it."""

    return lambda result, **settings: write_page(result, tmp_path, **settings)


def write_page(result, folder, **settings):
    """Write the report of a result, and return its source, what people see of it, its charts and its JSON."""
    path = folder / "report.html"
    result.to_html(path, **settings)
    source = path.read_text(encoding="utf-8")
    *specs, answer = map(
        json.loads, re.findall(r'<script type="application/json".*?>(.*?)</script>', source, re.DOTALL)
    )
    shown = re.sub(r"<(script|style).*?</\1>", "", source, flags=re.DOTALL)
    return SimpleNamespace(path=path, source=source, shown=shown, specs=specs, answer=answer)
