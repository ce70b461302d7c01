"""The policies of the paper's experiments: logistic regressions, which are slow to fit and so are kept in files."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self
from zipfile import BadZipFile

import numpy as np

from counterfold.arrays import Floats, Ints
from counterfold.experiments.files import write_atomically

ARRAYS = ("coefficients", "intercepts")


@dataclass(frozen=True, eq=False)
class LogisticPolicy:
    """The coefficients (A x d) and intercepts (A) of a multinomial logistic regression."""

    coefficients: Floats
    intercepts: Floats

    @classmethod
    def fit(cls, features: Floats, codes: Ints, sample: Ints) -> Self:
        """Return the regression on a sample with one all-zero row per class in front, so that no class is missing."""
        from sklearn.linear_model import LogisticRegression

        every_class = np.arange(codes.max() + 1)
        x = np.vstack([np.zeros((len(every_class), features.shape[1])), features[sample]])
        y = np.concatenate([every_class, codes[sample]])
        model = LogisticRegression(solver="newton-cholesky", max_iter=1000).fit(x, y)
        if len(every_class) == 2:  # scikit-learn fits only the difference of two classes
            return cls(np.vstack([0 * model.coef_, model.coef_]), np.array([0.0, model.intercept_[0]]))
        return cls(model.coef_, model.intercept_)

    def logits(self, features: Floats) -> Floats:
        """Return a score per row and class."""
        return np.asarray(features @ self.coefficients.T + self.intercepts)


def fit_policies(
    features: Floats, codes: Ints, samples: Sequence[Ints], file: Path | None = None
) -> list[LogisticPolicy]:
    """Return a policy for each sample of the rows; if a file is given, read them there, or write them there."""
    shape = int(codes.max()) + 1, features.shape[1]
    found = None if file is None else read_policies(file, len(samples), shape)
    if found is None:
        found = [LogisticPolicy.fit(features, codes, sample) for sample in samples]
        if file is not None:
            write_policies(found, file)
    return found


def read_policies(path: Path, count: int, shape: tuple[int, int]) -> list[LogisticPolicy] | None:
    """Return so many policies from a file; None if it is missing, damaged, or of policies of another shape."""
    with suppress(OSError, EOFError, KeyError, ValueError, BadZipFile), np.load(path) as file:
        found = [LogisticPolicy(*(file[f"{name}{number}"] for name in ARRAYS)) for number in range(count)]
        if all(policy.coefficients.shape == shape for policy in found):
            return found
    return None


def write_policies(policies: Sequence[LogisticPolicy], path: Path) -> None:
    """Write the coefficients and intercepts of all policies."""
    path.parent.mkdir(parents=True, exist_ok=True)
    arrays = {f"{name}{number}": getattr(policy, name) for number, policy in enumerate(policies) for name in ARRAYS}
    with write_atomically(path) as draft, draft.open("wb") as file:
        np.savez(file, **arrays)
