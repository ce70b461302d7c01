"""Decisions that were made for all rows of a value: found, never invented, and allowed for by all other tests."""

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

import counterfold as cf
from counterfold.log.assignment import balance_log
from counterfold.log.assignment.sharing import BUCKETS
from reference.models import fold_of

ROWS = 2000
MODES = ("all probabilities", "propensities alone")


def make_log(seed, *, mode, is_shared, clusters=80, wrong=0.0):
    """Return a log whose actions were drawn for each row, or once for each village."""
    rng = np.random.default_rng(seed)
    village = rng.integers(clusters, size=ROWS)
    likely = np.array([0.3, 0.1, 0.6])
    luck = rng.random(clusters)[village] if is_shared else rng.random(ROWS)
    shift = wrong * np.where(village % 2 == 0, 1.0, -1.0)
    action = (np.cumsum(likely)[None, :] > (luck + shift).clip(0, 1 - 1e-9)[:, None]).argmax(axis=1)
    columns = {"x": rng.normal(size=ROWS), "wealth": rng.normal(size=clusters)[village], "village": village}
    columns |= {"action": action, "reward": rng.normal(size=ROWS)}
    if mode == MODES[0]:
        columns |= {f"logging_probs_{place}": np.full(ROWS, one) for place, one in enumerate(likely)}
    else:
        columns["propensity"] = likely[action]
    return columns


def read(columns):
    return cf.read_log(pa.table(columns))


def measure_naively(residuals, values):
    """Return the design effect of residuals by buckets of values, and its p-value."""
    squares = []
    together = 0.0
    for bucket in sorted(set(values)):
        own = [one for one, value in zip(residuals, values, strict=True) if value == bucket]
        squares.append(sum(one * one for one in own))
        together += sum(own) ** 2
    freedom = sum(squares) ** 2 / sum(one * one for one in squares)
    size = together / sum(squares)
    return size, stats.chi2.sf(freedom * size, freedom)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("is_shared", [True, False])
def test_against_naive_loop(mode, is_shared):
    columns = make_log(0, mode=mode, is_shared=is_shared)
    columns["village"] = [f"v{one}" for one in columns["village"]]
    found = balance_log(read(columns)).sharing["village"]
    residuals = [(1 if action == 2 else 0) - 0.6 for action in columns["action"]]
    if mode == MODES[1]:
        residuals = [(1 if action == 2 else 0) / 0.6 - 1 for action in columns["action"]]
    hashes = read(columns).identifiers["village"]
    size, p = measure_naively(residuals, [int(one) % BUCKETS for one in hashes])
    assert found.size == pytest.approx(size, rel=1e-9)
    assert found.p == pytest.approx(p, rel=1e-6, abs=1e-300)


@pytest.mark.parametrize("mode", MODES)
def test_whole_villages_are_found_and_no_column_is_blamed(mode):
    for seed in range(10):
        balance = balance_log(read(make_log(seed, mode=mode, is_shared=True)))
        sharing = balance.sharing["village"]
        assert sharing.is_whole
        assert sharing.correlation == pytest.approx(1, abs=0.3)
        assert sharing.size == pytest.approx(ROWS / 80, rel=0.4)
        assert balance.design_effect == sharing.size
        assert not balance.leave_out()
        assert not balance.find_dependent(0.001)


@pytest.mark.parametrize("mode", MODES)
def test_rows_with_a_decision_each_are_independent(mode):
    p = []
    for seed in range(200):
        balance = balance_log(read(make_log(seed, mode=mode, is_shared=False)))
        assert balance.design_effect == 1
        p.append(balance.sharing["village"].p)
    assert stats.binomtest(sum(one < 0.05 for one in p), len(p), 0.05, alternative="greater").pvalue > 0.01


@pytest.mark.parametrize("mode", MODES)
def test_wrong_propensities_of_villages_are_still_blamed(mode):
    columns = make_log(1, mode=mode, is_shared=False, wrong=0.15)
    columns["is_even"] = (columns["village"] % 2 == 0).astype(float)
    balance = balance_log(read(columns))
    assert balance.sharing["village"].p < 1e-6
    assert not balance.sharing["village"].is_whole
    assert balance.design_effect == 1
    assert "is_even" in balance.find_dependent(0.001)


def test_named_groups_are_left_to_groups():
    columns = make_log(2, mode=MODES[0], is_shared=True)
    assert not balance_log(cf.read_log(pa.table(columns), group="village")).sharing


def test_numbers_keep_the_hash_of_their_value_and_a_bin_of_neighbours():
    columns = make_log(3, mode=MODES[0], is_shared=False)
    codes = read(columns).identifiers["village"]
    known = dict(zip(columns["village"].tolist(), codes.tolist(), strict=True))
    assert len(set(known.values())) == 80
    bins = [known[one] // 32 % 32 for one in range(80)]
    assert bins == sorted(bins)
    assert len(set(bins)) == 32
    assert fold_of(7, BUCKETS) % 32 == known[7] % 32


@pytest.mark.statistical
@pytest.mark.parametrize("mode", ["propensities", "all probabilities"])
def test_schools_that_were_assigned_together_are_no_wrong_propensities(mode):
    """One action in ten for each of 300 schools, whose rows share their context: nothing is wrong with these logs."""
    alarmed = 0
    for seed in range(25):
        rng = np.random.default_rng(seed)
        school = rng.integers(300, size=3000)
        action = rng.integers(10, size=300)[school]
        columns = {
            "school": school + 5000,
            "size": rng.normal(size=300)[school],
            "urban": rng.integers(2, size=300)[school],
            "action": action,
            "reward": rng.normal(size=3000),
        }
        if mode == "propensities":
            columns["propensity"] = np.full(3000, 0.1)
        else:
            columns |= {f"logging_probs_{place}": np.full(3000, 0.1) for place in range(10)}
        found = cf.check(pa.table(columns), "uniform", context=["size", "urban"], reward="reward")
        alarmed += bool({"outcome-context", "propensities"} & {one.name for one in found.findings})
    assert alarmed <= 1  # at most 0.5 % of such logs are: 2 of 25 have a probability of 0.7 %
