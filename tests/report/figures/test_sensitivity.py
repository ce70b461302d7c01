"""Sensitivity: the marginal sensitivity model of odds, against all choices and linear programs, on every engine."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from scipy.optimize import linprog

import counterfold as cf
from counterfold.base.arrays import Floats
from counterfold.report.figures import sensitivity
from exhibited import FOUND, LABELS, LOG, ROWS, TARGET, draw_log
from problems import dose_log
from reference import random_doses
from reference.exhibits import bound_snips, bound_snips_of_doses


@dataclass
class FewRows:
    """What is looked at of rows."""

    masses: Floats
    rewards: Floats
    propensity: Floats
    kind: str = "labels"

    def __len__(self):
        return len(self.masses)


def draw_rows(count, seed):
    """Return the target's probabilities of logged actions, and rows with them, one of which took the only action."""
    rng = np.random.default_rng(seed)
    wanted, propensity = rng.uniform(0, 1, count), rng.uniform(0.02, 0.98, count)
    return wanted, FewRows(wanted / propensity, rng.normal(size=count), propensity)


def solve(rows, factor, sign):
    """Return the largest or least normalised mean by a linear program (Charnes and Cooper): weights that sum to 1."""
    count, odds = len(rows.masses), 1 / rows.propensity - 1
    ends = [rows.masses * rows.propensity * (1 + odds * times) for times in (1 / factor, factor)]
    scale = np.vstack([np.column_stack([-np.eye(count), ends[0]]), np.column_stack([np.eye(count), -ends[1]])])
    every = np.append(np.ones(count), 0.0)[None, :]
    found = linprog(-sign * np.append(rows.rewards, 0.0), scale, np.zeros(2 * count), every, [1.0])
    return -sign * found.fun


def test_against_all_choices_of_odds():
    log, target = draw_log(12, seed=3)
    wanted = target[np.arange(12), log.action]
    least, most = sensitivity.bound_values(FewRows(wanted / log.propensity, log.reward, log.propensity))
    for factor, low, high in zip(sensitivity.FACTORS[::4], least[::4], most[::4], strict=True):
        expected = bound_snips(wanted.tolist(), log.propensity.tolist(), log.reward.tolist(), factor)
        assert (low, high) == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(5))
def test_against_linear_programs(seed):
    _, rows = draw_rows(30, seed)
    least, most = sensitivity.bound_values(rows)
    for place in (0, 5, 16):
        factor = sensitivity.FACTORS[place]
        assert (least[place], most[place]) == pytest.approx((solve(rows, factor, -1), solve(rows, factor, 1)))


def test_what_was_bound_to_happen_has_no_doubt():
    rng = np.random.default_rng(0)
    sure = FewRows(rng.uniform(size=20), rng.normal(size=20), np.ones(20))
    least, most = sensitivity.bound_values(sure)
    assert least == pytest.approx(most)


def test_doses_have_densities_and_no_odds():
    weights, rewards = np.random.default_rng(1).uniform(size=(2, 10))
    least, most = sensitivity.bound_values(FewRows(weights, rewards, np.full(10, 2.0), "doses"))
    for factor, low, high in zip(sensitivity.FACTORS[::4], least[::4], most[::4], strict=True):
        assert (low, high) == pytest.approx(bound_snips_of_doses(weights.tolist(), rewards.tolist(), factor))
    data = random_doses(10, rows=300)
    result = cf.evaluate(dose_log(data), data.target)
    assert result.exhibits["sensitivity"].facts["of"] == result.robustness.factor_of == "densities"


def test_the_interval_is_moved_outwards_by_what_snips_may_be_off():
    shown, ends = FOUND.exhibits["sensitivity"], FOUND.uplift().interval()
    assert (shown.lines[0]["low"], shown.lines[0]["high"]) == pytest.approx(tuple(ends))
    wanted = TARGET[np.arange(ROWS), LOG.action]
    least, most = sensitivity.bound_values(FewRows(wanted / LOG.propensity, LOG.reward, LOG.propensity))
    assert [line["low"] for line in shown.lines] == pytest.approx(ends.low - (least[0] - least))
    assert [line["high"] for line in shown.lines] == pytest.approx(ends.high + (most - most[0]))
    assert shown.facts["factor"] > 1
    assert FOUND.robustness.factor_of == "odds"


def test_the_factor_is_where_the_band_ends_at_0():
    shown = FOUND.exhibits["sensitivity"]
    factors, lows = zip(*((line["factor"], line["low"]) for line in shown.lines), strict=True)
    assert np.interp(shown.facts["factor"], factors, lows) == pytest.approx(0, abs=1e-12)
    worse = cf.evaluate(LOG, np.tile([1.0, 0.0, 0.0, 0.0], (ROWS, 1))).exhibits["sensitivity"]
    factors, highs = zip(*((line["factor"], line["high"]) for line in worse.lines), strict=True)
    assert worse.lines[0]["high"] < 0
    assert np.interp(worse.facts["factor"], factors, highs) == pytest.approx(0, abs=1e-12)


def test_engines_move_the_interval_alike(tmp_path):
    columns = {"action": np.array(LABELS)[LOG.action], "reward": LOG.reward, "propensity": LOG.propensity}
    columns |= {"new": TARGET[np.arange(ROWS), LOG.action]}
    pa.parquet.write_table(pa.table(columns), tmp_path / "log.parquet", row_group_size=170)
    moved = []
    for engine in ("memory", "local"):
        lines = cf.evaluate(tmp_path / "log.parquet", "new", engine=engine).exhibits["sensitivity"].lines
        moved.append([[line[end] - lines[0][end] for line in lines] for end in ("low", "high")])
    assert moved[0][0] == pytest.approx(moved[1][0])
    assert moved[0][1] == pytest.approx(moved[1][1])
