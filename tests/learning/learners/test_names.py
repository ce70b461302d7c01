"""Names of learners: readable, the same in every run, and others for other learners."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.linear_model import Lasso, LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

import counterfold as cf
from counterfold.base.messages import show
from counterfold.learning.contenders import Contender, Numbered, resolve_learners
from counterfold.learning.learners.base import Learner
from counterfold.policies.learned.scorers import LinearScorer
from learning_logs import draw_log


class Level:
    """A regressor that predicts one number, and has no text of its own."""

    def __init__(self, level=0.0):
        self.level = level

    def fit(self, _features, _rewards):
        return self

    def predict(self, features):
        return np.full(len(features), self.level)


class Wrapped(BaseEstimator):
    """A regressor whose text has that of another one, which has none of its own."""

    def __init__(self, inner=None):
        self.inner = inner

    def fit(self, _features, _rewards):
        return self

    def predict(self, features):
        return self.inner.predict(features)


class Slope(cf.Learner):
    """A learner of a user's own, which is no dataclass: it likes one action, the more the larger the first column."""

    is_greedy = False
    sees_rewards = False

    def __init__(self, action):
        self.action = np.array([action, 0.0])

    def explain_lack(self, _rows):
        return "is too steep" if self.action[0] > 1 else None

    def fit(self, rows, seed):  # noqa: ARG002 (as all learners)
        slopes = np.zeros((2, 3))
        slopes[0, int(self.action[0])] = 1.0
        return LinearScorer(np.zeros(3), slopes, np.ones(2))


@dataclass(frozen=True)
class Steps(Slope):
    """A learner of a user's own, with settings of every kind."""

    action: float = 1.0
    steps: Sequence[int] = field(default_factory=lambda: [1, 2])
    model: object = Ridge()
    table: object = None


def names(*learners):
    return [one.name for one in resolve_learners(list(learners))]


def test_names_hold_no_places_in_memory():
    assert cf.ModelLearner(Level()).name == "ModelLearner(Level)"
    assert cf.ModelLearner(Wrapped(Level())).name == "ModelLearner(Wrapped(inner=Level))"
    assert cf.ModelLearner(cf.Stack([cf.SharedRidge(), Level()])).name.endswith("Level], folds=5, aim=0.5))")
    assert Steps(model=Level()).name == "Steps(model=Level)"
    assert "0x" not in Steps(steps=[len, lambda: 3, show]).name


def test_settings_that_are_the_usual_ones_are_not_said():
    assert cf.ModelLearner().name == cf.ModelLearner(cf.Stack()).name == "ModelLearner"
    assert cf.WeightedClassifier().name == "WeightedClassifier"
    assert cf.Imitation(1).name == cf.Imitation(1.0).name == "Imitation"
    assert Steps(1, [1, 2], Ridge()).name == "Steps"
    assert Steps(table=np.array([1, 2])).name == "Steps(table=array([1, 2]))"


def test_other_settings_have_other_names():
    several = [GradientBoostingRegressor(learning_rate=0.05, max_depth=depth, n_estimators=200) for depth in (3, 4)]
    found = names(*map(cf.ModelLearner, several))
    assert "max_depth=3" not in found[0]  # it is the usual one
    assert "max_depth=4" in found[1]
    stacks = [cf.Stack([cf.SharedRidge(), Ridge(alpha), Lasso(), GradientBoostingRegressor()]) for alpha in (2.0, 3.0)]
    found = names(*map(cf.ModelLearner, stacks))
    assert len({show(Contender(one, 0.5).name) for one in resolve_learners(list(map(cf.ModelLearner, stacks)))}) == 2
    assert [("alpha=2.0" in found[0]), ("alpha=3.0" in found[1])] == [True, True]


def test_learners_that_would_be_shown_alike_are_numbered():
    assert names(cf.ModelLearner(Level(1.0)), cf.ModelLearner(Level(2.0)), cf.ModelLearner(Level(3.0))) == [
        "ModelLearner(Level)",
        "ModelLearner(Level)#2",
        "ModelLearner(Level)#3",
    ]
    assert names(Slope(0), Slope(1)) == ["Slope", "Slope#2"]
    long = [make_pipeline(*[GaussianNB(var_smoothing=one) for one in (1e-3, scale, *[1e-5] * 9)]) for scale in (1, 2)]
    assert [len(one) < 230 for one in names(*long)] == [True, True]
    assert len({show(one) for one in names(*long)}) == 2


FOREST = cf.PolicyForest(trees=8)


@pytest.mark.parametrize("twins", [(FOREST, FOREST), (cf.Imitation(1), "imitation"), ("policy-tree", cf.PolicyTree())])
def test_learners_that_are_equal_are_refused(twins):
    with pytest.raises(cf.ParameterError, match=r"`learners` must be different learners, got `.*` more than once\."):
        resolve_learners(list(twins))


@pytest.mark.parametrize("one", [lambda: Slope(1), LogisticRegression, lambda: cf.ModelLearner(cf.Stack([Ridge(2.0)]))])
def test_copies_that_cannot_be_told_to_be_equal_are_numbered(one):
    assert names(one(), one())[1].endswith("#2")


def test_what_cannot_be_compared_is_taken_for_different():
    assert names(cf.ModelLearner(Level(lambda: 1)), cf.ModelLearner(Level(lambda: 2)))[1].endswith("#2")
    one = Slope(1)
    with pytest.raises(cf.ParameterError, match="got `Slope` more than once"):
        resolve_learners([one, one])


def test_a_numbered_learner_does_what_the_learner_does():
    class Others(Slope):
        is_greedy = True
        sees_rewards = True

    for learner in (Slope(1), Slope(2), Others(1)):
        numbered = Numbered.of(learner, 2)
        told = {name for name in vars(Learner) if name in Learner.__annotations__} - {"extra"}
        assert told == {"is_greedy", "sees_rewards", "complexity"}
        assert all(getattr(numbered, name) == getattr(learner, name) for name in told)
        assert numbered.explain_lack(None) == learner.explain_lack(None)
    log = draw_log(rows=200)
    learned = cf.learn(log, [Slope(0), Slope(1), Slope(2)], shares=1, progress=False)
    assert learned.left_out == {"Slope#3": "is too steep"}
    alone = cf.learn(log, [Slope(1)], shares=1, progress=False)
    assert learned.table[1].value == alone.table[0].value != learned.table[0].value
    assert (learned.chosen, alone.chosen) == ("Slope#2", "Slope")
