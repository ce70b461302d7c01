"""A policy on rows that it was learnt from: seen on every engine, whole or in part, and never where rows are new."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import counterfold as cf
from counterfold.policies.training_rows import SAME

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
GRID = np.array([[x, y] for x in range(8) for y in range(8)], dtype=float)
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
    assert find_share(every, POLICY) == pytest.approx(share, abs=0.06)


def test_some_of_the_rows_are_seen():
    result = cf.evaluate(LOG.iloc[::3], POLICY, **COLUMNS)
    assert result.verdict == "not answerable"
    assert result.diagnostics.learnt_share == pytest.approx(1, abs=0.1)


def test_a_part_of_a_large_log_that_was_remembered_by_few_contexts():
    log = draw_log(12_000, 5)
    every = pd.concat([log.iloc[:3000], draw_log(9000, 6)])
    assert find_share(every, learn(log)) == pytest.approx(0.25, abs=0.02)


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
    log = draw_log(12_000, 5)
    mixed = pd.concat([log.iloc[:5000], draw_log(500, 7, log[["x", "y"]].to_numpy()), draw_log(3000, 8)])
    known = {(row.x, row.y): (row.item, row.click) for row in log.itertuples()}
    remembered = [row for row in mixed.itertuples() if (row.x, row.y) in known]
    same = sum(known[row.x, row.y] == (row.item, row.click) for row in remembered) / len(remembered)
    clicks = sum(row.click for row in log.itertuples()) / len(log)
    chance = (1 + clicks**2 + (1 - clicks) ** 2) / 2
    expected = (same - chance) / (1 - chance) * len(remembered) / len(mixed)
    assert len(known) == len(log)
    assert 0.4 < expected < 0.6
    assert find_share(mixed, learn(log)) == pytest.approx(expected, abs=0.08)


@pytest.mark.parametrize("contexts", [None, GRID], ids=["many", "few"])
def test_the_same_decisions_with_other_rewards_are_a_caution(contexts):
    log = draw_log(1280, 2, contexts)
    result = cf.evaluate(log.assign(click=np.arange(1280) / 7), learn(log), **COLUMNS)
    finding = next(one for one in result.diagnostics.findings if one.name == "known-rows")
    assert (finding.severity, result.diagnostics.learnt_share) == ("caution", 1)
    assert "if not their rewards" in finding.problem


def test_new_decisions_in_the_same_few_contexts_are_not_taken_for_the_same_ones():
    policy = learn(draw_log(1280, 2, GRID))
    for seed in range(5):
        assert find_share(draw_log(1280, 3 + seed, GRID), policy) is None


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
    assert find_share(pd.concat([LOG.iloc[:450], draw_log(450, 12)]), learn(twice)) == pytest.approx(0.5, abs=0.06)


def test_numbers_that_a_tool_rounded_to_float32_are_the_same():
    narrow = LOG.astype({"x": "float32", "y": "float32"})
    assert find_share(narrow.iloc[::2], POLICY) == pytest.approx(1, abs=0.1)


def test_whole_numbers_such_as_times_are_not_rounded():
    days = np.random.default_rng(0).choice(100_000, 900, replace=False)
    log = draw_log(900, 5).assign(x=1_700_000_000 + days, y=0, device="phone")
    named = {"context": ["x"], "ignore": ["y", "device"], **COLUMNS}
    policy = cf.learn(log, "greedy-learner", shares=1, **named).attempted
    result = cf.evaluate(log.iloc[::2], policy, **named)
    assert result.diagnostics.learnt_share == pytest.approx(1, abs=0.1)


def draw_rare_log(rows, seed):
    """Return a log in which one decision in 200 is rewarded."""
    return draw_log(rows, seed).assign(click=(np.random.default_rng(seed).random(rows) < 0.005).astype(int))


def test_rows_with_rare_rewards_are_a_caution_as_they_may_be_those_of_users_who_came_back():
    log = draw_rare_log(8000, 0)
    policy = learn(log)
    for some in (log.iloc[::2], pd.concat([log, draw_rare_log(8000, 1)])):
        result = cf.evaluate(some, policy, **COLUMNS)
        finding = next(one for one in result.diagnostics.findings if one.name == "known-rows")
        assert finding.severity == "caution"
        assert "are like those" in finding.problem
        assert result.diagnostics.learnt_share == pytest.approx(1 if len(some) < 8000 else 0.5, abs=0.05)
    assert find_share(draw_rare_log(8000, 2), policy) == 0


def test_users_who_come_back_with_the_rewards_that_are_usual_for_them_are_a_caution_at_most():
    users = np.random.default_rng(0).normal(size=(3000, 2)).round(6)
    likes = np.random.default_rng(1).random(3000) < 0.5

    def draw_month(seed):
        rng = np.random.default_rng(seed)
        click = (rng.random(3000) < np.where(likes, 0.97, 0.03)).astype(int)
        item = np.array(["a", "b", "c"])[np.arange(3000) % 3]
        return pd.DataFrame({"x": users[:, 0], "y": users[:, 1], "item": item}).assign(click=click, p=1 / 3)

    result = cf.evaluate(draw_month(3), learn(draw_month(2)), **COLUMNS)
    finding = next(one for one in result.diagnostics.findings if one.name == "known-rows")
    assert finding.severity == "caution"
    assert "unless these rows came later" in finding.remedy


def test_where_few_rows_have_a_context_of_their_own_nothing_is_said_of_parts():
    grid = np.random.default_rng(0).integers(40, size=(800, 2)).astype(float)
    log = draw_log(3000, 2, grid)
    policy = learn(log)
    assert policy.learnt_rows.marked >= 10
    assert find_share(log.sample(1000, random_state=0), policy) is None
    assert find_share(draw_log(3000, 3, grid), policy) is None
    assert find_share(log, policy) == 1


def test_every_learnt_part_of_a_mixture_is_looked_at_unless_it_is_never_taken():
    other = learn(draw_log(900, 30))
    for parts in ([(0.1, other), (0.9, POLICY)], [(0.9, POLICY), (0.1, other)]):
        assert find_share(LOG, cf.Mixture(parts)) == 1
    assert find_share(LOG, cf.Mixture([(0.0, POLICY), (1.0, other)])) == 0


def test_nobody_can_be_sure_from_a_policy_that_a_row_was_learnt_from():
    others = draw_log(50_000, 40)
    known = POLICY.learnt_rows
    hashes = POLICY.features.encode(others[["x", "y", "device"]])
    kinds = known.recognise(hashes, cf.Log(action=others["item"], reward=others["click"], propensity=others["p"]))[:, 2]
    assert (kinds == SAME).mean() > 0.1
    assert known.row_sums.dtype == known.decision_sums.dtype == np.uint16
    assert len(LOG) / len(known.row_sums) >= 14


@pytest.mark.parametrize(
    "change",
    [
        {"limit": "x"},
        {"contexts": np.zeros((2, 2), dtype=bool)},
        {"rows": np.zeros(0, dtype=bool)},
        {"rows": np.zeros(3)},
        {"rows": np.ones(3, dtype=bool)},
        {"row_sums": np.zeros(3, dtype=np.uint16)},
        {"markable_share": 0.0},
        {"markable_share": float("nan")},
        {"markable_share": -1.0},
        {"agreement": "q"},
        {"row_count": 0},
        {"marked": None},
    ],
)
def test_what_a_damaged_file_remembers_is_refused_with_a_sentence(change, tmp_path):
    pytest.importorskip("skops")
    replace(POLICY, learnt_rows=replace(POLICY.learnt_rows, **change)).save(tmp_path / "policy.skops")
    with pytest.raises(cf.DataError, match=r"ValueError: the policy is damaged: learnt_rows\.$"):
        cf.evaluate(LOG, f"skops:{tmp_path / 'policy.skops'}", **COLUMNS)


def test_a_policy_learnt_from_part_of_a_large_log_is_not_valued_by_that_part(tmp_path):
    pa.parquet.write_table(pa.Table.from_pandas(LOG), tmp_path / "log.parquet")
    learned = cf.learn(tmp_path / "log.parquet", "greedy-learner", engine="local", **COLUMNS)
    assert learned.evaluation.contents.rewards.count == 900 - learned.sample
    found = find_share(tmp_path / "log.parquet", learned.attempted)
    assert found == pytest.approx(learned.sample / 900, abs=0.06)
