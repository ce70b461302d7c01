"""Classification data as a bandit whose truth is known: the protocol of the paper's experiments."""

import hashlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Literal, Self
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from counterfold.base.arrays import Floats, Ints
from counterfold.log.log import Log
from counterfold.simulation import Problem, draw_actions, fit_policy, softmax
from counterfold_lab.files import write_atomically

Policies = Literal["probabilities", "logits"]


Policy = tuple[Floats, Floats]
"""The coefficients (A x d) and intercepts (A) of a multinomial logistic regression."""


def fit_policies(features: Floats, codes: Ints, samples: Sequence[Ints], path: Path | None) -> list[Policy]:
    """Return a policy for each sample of the rows; as fits are slow, read them from a file, or else write them there.

    A file that is missing, damaged, changed, or of other rows is written anew.
    """
    kept = None if path is None else read_policies(features, codes, samples, path)
    if kept is not None:
        return kept
    found = [fit_policy(features, codes, sample) for sample in samples]
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        with write_atomically(path) as draft, draft.open("wb") as file:
            names = [f"{name}{place}" for place in range(len(found)) for name in ("coefficients", "intercepts")]
            arrays: dict[str, Any] = dict(zip(names, chain.from_iterable(found), strict=True))
            np.savez(file, **arrays, checksum=np.array(sign_policies(features, codes, samples, found)))
    return found


def read_policies(features: Floats, codes: Ints, samples: Sequence[Ints], path: Path) -> list[Policy] | None:
    """Return the policies of these samples from a file, or nothing if it does not hold them as they were written."""
    with suppress(OSError, EOFError, KeyError, ValueError, BadZipFile), np.load(path, allow_pickle=False) as kept:
        found = [(kept[f"coefficients{place}"], kept[f"intercepts{place}"]) for place in range(len(samples))]
        return found if kept["checksum"] == sign_policies(features, codes, samples, found) else None
    return None


def sign_policies(features: Floats, codes: Ints, samples: Sequence[Ints], policies: Sequence[Policy]) -> str:
    """Return a checksum of policies and of the rows that they were fitted on."""
    digest = hashlib.sha256()
    for array in chain((features, codes), samples, chain.from_iterable(policies)):
        digest.update(f"{array.shape} {array.dtype.str} ".encode() + np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


@dataclass(frozen=True, eq=False)
class LoggedHalf:
    """The rows of a dataset that are logged, the logits of both policies there, and what draws the actions.

    `right` are the codes of the right classes, the first `logits` are those of the logging policy and the second those
    of the target, and `luck` is a uniform random number per row.
    """

    context: Floats
    right: Ints
    classes: NDArray[Any]
    logits: tuple[Floats, ...]
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
        luck, x = rng.random(len(logged)), features[logged]
        policies = fit_policies(features, codes, samples, policy_file)
        logits = tuple(x @ coefficients.T + intercepts for coefficients, intercepts in policies)
        return cls(x, codes[logged], classes, logits, luck)


@dataclass(frozen=True)
class Classification:
    r"""A bandit where an action is a class, and the reward is 1 if it is the right class, else 0.

    Half of the rows, at random, are logged; the other half trains both policies. A policy is
    $\pi(a \mid x) \propto \exp(\beta f_a(x))$, where $f$ is the predicted probability of the class ("probabilities", as
    in the paper's published results) or its logit ("logits", as in the paper's text), and $\beta$ the inverse
    temperature. The truth is the mean over the logged half of the target's probability of the right class.

    Cief, Kveton, Kompan (2025), "Cross-validated off-policy evaluation", section 6.

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
            for beta, logits in zip((self.logging_beta, self.target_beta), half.logits, strict=True)
        )
        action = draw_actions(logging, half.luck)
        reward, classes = (action == half.right).astype(np.float64), half.classes
        log = Log(
            context=half.context, action=classes[action], reward=reward, logging_probs=logging, actions=classes.tolist()
        )
        return Problem(log, target, float(target[np.arange(len(half.right)), half.right].mean()))
