"""A policy on rows that it was learnt from: seen on every engine, whole or in part, and never where rows are new."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import counterfold as cf

COLUMNS = {"action": "item", "reward": "click", "propensity": "p", "progress": False}


def draw_log(rows, seed, contexts=None):
    """Return a log of three actions; its contexts are new, or drawn from those that are given."""
    rng = np.random.default_rng(seed)
    seen = rng.normal(size=(rows, 2)).round(6) if contexts is None else contexts[rng.integers(len(contexts), size=rows)]
    action = rng.integers(3, size=rows)
    click = (rng.random(rows) < 0.2 + 0.3 * (action == (seen[:, 0] > 0))).astype(int)
    device = np.where(seen[:, 1] > 0, "phone", None)
    return pd.DataFrame(
        {"x": seen[:, 0], "y": seen[:, 1], "device": device, "item": np.array(["a", "b", "c"])[action]}
    ).assign(click=click, p=1 / 3)


def learn(log):
    return cf.learn(log, "greedy-learner", shares=1, **COLUMNS).attempted


def find_share(log, policy, **more):
    return cf.evaluate(log, policy, **COLUMNS, **more).diagnostics.learnt_share


LOG = draw_log(900, 0)
POLICY = learn(LOG)


@pytest.mark.parametrize("engine", ["memory", "local"])
def test_the_log_of_a_policy_cannot_value_it_in_whatever_order_its_rows_come(engine, tmp_path):
    shuffled = LOG.sample(frac=1, random_state=1).assign(noise=1.0)
    shuffled.to_parquet(tmp_path / "log.parquet")
    result = cf.evaluate(tmp_path / "log.parquet", POLICY, ignore=["noise"], engine=engine, **COLUMNS)
    finding = result.diagnostics.findings[0]
    assert (result.verdict, result.diagnostics.learnt_share) == ("not answerable", 1.0)
    assert (finding.name, finding.severity) == ("known-rows", "not answerable")
    assert "learnt from these very rows" in finding.problem


def test_a_saved_policy_remembers_and_so_does_a_mixture_with_it(tmp_path):
    pytest.importorskip("skops")
    POLICY.save(tmp_path / "policy.skops")
    assert find_share(LOG, cf.Skops(tmp_path / "policy.skops")) == 1
    assert find_share(LOG, 0.5 * cf.Skops(tmp_path / "policy.skops") + 0.5 * cf.Uniform()) == 1


@pytest.mark.parametrize(("new", "share"), [(100, 0.9), (900, 0.5), (2700, 0.25), (8100, 0.1)])
def test_a_log_that_holds_such_rows_besides_others_is_seen(new, share):
    every = pd.concat([draw_log(new, 1), LOG])
    assert find_share(every, POLICY) == pytest.approx(share, rel=1e-9)


def test_some_of_the_rows_are_seen():
    assert find_share(LOG.iloc[::3], POLICY) == 1.0


def test_a_part_of_a_large_log_that_was_remembered_by_few_contexts():
    log = draw_log(12_000, 5)
    every = pd.concat([log.iloc[:3000], draw_log(9000, 6)])
    assert find_share(every, learn(log)) == pytest.approx(0.25, rel=0.1)


@pytest.mark.parametrize("seed", range(5))
def test_new_rows_are_not_taken_for_known_ones(seed):
    assert find_share(draw_log(900, 10 + seed), POLICY) == 0


@pytest.mark.parametrize("seed", range(5))
def test_users_who_come_back_are_not_taken_for_known_rows(seed):
    again = draw_log(900, 20 + seed, LOG[["x", "y"]].to_numpy())
    assert find_share(again, POLICY) == 0


def test_rows_with_few_contexts_are_told_only_as_a_whole():
    few = np.random.default_rng(0).integers(3, size=(20, 2)).astype(float)
    log = draw_log(600, 2, few)
    policy = learn(log)
    assert find_share(log, policy) == 1
    assert find_share(draw_log(600, 3, few), policy) == 0


def test_a_policy_that_does_as_the_log_did_saw_no_reward():
    rng = np.random.default_rng(0)
    log = draw_log(300, 4).assign(click=rng.integers(2, size=300))
    learned = cf.learn(log, "greedy-learner", **COLUMNS)
    assert not learned.beats_log
    assert find_share(log, learned.policy) is None
    assert find_share(log, learned.attempted) == 1


def test_the_share_against_a_naive_loop():
    mixed = pd.concat([LOG.iloc[:400], draw_log(500, 7, LOG[["x", "y"]].to_numpy()), draw_log(300, 8)])
    known = {(row.x, row.y): (row.item, row.click) for row in LOG.itertuples()}
    remembered = [row for row in mixed.itertuples() if (row.x, row.y) in known]
    same = sum(known[row.x, row.y] == (row.item, row.click) for row in remembered)
    chance = sum(row.p for row in remembered)
    expected = (same - chance) / (len(remembered) - chance) * len(remembered) / len(mixed)
    assert len(known) == len(LOG)
    assert find_share(mixed, POLICY) == pytest.approx(expected, rel=1e-9)


def test_other_rewards_of_the_same_rows_taught_it_nothing():
    assert find_share(LOG.assign(click=np.arange(900) / 7), POLICY) == 0


def test_a_policy_learnt_from_part_of_a_large_log_is_not_valued_by_that_part(tmp_path):
    pa.parquet.write_table(pa.Table.from_pandas(LOG), tmp_path / "log.parquet")
    learned = cf.learn(tmp_path / "log.parquet", "greedy-learner", engine="local", **COLUMNS)
    assert "known-rows" not in {one.name for one in learned.evaluation.diagnostics.findings}
    found = find_share(tmp_path / "log.parquet", learned.attempted)
    assert found == pytest.approx(learned.sample / 900, rel=0.01)
