"""Classification data as a bandit with known truth: the protocol of the paper's experiments."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Self

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
        return self.of(Trial.of(features, labels, rng))

    def of(self, trial: "Trial") -> Problem:
        """Return the problem that these temperatures make of a trial."""
        logging, target = (
            softmax(beta * (logits if self.policies == "logits" else softmax(logits)))
            for beta, logits in ((self.logging_beta, trial.logging_logits), (self.target_beta, trial.target_logits))
        )
        rows = np.arange(len(trial.right))
        action = (logging.cumsum(axis=1) > trial.luck[:, None]).argmax(axis=1)
        log = Log(
            context=trial.context,
            action=trial.classes[action],
            reward=(action == trial.right).astype(np.float64),
            logging_probs=logging,
            actions=trial.classes.tolist(),
        )
        return Problem(log, target, float(target[rows, trial.right].mean()))


@dataclass(frozen=True, eq=False)
class Fit:
    """The coefficients (A x d) and intercepts (A) of a policy's logistic regression: small, and slow to get."""

    coefficients: Floats
    intercepts: Floats

    @classmethod
    def on(cls, features: Floats, codes: Ints, sample: Ints) -> Self:
        """Return the regression on a sample with one all-zero row per class in front, so that no class is missing."""
        from sklearn.linear_model import LogisticRegression

        every_class = np.arange(codes.max() + 1)
        x = np.vstack([np.zeros((len(every_class), features.shape[1])), features[sample]])
        y = np.concatenate([every_class, codes[sample]])
        model = LogisticRegression(solver="newton-cholesky", max_iter=1000).fit(x, y)
        if len(every_class) == 2:  # only the difference of the two classes is fitted then
            return cls(np.vstack([0 * model.coef_, model.coef_]), np.array([0.0, model.intercept_[0]]))
        return cls(model.coef_, model.intercept_)

    def logits(self, features: Floats) -> Floats:
        """Return a score per class."""
        return np.asarray(features @ self.coefficients.T + self.intercepts)


Fits = Callable[[Callable[[], tuple[Fit, Fit]]], tuple[Fit, Fit]]
"""Returns what a function computes, or what it computed before."""


@dataclass(frozen=True, eq=False)
class Trial:
    """A random half of a dataset to be logged, the scores of both policies there, and the luck that draws actions."""

    context: Floats
    right: Ints
    classes: NDArray[Any]
    logging_logits: Floats
    target_logits: Floats
    luck: Floats

    @classmethod
    def of(
        cls,
        features: Floats,
        labels: NDArray[Any],
        rng: np.random.Generator,
        *,
        logged_rows: int | None = None,
        bootstrap: bool = True,
        fits: Fits = lambda compute: compute(),
    ) -> Self:
        """Return a random trial with half of the rows logged, or so many, and the others to train policies.

        `fits` may remember the policies' regressions, which take most of the time.
        """
        classes, codes = np.unique(labels, return_inverse=True)
        logged, training = np.split(rng.permutation(len(features)), [logged_rows or len(features) // 2])
        samples = [rng.choice(training, len(training)) if bootstrap else training for _ in range(2)]
        luck = rng.random(len(logged))
        one, two = fits(lambda: (Fit.on(features, codes, samples[0]), Fit.on(features, codes, samples[1])))
        x = features[logged]
        return cls(x, codes[logged], classes, one.logits(x), two.logits(x), luck)


def softmax(logits: Floats) -> Floats:
    """Return probabilities proportional to the exponentials, row by row."""
    exponentials = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(exponentials / exponentials.sum(axis=1, keepdims=True))
