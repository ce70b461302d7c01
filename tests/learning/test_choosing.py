"""Rows that choose among contenders make the error of what the chosen ones earn larger."""

import numpy as np
import pytest

from counterfold.learning.valuation import find_error_ratio, widen_for_choosing
from learning_logs import draw_log, make_contest

N_FOLDS = 5


def draw_differences(rng, means, n_rows=500):
    return rng.normal(size=(n_rows, len(means))) + np.asarray(means) / np.sqrt(n_rows)


def measure(differences, winner=None):
    rows = np.arange(len(differences))
    winner = int(differences.mean(axis=0).argmax()) if winner is None else winner
    return find_error_ratio(differences, units=rows, counts=None, fold=rows % N_FOLDS, winner=winner)


def value_by_loop(differences, fold):
    """Return the mean of what the other folds choose for each, in its standard errors."""
    total = variance = 0.0
    for number in range(N_FOLDS):
        others = differences[fold != number]
        own = differences[fold == number]
        bounds = [column.mean() - 1.96 * column.std(ddof=1) / len(column) ** 0.5 for column in others.T]
        chosen = bounds.index(max(bounds))
        total += own[:, chosen].sum()
        variance += len(own) * differences[:, chosen].var(ddof=1)
    return total / variance**0.5


def test_a_single_contender_is_not_chosen():
    differences = draw_differences(np.random.default_rng(0), [0.0])
    assert measure(differences) == 1


def test_contenders_that_do_the_same_leave_nothing_to_choose():
    differences = draw_differences(np.random.default_rng(0), [0.0])
    # Only the noise of the drawn quantile is left.
    assert measure(np.repeat(differences, 4, axis=1)) == pytest.approx(1, abs=0.03)


def test_a_clear_winner_leaves_nothing_to_choose():
    differences = draw_differences(np.random.default_rng(0), [9.0, 0.0, 0.0, 0.0])
    assert measure(differences) == pytest.approx(1, abs=0.03)
    assert measure(differences[:, 1:]) > 1.1


def test_the_error_grows_as_in_logs_that_a_loop_draws():
    rng = np.random.default_rng(1)
    differences = draw_differences(rng, [0.0] * 5)
    fold = np.arange(len(differences)) % N_FOLDS
    values = [value_by_loop(draw_differences(rng, [0.0] * 5), fold) for _ in range(3000)]
    # The standard error of this quantile is about 0.03.
    assert measure(differences) == pytest.approx(np.quantile(values, 0.975) / 1.96, abs=0.1)


def test_rows_of_one_unit_and_counts_are_as_rows_that_are_repeated():
    rng = np.random.default_rng(2)
    differences = draw_differences(rng, [0.0, 0.5, 1.0])
    rows = np.arange(len(differences))
    counts = rng.integers(1, 4, len(rows)).astype(float)
    repeated = np.repeat(rows, counts.astype(int))
    by_counts = find_error_ratio(differences, units=rows, counts=counts, fold=rows % N_FOLDS, winner=2)
    by_units = find_error_ratio(differences[repeated], units=repeated, counts=None, fold=repeated % N_FOLDS, winner=2)
    assert by_counts == pytest.approx(by_units, rel=1e-9)


@pytest.mark.statistical
def test_nothing_to_gain_is_rarely_found_whichever_of_several_is_chosen():
    rng = np.random.default_rng(3)
    n_logs = 1000
    plain = wide = 0
    for _ in range(n_logs):
        differences = draw_differences(rng, [0.0] * 6, n_rows=250)
        value = value_by_loop(differences, np.arange(len(differences)) % N_FOLDS)
        plain += value > 1.96
        if value > 1.96:  # otherwise no factor matters
            wide += value > 1.96 * measure(differences)
    assert plain > 0.06 * n_logs
    assert wide <= 0.0425 * n_logs  # 2.5 % and three and a half standard errors


def test_the_difference_to_the_log_has_the_larger_error():
    log = draw_log(rows=400)
    plain = make_contest(log, []).evaluate({"one": np.tile([0.2, 0.6, 0.2], (400, 1))})["one"]
    wide = widen_for_choosing(plain, 1.3)
    assert wide.value == plain.value
    assert wide.uplift().stderr == pytest.approx(1.3 * plain.uplift().stderr)
    assert wide.uplift().interval().low < plain.uplift().interval().low
    assert widen_for_choosing(plain, 1.0).uplift().interval() == plain.uplift().interval()
