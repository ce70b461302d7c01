"""Rows of one context: a policy knows them again, so they are one group where nobody named any, on every engine."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy.stats import binomtest

import counterfold as cf
from counterfold.base.threads import Pool
from counterfold.engines import choose_engine
from counterfold.io.schema.batches import Batch
from counterfold.io.schema.same_context import COLUMN, ContextGroups, hash_contexts
from counterfold.learning.same_context import choose_grouped_context, group_contexts

FAST = {"learners": ["greedy-learner"], "shares": 1, "progress": False}


def draw_frame(seed=0, rows=1000, **columns):
    """Return a log in which nothing can be gained, with a context of its own for each row and more columns."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"age": rng.normal(size=rows), "spend": rng.normal(size=rows)})
    frame = frame.assign(action=rng.choice(list("abc"), rows), reward=rng.integers(2, size=rows), propensity=1 / 3)
    return frame.assign(**columns)


def copy_rows(frame, share=0.5, seed=1):
    """Return a log with a share of its rows twice, each row at a time of its own, in any order."""
    rng = np.random.default_rng(seed)
    twice = pd.concat([frame, frame[rng.random(len(frame)) < share]])
    twice["ts"] = pd.date_range("2026-01-01", periods=len(twice), freq="min")
    return twice.sample(frac=1, random_state=seed).reset_index(drop=True)


def list_groups(frame, groups):
    """Return the sets of rows that are together, by what the log says and by the columns of the context."""
    known = frame.groupby(["age", "spend"]).groups.values()
    return {frozenset(one) for one in known}, {frozenset(np.flatnonzero(groups == one)) for one in np.unique(groups)}


def test_copies_are_a_group_also_at_other_times():
    frame = copy_rows(draw_frame())
    log = group_contexts(cf.read_log(frame))
    wanted, found = list_groups(frame, log.group)
    assert wanted == found
    assert log.by_context


def test_rows_on_their_own_stay_in_their_folds():
    frame = draw_frame()
    twice = pd.concat([frame, frame.iloc[:10]], ignore_index=True)
    group = group_contexts(cf.read_log(twice)).group
    assert group.tolist() == [*range(1000), *range(10)]


@pytest.mark.parametrize(
    "columns",
    [
        {},  # all contexts differ
        {"group": np.arange(1000) % 300, "age": 1.0, "spend": 2.0},
        {"age": np.arange(1000) % 2, "spend": np.arange(1000) % 3},
        {"age": np.arange(1000) % 58, "spend": 0.0},  # 17 or 18 rows have each
    ],
)
def test_other_logs_stay_as_they_are(columns):
    log = cf.read_log(draw_frame(**columns))
    assert group_contexts(log) is log
    bare = cf.Log(action=[0, 1] * 10, reward=range(20), propensity=[0.5] * 20)
    assert group_contexts(bare) is bare


def test_of_few_rows_no_context_is_a_large_part():
    columns = {"age": np.arange(60) // 10, "spend": 0.0}
    log = cf.read_log(draw_frame(rows=60, **columns))
    assert group_contexts(log) is log
    pairs = cf.read_log(draw_frame(rows=60, **columns | {"spend": np.arange(60) // 2}))
    assert len(np.unique(group_contexts(pairs).group)) == 30


def test_rows_that_many_share_stay_on_their_own_beside_groups():
    age = np.concatenate([np.zeros(500), np.repeat(np.arange(1, 251), 2)])
    log = group_contexts(cf.read_log(draw_frame(age=age, spend=0.0)))
    assert np.bincount(np.bincount(log.group)).tolist()[1:] == [500, 250]


def test_a_column_that_is_no_context_does_not_keep_rows_apart():
    age, action = np.repeat(np.random.default_rng(0).normal(size=500), 2), np.tile([0, 1, 1, 0], 250)
    frame = draw_frame(age=age, spend=0.0).assign(action=action, propensity=0.5, price=3.0 * action)
    chosen = choose_grouped_context(cf.read_log(frame))
    assert "price" in chosen.left_out
    assert chosen.group.tolist() == np.repeat(np.arange(0, 1000, 2), 2).tolist()
    assert chosen.notes[-1][0].startswith("1,000 of 1,000 rows have the context of another one")


def test_propensities_are_fitted_without_copies_of_a_row():
    frame = copy_rows(draw_frame(rows=400).drop(columns="propensity"))
    log = cf.read_log(frame, propensity="fit")
    grouped = group_contexts(log)
    assert (grouped.units == grouped.group).all()
    assert (grouped.propensity != log.propensity).any()


@pytest.mark.parametrize("engine", ["memory", "local"])
def test_the_answer_says_what_is_one_observation(engine):
    learned = cf.learn(copy_rows(draw_frame()), **FAST, engine=engine)
    notes = [one.problem for one in learned.attempt.diagnostics.findings if one.name == "as-read"]
    assert any("rows of one context count as one observation" in one for one in notes)
    assert learned.attempt.contents.by_context
    assert learned.attempt.contents.groups < learned.attempt.contents.rewards.count


def test_no_context_is_learnt_from_and_valued():
    frame = copy_rows(draw_frame(tags=[[1.0, 2.0]] * 1000), share=1.0)
    learned = cf.learn(frame, **FAST, engine="local")
    assert learned.sample % 2 == 0  # whole pairs
    assert learned.attempt.contents.rewards.count == 2000 - learned.sample
    assert learned.attempt.contents.groups == (2000 - learned.sample) // 2


def test_of_large_logs_common_contexts_are_drawn_row_by_row():
    coarse = cf.learn(draw_frame(age=np.arange(1000) % 2, spend=0.0), **FAST, engine="local")
    assert coarse.attempt.contents.groups is None
    both = draw_frame(age=np.concatenate([np.zeros(400), np.repeat(np.arange(1, 301), 2)]), spend=0.0)
    learned = cf.learn(both, **FAST, engine="local")
    assert 0 < learned.attempt.contents.groups < learned.attempt.contents.rewards.count


def find_groups(frame, folder):
    """Return which rows of a file are groups, as the engine for large logs finds them."""
    frame.to_parquet(folder / "log.parquet", row_group_size=400)
    return choose_engine(cf.LogScan(folder / "log.parquet"), "local", Pool(None)).find_groups(progress=False)


def test_of_long_logs_a_sample_tells_which_contexts_are_common(tmp_path, monkeypatch):
    monkeypatch.setattr("counterfold.engines.passes.contexts.SAMPLED", 300)
    monkeypatch.setattr("counterfold.engines.passes.contexts.KEPT", 50)
    age = np.concatenate([np.zeros(900), np.repeat(np.arange(1, 1051), 2)])
    found = find_groups(draw_frame(rows=3000, age=age, spend=0.0), tmp_path)
    assert found.context == ("age", "spend")
    assert hash_contexts(pa.table({"age": [0.0], "spend": [0.0]}), found.context)[0] in found.common
    assert len(found.common) < 5
    assert find_groups(draw_frame(rows=3000, age=np.arange(3000) % 100, spend=0.0), tmp_path) is None
    assert find_groups(draw_frame(rows=3000), tmp_path) is None


def test_groups_do_not_depend_on_batches():
    table = cf.LogScan(copy_rows(draw_frame(city=["Rome", "Oslo"] * 500))).opened.table()
    keys = hash_contexts(table, ["age", "city"])
    groups = ContextGroups(("age", "city"), np.sort(keys[:5]))
    whole = Batch(table, np.arange(len(keys)))
    several = [groups.append_to(one).table.column(COLUMN).to_numpy() for one in whole.split(70)]
    found = groups.append_to(whole).table.column(COLUMN).to_numpy()
    assert np.concatenate(several).tolist() == found.tolist()
    is_common = np.isin(keys, keys[:5])
    assert len(np.unique(found)) == len(np.unique(keys[~is_common])) + is_common.sum()


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize("engine", ["memory", "local"])
def test_copies_do_not_make_a_winner(engine):
    asked = {"shares": 1, "progress": False, "learners": "policy-tree", "engine": engine}
    beaten = sum(cf.learn(copy_rows(draw_frame(seed), 0.6), **asked).beats_log for seed in range(40))
    assert binomtest(beaten, 40, 0.025, alternative="greater").pvalue > 0.001  # one in a thousand fails by chance
