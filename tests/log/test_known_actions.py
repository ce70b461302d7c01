"""An action that the log took, and that something else does not name: it is said what does not."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import counterfold as cf

ROWS = 300
rng = np.random.default_rng(0)
LABELS = np.array(["news", "sport", "video"])
LOG = pd.DataFrame({"age": rng.normal(size=ROWS), "action": LABELS[np.arange(ROWS) % 3], "propensity": 1 / 3})
LOG["reward"] = rng.integers(2, size=ROWS)
BOTH = pytest.mark.parametrize("engine", ["memory", "local"])


def refuse(log, target, message, engine, **named):
    with pytest.raises(cf.DataError, match=message) as caught:
        cf.evaluate(log, target, engine=engine, progress=False, **named)
    assert "never took it" not in str(caught.value)


@BOTH
@pytest.mark.parametrize("target", ["news", "uniform"])
def test_actions_lack_one(target, engine):
    sentence = (
        r"`action` must be one of the 2 known actions \(news, sport\), got video in 100 of 300 .* first at row 2\. "
    )
    refuse(
        LOG, target, f"{sentence}`actions` must list every action that the log took", engine, actions=["news", "sport"]
    )


@BOTH
def test_probabilities_lack_one(engine):
    probs = [{"news": 0.5, "sport": 0.5}] * ROWS
    log = LOG.drop(columns="propensity").assign(logging_probs=probs)
    sentence = (
        r"got video in 100 of 300 rows.*, first at row 2\. The probabilities name no such action: add it to them, or"
    )
    refuse(log, "news", sentence, engine)


@BOTH
def test_a_classifier_of_other_labels(engine):
    model = LogisticRegression().fit(LOG[["age"]], np.where(LOG.age > 0, 1, 2))
    sentence = r"got 1, 2 for 3: news, sport, video\. None of these is an action of the log: call them by the labels"
    refuse(LOG, model, sentence, engine)


@BOTH
def test_a_target_may_take_an_action_that_was_never_logged(engine):
    log = LOG.assign(new="weather")
    with pytest.raises(
        cf.DataError, match=r"got weather in .*\. If the log never took it, list all actions in `actions`"
    ):
        cf.evaluate(log, "new", engine=engine)
