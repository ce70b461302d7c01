"""learn(): it beats the log where that can be done, keeps it where not, and says no in one sentence."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

import counterfold as cf
from counterfold.evaluation.next_step import NextStep
from learning_logs import draw_log

KEEP = NextStep("keep", "Keep what you have; nothing that was learnt looks better.")
FAST = {"learners": ["greedy-learner", "softmax-learner"], "progress": False}


def test_a_gain_that_is_there_is_found_and_valued():
    log = draw_log()
    learned = cf.learn(log, **FAST)
    assert learned.beats_log
    assert learned.evaluation is learned.attempt
    fresh = np.random.default_rng(1).normal(size=(20_000, 2))
    truth = (learned.policy.predict_proba(fresh)[:, 1] * fresh[:, 0]).mean()
    assert learned.evaluation.interval.low < truth < learned.evaluation.interval.high
    assert truth > 0.35
    assert "beats the log" in repr(learned)


def test_where_there_is_nothing_to_gain_the_log_is_kept():
    learned = cf.learn(draw_log(effect=0.0), **FAST)
    assert not learned.beats_log
    assert learned.sentence.startswith("Nothing beats the log safely")
    assert learned.next_step.sentence.count("Keep what you have") == 1
    assert learned.sentence not in learned.next_step.sentence
    probs = learned.policy.predict_proba(np.zeros((1, 2)))
    np.testing.assert_allclose(probs, [[0.5, 0.3, 0.2]], atol=0.01)
    assert abs(learned.evaluation.uplift().value) < 0.02


def test_no_test_is_advised_of_what_looks_worse():
    learned = [cf.learn(draw_log(seed, 200, effect=0.0), **FAST) for seed in range(6)]
    worse = [one for one in learned if one.attempt.uplift().value <= 0 and one.attempt.answerable]
    assert worse
    assert {one.next_step for one in worse} == {KEEP}
    assert {one.fallback for one in worse} == {
        "imitates the log, as far as the context tells; it may earn less than the log did"
    }


def test_a_caution_comes_before_the_gain():
    log = draw_log()
    doubtful = cf.Log(context=log.context, action=log.action, reward=log.reward, propensity=0.7 * log.propensity)
    learned = cf.learn(doubtful, **FAST)
    assert (learned.beats_log, learned.attempt.verdict) == (True, "caution")
    problem = learned.attempt.diagnostics.findings[0].problem
    assert learned.sentence.startswith(f"Check first: {problem}. If that is no reason to doubt it, ")
    assert "beats the log: +" in learned.sentence


@pytest.mark.slow
@pytest.mark.statistical
def test_a_log_without_any_gain_is_seldom_beaten():
    beaten = sum(cf.learn(draw_log(seed, 300, effect=0.0), **FAST).beats_log for seed in range(100))
    assert binomtest(beaten, 100, 0.025, alternative="greater").pvalue > 0.001  # one in a thousand fails by chance


@pytest.mark.slow
@pytest.mark.statistical
def test_stated_intervals_hold_what_policies_earn():
    """Of 300 intervals 272 must hold: that fails in 0.06 % of the runs if 95 % hold, and in 91 % if 88 % do."""
    held, contexts = 0, np.random.default_rng(1).normal(size=(20_000, 2))
    for seed in range(300):
        learned = cf.learn(draw_log(seed, 300, effect=0.5), **FAST)
        truth = 0.5 * (learned.policy.predict_proba(contexts)[:, 1] * contexts[:, 0]).mean()
        held += learned.evaluation.interval.low <= truth <= learned.evaluation.interval.high
    assert binomtest(held, 300, 0.95, alternative="less").pvalue > 0.001


def test_the_table_has_every_learner_at_every_share():
    learned = cf.learn(draw_log(), shares=[1, 0.5, 0.2], **FAST)
    assert [line.contender for line in learned.table] == [
        *("GreedyLearner", "0.5 * GreedyLearner + imitation", "0.2 * GreedyLearner + imitation"),
        *("SoftmaxLearner", "0.5 * SoftmaxLearner + imitation", "0.2 * SoftmaxLearner + imitation"),
    ]
    assert sum(line.folds for line in learned.table) == 5
    assert [line.contender for line in learned.table if line.chosen] == [learned.chosen]
    half = cf.learn(draw_log(), ["greedy-learner"], shares=0.5, progress=False).policy
    whole = cf.learn(draw_log(), ["greedy-learner"], shares=1, progress=False).policy
    context = np.array([[2.0, 0.0], [-2.0, 0.0]])
    np.testing.assert_allclose(
        half.predict_proba(context), 0.5 * whole.predict_proba(context) + 0.5 * np.array([0.5, 0.3, 0.2]), atol=0.01
    )


def test_the_same_log_gives_the_same_policy():
    first, second = (cf.learn(draw_log(), [*FAST["learners"], "policy-forest:trees=4"], progress=False) for _ in "ab")
    assert first.to_json() == second.to_json()


def test_threads_change_nothing():
    log = draw_log(rows=200, group=np.arange(200) // 3)
    limits, learners = {"1": 0.3, "2": 0.1}, [*FAST["learners"], "policy-forest:trees=4"]
    alone, several = (
        cf.learn(log, learners, limits=limits, seed=3, threads=threads, progress=False) for threads in (1, 4)
    )
    assert alone.to_json() == several.to_json()
    assert len({line.contender for line in alone.table}) == 3
    np.testing.assert_array_equal(*(one.attempted.predict_proba(log.context) for one in (alone, several)))


def test_nothing_need_be_forbidden():
    found = cf.learn(draw_log(), ["greedy-learner"], forbidden=None, limits=None, progress=False)
    assert found.policy.allowed.all()


def test_forbidden_actions_and_actions_that_could_not_be_taken_are_never_taken():
    log = draw_log(effect=-3.0)
    learned = cf.learn(log, ["greedy-learner", "policy-tree"], forbidden=[2], progress=False)
    assert (learned.policy.predict_proba(np.random.default_rng(0).normal(size=(50, 2)))[:, 2] == 0).all()
    assert "never 2" in learned.policy.describe()
    probs = np.column_stack([np.full(400, 0.6), np.full(400, 0.4), np.zeros(400)])
    action = np.random.default_rng(2).choice(2, size=400, p=[0.6, 0.4])
    log = draw_log(action=action, logging_probs=probs, actions=[0, 1, 2])
    assert (cf.learn(log, **FAST).policy.predict_proba(log.context)[:, 2] == 0).all()


def test_out_of_fold_decisions_stay_where_support_is():
    rng = np.random.default_rng(0)
    probs = np.where(rng.random((400, 1)) < 0.5, [0.5, 0.5, 0.0], [0.4, 0.0, 0.6])
    action = (probs.cumsum(axis=1) > rng.random((400, 1))).argmax(axis=1)
    log = draw_log(action=action, logging_probs=probs)
    learned = cf.learn(log, **FAST)
    assert learned.attempt.diagnostics.unsupported_mass == 0
    masked = learned.policy.predict_proba(log.context, available=probs > 0)
    assert (masked[probs == 0] == 0).all()
    np.testing.assert_allclose(masked.sum(axis=1), 1)


def test_propensities_alone_and_columns_by_name():
    log = draw_log()
    frame = pd.DataFrame(log.context, columns=["a", "b"]).assign(item=log.action, r=log.reward, p=log.propensity)
    learned = cf.learn(frame, **FAST, action="item", reward="r", propensity="p")
    assert learned.policy.feature_names_in_.tolist() == ["a", "b"]
    assert learned.beats_log
    again = cf.evaluate(frame, learned.policy, action="item", reward="r", propensity="p")
    assert again.uplift().interval().low > 0


ROWS = {"action": ["a", "b"] * 30, "reward": [0.0, 1.0, 1.0] * 20, "propensity": [0.5] * 60, "x": [*range(60)]}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            {"log": {**ROWS, "action": None, "dose": [1.0, 2.0] * 30}},
            "must have a log of actions to choose from, got doses",
        ),
        ({"reward": ["reward", "x"]}, "must have one reward to learn from, got 2"),
        ({"learners": "gredy"}, "unknown learner `gredy`"),
        ({"learners": []}, "`learners` must be different learners, got none"),
        ({"learners": ["imitation", "imitation"]}, "got `Imitation` more than once"),
        ({"learners": [3]}, "`learners` must be learners, their names, or classifiers"),
        ({"learners": cf.GreedyLearner}, r"Did you mean `GreedyLearner\(\)`\?"),
        ({"shares": [0]}, "`shares` must hold a number above 0, got none"),
        ({"shares": 2}, r"`shares` must be in \[0, 1\], got 2"),
        ({"forbidden": "c"}, "`forbidden` must be actions of the log, a, b, got `c`"),
        ({"forbidden": ["a"]}, "must have two actions or more to choose from, got 1"),
        ({"folds": 2}, "`folds` must be a whole number of at least 3, got 2"),
        ({"level": 2}, r"`level` must be in \(0, 1\), got 2"),
        ({"group": "user"}, "`group` .column `user`. must have at least 2 different groups, got 1"),
        ({"learnes": "x"}, "has no argument `learnes`"),
        ({"engine": "fast"}, "`engine` must be `auto`, `local`, `memory` or `spark`, got 'fast'"),
        ({"engine": "spark"}, "`engine` must be 'local' or 'memory' for a log that is a dict, got 'spark'"),
        ({"log": {**ROWS, "propensity": [1.0] * 60}}, "two possible actions or more in some row, got one in each"),
    ],
)
def test_bad_arguments_are_one_sentence(arguments, sentence):
    given = {"log": {**ROWS, "user": ["one"] * 60}, "ignore": ["user"], "progress": False} | arguments
    table = {name: column for name, column in given.pop("log").items() if column is not None}
    if "group" in given or "user" not in table:
        given.pop("ignore")
    with pytest.raises(cf.CounterfoldError, match=sentence) as error:
        cf.learn(table, given.pop("learners", "greedy-learner"), **given)
    assert "\n" not in str(error.value)


def test_rare_rewards_and_few_rows_are_answered_or_refused():
    rare = np.zeros(400)
    rare[7] = 1.0
    assert not cf.learn(draw_log(reward=rare), **FAST).beats_log
    assert not cf.learn(draw_log(rows=12), **FAST).beats_log
