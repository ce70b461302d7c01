"""Ladder: against naive loops, and what ties its shares together."""

import math
from dataclasses import replace

import numpy as np
import pytest

import counterfold as cf
import reference
from counterfold.base import registry
from counterfold.estimators._ratio import share_grid
from counterfold.estimators.sums import Sums, sum_buckets
from counterfold.log.partition import Consecutive
from counterfold.selectors.ladder import DIFFERENCE, VALUE
from problems import log_of, rows_of

POOL = cf.Pool(threads=1)
LEARNT = VALUE._replace(fixed=0.0)
NAMES = {reference.truncated_snips: cf.TruncatedSNIPS, reference.truncated_sndr: cf.TruncatedSNDR}


def close(left, right):
    np.testing.assert_allclose(left, right, rtol=1e-9, atol=1e-9)


def rng():
    return np.random.default_rng(0)


def default(rows):
    kinds = (cf.TruncatedSNIPS, cf.TruncatedSNDR)
    return [
        cf.IPS(),
        cf.SNIPS(),
        cf.DM(),
        cf.DR(),
        cf.SNDR(),
        *(one for kind in kinds for one in kind.candidates(rows)),
    ]


def shares_of(result):
    return np.array([line.share for line in result.table])


# against naive loops


@pytest.mark.parametrize("seed", range(5))
def test_caps_leave_their_shares_of_all_weight(seed):
    weights = reference.random_data(seed).weights()
    caps = share_grid(np.array(weights))
    close(caps, reference.share_caps(weights))
    close([sum(min(w, cap) for w in weights) / sum(weights) for cap in caps], [0.1, 0.3, 0.6, 0.9])


def test_equal_weights_need_caps_below_them_and_no_weight_none():
    close(share_grid(np.full(7, 2.0)), [0.2, 0.6, 1.2, 1.8])
    assert share_grid(np.zeros(7)) == []


@pytest.mark.parametrize("group", [None, 3], ids=["rows", "groups"])
def test_jackknifed_against_a_loop(group):
    data = reference.random_data(1, rows=30)
    q = reference.ridge(data, 1e-3)
    units = np.arange(30) // (group or 1)
    parts = Consecutive(np.flatnonzero(np.diff(units, prepend=-1)), 30)
    names = ["ips", "snips", "dm", "dr", "sndr", "truncated-snips", "truncated-sndr"]
    formulas = [reference.FORMULAS[name] for name in names]
    estimators = [
        *(cf.IPS(), cf.SNIPS(), cf.DM(), cf.DR(), cf.SNDR(), cf.TruncatedSNIPS(1.2)),
        cf.TruncatedSNDR(0.7),
    ]
    values, moves = Sums.of(rows_of(data, q), estimators, parts).jackknife(estimators)
    for value, line, (formula, parameters) in zip(values, moves, formulas, strict=True):
        close(value, np.mean(formula(data, q, **parameters)))

        def say(part, q, formula=formula, parameters=parameters):
            return np.mean(formula(part, q, **parameters))

        close(line, reference.left_out(say, data, q, units.tolist()))


@pytest.mark.parametrize("boldness", [None, 0.1, 1.5])
@pytest.mark.parametrize("group", [None, 4], ids=["rows", "groups"])
@pytest.mark.parametrize("model", [True, False], ids=["two ladders", "one ladder"])
@pytest.mark.parametrize("seed", [0, 3])
def test_ladder_against_naive_loops(seed, model, group, boldness):
    data = reference.random_data(seed, rows=32)
    q = reference.ridge(data, 1.0) if model else None
    units = (np.arange(32) // (group or 1)).tolist()
    more = {"group": units} if group else {}
    result = cf.evaluate(log_of(data, **more), data.target, selector=cf.Ladder(boldness), reward_model=q)
    shares, answer, error = reference.ladder(data, q, units, boldness)
    plain = {
        cf.TruncatedSNIPS(math.inf): cf.SNIPS(),
        cf.TruncatedSNDR(0.0): cf.DM(),
        cf.TruncatedSNDR(math.inf): cf.SNDR(),
    }
    expected = {}
    for (formula, cap), share in shares.items():
        rung = NAMES[formula](cap)
        expected[plain.get(rung, rung).name] = share
    for line in result.table:
        assert line.share == pytest.approx(expected.get(line.name, 0.0), abs=1e-9)
    close(result.value, answer(data, q))
    close(result.stderr, error)
    for line in result.table[:5] if model else result.table[:2]:
        formula, _ = reference.FORMULAS[line.name.lower()]

        def gap(part, q, formula=formula):
            return np.mean(formula(part, q)) - answer(part, q)

        apart, noise = (
            sum(move**2 for move in reference.left_out(say, data, q, units))
            for say in (gap, lambda part, q, formula=formula: np.mean(formula(part, q)))
        )
        close(line.score, gap(data, q) ** 2 + apart + noise)


# what ties the shares together


@pytest.mark.parametrize("seed", range(5))
def test_shares_make_a_mean_and_the_answer_is_that_of_the_table(seed):
    data = reference.random_data(seed, rows=100)
    result = cf.evaluate(log_of(data), data.target)
    shares = shares_of(result)
    assert (shares >= 0).all()
    assert shares.sum() == pytest.approx(1, abs=1e-12)
    close(result.value, shares @ [line.value for line in result.table])
    assert result.selector == cf.Ladder().resolve(rows_of(data, "default"))


def test_order_of_rows_does_not_matter():
    data = reference.random_data(5, rows=100)
    q, order = reference.ridge(data, 1.0), rng().permutation(100)
    one = cf.evaluate(log_of(data), data.target, reward_model=q)
    moved = data.take(order)
    two = cf.evaluate(log_of(moved), moved.target, reward_model=q[order])
    close(shares_of(two), shares_of(one))
    close([two.value, two.stderr], [one.value, one.stderr])


@pytest.mark.parametrize("rows", [100, 2000], ids=["units are rows", "units are buckets"])
@pytest.mark.parametrize("model", ["default", None])
@pytest.mark.parametrize("offset", [-3.0, 1e3])
def test_a_constant_on_all_rewards_moves_the_answer_by_itself(offset, model, rows):
    data = reference.random_data(6, rows=rows)
    candidates = ["snips", "dm", "sndr", "truncated-snips", "truncated-sndr"]
    one, two = (
        cf.evaluate(log_of(replace(data, r=data.r + by)), data.target, candidates, reward_model=model)
        for by in (0.0, offset)
    )
    close(two.value - offset, one.value)
    close(two.stderr, one.stderr)
    close(shares_of(two), shares_of(one))


@pytest.mark.parametrize("offset", [1e8, 1e12])
def test_rewards_that_vary_little_around_a_huge_number_have_a_variance(offset):
    """The difference of the mean square and the squared mean would be rounding errors, of either sign.

    Lengths of steps, which tell how bold to be, have the rounding errors of values around the large number.
    """
    data = reference.random_data(7, rows=100)
    one, two = (
        cf.evaluate(log_of(replace(data, r=data.r + by)), data.target, reward_model=None) for by in (0.0, offset)
    )
    np.testing.assert_allclose(shares_of(two)[1:], shares_of(one)[1:], rtol=0, atol=1e-14 * offset)
    assert two.stderr == pytest.approx(one.stderr, rel=1e-14 * offset)


def test_many_rows_take_all_steps():
    data = reference.random_data(8)
    q, tops = reference.ridge(data, 1.0), []
    for copies in (1, 10, 100, 1000):
        many = np.tile(np.arange(60), copies)
        table = cf.evaluate(log_of(data.take(many)), data.target[many], reward_model=q[many]).table
        tops.append(sum(line.share for line in table if line.name in ("SNIPS", "SNDR")))
    missing = [1 - top for top in tops]
    assert missing[0] > 0.1
    assert missing[3] < 0.05
    assert missing[3] < missing[2] / 5
    assert missing == sorted(missing, reverse=True)


def test_boldness_goes_from_the_lowest_rungs_to_the_full_weights():
    data = reference.random_data(9, rows=100)
    rows = rows_of(data, cf.CrossFitted())
    lowest = {cf.TruncatedSNIPS.candidates(rows)[0].name, "DM"}
    for boldness, wanted in ((1e-9, lowest), (1e9, {"SNIPS", "SNDR"})):
        result = cf.evaluate(log_of(data), data.target, selector=cf.Ladder(boldness))
        close(sum(line.share for line in result.table if line.name in wanted), 1.0)
        assert {line.name for line in result.table if line.share > 1e-9} <= wanted


def test_candidates_without_the_rungs_give_a_single_choice():
    data = reference.random_data(10, rows=100)
    result = cf.evaluate(log_of(data), data.target, [cf.IPS(), cf.DR(), cf.SwitchDR(1.0)])
    assert sorted(shares_of(result)) == [0, 0, 1]
    [chosen] = [line for line in result.table if line.chosen]
    assert (result.selected, result.value) == (chosen.name, chosen.value)
    assert chosen.score == min(line.score for line in result.table)


def test_rungs_that_are_there_twice_count_once():
    data = reference.random_data(10, rows=100)
    once = cf.evaluate(log_of(data), data.target)
    twice = cf.evaluate(log_of(data), data.target, ["default", cf.SNIPS(), cf.SNDR()])
    close(shares_of(twice), [*shares_of(once), 0, 0])


def test_a_ladder_that_is_not_settled_settles_itself():
    rows = rows_of(reference.random_data(11))
    grid, judge = default(rows), cf.Ladder()
    assert (
        judge.scores(rows, grid, rng(), POOL).tolist() == judge.resolve(rows).scores(rows, grid, rng(), POOL).tolist()
    )


@pytest.mark.parametrize("boldness", [0.0, -1.0, 1e200, math.inf, math.nan, "bold"])
def test_bad_boldness_is_refused(boldness):
    with pytest.raises(cf.ParameterError, match=r"`boldness` must be in \(0, 1e\+60\), got "):
        cf.Ladder(boldness)


def test_ladders_are_not_for_users_to_set():
    with pytest.raises(cf.ParameterError, match=r"`ladders` must be left to the rows, got '3'\."):
        registry.build("selectors", "ladder:ladders=3")


# what differences are made of


@pytest.mark.parametrize("group", [None, 4], ids=["rows", "groups"])
@pytest.mark.parametrize("model", [True, False], ids=["two ladders", "one ladder"])
@pytest.mark.parametrize("seed", [0, 3])
def test_differences_to_the_log_against_naive_loops(seed, model, group):
    data = reference.random_data(seed, rows=32)
    q = reference.ridge(data, 1.0) if model else None
    units = (np.arange(32) // (group or 1)).tolist()
    more = {"group": units} if group else {}
    result = cf.evaluate(log_of(data, **more), data.target, reward_model=q)
    _, answer, _, error = reference.ladder_against_log(data, q, units, None, fixed=0.7, doubt=2.0)
    close(result.uplift().value, answer(data, q) - np.mean(data.r))
    shown = result.estimate.in_differences.contributions - result.logged.contributions
    close(result.uplift().stderr, max(error, cf.Estimate("shown", shown, groups_of(units, group)).stderr))


def groups_of(units, group):
    return None if group is None else np.array(units)


@pytest.mark.parametrize("seed", range(4))
def test_differences_take_each_step_as_far_as_learnt_and_fixed_boldness_say_together(seed):
    data = reference.random_data(seed, rows=300)
    rows = rows_of(data, "default")
    judge = cf.Ladder().resolve(rows)
    sums = sum_buckets(rows, judge.witnesses, POOL)
    for ladder in judge.ladders:
        steps = judge.measure_steps(sums, ladder, judge.jackknife(sums, ladder))
        learnt, fixed, both = (
            judge.climb(steps, ladder, purpose)[0][::-1].cumsum()
            for purpose in (LEARNT, DIFFERENCE._replace(fixed=1.0), DIFFERENCE)
        )
        assert (both >= np.minimum(learnt, fixed) - 1e-12).all()
        assert (both <= np.maximum(learnt, fixed) + 1e-12).all()


def test_differences_are_shrunk_less_where_little_boldness_is_learnt():
    """Rewards do not depend on the action, so all rungs agree: a value stays low on the ladder of the model."""
    data = reference.random_data(0, rows=300)
    rows = rows_of(replace(data, r=rng().normal(size=300)), "default")
    judge = cf.Ladder().resolve(rows)
    sums = sum_buckets(rows, judge.witnesses, POOL)
    steps = judge.measure_steps(sums, judge.ladders[1], judge.jackknife(sums, judge.ladders[1]))
    learnt, both = (judge.climb(steps, judge.ladders[1], purpose)[0] for purpose in (LEARNT, DIFFERENCE))
    assert both[-1] > 2 * learnt[-1]


@pytest.mark.parametrize("boldness", [0.1, 3.0])
def test_a_boldness_that_is_given_holds_for_differences_too(boldness):
    data = reference.random_data(2, rows=100)
    result = cf.evaluate(log_of(data), data.target, selector=cf.Ladder(boldness))
    assert result.estimate.for_differences is None
    close(result.uplift().value, result.value - result.logged.value)


def test_single_candidates_have_the_same_value_in_differences():
    data = reference.random_data(2, rows=100)
    result = cf.evaluate(log_of(data), data.target, candidates=["dr", "snips"])
    close(result.uplift().value, result.value - result.logged.value)


def test_the_difference_of_two_targets_is_that_of_their_differences_to_the_log():
    data = reference.random_data(4, rows=100)
    log = log_of(data)
    one = cf.evaluate(log, data.target)
    two = cf.evaluate(log, data.target[::-1])
    close(one.uplift(two).value, one.uplift().value - two.uplift().value)
    assert one.uplift(one).value == 0
    assert tuple(one.uplift(one).interval()) == (0, 0)
