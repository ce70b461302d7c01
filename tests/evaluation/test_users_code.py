"""What users bring may raise, return nonsense or change its input: one sentence says whose code it was."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.base import BaseEstimator
from sklearn.linear_model import Ridge

import counterfold as cf
from counterfold.estimators.base import Estimator
from counterfold.models.base import TrainedModel
from counterfold.selectors.base import Selector

ROWS, SHARES = 120, (0.1, 0.8, 0.1)


@pytest.fixture(params=["memory", "local"])
def ask(request, tmp_path):
    """Return a function that evaluates a target on an engine."""
    rng = np.random.default_rng(2)
    action = rng.integers(3, size=ROWS)
    columns = {"x": rng.normal(size=ROWS), "action": action, "reward": rng.normal(size=ROWS) + action}
    columns |= {"propensity": np.full(ROWS, 1 / 3)} | {
        f"target.{one}": [share] * ROWS for one, share in enumerate(SHARES)
    }
    pq.write_table(pa.table(columns), tmp_path / "log.parquet")

    def evaluate(target="target", **given):
        return cf.evaluate(tmp_path / "log.parquet", target, engine=request.param, progress=False, **given)

    return evaluate


def fail(*_):
    raise KeyError("age")


def change(array):
    array[:] = 0.0


@dataclass(frozen=True)
class Mine(TrainedModel):
    """A model that does what it is told to, when it is fitted or asked."""

    at_fit: Any = len
    at_predict: Any = lambda rows: np.zeros((len(rows), rows.n_actions))

    def fit(self, examples):
        self.at_fit(examples)
        return self.at_predict


class Odd(BaseEstimator):
    """A scikit-learn estimator that does what it is told to."""

    def __init__(self, at_fit=len, at_predict=len):
        self.at_fit, self.at_predict = at_fit, at_predict

    def fit(self, features, _rewards):
        self.at_fit(features)
        return self

    def predict(self, features):
        return self.at_predict(features)


MODELS = {
    "fit raises": (Mine(at_fit=fail), r"the reward model Mine (on \d+ rows )?failed with KeyError: 'age'\.$"),
    "predict raises": (Mine(at_predict=fail), r"^the reward model Mine failed with KeyError: 'age'\.$"),
    "a vector": (
        Mine(at_predict=lambda rows: np.zeros(len(rows))),
        r"for each of 3 actions in each of \d+ rows, got sha",
    ),
    "nothing": (Mine(at_predict=lambda _: None), r"for each of 3 actions in each of \d+ rows, got shape \(\)"),
    "NaN": (Mine(at_predict=lambda rows: np.full((len(rows), 3), np.nan)), "must predict finite rewards"),
    "text": (Mine(at_predict=lambda rows: np.full((len(rows), 3), "a")), r"must predict numbers, got array\(\[\['a'"),
    "ragged": (Mine(at_predict=lambda _: [[1], [2, 3]]), r"must predict numbers, got \[\[1\], \[2, 3\]\]\."),
    "complex": (Mine(at_predict=lambda rows: np.ones((len(rows), 3)) * 1j), "must predict numbers, got complex128"),
    "sklearn fit": (Odd(at_fit=fail), r"^fitting the reward model Odd\(.* on \d+ rows failed with KeyError: 'age'\.$"),
    "sklearn predict": (Odd(at_predict=fail), r"^predicting \d+ rows by the reward model Odd\(.* failed with KeyError"),
    "sklearn number": (Odd(), r"must predict one number in each of \d+ rows, got shape \(\) of float64\.$"),
    "sklearn complex": (Odd(at_predict=lambda x: np.ones(len(x)) * 1j), r"of complex128\.$"),
    "sklearn text": (
        Odd(at_predict=lambda x: np.full(len(x), "a")),
        "failed with ValueError: could not convert string",
    ),
}


@pytest.mark.parametrize(("model", "message"), MODELS.values(), ids=MODELS)
def test_a_model_that_fails_is_named(model, message, ask):
    with pytest.raises(cf.ModelError, match=message) as caught:
        ask(reward_model=model)
    assert "\n" not in str(caught.value)
    assert (caught.value.__cause__ is not None) == ("failed with" in str(caught.value))
    if isinstance(model, Mine):
        with pytest.raises(cf.ModelError, match=message):
            ask(reward_model=cf.CrossFitted(model))


@pytest.mark.parametrize("name", ["importance", "context", "rewards", "ids"])
def test_a_model_cannot_change_the_log(name, ask):
    plain = ask(reward_model=Mine()).value

    def predict(rows):
        change(getattr(rows, name))
        return np.zeros((len(rows), rows.n_actions))

    try:
        assert ask(reward_model=Mine(at_predict=predict)).value == plain
    except cf.ModelError as error:
        assert str(error) == "the reward model Mine failed with ValueError: assignment destination is read-only."  # noqa: PT017


def test_an_error_of_memory_is_not_the_models(ask):
    def predict(_):
        raise MemoryError

    with pytest.raises(cf.DataError, match=r"^the evaluation took more memory than there was"):
        ask(reward_model=Mine(at_predict=predict))


WRONG = {
    "class": (Ridge, r"^`reward_model` must be an object, got the class Ridge\. Did you mean `Ridge\(\)`\?$"),
    "own class": (cf.SharedRidge, r"^`reward_model` must be an object, got the class SharedRidge\."),
    "function": (
        fail,
        r"^`reward_model` must be a reward model, a scikit-learn estimator or predictions .* got function",
    ),
}


@pytest.mark.parametrize(("model", "message"), WRONG.values(), ids=WRONG)
def test_what_is_no_model_is_refused(model, message, ask):
    with pytest.raises(cf.ParameterError, match=message):
        ask(reward_model=model)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: cf.CrossFitted(model=3), r"^`model` must be a reward model that can be fitted, .*, got 3\.$"),
        (lambda: cf.CrossFitted(model=Ridge()), r"such as SharedRidge\(\) or PerAction\(Ridge\(\)\), got Ridge\(\)\.$"),
        (lambda: cf.PerAction(3), r"^`estimator` must have `fit` and `predict`, such as Ridge\(\), got 3\.$"),
        (
            lambda: cf.ActionEncoded(Ridge),
            r"^`estimator` must have `fit` and `predict`, such as Ridge\(\), got <class ",
        ),
    ],
)
def test_what_models_are_made_of_is_checked_at_once(make, message):
    with pytest.raises(cf.ParameterError, match=message):
        make()


TARGETS = {
    "raises": (
        fail,
        r"^the function `fail` of `target`, on a context of shape \(120, 1\), failed with KeyError: 'age'\.$",
    ),
    "actions": (cf.Actions(fail), r"^the function `fail` of `target`, .* failed with KeyError: 'age'\.$"),
    "probabilities": (cf.Probabilities(fail), r"^the function `fail` of `target`, .* failed with KeyError: 'age'\.$"),
    "changes": (
        change,
        r"^the function `change` of `target`, .* failed with ValueError: assignment destination is rea",
    ),
    "takes nothing": (
        lambda: 1,
        r"^the function `<lambda>` of `target`, .* failed with TypeError: .* 0 positional argu",
    ),
    "returns itself": (
        lambda _: fail,
        r"^the function `<lambda>` of `target` must return probabilities or labels, got <f",
    ),
    "returns nothing": (lambda _: None, r"^`target` must be a label in every row, got None in 120 of 120 rows"),
    "returns too little": (lambda _: np.zeros(3), r"^`target` must have one entry per row \(120\), got 3\."),
    "is not fitted": (
        Ridge(),
        r"^the method `predict` of `Ridge`, which is the target, failed with NotFittedError: .*",
    ),
}


@pytest.mark.parametrize(("target", "message"), TARGETS.values(), ids=TARGETS)
def test_a_target_that_fails_is_named(target, message, ask):
    with pytest.raises(cf.CounterfoldError, match=message) as caught:
        ask(target)
    assert (caught.value.__cause__ is not None) == ("failed with" in str(caught.value))


def test_shares_that_are_no_numbers_are_refused():
    log = cf.Log(action=[0, 1, 0, 1], reward=[1, 0, 2, 3], propensity=[0.5] * 4)
    with pytest.raises(cf.DataError, match=r"^`target` as \{label: probability\} must be numbers, got <function fail"):
        cf.estimate(log, {0: fail}, cf.IPS())


@dataclass(frozen=True)
class Guess(Estimator):
    """An estimator that does what it is told to."""

    how: Any = None

    def contributions(self, rows):
        return self.how(rows)

    @property
    def name(self):
        return "Guess"


ESTIMATORS = {
    "raises": (fail, "failed with KeyError: 'age'"),
    "changes": (lambda rows: change(rows.weights), "failed with ValueError: assignment destination is read-only"),
    "NaN": (
        lambda rows: rows.rewards * np.nan,
        "must return finite numbers, got nan in 120 of 120 rows, first at row 0",
    ),
    "too few": (lambda _: np.zeros(3), r"must return an array of one number per row \(120\), got array"),
    "list": (lambda rows: [1.0] * len(rows), r"must return an array of one number per row \(120\), got \[1.0, "),
    "nothing": (lambda _: None, r"must return an array of one number per row \(120\), got None"),
    "text": (lambda rows: np.full(len(rows), "a"), r"must return an array of one number per row \(120\), got array"),
}


@pytest.mark.parametrize(("how", "message"), ESTIMATORS.values(), ids=ESTIMATORS)
def test_an_estimator_that_fails_is_named(how, message, ask):
    with pytest.raises(cf.ParameterError, match=rf"^the estimator Guess {message}"):
        ask(candidates=[cf.IPS(), Guess(how)])
    log = cf.Log(action=np.arange(ROWS) % 3, reward=np.arange(ROWS), propensity=np.full(ROWS, 1 / 3))
    with pytest.raises(cf.ParameterError, match=rf"^the estimator Guess {message}"):
        cf.estimate(log, {1: 1.0}, Guess(how))


def test_an_estimator_of_a_user_may_win(ask):
    assert ask(candidates=[Guess(lambda rows: rows.rewards * rows.weights)]).selected == "Guess"


@dataclass(frozen=True)
class Root(Estimator):
    """An estimator that is no mean, and does not say so."""

    def contributions(self, rows):
        return rows.weights * rows.rewards

    def combine_means(self, means):
        return np.sqrt(means[0])


def test_an_estimator_that_is_no_mean_must_say_so(ask):
    with pytest.raises(cf.ParameterError, match=r"^the estimator Root must set `is_linear = False`"):
        ask(candidates=[cf.IPS(), Root()])


@dataclass(frozen=True)
class Choose(Selector):
    """A selector that does what it is told to."""

    how: Any = None

    def scores(self, _rows, candidates, _rng, _pool):
        return self.how(candidates)

    def score_sums(self, _sums, candidates, _rng):
        return self.how(candidates)


SELECTORS = {
    "raises": (fail, "failed with KeyError: 'age'"),
    "NaN": (
        lambda several: np.full(len(several), np.nan),
        r"must return one score per candidate \(2\), got array\(\[nan",
    ),
    "too few": (lambda _: np.zeros(1), r"must return one score per candidate \(2\), got array\(\[0\.\]\)"),
    "nothing": (lambda _: None, "failed with AttributeError"),
}


@pytest.mark.parametrize(("how", "message"), SELECTORS.values(), ids=SELECTORS)
def test_a_selector_that_fails_is_named(how, message, ask):
    with pytest.raises(cf.ParameterError, match=rf"^the selector Choose {message}"):
        ask(candidates=[cf.IPS(), cf.SNIPS()], selector=Choose(how))
