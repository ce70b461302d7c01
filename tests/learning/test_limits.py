"""Limits: policies keep to them, lose as little as can be, say so; and what cannot be kept is refused in a sentence."""

import numpy as np
import pytest
from scipy.optimize import linprog

import counterfold as cf
from counterfold.learning.limits import ActionLimits, PriceSearch
from counterfold.policies.learned.scorers import LinearScorer, PricedScorer
from learning_logs import draw_log

FAST = {"learners": ["greedy-learner", "softmax-learner"], "folds": 3, "progress": False}
EVERY = np.ones(3, dtype=bool)
LIMITS = [
    {"a": 0.2},
    {"a": 0.2, "b": 0.1},
    {"a": 0.3, "b": 0.3, "c": 0.4},
    "2 * a + b <= 0.5",
    ["2 * a + b <= 0.5", "b <= 10%"],
    "c >= 40%",
    ["a <= 0.3", "c >= 0.25", "b >= 10%"],
    "a + 3 * c >= 1.5",
]


def draw_scores(distinct, rows=120, seed=0):
    """Return scores of three actions, of which so many rows differ."""
    scores = np.random.default_rng(seed).normal(size=(distinct, 3)) + np.array([1.0, 0.5, 0.0])
    return np.tile(scores, (rows // distinct, 1))


def find_best(scores, limits, possible, counts):
    """Return what the best policy is worth that keeps to limits, by a program with a variable for every decision."""
    rows, actions = scores.shape
    shares = counts / counts.sum()
    every = np.kron(np.eye(rows), np.ones(actions))
    lines = [np.kron(shares, costs) for costs in limits.costs]
    ends = [(0, 1 if one else 0) for one in possible.ravel()]
    found = linprog(-np.kron(shares, np.ones(3)) * scores.ravel(), lines, limits.most, every, np.ones(rows), ends)
    return -found.fun


@pytest.mark.parametrize("given", LIMITS)
@pytest.mark.parametrize("distinct", [120, 4])
def test_greedy_policies_keep_to_limits_and_none_is_better(distinct, given):
    scores, limits = draw_scores(distinct), ActionLimits.of(given, ["a", "b", "c"], EVERY)
    rng = np.random.default_rng(1)
    counts, possible = rng.integers(1, 4, len(scores)) * 1.0, rng.random(scores.shape) < 0.9
    possible[:, 2] = True
    prices, shares = PriceSearch(limits, scores, possible, counts, is_greedy=True).find()
    scorer = PricedScorer(LinearScorer(np.zeros(3), np.eye(3), np.ones(3)), prices, shares)
    probs = scorer.decide(scores, possible, is_greedy=True)
    assert (probs[~possible] == 0).all()
    np.testing.assert_allclose(probs.sum(axis=1), 1)
    assert (limits.take(probs, counts) <= limits.most + 1e-6).all()
    worth = np.average((probs * scores).sum(axis=1), weights=counts)
    assert worth == pytest.approx(find_best(scores, limits, possible, counts), abs=1e-6)
    assert len(prices) <= len(limits.most) + 1


@pytest.mark.parametrize("given", LIMITS)
def test_softmax_policies_take_all_of_a_limit_that_has_a_price(given):
    scores, limits = draw_scores(120), ActionLimits.of(given, ["a", "b", "c"], EVERY)
    every = np.ones(scores.shape, dtype=bool)
    prices, shares = PriceSearch(limits, scores, every, None, is_greedy=False).find()
    probs = np.zeros(scores.shape)
    for line, share in zip(prices, shares, strict=True):
        odds = np.exp(scores - line)
        probs += share * odds / odds.sum(axis=1, keepdims=True)
    taken = limits.take(probs)
    assert (taken <= limits.most + 1e-6).all()
    rates = np.linalg.lstsq(limits.costs.T, shares @ prices, rcond=None)[0]
    has_price = rates > 1e-3
    assert has_price.any()
    np.testing.assert_allclose(taken[has_price], limits.most[has_price], atol=1e-3)
    assert np.abs(prices - shares @ prices).max() < 0.2  # all are near each other


def test_limits_that_bind_nothing_cost_nothing():
    scores, limits = draw_scores(120), ActionLimits.of({"a": 1, "b": 0.99}, ["a", "b", "c"], EVERY)
    prices, shares = PriceSearch(limits, scores, np.ones(scores.shape, dtype=bool), None, is_greedy=True).find()
    assert prices.tolist() == [[0.0, 0.0, 0.0]]
    assert shares.tolist() == [1.0]


@pytest.mark.parametrize("learner", ["greedy-learner", "softmax-learner", "policy-tree", "policy-forest:trees=4"])
def test_a_learnt_policy_keeps_to_limits_and_its_file_does(learner, tmp_path):
    log = draw_log()
    asked = {"shares": 1, "folds": 3, "progress": False}
    learned = cf.learn(log, learner, limits={1: 0.2}, **asked)
    (line,) = learned.limits
    taken = learned.policy.predict_proba(log.context)[:, 1].mean()
    assert taken == pytest.approx(line.expected)
    assert taken <= 0.2 + 1e-6
    assert line.out_of_fold == pytest.approx(0.2, abs=0.06)
    assert (line.limit, line.most, line.logged) == ("1 <= 0.2", 0.2, pytest.approx((log.action == 1).mean()))
    free = cf.learn(log, learner, **asked)
    assert free.policy.predict_proba(log.context)[:, 1].mean() > 0.25
    learned.policy.save(tmp_path / "policy.skops")
    again = cf.Skops(tmp_path / "policy.skops").form.model
    np.testing.assert_array_equal(again.predict_proba(log.context), learned.policy.predict_proba(log.context))
    assert again.describe() == learned.policy.describe()


def test_what_must_be_taken_is_taken():
    log = draw_log()
    learned = cf.learn(log, "greedy-learner", shares=1, limits=["2 >= 35%", "1 <= 0.4"], folds=3, progress=False)
    first, second = learned.limits
    taken = learned.attempted.predict_proba(log.context).mean(axis=0)
    assert (first.limit, first.most, first.least) == ("2 >= 0.35", None, 0.35)
    assert (second.limit, second.most, second.least) == ("1 <= 0.4", 0.4, None)
    assert taken[2] == pytest.approx(0.35, abs=1e-6)
    assert taken[1] <= 0.4 + 1e-6
    assert first.out_of_fold == pytest.approx(0.35, abs=0.06)
    assert first.logged == pytest.approx((log.action == 2).mean())


def test_exploring_takes_its_part_of_a_limit():
    log = draw_log()
    asked = {"learners": "greedy-learner", "shares": 1, "folds": 3, "progress": False, "explore": 0.3}
    policy = cf.learn(log, **asked, limits={1: 0.2}).attempted
    probs = policy.predict_proba(log.context)
    assert probs.min() == pytest.approx(0.1)
    assert probs[:, 1].mean() == pytest.approx(0.2, abs=1e-6)
    with pytest.raises(
        cf.ParameterError, match=r"but beside what is explored any policy misses `1 <= 0.05` by 100 % of it"
    ):
        cf.learn(log, **asked, limits={1: 0.05})


def test_labels_are_named_as_elsewhere():
    given = {"learners": "greedy-learner", "shares": 1, "folds": 3, "progress": False}
    assert cf.learn(draw_log(), **given, limits={1.0: 0.2}).limits[0].limit == "1 <= 0.2"
    probs = cf.learn(draw_log(), **given, forbidden=[2.0]).attempted.predict_proba([[0.0, 0.0]])
    assert probs[0, 2] == 0


def test_the_log_that_is_kept_keeps_to_limits_too():
    learned = cf.learn(draw_log(effect=0.0), **FAST, limits="2 * 0 + 1 <= 0.6")
    assert not learned.beats_log
    costs = learned.policy.decide(np.random.default_rng(0).normal(size=(400, 2))) @ [2.0, 1.0, 0.0]
    assert costs.mean() == pytest.approx(0.6, abs=0.02)
    assert learned.limits[0].expected <= 0.6 + 1e-6  # of the best attempt
    assert learned.limits[0].logged > 1
    assert "to keep to limits" in learned.policy.describe()
    assert "as limits and forbidden actions allow" in learned.fallback


@pytest.mark.parametrize("most", [0.3, 0.1, 0.01])
def test_a_logger_that_is_all_but_uniform_can_be_limited(most):
    probs = np.tile([0.33333, 0.33333, 0.33334], (400, 1))
    learned = cf.learn(draw_log(effect=0.0, logging_probs=probs), **FAST, limits={1: most})
    assert learned.limits[0].expected <= most + 1e-6


def test_mixed_prices_are_told_one_by_one():
    context = np.zeros((400, 0))
    text = cf.learn(draw_log(context=context), "greedy-learner", shares=1, limits={0: 0.05}, progress=False)
    described = text.attempted.describe()
    assert described.count("of the decisions, to keep to limits") >= 1
    assert text.attempted.predict_proba(context).mean(axis=0)[0] == pytest.approx(0.05, abs=0.01)


def test_a_tree_says_how_often_it_takes_what():
    tree = cf.learn(draw_log(), "policy-tree", shares=1, limits={1: 0.1}, progress=False).policy
    assert "%) or " in tree.describe()
    assert "take 1\n" not in tree.describe()


def test_limits_hold_on_a_large_log(tmp_path):
    import pandas as pd

    log = draw_log(rows=1000)
    frame = pd.DataFrame(log.context, columns=["x", "y"]).assign(action=log.action, reward=log.reward)
    frame.assign(propensity=log.propensity).to_parquet(tmp_path / "log.parquet")
    learned = cf.learn(tmp_path / "log.parquet", **FAST, limits=["1 <= 20%"], engine="local")
    assert learned.beats_log
    assert learned.limits[0].expected <= 0.2 + 1e-6
    assert learned.policy.predict_proba(frame)[:, 1].mean() == pytest.approx(0.2, abs=0.03)


@pytest.mark.parametrize(
    ("limits", "sentence"),
    [
        ({3: 0.2}, "`limits` must be of actions of the log, 0, 1, 2, got `3`"),
        ({"1 ": 0.2}, "got `1 `. Did you mean `1`"),
        ({1: 20}, "`limits` must be shares above 0 and at most 1, got 20 for 1; 20 % is 0.2"),
        ({1: 0}, r"got 0 for 1; forbid it: `forbidden=\['1'\]`"),
        ({1: True}, "`limits` must be shares above 0 and at most 1, got True for 1"),
        ({1: None}, "`limits` must be shares above 0 and at most 1, got None for 1"),
        ({1: float("nan")}, "at most 1, got nan for 1"),
        ("1 <= 20", "`limits` must be shares above 0 and at most 1, got 20.0 for 1"),
        ("1 > 20%", "`limits` must be .* got '1 > 20%'"),
        ("1 >= 0%", "`limits` must be shares above 0 and at most 1, got 0.0 for 1; 20 % is 0.2"),
        (
            ["1 >= 20%", "1 <= 10%"],
            "must leave something to do .* any policy misses `1 >= 0.2` or `1 <= 0.1` by 33.3 % of it",
        ),
        ("2 * 1 + 0 <= 0", "`limits` must be .* got '2 \\* 1 \\+ 0 <= 0'"),
        ("1 + <= 2", "`limits` must be .* got '1 \\+ <= 2'"),
        (0.2, "`limits` must be .* got 0.2"),
        ({1: 10**400}, "at most 1, got 1000.* for 1"),
        ("1e400 * 1 + 0 <= 1", "`limits` must have numbers from 1e-12 to 1e\\+12, got '1e400"),
        ("0 + 1 <= 1e400", "`limits` must have numbers from 1e-12 to 1e\\+12, got '0"),
        ("1e308 * 1 <= 1e308", "`limits` must have numbers from 1e-12 to 1e\\+12, got '1e308"),
        ("1e-300 * 1 <= 1e-300", "`limits` must have numbers from 1e-12 to 1e\\+12, got '1e-300"),
        ("1e12 * 1 + 0 <= 1e-12", "`limits` must have numbers from 1e-12 to 1e\\+12, got '1e12"),
        ([None], "`limits` must be .* got None"),
        (
            {0: 0.3, 1: 0.3, 2: 0.3},
            "must leave something to do in every decision, but any policy misses .* by 11.1 % of it",
        ),
        (
            "0 + 2 * 1 + 3 * 2 <= 0.5",
            "but any policy misses `0 \\+ 2 \\* 1 \\+ 3 \\* 2 <= 0.5` by 100 % of it. Widen one",
        ),
    ],
)
def test_bad_limits_are_one_sentence(limits, sentence):
    with pytest.raises(cf.CounterfoldError, match=sentence) as error:
        cf.learn(draw_log(), **FAST, limits=limits)
    assert "\n" not in str(error.value)


def test_limits_that_rows_do_not_let_are_one_sentence():
    probs = np.tile([[0.5, 0.5, 0.0], [0.0, 1.0, 0.0]], (200, 1))
    action = np.where(np.arange(400) % 2, 1, np.arange(400) // 2 % 2)
    log = draw_log(action=action, logging_probs=probs)
    with pytest.raises(cf.ParameterError, match=r"GreedyLearner can keep to them, got 1 <= 0.2, but in some rows"):
        cf.learn(log, **FAST, limits={1: 0.2})


def test_forbidden_actions_leave_room_to_others():
    with pytest.raises(cf.ParameterError, match=r"but any policy misses `0 <= 0.4` or `1 <= 0.4` by 25 % of it"):
        cf.learn(draw_log(), **FAST, forbidden=[2], limits={0: 0.4, 1: 0.4})
