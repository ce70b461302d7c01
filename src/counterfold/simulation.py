"""Problems whose true value is known: the demonstration, and the pieces that other makers of problems share with it."""

from dataclasses import dataclass

import numpy as np

from counterfold.base.arrays import Floats, Ints
from counterfold.log.log import Log


@dataclass(frozen=True, eq=False)
class Problem:
    """A log, a target and the value that the target truly has on it.

    `predictions` are those of a user's own model, if there are any, and `scale` is the unit in which errors count.
    """

    log: Log
    target: Floats
    truth: float
    predictions: Floats | None = None
    scale: float = 1.0


def draw_digits(seed: int) -> Problem:
    """Return scikit-learn's digits, guessed by a nearly uniform policy, and a sharper policy: the demonstration.

    An action is a digit, and the reward is 1 if it is the right one. Half of the images are logged. Each policy is
    trained on a bootstrap sample of the other half, as in the paper's experiments.
    """
    from sklearn.datasets import load_digits

    features, labels = load_digits(return_X_y=True)
    rng = np.random.default_rng(seed)
    logged, training = np.split(rng.permutation(len(features)), [len(features) // 2])
    samples = [rng.choice(training, len(training)) for _ in range(2)]
    luck = rng.random(len(logged))
    context = features[logged]
    right = labels[logged]

    def train_policy(sample: Ints, inverse_temperature: float) -> Floats:
        coefficients, intercepts = fit_policy(features, labels, sample)
        return softmax(inverse_temperature * softmax(context @ coefficients.T + intercepts))

    logging = train_policy(samples[0], inverse_temperature=1.0)
    target = train_policy(samples[1], inverse_temperature=10.0)
    action = draw_actions(logging, luck)
    log = Log(
        context=context,
        action=action,
        reward=(action == right).astype(np.float64),
        logging_probs=logging,
        actions=range(logging.shape[1]),
    )
    truth = float(target[np.arange(len(right)), right].mean())
    return Problem(log, target, truth)


def fit_policy(features: Floats, codes: Ints, sample: Ints) -> tuple[Floats, Floats]:
    """Return the coefficients (A x d) and intercepts (A) of a multinomial logistic regression on a sample of rows.

    One all-zero row per class is put in front, so that no class is missing.
    """
    from sklearn.linear_model import LogisticRegression

    every_class = np.arange(codes.max() + 1)
    x = np.vstack([np.zeros((len(every_class), features.shape[1])), features[sample]])
    y = np.concatenate([every_class, codes[sample]])
    model = LogisticRegression(solver="newton-cholesky", max_iter=1000).fit(x, y)
    if len(every_class) == 2:  # scikit-learn fits only the difference of two classes
        return np.vstack([0 * model.coef_, model.coef_]), np.array([0.0, model.intercept_[0]])
    return model.coef_, model.intercept_


def softmax(scores: Floats) -> Floats:
    """Return probabilities that are proportional to the exponentials of the scores, row by row."""
    exponentials = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(exponentials / exponentials.sum(axis=1, keepdims=True))


def draw_actions(probabilities: Floats, luck: Floats) -> Ints:
    """Return the action of each row that a uniform random number in [0, 1) picks by the row's probabilities."""
    totals = probabilities.cumsum(axis=1)
    limits = luck[:, None] * totals[:, -1:]  # rounding may leave the last total a little below 1
    return np.asarray((totals > limits).argmax(axis=1))
