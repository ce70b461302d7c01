"""Stacks: shares against naive loops, who gets them, and that no row has a say in its own prediction."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeRegressor

import counterfold as cf
import reference
from counterfold.models import _stacked, as_model, fit_on_sample
from counterfold.models._stacked import Stacked, find_shares
from counterfold.models.base import TrainedModel
from counterfold.models.stack import MAX_ACTIONS_FOR_ALL_MEMBERS, make_usual_members
from counterfold.policies.given import as_target
from counterfold.selectors._model_pull import ModelPull
from large_logs import answer, made
from problems import dose_log, log_of, near, rows_of


@dataclass(frozen=True)
class Means(TrainedModel):
    """Predicts the mean reward of each action, or of all."""

    is_by_action: bool = True

    def fit(self, examples):
        level, known = examples.rewards.mean(), {}
        if self.is_by_action:
            known = {a: examples.rewards[examples.actions == a].mean() for a in np.unique(examples.actions)}
        q = np.array([known.get(action, level) for action in range(examples.n_actions)])
        return lambda rows: np.tile(q, (len(rows), 1))


@dataclass(frozen=True, eq=False)
class Oracle(TrainedModel):
    """Predicts what it was told, by the place of a row in the log."""

    values: np.ndarray

    def fit(self, _examples):
        return lambda rows: self.values[rows.ids]


CHEAP = cf.Stack(members=[cf.SharedRidge(), cf.NearestNeighbours()])


def list_shares(model, examples):
    return np.array([one.shares for one in model.settle(examples).predictors])


@pytest.mark.parametrize("seed", range(6))
def test_shares_against_naive_loops(seed):
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=40)
    predicted = truth[:, None] + rng.normal(size=(40, 4)) * [0.5, 1.0, 2.0, 0.7] + rng.normal(size=4) / 2
    rewards, counts = truth + rng.normal(size=40), rng.exponential(size=40)
    found = find_shares(predicted, rewards, counts)
    near(found, reference.stack_shares(predicted, rewards, counts))
    assert found.min() >= 0


def test_shares_of_equal_and_of_perfect_predictions():
    rewards = np.arange(5.0)
    assert find_shares(np.column_stack([rewards, rewards + 1]), rewards, np.ones(5)).tolist() == [1.0, 0.0]
    assert find_shares(np.column_stack([rewards, rewards]), rewards, np.ones(5)).sum() == 1.0
    assert find_shares(np.column_stack([rewards + 1] * 3), rewards, np.ones(5)).sum() == pytest.approx(1.0)


def test_rows_that_count_twice_are_two_rows():
    rng = np.random.default_rng(0)
    predicted, rewards, counts = rng.normal(size=(30, 3)), rng.normal(size=30), np.ones(30)
    counts[:10] = 2.0
    twice = np.append(np.arange(30), np.arange(10))
    near(find_shares(predicted, rewards, counts), find_shares(predicted[twice], rewards[twice], np.ones(40)))


def test_a_stack_of_rows_that_count_several_times_is_that_of_rows_that_are_there_as_often():
    rows, times = rows_of(reference.random_data(3, rows=200)).examples, 1 + np.arange(200) % 4
    members = [cf.ActionEncoded(LinearRegression()), cf.SharedRidge(alpha=1e-9, common=1e-9)]
    counted, repeated = replace(rows, counts=times.astype(float)), rows.take(np.repeat(np.arange(200), times))
    one, other, plain = (cf.Stack(members=members).fit(some)(rows) for some in (counted, repeated, rows))
    np.testing.assert_allclose(one, other, atol=1e-6)
    assert np.abs(one - plain).max() > 0.1


@pytest.mark.parametrize("folds", [5, 3], ids=["the same folds", "other folds"])
@pytest.mark.parametrize("grouped", [False, True])
def test_a_cross_fitted_stack_against_naive_loops(folds, grouped):
    data = reference.random_data(3, rows=90)
    group = np.arange(90) // 3 if grouped else None
    model = cf.CrossFitted(cf.Stack(members=[Means(), Means(is_by_action=False)]), folds)
    rows = rows_of(data, model, group=group)
    units = rows.examples.units.tolist() if group is None else group.tolist()
    near(rows.q, reference.stack_means(data, units, folds))


def test_what_is_fitted_without_two_folds_serves_both():
    fits = []

    class Watched(Means):
        def fit(self, examples):
            fits.append(len(examples))
            return Means.fit(self, examples)

    _ = rows_of(reference.random_data(3, rows=90), cf.CrossFitted(cf.Stack(members=[Watched()]))).q
    assert len(fits) == 5 * 4 / 2 + 5


def test_a_useless_member_gets_nothing_and_a_perfect_one_all():
    data = reference.random_data(4, rows=400)
    truth = np.random.default_rng(0).normal(size=(400, 4))
    data.r = truth[np.arange(400), data.a] + 0.1 * np.random.default_rng(1).normal(size=400)
    members = [cf.SharedRidge(), Oracle(truth[::-1]), Oracle(truth), LinearRegression()]
    shares = list_shares(cf.CrossFitted(cf.Stack(members=members)), rows_of(data).examples)
    assert (shares[:, 2] > 0.95).all()
    assert (shares[:, 1] < 0.02).all()


def test_the_usual_stack_is_as_good_as_a_ridge_on_linear_rewards_and_better_on_others():
    """Losses are mean squared errors of predictions of all actions, and noise has a variance of 0.25."""
    data = reference.random_data(5, rows=600)
    examples, noise = rows_of(data).examples, np.random.default_rng(0).normal(size=600) / 2
    linear, wave = data.x[:, :1] + np.arange(4), np.tile(3 * np.sign(np.sin(2 * data.x[:, 1:2])), 4)
    losses = []
    for truth in (linear, wave):
        some = replace(examples, rewards=truth[np.arange(600), data.a] + noise)
        losses.append([np.square(one.predictions(some) - truth).mean() for one in (cf.CrossFitted(), as_best())])
    assert losses[0][1] < losses[0][0] + 0.01
    assert losses[1][1] < 0.3 * losses[1][0]


def as_best():
    return cf.CrossFitted(cf.Stack())


@pytest.mark.parametrize("binary", [False, True])
def test_no_row_has_a_say_in_its_own_prediction(binary):
    data = reference.random_data(6, rows=150, binary=binary)
    group = np.arange(150) // 5
    before = rows_of(data, "best", group=group).q
    data.r[52] += 1000.0
    after = rows_of(data, "best", group=group).q
    np.testing.assert_array_equal(after[50:55], before[50:55])
    assert np.abs(after - before).max() > 1


def test_predictions_stay_within_the_rewards_that_were_seen():
    data = reference.random_data(7, rows=100)
    wild = Oracle(np.full((100, 4), 50.0))
    q = rows_of(data, cf.Stack(members=[wild])).q
    assert (q == data.r.max()).all()


def test_best_is_the_cross_fitted_stack():
    log = log_of(reference.random_data(8))
    best = as_model("best", log)
    assert (type(best), type(best.model), best.model.folds, best.folds, best.fit_noise) == (
        *(cf.CrossFitted, cf.Stack, 5, 5),
        "known",
    )
    assert as_model("stack:folds=4", log).folds == 4
    with pytest.raises(cf.ParameterError, match=r"^unknown model `bset`. Did you mean `best`\? Known: default, best, "):
        as_model("bset", log)
    doses = reference.random_doses(8)
    with pytest.raises(cf.ParameterError, match=r"^`reward_model` must suit actions that are doses, got CrossFitted.$"):
        cf.evaluate(dose_log(doses), doses.target, reward_model="best")


def test_the_ladder_of_a_stack_starts_from_dm_with_the_noise_of_a_linear_model():
    rows = rows_of(reference.random_data(9, rows=200), cf.CrossFitted(CHEAP))
    judge = cf.Ladder().resolve(rows)
    assert (judge.ladders[-1][0].max_weight, judge.knows_pulls) == (0.0, True)
    linear = cf.CrossFitted().settle(rows.examples)
    one, other = (model.find_pulls(rows.examples, [0.0]) for model in (rows.fitted, linear))
    residuals = np.random.default_rng(0).normal(size=200)
    near(one.move(rows.examples, residuals), other.move(rows.examples, residuals))


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize("jump", [0.0, 2.0], ids=["linear", "jumps"])
def test_the_noise_of_a_linear_model_is_no_less_than_that_of_dm_with_the_stack(jump):
    """Over 40 logs with the same context; noise that is told right would be below 0.8 of it with a chance of 1.4 %."""
    rng = np.random.default_rng(1)
    context = rng.normal(size=(300, 2))
    scores = context @ rng.normal(size=(2, 3))
    logging, target = (softmax(bold * scores, axis=1) for bold in (0.5, 2.0))
    means, values, told = scores + jump * np.sign(np.sin(3 * context[:, :1])), [], []
    for _ in range(40):
        action = (logging.cumsum(axis=1) > rng.random((300, 1))).argmax(axis=1)
        reward = means[np.arange(300), action] + rng.normal(size=300)
        log = cf.Log(context=context, action=action, reward=reward, logging_probs=logging, actions=range(3))
        rows = cf.Rows.of(log, as_target(target, log), as_model("best", log))
        values.append(cf.DM().value(rows))
        told.append(ModelPull(0.0).contributions(rows).var() / 300)
    assert 0.8 < np.sqrt(np.mean(told)) / np.std(values, ddof=1) < 2.0


def test_a_stack_that_a_sample_taught_knows_no_noise_of_other_rows():
    examples = rows_of(reference.random_data(9, rows=200)).examples
    for count, noise in ((200, "known"), (201, "unknown")):
        assert fit_on_sample(cf.CrossFitted(CHEAP), {"target": examples}, count)["target"].fit_noise == noise


def test_the_same_answer_by_both_engines_and_by_any_threads(save_table):
    path = save_table(made(700))
    asked = {"candidates": "default", "selector": "default", "reward_model": cf.CrossFitted(CHEAP)}
    several = [
        answer(*engine, path, threads=threads, **asked)
        for *engine, threads in (("memory", 1), ("memory", 2), ("local", 2))
    ]
    assert several[0].value == several[1].value
    assert several[2].value == pytest.approx(several[0].value, rel=1e-9)
    assert several[2].stderr == pytest.approx(several[0].stderr, rel=1e-6)


def test_with_many_actions_only_members_take_part_that_predict_all_at_once():
    assert len(make_usual_members(MAX_ACTIONS_FOR_ALL_MEMBERS)) == 5
    assert [type(one) for one in make_usual_members(MAX_ACTIONS_FOR_ALL_MEMBERS + 1)] == [
        cf.PooledRidge,
        cf.LogisticRidge,
    ]


def test_slow_members_learn_from_enough_rows_and_linear_ones_from_all(monkeypatch):
    seen = []

    class Watched(Means):
        def fit(self, examples):
            seen.append(len(examples))
            return Means.fit(self, examples)

    class WatchedRidge(cf.SharedRidge):
        def fit(self, examples):
            seen.append(-len(examples))
            return cf.SharedRidge.fit(self, examples)

    monkeypatch.setattr(_stacked, "MAX_ROWS_FOR_SLOW_MEMBERS", 50)
    cf.Stack(members=[Watched(), WatchedRidge()]).fit(rows_of(reference.random_data(9, rows=200)).examples)
    assert max(seen) == 50
    assert min(seen) == -200


def test_rows_are_predicted_the_same_however_few_at_a_time(monkeypatch):
    rows = rows_of(reference.random_data(9, rows=100))
    predict = cf.Stack(members=[cf.SharedRidge(), cf.NearestNeighbours(), DecisionTreeRegressor()]).fit(rows.examples)
    assert isinstance(predict, Stacked)
    whole = predict(rows.examples)
    monkeypatch.setattr("counterfold.base.capacity.NUMBERS", 70)
    near(predict(rows.examples), whole)
    assert predict(rows.examples.take(slice(0))).shape == (0, 4)


BAD = {
    "a text": ("ridge", r"^`members` must be a list of reward models or scikit-learn estimators, .*, got 'ridge'\.$"),
    "one model": (cf.SharedRidge(), r"^`members` must be a list .*, got SharedRidge\("),
    "a class": (
        [cf.SharedRidge],
        r"^`members` must be reward models that can be fitted, .* got <class .*> among them\.$",
    ),
    "a name": (["default"], r"^`members` must be reward models that can be fitted, .* got 'default' among them\.$"),
    "not fitted": ([cf.CrossFitted()], r"^`members` must be reward models that can be fitted, .* got CrossFitted\("),
    "doses": ([cf.RidgeOnDose()], r"^`members` must be reward models .* got RidgeOnDose\("),
}


@pytest.mark.parametrize(("members", "message"), BAD.values(), ids=BAD)
def test_bad_members_are_refused(members, message):
    with pytest.raises(cf.ParameterError, match=message):
        cf.Stack(members=members)


@pytest.mark.parametrize("settings", [{"folds": 2}, {"aim": 2.0}, {"folds": 2.5}])
def test_bad_settings_are_refused(settings):
    with pytest.raises(cf.ParameterError, match=r"^`(folds|aim)` must be .*, got "):
        cf.Stack(**settings)


def test_a_member_that_fails_is_named():
    rows = rows_of(reference.random_data(9), cf.CrossFitted(cf.Stack(members=[cf.SharedRidge(), LogisticRegression()])))
    with pytest.raises(cf.ModelError, match=r"LogisticRegression\(\) on \d+ rows failed with ValueError"):
        _ = rows.q
