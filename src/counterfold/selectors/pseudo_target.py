"""Each of several logging policies in turn as the target."""

from dataclasses import dataclass

import numpy as np

from counterfold.base import validation
from counterfold.base.arrays import Floats, Ints
from counterfold.base.errors import ParameterError
from counterfold.base.threads import Pool
from counterfold.estimators.rows import Rows
from counterfold.selectors.base import Candidates, Selector, resample_rows, square_errors


@dataclass(frozen=True)
class PseudoTarget(Selector):
    r"""On a log of several policies, value each from the rows of the others, and compare with what it truly earned.

    $$\text{score} = \frac1{LB} \sum_{j=1}^L \sum_{b=1}^B
      \bigl(\hat V(\pi_j; D_{-j}^{(b)}) - \bar r_j\bigr)^2$$

    $\bar r_j$ is the mean reward of the rows that policy j logged, and $D_{-j}^{(b)}$ a bootstrap sample of the rows
    that others did, of which there are `replicates`. Every policy has the same say, so leave out one with few rows,
    whose mean reward is noise. The best estimator for these policies need not be the best for the target.

    Saito, Udagawa, Kiyohara, Mogi, Narita, Tateno (2021), "Evaluating the robustness of off-policy evaluation".
    """

    replicates: int = 20
    kinds = ("labels",)
    needs = ("all_rows", "loggers")

    def __post_init__(self) -> None:
        validation.whole(1, replicates=self.replicates)

    def scores(self, rows: Rows, candidates: Candidates, rng: np.random.Generator, pool: Pool) -> Floats:
        if rows.loggers is None:
            raise ParameterError("PseudoTarget needs rows of several loggers.")
        ids, trials = rows.examples.ids, []
        codes, own = rows.loggers.codes[ids], rows.loggers.own[ids]
        if len(np.unique(codes)) < 2:
            only = rows.loggers.labels[codes[0]]
            raise ParameterError(f"PseudoTarget needs rows of several loggers, got {only} in all {len(rows)} rows.")
        for logger in np.unique(codes).tolist():
            pseudo = rows.with_policies(own, rows.loggers.probs[logger][ids])
            others, truth = (
                pseudo.take(np.flatnonzero(codes != logger)),
                average_rewards(rows.take(np.flatnonzero(codes == logger))),
            )
            trials += [(others, truth, resample_rows(others, rng)) for _ in range(self.replicates)]

        def errors(trial: tuple[Rows, float, Ints]) -> Floats:
            others, truth, sample = trial
            return square_errors(candidates, others.take(sample), truth)

        return np.asarray(np.mean(pool.map(errors, trials), axis=0))


def average_rewards(rows: Rows) -> float:
    """Return what some rows earned on average."""
    return float(rows.average(rows.rewards))
