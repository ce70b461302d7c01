"""What is valued in a fold was learnt without it, and chosen by policies that were learnt without it, too."""

import numpy as np
import pytest

import counterfold as cf
from counterfold.learners.base import TrainingRows
from counterfold.learning.choice import Gain, choose_contender, stitch
from counterfold.learning.out_of_fold import OutOfFold, assign_outer_folds
from learning_logs import draw_log

ALL = np.ones(3, dtype=bool)
LEARNERS = [cf.GreedyLearner(), cf.SoftmaxLearner(), cf.PolicyTree(smallest_leaf=5), cf.WeightedClassifier()]


def start(log, fold=None):
    rows = TrainingRows.of(log, ALL)
    fold = assign_outer_folds(rows, 5) if fold is None else fold
    return OutOfFold(rows, LEARNERS, np.ones((len(log), 3), dtype=bool), fold, 0)


def decide(log, fold=None):
    return start(log, fold).decide()


def test_decisions_do_not_depend_on_the_rewards_of_their_own_fold():
    log = draw_log(rows=200)
    before = decide(log)
    for number in range(5):
        own = before.fold == number
        changed = np.where(own, -5 * log.reward[::-1], log.reward)
        after = decide(draw_log(rows=200, reward=changed), before.fold)
        for one in LEARNERS:
            np.testing.assert_array_equal(before.probs[one.name][own], after.probs[one.name][own])
            assert (before.probs[one.name] != after.probs[one.name]).any()


def test_groups_are_never_in_two_folds():
    group = np.arange(200) // 7
    fold = decide(draw_log(rows=200, group=group)).fold
    assert all(len(set(fold[group == number])) == 1 for number in set(group))


def test_lower_bounds_are_those_of_a_loop():
    rng = np.random.default_rng(0)
    values, sizes, kept = rng.normal(size=50), rng.uniform(1, 3, size=50), rng.random(50) < 0.6
    total, some, mean = 0.0, 0.0, 0.0
    for value, size, is_kept in zip(values, sizes, kept, strict=True):
        total += size
        some += size if is_kept else 0.0
        mean += size * value if is_kept else 0.0
    wanted = mean / some - 0.7 * (total / some) ** 0.5
    assert Gain(values, sizes, 0.7).find_lower_bound(kept) == pytest.approx(wanted)


def test_a_fold_is_chosen_for_by_policies_that_do_not_know_it():
    log = draw_log(rows=200)
    before = start(log)
    for number in (0, 3):
        changed = np.where(before.fold == number, -5 * log.reward[::-1], log.reward)
        after = start(draw_log(rows=200, reward=changed), before.fold)
        mine, theirs = before.decide(number), after.decide(number)
        for one in LEARNERS:
            np.testing.assert_array_equal(mine.probs[one.name], theirs.probs[one.name])
            own = before.fold == number
            np.testing.assert_array_equal(mine.probs[one.name][own], before.decide().probs[one.name][own])
    assert len(before.fitted) == 5 + 4 + 3  # what is learnt without two folds serves both


def test_rows_take_what_their_fold_chose():
    fold = np.repeat([0, 1, 2], 10)
    lucky, steady = np.where(fold == 0, 9.0, -1.0), np.full(30, 0.5)
    gains = {"lucky": Gain(lucky, np.ones(30), 0.1), "steady": Gain(steady, np.ones(30), 0.1)}
    assert choose_contender(gains, np.ones(30, dtype=bool)) == "lucky"
    chosen = {number: choose_contender(gains, fold != number) for number in range(3)}
    assert chosen == {0: "steady", 1: "lucky", 2: "lucky"}
    probs = {"lucky": np.tile([1.0, 0.0], (30, 1)), "steady": np.tile([0.0, 1.0], (30, 1))}
    np.testing.assert_array_equal(stitch(probs, chosen, fold)[:, 1], fold == 0)
