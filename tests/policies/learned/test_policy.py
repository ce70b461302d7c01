"""Policies: as in the log, whatever the form of the context; the same from a file; bad contexts are one sentence."""

import zipfile

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import counterfold as cf
from counterfold.policies.given._former_types import FORMER_MODULES
from counterfold.policies.learned.scorers import LinearScorer, PricedScorer


def draw_frame(rows=300, seed=0):
    """Return a log with text, gaps and dates, where the city tells which action is best."""
    rng = np.random.default_rng(seed)
    city, action = rng.choice(["Rome", "Oslo", "Bonn"], rows), rng.choice(["z", "a", "m"], rows)
    age = np.where(np.arange(rows) % 9 == 0, np.nan, rng.normal(40, 9, rows))
    reward = 1.0 * (((city == "Rome") & (action == "z")) | ((city != "Rome") & (action == "a")))
    joined = np.datetime64("2024-01-01") + rng.integers(90, size=rows).astype("timedelta64[D]")
    known = {"age": age, "city": city, "joined": joined, "action": action, "propensity": np.full(rows, 1 / 3)}
    return pd.DataFrame({**known, "reward": reward + rng.normal(size=rows) / 4})


CONTEXT = ["age", "city", "joined"]


@pytest.fixture(scope="module")
def learned():
    return cf.learn(draw_frame(), ["greedy-learner"], shares=1, context=CONTEXT, progress=False)


def test_contexts_may_come_in_any_form_and_order(learned):
    fresh = draw_frame(50, seed=1)[CONTEXT]
    probs = learned.policy.predict_proba(fresh)
    assert learned.policy.classes_.tolist() == ["a", "m", "z"]
    rome = (fresh["city"] == "Rome").to_numpy()
    assert learned.policy.predict(fresh)[rome].tolist() == ["z"] * rome.sum()
    for form in (fresh[CONTEXT[::-1]], pa.Table.from_pandas(fresh), fresh.to_dict("list"), fresh.assign(more=1)):
        np.testing.assert_array_equal(learned.policy.predict_proba(form), probs)


@pytest.mark.parametrize("learner", ["greedy-learner", "softmax-learner", "policy-tree", "policy-forest:trees=4"])
def test_a_saved_policy_is_the_same_target(learner, tmp_path):
    frame = draw_frame()
    found = cf.learn(frame, [learner], shares=0.5, context=CONTEXT, progress=False)
    found.policy.save(tmp_path / "policy.skops")
    kept = cf.evaluate(frame, f"skops:{tmp_path / 'policy.skops'}", context=CONTEXT)
    assert kept.to_json() == cf.evaluate(frame, found.policy, context=CONTEXT).to_json()
    again = cf.Skops(tmp_path / "policy.skops").form.model
    np.testing.assert_array_equal(again.predict_proba(frame), found.policy.predict_proba(frame))
    assert again.describe() == found.policy.describe()
    assert [one.name for one in tmp_path.iterdir()] == ["policy.skops"]


def test_plain_matrices_have_no_names():
    rng = np.random.default_rng(0)
    log = cf.Log(context=rng.normal(size=(60, 2)), action=[0, 1] * 30, reward=rng.random(60), propensity=[0.5] * 60)
    policy = cf.learn(log, ["greedy-learner"], progress=False).policy
    assert not hasattr(policy, "feature_names_in_")
    assert policy.n_features_in_ == 2
    assert policy.predict_proba(log.context).shape == (60, 2)
    values = [cf.evaluate(log, one, progress=False).value for one in (policy, policy.predict_proba(log.context))]
    assert values[0] == values[1]
    with pytest.raises(cf.DataError, match=r"`context` must be rows of 2 numbers, got shape \(3, 5\)\."):
        policy.predict_proba(np.zeros((3, 5)))


@pytest.mark.parametrize(
    ("context", "sentence"),
    [
        ({"age": [1.0], "city": ["Rome"]}, "column `joined`, which the policy was learnt with, got age, city"),
        ({"age": [1.0], "city": ["Rome"], "joined": [1, 2]}, "must be columns of one length"),
        ([[1.0, 2.0, 3.0]], "must be a data frame with 3 columns, age, city, joined, got"),
        (pd.DataFrame({"age": [np.inf], "city": ["Rome"], "joined": [pd.Timestamp(0)]}), "must be finite"),
    ],
)
def test_bad_contexts_are_one_sentence(learned, context, sentence):
    with pytest.raises(cf.DataError, match=sentence):
        learned.policy.predict_proba(context)


def test_bad_masks_and_files_are_one_sentence(learned, tmp_path):
    fresh = draw_frame(2)[CONTEXT]
    with pytest.raises(
        cf.DataError, match=r"`available` must be true or false for each of 3 actions in each of 2 rows"
    ):
        learned.policy.predict_proba(fresh, available=[[True, False]])
    with pytest.raises(cf.DataError, match=r"got none first at row 1"):
        learned.policy.predict_proba(fresh, available=[[True] * 3, [False] * 3])
    with pytest.raises(cf.ParameterError, match=r"`path` must be the name of a file that ends in \.skops"):
        learned.policy.save(tmp_path / "policy.pickle")
    with pytest.raises(cf.ParameterError, match=r"`path` must be in a folder that exists"):
        learned.policy.save(tmp_path / "none" / "policy.skops")


def test_a_policy_that_is_saved_where_a_link_leads_leaves_the_link(learned, tmp_path):
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "policy.v1").write_bytes(b"the last one")
    (tmp_path / "policy.skops").symlink_to("kept/policy.v1")
    (tmp_path / "new.skops").symlink_to("kept/new.skops")
    for name, place in (("policy.skops", "policy.v1"), ("new.skops", "new.skops")):
        learned.policy.save(tmp_path / name)
        assert (tmp_path / name).is_symlink()
        kept = (tmp_path / "kept" / place).rename(tmp_path / "kept.skops")
        assert cf.Skops(kept).model.describe() == learned.policy.describe()
    assert not list((tmp_path / "kept").iterdir())
    (tmp_path / "lost.skops").symlink_to("gone/policy.skops")
    with pytest.raises(cf.ParameterError, match="`path` must be in a folder that exists"):
        learned.policy.save(tmp_path / "lost.skops")


def test_prices_that_look_alike_are_one_line():
    linear = LinearScorer(np.zeros(2), np.zeros((1, 2)), np.ones(1))
    prices = np.array([[0.0, 1.97], [0.0, 1.9700001], [0.0, 0.5], [0.0, 0.0]])
    shares = np.array([0.2, 0.4, 0.3, 0.1])
    lines = PricedScorer(linear, prices, shares).describe(["age"], ["a", "b"]).splitlines()[2:]
    assert lines == [
        "less the prices 1.97 for b in 60% of the decisions, to keep to limits",
        "less the prices 0.5 for b in 30% of the decisions, to keep to limits",
    ]
    alike = PricedScorer(linear, prices[:2], np.array([0.3, 0.7])).describe(["age"], ["a", "b"])
    assert alike.endswith("\nless the prices 1.97 for b, to keep to limits")


def test_people_can_read_it(learned):
    assert "z:" in learned.policy.describe()
    assert "* (city is Rome)" in learned.policy.describe()
    assert "* (age is missing)" in learned.policy.describe()
    shares = learned.policy.importance
    assert max(shares, key=shares.get).startswith("city=")
    assert sum(shares.values()) == pytest.approx(1)
    tree = cf.learn(draw_frame(), ["policy-tree"], shares=1, context=["city"], progress=False).policy
    assert "take z" in tree.describe()
    assert tree.describe() == "if city is Rome:\n  take z\nelse:\n  take a"


@pytest.mark.parametrize("order", [list, reversed], ids=["oldest names", "latest names"])
def test_a_policy_that_was_saved_under_the_former_names_of_modules_is_read(order, learned, tmp_path):
    path = tmp_path / "policy.skops"
    learned.policy.save(path)
    with zipfile.ZipFile(path) as file:
        parts = {name: file.read(name) for name in file.namelist()}
    for former, today in order(FORMER_MODULES.items()):  # some modules had two names, one after the other
        parts["schema.json"] = parts["schema.json"].replace(f'"{today}"'.encode(), f'"{former}"'.encode())
    assert b"counterfold.policies.policy" in parts["schema.json"]
    with zipfile.ZipFile(path, "w") as file:
        for name, part in parts.items():
            file.writestr(name, part)
    frame = draw_frame()
    np.testing.assert_array_equal(cf.Skops(path).model.predict_proba(frame), learned.policy.predict_proba(frame))
