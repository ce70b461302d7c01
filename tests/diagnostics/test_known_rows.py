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
    later = cf.evaluate(draw_log(600, 3, few), policy, **COLUMNS).diagnostics
    assert later.learnt_share is None
    assert "known-rows" not in {one.name for one in later.findings}


def test_a_policy_that_does_as_the_log_did_saw_no_reward():
    rng = np.random.default_rng(0)
    log = draw_log(300, 4).assign(click=rng.integers(2, size=300))
    learned = cf.learn(log, "greedy-learner", **COLUMNS)
    assert not learned.beats_log
    assert find_share(log, learned.policy) is None
    assert find_share(log, learned.attempted) == 1


def test_the_share_against_a_naive_loop():
    mixed = pd.concat([LOG.iloc[:400], draw_log(30, 7, LOG[["x", "y"]].to_numpy()), draw_log(300, 8)])
    known = {(row.x, row.y): (row.item, row.click) for row in LOG.itertuples()}
    remembered = [row for row in mixed.itertuples() if (row.x, row.y) in known]
    same = sum(known[row.x, row.y] == (row.item, row.click) for row in remembered) / len(remembered)
    clicks = sum(row.click for row in LOG.itertuples()) / len(LOG)
    chance = (1 + clicks**2 + (1 - clicks) ** 2) / 2
    expected = (same - chance) / (1 - chance) * len(remembered) / len(mixed)
    assert len(known) == len(LOG)
    assert 0.3 < expected < 0.6
    assert find_share(mixed, POLICY) == pytest.approx(expected, rel=1e-9)


def test_the_same_decisions_with_other_rewards_are_a_caution():
    result = cf.evaluate(LOG.assign(click=np.arange(900) / 7), POLICY, **COLUMNS)
    finding = next(one for one in result.diagnostics.findings if one.name == "known-rows")
    assert (finding.severity, result.diagnostics.learnt_share) == ("caution", 0)
    assert "these very decisions" in finding.problem


@pytest.mark.parametrize("changed", [1, 5])
def test_a_log_of_few_contexts_is_known_by_its_sums_if_rows_were_added_or_lost(changed):
    grid = np.random.default_rng(0).integers(40, size=(400, 2)).astype(float)
    log = draw_log(1200, 2, np.repeat(grid, 2, axis=0))
    policy = learn(log)
    assert find_share(pd.concat([log, draw_log(changed, 9)]), policy) == 1
    assert find_share(log.iloc[changed:], policy) == 1


def test_users_who_come_back_and_are_treated_as_before_are_not_taken_for_known_rows():
    again = draw_log(900, 3, LOG[["x", "y"]].to_numpy())
    treated = LOG.set_index(["x", "y"])["item"].loc[list(zip(again["x"], again["y"], strict=True))].to_numpy()
    chance = 0.2 + 0.3 * (treated == np.where(again["x"] > 0, "b", "a"))
    click = (np.random.default_rng(1).random(900) < chance).astype(int)
    assert find_share(again.assign(item=treated, click=click), POLICY) == 0


def test_copies_of_rows_are_remembered_as_one():
    twice = pd.concat([LOG, LOG.iloc[:300]])
    assert find_share(pd.concat([LOG.iloc[:450], draw_log(450, 12)]), learn(twice)) == pytest.approx(0.5, rel=1e-9)


def test_numbers_that_a_tool_rounded_to_float32_are_the_same():
    narrow = LOG.astype({"x": "float32", "y": "float32"})
    assert find_share(narrow.iloc[::2], POLICY) == 1


def test_a_policy_learnt_from_part_of_a_large_log_is_not_valued_by_that_part(tmp_path):
    pa.parquet.write_table(pa.Table.from_pandas(LOG), tmp_path / "log.parquet")
    learned = cf.learn(tmp_path / "log.parquet", "greedy-learner", engine="local", **COLUMNS)
    assert "known-rows" not in {one.name for one in learned.evaluation.diagnostics.findings}
    found = find_share(tmp_path / "log.parquet", learned.attempted)
    assert found == pytest.approx(learned.sample / 900, rel=0.01)
