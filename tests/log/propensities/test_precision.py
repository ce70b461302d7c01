"""Probabilities that are counted in draws of the policy, or rounded."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import counterfold as cf
from counterfold.log.propensities import as_precision

ROWS, ACTIONS = 1500, 4


def draw(seed=0, rows=ROWS):
    """Return the columns of a log with exact probabilities, and a target that is worth the mean of its actions."""
    rng = np.random.default_rng(seed)
    probs = rng.dirichlet(np.arange(1.0, ACTIONS + 1), size=rows)
    action = (probs.cumsum(axis=1) > rng.random((rows, 1))).argmax(axis=1)
    columns = {"context": probs[:, :2], "action": action, "reward": rng.normal(action, 1.0), "logging_probs": probs}
    return columns, np.tile([0.4, 0.3, 0.2, 0.1], (rows, 1))


def count(probs, draws, seed=0):
    """Return the share of each action among some draws."""
    return np.random.default_rng([seed, draws]).multinomial(draws, probs) / draws


def test_inverse_propensities_of_counted_ones_are_right_on_average():
    """Over all counts of a binomial distribution, by a naive loop."""
    from scipy.stats import binom

    for number, p in ((20, 0.3), (100, 0.05), (1000, 0.01)):
        precision = as_precision(f"{number} draws")
        mean = 0.0
        for taken in range(number + 1):
            mean += binom.pmf(taken, number, p) / precision.correct(np.array([taken / number]))[0]
        assert mean * p == pytest.approx(1 - (1 - p) ** (number + 1))
        assert 1 - mean * p == pytest.approx(precision.find_errors(np.array([p]))[0], abs=1e-12)


def test_answers_are_less_biased_than_with_shares_as_they_are():
    """The mean error of IPS over 60 logs, in its standard errors: 8 where shares are taken as they are."""
    apart = {"30 draws": [], None: []}
    for seed in range(60):
        columns, target = draw(seed)
        shares = count(columns["logging_probs"], 30, seed)
        there = shares[np.arange(ROWS), columns["action"]] > 0
        for precision, errors in apart.items():
            some = slice(None) if precision else there
            every = {**columns, "logging_probs": shares}
            log = cf.Log(**{name: one[some] for name, one in every.items()}, propensity_precision=precision)
            errors.append(cf.estimate(log, target[some], cf.IPS()).value - 1.0)
    z = {precision: np.mean(errors) / np.std(errors) * np.sqrt(60) for precision, errors in apart.items()}
    assert abs(z["30 draws"]) < 3
    assert z[None] > 6


@pytest.mark.slow
def test_intervals_hold():
    """Of 300 logs with 50 draws; a coverage of 95 % would fail with a chance of 0.1 %."""
    held = 0
    for seed in range(300):
        columns, target = draw(1000 + seed)
        shares = count(columns["logging_probs"], 50, seed)
        log = cf.Log(**{**columns, "logging_probs": shares}, propensity_precision="50 draws")
        low, high = cf.evaluate(log, target).interval
        held += low <= 1.0 <= high
    assert held >= 272


def test_nothing_is_suspected_of_noise():
    alarms = 0
    for seed in range(20):
        columns, target = draw(50 + seed)
        shares = count(columns["logging_probs"], 100, seed)
        found = cf.check(cf.Log(**{**columns, "logging_probs": shares}, propensity_precision="100 draws"), target)
        alarms += any(one.name in {"propensities", "missing-support", "mean-weight"} for one in found.findings)
    assert alarms <= 1


def test_swapped_columns_are_found_all_the_same():
    columns, target = draw(rows=6000)
    shares = np.roll(count(columns["logging_probs"], 100), 1, axis=1)
    found = cf.check(cf.Log(**{**columns, "logging_probs": shares}, propensity_precision="100 draws"), target)
    assert "propensities" in {one.name for one in found.findings}


@pytest.mark.parametrize(("precision", "digits"), [("2 digits", 2), ("3 digits", 3), ("1 digit", 1)])
def test_rounded_probabilities(precision, digits):
    columns, target = draw()
    rounded = np.round(columns["logging_probs"], digits)
    if digits < 3:
        with pytest.raises(cf.DataError, match="propensity_precision=" if digits == 2 else "sum to 1"):
            cf.Log(**{**columns, "logging_probs": rounded})
    log = cf.Log(**{**columns, "logging_probs": rounded}, propensity_precision=precision)
    np.testing.assert_allclose(log.logging_probs.sum(axis=1), 1.0)
    found = cf.evaluate(log, target)
    assert found.interval.low < 1.0 < found.interval.high
    assert (found.diagnostics.rough_share > 0.02) == (digits < 3)


def test_half_precision():
    columns, target = draw()
    log = cf.Log(**{**columns, "logging_probs": columns["logging_probs"].astype("f2")}, propensity_precision="float16")
    exact = cf.evaluate(cf.Log(**columns), target, "snips")  # rows with other propensities fall into other folds
    assert cf.evaluate(log, target, "snips").value == pytest.approx(exact.value, rel=1e-3)


def test_what_may_be_off_against_a_naive_loop():
    columns, target = draw(rows=300)
    shares = count(columns["logging_probs"], 10)
    log = cf.Log(**{**columns, "logging_probs": shares}, propensity_precision="10 draws")
    above = below = undrawn = 0.0
    for row, action in enumerate(columns["action"]):
        p = (10 * shares[row][action] + 1) / 11
        above += target[row][action] / p * (1 - p) ** 11
        below += target[row][action] / p
        undrawn += sum(wanted for share, wanted in zip(shares[row], target[row], strict=True) if share == 0)
    found = cf.check(log, target)
    assert found.rough_share == pytest.approx(above / below)
    assert found.undrawn_mass == pytest.approx(undrawn / 300)
    assert {one.severity for one in found.findings if one.name == "rough-propensities"} == {"caution"}


@pytest.mark.parametrize("alone", [False, True])
def test_engines_agree(alone, tmp_path):
    columns, target = draw()
    shares = count(columns["logging_probs"], 40)
    table = {"x": columns["context"][:, 0], "action": columns["action"], "reward": columns["reward"]}
    if alone:
        table["propensity"], table["target"] = shares[np.arange(ROWS), columns["action"]], target[np.arange(ROWS), 1]
    else:
        table |= {"logging_probs": shares.tolist(), "target": target.tolist()}
    pa.parquet.write_table(pa.table(table), tmp_path / "log.parquet", row_group_size=300)
    asked = {"propensity_precision": "40 draws", "progress": False}
    memory, local = (
        cf.evaluate(tmp_path / "log.parquet", cf.Probabilities("target") if alone else "target", engine=engine, **asked)
        for engine in ("memory", "local")
    )
    assert local.value == pytest.approx(memory.value)
    assert local.diagnostics.rough_share == pytest.approx(memory.diagnostics.rough_share)
    assert local.verdict == memory.verdict


@pytest.mark.parametrize("bad", ["1000", "0 draws", "many draws", "3.5 digits", "16 digits", 3, "", "float32"])
def test_other_texts_are_refused(bad):
    columns, _ = draw()
    with pytest.raises(cf.ParameterError, match="must be like '1000 draws', '3 digits' or 'float16', got"):
        cf.Log(**columns, propensity_precision=bad)


def test_where_it_makes_no_sense_it_is_refused():
    columns, _ = draw()
    del columns["logging_probs"]
    with pytest.raises(cf.ParameterError, match="got it with fitted ones"):
        cf.Log(**columns, propensity="fit", propensity_precision="10 draws")
    with pytest.raises(cf.ParameterError, match="got it with `dose`"):
        cf.Log(dose=[1.0, 2.0], reward=[1.0, 2.0], propensity=[1.0, 1.0], propensity_precision="10 draws")


def test_a_propensity_of_zero_points_here():
    columns, _ = draw()
    shares = count(columns["logging_probs"], 3)
    with pytest.raises(cf.DataError, match="propensity_precision='1000 draws'"):
        cf.Log(**{**columns, "logging_probs": shares})
    own = shares[np.arange(ROWS), columns.pop("action")]
    with pytest.raises(cf.DataError, match="propensity_precision='1000 draws'"):
        cf.Log(action=draw()[0]["action"], reward=columns["reward"], propensity=own)


def test_both_must_agree_within_a_step():
    columns, _ = draw()
    exact, rounded = columns["logging_probs"], np.round(columns["logging_probs"], 2)
    own = exact[np.arange(ROWS), columns["action"]]
    log = cf.Log(**{**columns, "logging_probs": rounded}, propensity=own, propensity_precision="2 digits")
    assert len(log) == ROWS
    with pytest.raises(cf.DataError, match="the logged action's entry"):
        cf.Log(**{**columns, "logging_probs": rounded}, propensity=own / 2, propensity_precision="2 digits")
