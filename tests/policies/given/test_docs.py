"""The table of docs/targets.md: every line is run, as a text and as an object, by memory and by local."""

import importlib
import re
import sys

import numpy as np
import pytest

import counterfold as cf
from counterfold.base import registry
from places import ROOT
from scored_logs import make_columns, make_table

PAGE = (ROOT / "docs" / "targets.md").read_text(encoding="utf-8")
LINES = re.findall(r"^\| (.+?) \| (?:`(.+?)`)? ?\| `(.+?)` \|$", PAGE, re.MULTILINE)
LABELS = ("red", "green", "blue")
NEEDED = {"skops": ["skops"], "onnx": ["onnxruntime", "skl2onnx"]}

MODULE = """
import numpy as np
from sklearn.linear_model import LogisticRegression

rng = np.random.default_rng(0)
model = LogisticRegression().fit(rng.normal(size=(90, 2)), np.repeat(["red", "green", "blue"], 30))

def choose(context):
    return np.where(context[:, 0] > 0, "red", "green")

def choose_by_name(seen):
    return np.where((seen["city"] == "Rome") & (seen["age"] > 0), "red", "blue")
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with a log, a module and files of models, as the page has them."""
    import pyarrow.parquet as pq

    place = tmp_path_factory.mktemp("docs")
    columns = make_columns(LABELS)
    columns["income"] = columns.pop("height")
    columns["new_policy"] = policy = columns.pop("policy")
    columns["p_new"] = policy[np.arange(len(policy)), [LABELS.index(one) for one in columns["action"]]]
    columns |= {f"score_{label}": columns["score"][:, number] for number, label in enumerate(LABELS)}
    pq.write_table(make_table(columns, LABELS), place / "logs.parquet", row_group_size=150)
    (place / "policies.py").write_text(MODULE)
    made = {}
    exec(MODULE, made)  # noqa: S102 (it stands above)
    save_models(place, made["model"])
    return place


def save_models(folder, model):
    """Save a model in the files that the page names, as far as there are tools."""
    if importlib.util.find_spec("skops"):
        import skops.io

        skops.io.dump(model, folder / "policy.skops")
    if importlib.util.find_spec("skl2onnx"):
        import skl2onnx

        kind = skl2onnx.common.data_types.FloatTensorType([None, 2])
        made = skl2onnx.to_onnx(model, initial_types=[("seen", kind)])
        (folder / "policy.onnx").write_bytes(made.SerializeToString())


@pytest.mark.parametrize(("what", "text", "written"), LINES, ids=[line[0] for line in LINES])
def test_every_line_gives_one_answer(what, text, written, folder, monkeypatch):
    for needed in NEEDED.get(text.partition(":")[0], []):
        pytest.importorskip(needed, reason=f"needs {needed}")
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(folder)
    policies = importlib.import_module("policies")
    given = eval(written, {"cf": cf, "policies": policies})  # noqa: S307 (a line of our own page)
    targets = [given, text] if text else [given]
    found = []
    for engine in ("memory", "local"):
        for target in targets:
            options = {"context": ["age", "income"], "ignore": [], "engine": engine, "progress": False}
            options |= {"selector": "slope", "reward_model": None}  # neither depends on how a target is given
            found.append(cf.evaluate("logs.parquet", target, ["ips", "snips"], **options).value)
    np.testing.assert_allclose(found, found[0], rtol=1e-12, err_msg=what)
    sys.modules.pop("policies", None)


def test_the_table_has_every_form():
    assert len(LINES) == len(re.findall(r"^\| .*\|$", PAGE, re.MULTILINE)) - 2
    written = " ".join(text + " " + given for _, text, given in LINES)
    for name in registry.names("targets"):
        form = registry.find("targets", name)
        assert f"cf.{form.__name__}(" in written
        head = form.syntax.partition(":")[0]
        assert head in written or head.isupper() or "SHARE" in head
