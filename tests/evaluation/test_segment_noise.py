"""The stated errors of segments: they hold the noise of learning, and differences are covered at once."""

import numpy as np
import pytest
from scipy.special import softmax

import counterfold as cf

ROWS = 600


def draw(seed, context, slopes):
    rng = np.random.default_rng(seed)
    scores = context @ slopes
    logging, target = softmax(0.5 * scores, axis=1), softmax(2.0 * scores, axis=1)
    action = (logging.cumsum(axis=1) > rng.random((ROWS, 1))).argmax(axis=1)
    reward = scores[np.arange(ROWS), action] + rng.normal(size=ROWS)
    return logging, target, action, reward


@pytest.mark.slow
@pytest.mark.statistical
def test_errors_of_segments_are_not_smaller_than_what_they_are_off_by():
    """In 150 logs of the same contexts, the errors of 4 segments' values and the standard deviations of these.

    What is stated holds what may be left of a bias, too. An error of 0.85 of the standard deviation would pass with a
    chance of 1 %, and a right one fail with one of 1 %; a twentieth of a standard deviation is its noise in 4 segments.
    """
    rng = np.random.default_rng(1)
    context, slopes = rng.normal(size=(ROWS, 3)), rng.normal(size=(3, 4))
    place = np.digitize(context[:, 0], [-0.7, 0.0, 0.7]).astype(str)
    values, stated = [], []
    for seed in range(150):
        logging, target, action, reward = draw(seed, context, slopes)
        log = cf.Log(
            context=context,
            action=action,
            reward=reward,
            logging_probs=logging,
            actions=range(4),
            by={"place": place},
        )
        lines = sorted(cf.evaluate(log, target, progress=False).segments, key=lambda line: line.segment)
        values.append([line.value for line in lines])
        stated.append([line.stderr for line in lines])
    ratio = np.sqrt(np.mean(np.square(stated), axis=0)) / np.std(values, axis=0)
    assert ratio.mean() > 0.95
