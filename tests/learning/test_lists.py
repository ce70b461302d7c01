"""Contexts that hold lists, such as embeddings: learnt from, and looked at by policies and other models."""

import json

import numpy as np
import pandas as pd
import pytest

import counterfold as cf
from counterfold.base.errors import DataError

WIDTH = 3


def make_frame(seed=0, rows=1200, width=WIDTH):
    rng = np.random.default_rng(seed)
    taste, item = rng.normal(size=(rows, width)), rng.integers(2, size=rows)
    reward = np.where(item == 1, taste[:, 1], 0.0) + rng.normal(size=rows)
    columns = {"age": rng.integers(20, 60, rows), "action": np.array(["x", "y"])[item], "reward": reward}
    return pd.DataFrame({"taste": list(taste), **columns, "propensity": np.full(rows, 0.5)})


def estimate_by_ips(frame, probs):
    taken = probs[np.arange(len(frame)), (frame["action"] == "y").astype(int)]
    return (taken / frame["propensity"] * frame["reward"]).mean()


@pytest.fixture(scope="module")
def learned():
    log = make_frame()
    return cf.learn(log, "greedy-learner", shares=1, context=["taste", "age"], progress=False)


def test_a_policy_takes_the_lists_that_it_was_learnt_from(learned):
    assert learned.policy.features.names == ["taste.0", "taste.1", "taste.2", "age"]
    later = make_frame(1)
    expected = np.where(np.stack(later["taste"])[:, 1] > 0, "y", "x")
    assert (learned.policy.predict(later) == expected).mean() > 0.9
    spread = pd.DataFrame(np.stack(later["taste"]), columns=["taste.0", "taste.1", "taste.2"]).assign(age=later["age"])
    np.testing.assert_array_equal(learned.policy.predict_proba(later), learned.policy.predict_proba(spread))


@pytest.mark.parametrize("engine", ["memory", "local"])
@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_its_file_is_a_target_of_logs_with_lists(learned, ending, engine, tmp_path):
    pytest.importorskip("skops")
    learned.policy.save(tmp_path / "policy.skops")
    later = make_frame(1)
    probs = learned.policy.predict_proba(later)
    texts = later.assign(taste=[json.dumps(one.tolist()) for one in later["taste"]])
    path = tmp_path / f"log.{ending}"
    later.to_parquet(path) if ending == "parquet" else texts.to_csv(path, index=False)
    found = cf.evaluate(
        path, f"skops:{tmp_path / 'policy.skops'}", ["ips"], context=["age"], engine=engine, progress=False
    )
    assert found.value == pytest.approx(estimate_by_ips(later, probs), rel=1e-9)


def test_the_rows_that_it_was_learnt_from_are_known_by_their_lists(learned):
    same = cf.evaluate(make_frame(), learned.policy, context=["taste", "age"], progress=False)
    other = cf.evaluate(make_frame(1), learned.policy, context=["taste", "age"], progress=False)
    assert (same.verdict, other.verdict) == ("not answerable", "good")


@pytest.mark.parametrize("engine", ["memory", "local"])
def test_lists_that_are_too_short_are_refused(learned, engine):
    short = make_frame(width=2)
    with pytest.raises(
        DataError, match=r"^column `taste` must be lists with an element `taste\.2`, got shorter ones\.$"
    ):
        cf.evaluate(short, learned.policy, context=["age"], engine=engine, progress=False)
    with pytest.raises(
        DataError, match=r"^column `taste` must be lists with an element `taste\.2`, got shorter ones\.$"
    ):
        learned.policy.predict(short)


def test_a_model_on_a_frame_sees_elements_of_lists():
    from sklearn.linear_model import LogisticRegression

    log = make_frame()
    seen = pd.DataFrame({"taste.1": np.stack(log["taste"])[:, 1]})
    model = LogisticRegression().fit(seen, log["action"])
    found = cf.evaluate(log, model, ["ips"], context=["age"], progress=False)
    assert found.value == pytest.approx(estimate_by_ips(log, model.predict_proba(seen)), rel=1e-9)


def test_a_column_that_is_no_list_has_no_elements(learned):
    rule = (
        r"^column `taste\.0` must be there, or column `taste` must be lists of numbers that have it as an element, got"
    )
    for log in (make_frame().assign(taste="sweet"), make_frame().assign(taste=1.5)):
        with pytest.raises(DataError, match=rule):
            cf.evaluate(log, learned.policy, context=["age"], progress=False)
        with pytest.raises(DataError, match=rule):
            learned.policy.predict(log)


def write_texts(frame):
    return frame.assign(taste=[json.dumps(one.tolist()) for one in frame["taste"]])


@pytest.mark.parametrize("engine", ["memory", "local"])
def test_a_policy_of_a_file_with_texts_of_lists_takes_the_rows_of_that_file(engine, tmp_path):
    log = make_frame()
    write_texts(log).to_csv(tmp_path / "log.csv", index=False)
    known = {"shares": 1, "context": ["taste", "age"], "progress": False, "engine": engine}
    policy = cf.learn(tmp_path / "log.csv", "greedy-learner", **known).attempted
    probs = policy.predict_proba(pd.read_csv(tmp_path / "log.csv"))
    np.testing.assert_array_equal(probs, policy.predict_proba(log))
    assert policy.predict(log.iloc[:0]).shape == policy.predict(write_texts(log).iloc[:0]).shape == (0,)


BESIDE = (
    "^{}column `taste.0` must be left out or renamed, as it is called like an element of the lists of column `taste`"
)


@pytest.mark.parametrize("engine", ["memory", "local"])
def test_a_column_that_is_called_like_an_element_is_refused(learned, engine):
    for log in (make_frame(), write_texts(make_frame())):
        both = log.assign(**{"taste.0": 1.0})
        with pytest.raises(DataError, match=BESIDE.format("")):
            learned.policy.predict(both)
        with pytest.raises(DataError, match=BESIDE.format("")):
            cf.evaluate(both, learned.policy, context=["age"], engine=engine, progress=False)
        known = {"context": ["taste", "taste.0"], "engine": engine, "progress": False}
        with pytest.raises(DataError, match=BESIDE.format("(in the [0-9]+ rows to learn from, )?")):
            cf.learn(both, "greedy-learner", **known)
    spread = make_frame().assign(**{f"taste.{place}": 0.0 for place in range(3)})
    assert len(set(learned.policy.predict_proba(spread)[:, 0])) <= 2  # every element is a column of its own
    assert cf.learn(both, "greedy-learner", **known | {"context": ["taste.0"]}).attempted.n_features_in_ == 1


@pytest.mark.parametrize("kind", [list, json.dumps])
def test_rows_of_bad_lists_are_told_by_their_places_in_the_log(learned, kind):
    log = make_frame()
    log["taste"] = [kind(one.tolist() if row != 700 else [1.0]) for row, one in enumerate(log["taste"])]
    rule = "`taste` must be lists of one length, 3 as in row 0"
    wrong = rf"{rule}, got 1 in 1 of \d+ rows( from row 0 on)?, first at row 700\.$"
    with pytest.raises(DataError, match=f"^{wrong}"):
        learned.policy.predict(log)
    for engine in ("memory", "local"):
        with pytest.raises(DataError, match=f"^{wrong}"):
            cf.evaluate(log, learned.policy, context=["age"], engine=engine, progress=False)
