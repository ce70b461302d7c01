"""Weights over all candidates instead of a choice."""

from dataclasses import dataclass, replace
from typing import Literal, Self, get_args

import numpy as np

from counterfold.base import validation
from counterfold.base.arrays import Floats, Ints
from counterfold.base.errors import ParameterError
from counterfold.base.threads import Pool
from counterfold.estimators.rows import Rows
from counterfold.estimators.sums import Sums
from counterfold.selectors.base import (
    Candidates,
    Selection,
    Validated,
    check_validator,
    choose_validator,
    resample_rows,
)

Centre = Literal["validator", "own"]

NEGLIGIBLE = 1e-6


@dataclass(frozen=True)
class OPERA(Validated):
    r"""Answer with the weighted mean of the candidates whose error, by the bootstrap, is the least.

    $$\alpha = \arg\min_{\alpha \ge 0,\; \sum_j \alpha_j = 1} \alpha^\top \hat A\, \alpha, \qquad
      \hat A_{jk} = \frac1B \sum_b \bigl(\hat V_j^{(b)} - C_j\bigr)\bigl(\hat V_k^{(b)} - C_k\bigr)$$

    $\hat V_j^{(b)}$ is candidate j on the b-th of `replicates` bootstrap samples of the rows, with the reward model
    fitted on them, and $C_j$ what it is compared with: a `validator` on the log, by default DR or else IPS; or, with
    `centre="own"` as in the paper, its own value there, which leaves out any bias that the bootstrap does not show, so
    that candidates that hardly vary win. The score is $\hat A_{jj}$, the candidate's own error.

    Nie, Chandak, Yuan, Badrinath, Flet-Berliac, Brunskill (2024), "OPERA: Automatic offline policy evaluation with
    re-weighted aggregates of multiple estimators"; weights are kept from being negative here.

    >>> import numpy as np
    >>> import counterfold as cf
    >>> rows = cf.example_rows()
    >>> opera = cf.OPERA(validator=cf.IPS())
    >>> opera.select(rows, [cf.IPS(), cf.SNIPS(), cf.DM()], np.random.default_rng(0), cf.Pool()).shares.round(2)
    array([0.44, 0.  , 0.56])
    """

    replicates: int = 100
    centre: Centre = "validator"

    def __post_init__(self) -> None:
        check_validator(self.validator)
        validation.whole(2, replicates=self.replicates)
        validation.one_of(get_args(Centre), centre=self.centre)
        if self.centre == "own" and self.validator is not None:
            raise ParameterError(f"`validator` must be left out with centre='own', got {self.validator.name}.")

    def resolve(self, rows: Rows) -> Self:
        return self if self.centre == "own" else replace(self, validator=choose_validator(self.validator, rows))

    def scores(self, rows: Rows, candidates: Candidates, rng: np.random.Generator, pool: Pool) -> Floats:
        return self.select(rows, candidates, rng, pool).scores

    def select_from_sums(self, sums: Sums, candidates: Candidates, rng: np.random.Generator) -> Selection:
        drawn = rng.multinomial(len(sums), np.full(len(sums), 1 / len(sums)), size=self.replicates)
        every = np.vstack([np.ones(len(sums)), drawn])
        centres = candidates if self.centre == "own" else [self.used_validator]
        wanted = sums.some([*candidates, *centres])
        means = (wanted.terms @ every.T) / (wanted.sizes @ every.T)
        errors = wanted.values(candidates, means)[:, 1:] - wanted.values(centres, means)[:, :1]
        return mix(errors.T)

    def select(self, rows: Rows, candidates: Candidates, rng: np.random.Generator, pool: Pool) -> Selection:
        return mix(self.errors(rows, candidates, rng, pool))

    def errors(self, rows: Rows, candidates: Candidates, rng: np.random.Generator, pool: Pool) -> Floats:
        """Return the error of each candidate on each bootstrap sample (replicates x candidates)."""
        centres = candidates if self.centre == "own" else [choose_validator(self.validator, rows)]
        samples = [resample_rows(rows, rng) for _ in range(self.replicates)]

        def values(sample: Ints) -> list[float]:
            drawn = rows.take(sample)
            return [candidate.value(drawn) for candidate in candidates]

        return np.subtract(pool.map(values, samples), [one.value(rows) for one in centres])


def mix(errors: Floats) -> Selection:
    """Return the shares with the least error (replicates x candidates), the largest of which counts as chosen."""
    shares = minimise_error(errors)
    return Selection(np.square(errors).mean(axis=0), int(np.argmax(shares)), shares)


def minimise_error(errors: Floats) -> Floats:
    r"""Return the shares that minimise the mean squared error of the mixture.

    The minimum of $\lVert E \alpha \rVert^2 + (1^\top \alpha - 1)^2$ over $\alpha \ge 0$ is a multiple of them, since
    for $\alpha = t \beta$ with shares $\beta$ the best t leaves a value that grows with $\lVert E \beta \rVert^2$.
    """
    from scipy.optimize import nnls

    scale = np.sqrt(np.square(errors).mean()) or 1.0
    rows = np.vstack([errors / scale / np.sqrt(len(errors)), np.ones(errors.shape[1])])
    found = nnls(rows, np.append(np.zeros(len(errors)), 1.0))[0]
    found[found < NEGLIGIBLE * found.sum()] = 0.0
    return np.asarray(found / found.sum())
