"""SLOPE: against a naive loop, and along an order that is given."""

import math
from dataclasses import dataclass

import numpy as np
import pytest

import counterfold as cf
import reference
from problems import rows_of

POOL = cf.Pool(threads=1)


def chosen(selector, rows, candidates):
    return selector.select(rows, candidates, np.random.default_rng(0), POOL).chosen


@pytest.mark.parametrize("order", ["variance", "given"])
@pytest.mark.parametrize("width", [0.05, 0.5, 2.0])
@pytest.mark.parametrize(
    "kind", [cf.TruncatedIPS, cf.SwitchDR, cf.DRos, cf.IPSLambda, cf.GroupIPS], ids=lambda k: k.__name__
)
def test_against_naive_loop(order, width, kind):
    for seed in range(5):
        rows = rows_of(reference.random_data(seed, rows=150))
        candidates = list(kind.candidates(rows))
        contributions = [candidate.contributions(rows) for candidate in candidates]
        values = [sum(c) / 150 for c in contributions]
        errors = [
            math.sqrt(sum((x - v) ** 2 for x in c) / 149 / 150) for c, v in zip(contributions, values, strict=True)
        ]
        by_error = sorted(range(len(candidates)), key=lambda place: -errors[place])
        along = by_error if order == "variance" else list(range(len(candidates)))
        expected = reference.slope(values, errors, along, width)
        assert chosen(cf.SLOPE(order=order, width=width), rows, candidates) == expected


def test_a_wide_interval_reaches_the_last_and_a_narrow_one_only_the_first():
    rows = rows_of(reference.random_data(0, rows=150, binary=True))
    order = [cf.IPS(), cf.DR(), cf.DM()]
    assert chosen(cf.SLOPE(order="given", width=100.0), rows, order) == 2
    assert chosen(cf.SLOPE(order="given", width=1e-6), rows, order) == 0


def test_scores_count_the_steps_and_the_lowest_is_chosen():
    rows = rows_of(reference.random_data(1, rows=150))
    scores = cf.SLOPE(order="given").scores(
        rows, list(cf.TruncatedIPS.candidates(rows)), np.random.default_rng(0), POOL
    )
    assert sorted(scores)[:2] == [0.0, 1.0]
    assert len(set(scores[scores > 0])) > 1


def test_intervals_that_touch_do_not_contradict_and_scores_after_the_stop_count_from_the_start():
    rows = cf.example_rows(cf.Given(np.zeros((4, 2))))
    values = {"a": [0.0, 2.0, 0.0, 2.0], "b": [3.0, 3.0, 3.0, 3.0], "c": [9.0, 9.0, 9.0, 9.0]}
    touching = 2 / cf.Estimate("a", np.array(values["a"])).stderr
    candidates = [Fixed(tuple(contributions)) for contributions in values.values()]
    scores = cf.SLOPE(order="given", width=touching).scores(rows, candidates, np.random.default_rng(0), POOL)
    assert scores.tolist() == [1.0, 0.0, 2.0]
    scores = cf.SLOPE(order="given", width=0.99 * touching).scores(rows, candidates, np.random.default_rng(0), POOL)
    assert scores.tolist() == [0.0, 1.0, 2.0]


def test_an_error_that_grows_along_the_given_order_counts_for_those_before_it():
    rows = cf.example_rows(cf.Given(np.zeros((4, 2))))
    values = [(1.0, 1.1, 1.0, 1.1), (2.0, 2.1, 2.0, 2.1), (0.0, 4.0, 0.0, 4.0), (9.0, 9.0, 9.0, 9.0)]
    candidates = [Fixed(contributions) for contributions in values]
    assert chosen(cf.SLOPE(order="given"), rows, candidates) == 2
    assert chosen(cf.SLOPE(order="given"), rows, candidates[:2]) == 0


@dataclass(frozen=True)
class Fixed(cf.Estimator):
    fixed: tuple

    def contributions(self, rows):
        del rows
        return np.array(self.fixed)

    @property
    def name(self):
        return "fixed"


def test_bad_parameters_are_refused():
    for bad in ({"order": "random"}, {"width": 0.0}):
        with pytest.raises(cf.ParameterError, match=r"`(order|width)` must be .*, got "):
            cf.SLOPE(**bad)
