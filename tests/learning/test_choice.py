"""What is valued in a fold was learnt without it, and chosen by policies that were learnt without it, too."""

from dataclasses import replace

import numpy as np
import pytest

import counterfold as cf
from counterfold.estimators.estimates import Moves
from counterfold.learning.comparison import choose_contender
from counterfold.learning.folds import assign_outer_folds, stitch, train_without_folds
from counterfold.learning.learners.base import TrainingRows
from counterfold.learning.result import Simpler
from counterfold.learning.valuation import OutOfFoldValuation, widen_for_retraining
from learning_logs import draw_log, make_contest

ALL = np.ones(3, dtype=bool)
LEARNERS = [cf.GreedyLearner(), cf.SoftmaxLearner(), cf.PolicyTree(smallest_leaf=5), cf.WeightedClassifier()]


def start_contest(log, shares=(1.0,)):
    return make_contest(log, LEARNERS, shares)


def train(log, fold=None, *, with_pairs=False, shares=(1.0,)):
    contest = start_contest(log, shares)
    fold = assign_outer_folds(contest.rows, 5) if fold is None else fold
    return train_without_folds(contest, fold, with_pairs=with_pairs)


def test_decisions_do_not_depend_on_the_rewards_of_their_own_fold():
    log = draw_log(rows=200)
    before = train(log)
    for number in range(5):
        own = before.fold == number
        changed = np.where(own, -5 * log.reward[::-1], log.reward)
        after = train(draw_log(rows=200, reward=changed), before.fold)
        for one in LEARNERS:
            np.testing.assert_array_equal(before.decisions[one.name][own], after.decisions[one.name][own])
            assert (before.decisions[one.name] != after.decisions[one.name]).any()


def test_groups_are_never_in_two_folds():
    group = np.arange(200) // 7
    fold = assign_outer_folds(TrainingRows.of(draw_log(rows=200, group=group), ALL), 5)
    assert all(len(set(fold[group == number])) == 1 for number in set(group))


def test_a_fold_is_chosen_for_by_policies_that_do_not_know_it():
    log = draw_log(rows=200)
    before = train(log, with_pairs=True)
    for number in (0, 3):
        changed = np.where(before.fold == number, -5 * log.reward[::-1], log.reward)
        after = train(draw_log(rows=200, reward=changed), before.fold, with_pairs=True)
        mine, theirs = before.decide(number), after.decide(number)
        for one in LEARNERS:
            np.testing.assert_array_equal(mine[one.name], theirs[one.name])
            own = before.fold == number
            assert (mine[one.name][own] == 0).all()  # nothing is decided there
    assert len(before.scorers) == 5 + 4 + 3 + 2 + 1  # what is learnt without two folds serves both


def evaluate_without(number, policies):
    return OutOfFoldValuation(policies.contest, policies).evaluate_without(number)


@pytest.mark.parametrize("fitted", [False, True])
def test_what_a_fold_is_chosen_by_does_not_depend_on_its_rewards(*, fitted):
    columns = {"logging_probs": None, "propensity": "fit"} if fitted else {}
    log = draw_log(rows=200, group=np.arange(200) // 2, **columns)
    policies = train(log, with_pairs=True)
    changed = np.where(policies.fold == 2, -5 * log.reward[::-1], log.reward)
    other = draw_log(rows=200, group=np.arange(200) // 2, reward=changed, **columns)
    mine = evaluate_without(2, policies)
    theirs = evaluate_without(2, train(other, with_pairs=True))
    for name, one in mine.items():
        assert one.value == theirs[name].value
        assert one.interval == theirs[name].interval
        assert one.uplift().interval() == theirs[name].uplift().interval()
    others = evaluate_without(0, policies)
    both = set(mine) & set(others)  # each has finalists of its own
    assert both
    assert all(mine[name].value != others[name].value for name in both)


def test_the_largest_lower_bound_is_chosen_and_not_the_largest_estimate():
    log = draw_log(rows=400)
    every = {name: np.tile(row, (400, 1)) for name, row in {"bold": [0.0, 0.0, 1.0], "shy": [0.3, 0.3, 0.4]}.items()}
    found = start_contest(log).evaluate(every)
    lows = {name: one.uplift().interval().low for name, one in found.items()}
    best = max(lows, key=lambda name: lows[name])
    choice = choose_contender(found, {"bold": 1, "shy": 1})
    assert choice.name == best
    assert choice.simpler is None


def decide_by_column(log, slope):
    """Return decisions that take action 1 where the first column is above 0, more or less surely."""
    likely = 1 / (1 + np.exp(-slope * log.context[:, 0]))
    return np.column_stack([1 - likely, likely, np.zeros(len(log))])


def test_a_simpler_policy_is_chosen_where_it_earns_as_much_within_noise():
    log = draw_log(rows=400)
    every = {
        "sure": decide_by_column(log, 50.0),
        "surer": decide_by_column(log, 60.0),
        "always 0": np.eye(3)[[0] * 400],
    }
    found = start_contest(log).evaluate(every)
    best = choose_contender(found, dict.fromkeys(found, 1)).name
    other = {"sure": "surer", "surer": "sure"}[best]
    complexity = {best: 4, other: 2, "always 0": 0}
    choice = choose_contender(found, complexity)
    assert choice.name == other
    gap = found[best].uplift(found[other])
    assert choice.simpler == Simpler(best, gap.value, gap.stderr)
    assert gap.value <= 0.5 * gap.stderr
    assert choose_contender(found, {best: 2, other: 4, "always 0": 0}).name == best  # the constant earns far less


def test_a_simpler_policy_must_beat_the_log_itself_where_the_best_one_does():
    log = draw_log(rows=400)
    shy = 0.99 * np.tile([0.5, 0.3, 0.2], (400, 1)) + 0.01 * decide_by_column(log, 50.0)
    found = start_contest(log).evaluate(
        {"bold": decide_by_column(log, 50.0), "logger": np.tile([0.5, 0.3, 0.2], (400, 1))}
    )
    assert found["bold"].uplift().interval().low > 0
    assert choose_contender(found, {"bold": 4, "logger": 0}).name == "bold"
    assert choose_contender({"shy": start_contest(log).evaluate({"shy": shy})["shy"]}, {"shy": 0}).name == "shy"


def test_the_error_of_the_saved_policy_holds_the_doubt_about_refitting():
    log = draw_log(rows=400)
    plain = start_contest(log).evaluate({"one": np.tile([0.2, 0.6, 0.2], (400, 1))})["one"]
    wide = widen_for_retraining(plain, fewer=plain, n_folds=5)
    assert wide.value == plain.value
    assert wide.uplift().stderr ** 2 == pytest.approx(1.15 * plain.uplift().stderr ** 2)
    assert wide.stderr**2 == pytest.approx(plain.stderr**2 + 0.15 * plain.uplift().stderr ** 2)
    low, high = wide.interval
    assert low < plain.interval.low < plain.interval.high < high


def test_the_doubt_about_refitting_is_added_where_contributions_show_more_than_moves():
    log = draw_log(rows=400)
    plain = start_contest(log).evaluate({"one": np.tile([0.2, 0.6, 0.2], (400, 1))})["one"]
    for source in (plain.logged.moves.source, "others"):
        still = replace(plain.estimate, moves=Moves(source, plain.estimate.moves.values / 10), bias_variance=0.0)
        log_still = replace(plain.logged, moves=Moves(source, plain.logged.moves.values / 10))
        shown = replace(plain, estimate=still, logged=log_still)
        assert still.shown_variance > 2 * still.moves.variance
        wide, doubt = widen_for_retraining(shown, fewer=shown, n_folds=5), 0.15 * shown.uplift().stderr ** 2
        assert wide.uplift().stderr ** 2 == pytest.approx(1.15 * shown.uplift().stderr ** 2)
        assert wide.stderr**2 == pytest.approx(shown.stderr**2 + doubt)
        assert wide.uplift().interval().low < shown.uplift().interval().low


def test_the_upper_end_holds_what_one_fold_more_is_worth():
    every = {"better": [0.3, 0.2, 0.5], "worse": [0.1, 0.8, 0.1]}
    found = start_contest(draw_log(rows=400)).evaluate({name: np.tile(row, (400, 1)) for name, row in every.items()})
    worse, better = sorted(found.values(), key=lambda one: one.value)
    same = widen_for_retraining(better, fewer=better, n_folds=5)
    wide = widen_for_retraining(better, fewer=worse, n_folds=5)
    gained = 0.6 * (better.value - worse.value)
    assert gained > 0
    for one, other in ((same.interval, wide.interval), (same.uplift().interval(), wide.uplift().interval())):
        assert (other.low, other.high) == (one.low, pytest.approx(one.high + gained))
    lower = widen_for_retraining(worse, fewer=better, n_folds=5)
    assert lower.interval == widen_for_retraining(worse, fewer=worse, n_folds=5).interval


def test_policies_of_fewer_rows_know_neither_of_two_folds():
    log, chosen = (
        draw_log(rows=200),
        dict(enumerate(["GreedyLearner", "SoftmaxLearner", LEARNERS[2].name] + 2 * ["half"])),
    )
    chosen = {number: name.replace("half", "0.5 * GreedyLearner + imitation") for number, name in chosen.items()}
    policies = train(log, with_pairs=True, shares=(1.0, 0.5))
    found = OutOfFoldValuation(policies.contest, policies).decide_by_fewer(chosen)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    possible, names = np.ones((1, 3), dtype=bool), {one.name: one for one in [*LEARNERS, cf.Imitation()]}
    for row in range(0, 200, 23):
        number, wanted = int(policies.fold[row]), np.zeros(3)
        learner = chosen[number].removeprefix("0.5 * ").removesuffix(" + imitation")
        for other in set(range(5)) - {number}:
            kept = np.flatnonzero((policies.fold != number) & (policies.fold != other))
            rows = TrainingRows.of(log, ALL).take(kept)
            one, logger = (
                names[name].fit(rows, 0).decide(log.context[[row]], possible, is_greedy=names[name].is_greedy)[0]
                for name in (learner, "Imitation")
            )
            wanted += (one if learner == chosen[number] else (one + logger) / 2) / 4
        np.testing.assert_allclose(found[row], wanted, atol=1e-12)


def test_rows_take_what_their_fold_chose():
    fold = np.repeat([0, 1, 2], 10)
    probs = {"lucky": np.tile([1.0, 0.0], (30, 1)), "steady": np.tile([0.0, 1.0], (30, 1))}
    chosen = {0: "steady", 1: "lucky", 2: "lucky"}
    np.testing.assert_array_equal(stitch(probs, chosen, fold)[:, 1], fold == 0)
