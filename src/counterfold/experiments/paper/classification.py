"""Classification data as a bandit whose truth is known: the protocol of the paper's experiments."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from counterfold.arrays import Floats, Ints
from counterfold.experiments.paper.policies import fit_policies
from counterfold.experiments.problem import Problem, draw_actions, softmax
from counterfold.log import Log

Policies = Literal["probabilities", "logits"]


@dataclass(frozen=True, eq=False)
class LoggedHalf:
    """The rows of a dataset that are logged, the logits of both policies there, and what draws the actions.

    `right` are the codes of the right classes, and `luck` is a uniform random number per row.
    """

    context: Floats
    right: Ints
    classes: NDArray[Any]
    logging_logits: Floats
    target_logits: Floats
    luck: Floats

    @classmethod
    def draw(
        cls,
        features: Floats,
        labels: NDArray[Any],
        rng: np.random.Generator,
        *,
        logged_rows: int | None = None,
        bootstrap: bool = True,
        policy_file: Path | None = None,
    ) -> Self:
        """Return a random half of the rows, or `logged_rows` of them; the others train both policies.

        Each policy is trained on a bootstrap sample of the others, or on all of them. `policy_file` keeps the policies.
        """
        classes, codes = np.unique(labels, return_inverse=True)
        logged, training = np.split(rng.permutation(len(features)), [logged_rows or len(features) // 2])
        samples = [rng.choice(training, len(training)) if bootstrap else training for _ in range(2)]
        luck = rng.random(len(logged))
        x = features[logged]
        logging, target = (policy.logits(x) for policy in fit_policies(features, codes, samples, policy_file))
        return cls(x, codes[logged], classes, logging, target, luck)


@dataclass(frozen=True)
class Classification:
    r"""A bandit where an action is a class, and the reward is 1 if it is the right class, else 0.

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
    >>> problem = Classification(logging_beta=1.0, target_beta=10.0).draw_problem(features, labels, rng)
    >>> problem.log
    Log(100 rows, 3 actions, 3 context columns, full logging probabilities)
    >>> problem.truth > 0.9
    True
    """

    logging_beta: float = 1.0
    target_beta: float = 10.0
    policies: Policies = "probabilities"

    def draw_problem(self, features: Floats, labels: NDArray[Any], rng: np.random.Generator) -> Problem:
        """Return one random problem."""
        return self.make_problem(LoggedHalf.draw(features, labels, rng))

    def make_problem(self, half: LoggedHalf) -> Problem:
        """Return the problem that these temperatures make of a logged half."""
        logging, target = (
            softmax(beta * (logits if self.policies == "logits" else softmax(logits)))
            for beta, logits in ((self.logging_beta, half.logging_logits), (self.target_beta, half.target_logits))
        )
        action = draw_actions(logging, half.luck)
        log = Log(
            context=half.context,
            action=half.classes[action],
            reward=(action == half.right).astype(np.float64),
            logging_probs=logging,
            actions=half.classes.tolist(),
        )
        return Problem(log, target, float(target[np.arange(len(half.right)), half.right].mean()))
