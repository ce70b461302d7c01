"""Classification data as a bandit with known truth: the protocol of the paper's experiments."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from counterfold.arrays import Floats, Ints
from counterfold.log import Log

Policies = Literal["probabilities", "logits"]


@dataclass(frozen=True, eq=False)
class Problem:
    """A log, a target and the value that the target truly has on it."""

    log: Log
    target: Floats
    truth: float


@dataclass(frozen=True)
class Classification:
    r"""An action is a class, and the reward is 1 if it is the right one.

    Half of the rows, at random, are logged; the other half trains both policies, each on a bootstrap sample with one
    all-zero row per class in front, by multinomial logistic regression. A policy is
    $\pi(a \mid x) \propto \exp(\beta f_a(x))$, where $f$ is the predicted probability of the class ("probabilities", as
    in the paper's published results) or its logit ("logits", as in the paper's text), and $\beta$ the inverse
    temperature. The truth is the mean over the logged half of the target's probability of the right class.

    Cief, Kveton, Kompan (2025), "Cross-validated off-policy evaluation", section 6.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(3, size=200)
    >>> features = np.eye(3)[labels] + 0.3 * rng.normal(size=(200, 3))
    >>> problem = Classification(logging_beta=1.0, target_beta=10.0).problem(features, labels, rng)
    >>> problem.log
    Log(100 rows, 3 actions, 3 context columns, full logging probabilities)
    >>> problem.truth > 0.9
    True
    """

    logging_beta: float = 1.0
    target_beta: float = 10.0
    policies: Policies = "probabilities"

    def problem(self, features: Floats, labels: NDArray[Any], rng: np.random.Generator) -> Problem:
        """Return one random problem."""
        classes, codes = np.unique(labels, return_inverse=True)
        order = rng.permutation(len(features))
        logged, training = np.split(order, [len(features) // 2])
        x, right = features[logged], codes[logged]
        logging, target = (
            self._policy(beta, features, codes, rng.choice(training, len(training)))(x)
            for beta in (self.logging_beta, self.target_beta)
        )
        action = (logging.cumsum(axis=1) > rng.random((len(x), 1))).argmax(axis=1)
        reward = (action == right).astype(np.float64)
        log = Log(context=x, action=classes[action], reward=reward, logging_probs=logging, actions=classes.tolist())
        return Problem(log, target, float(target[np.arange(len(x)), right].mean()))

    def _policy(self, beta: float, features: Floats, codes: Ints, sample: Ints) -> Callable[[Floats], Floats]:
        from sklearn.linear_model import LogisticRegression

        every_class = np.arange(codes.max() + 1)
        x = np.vstack([np.zeros((len(every_class), features.shape[1])), features[sample]])
        y = np.concatenate([every_class, codes[sample]])
        model = LogisticRegression(solver="newton-cholesky", max_iter=1000).fit(x, y)
        scores = model.predict_proba if self.policies == "probabilities" else model.decision_function
        return lambda context: softmax(beta * scores(context))


def softmax(logits: Floats) -> Floats:
    """Return probabilities proportional to the exponentials, row by row."""
    exponentials = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(exponentials / exponentials.sum(axis=1, keepdims=True))
