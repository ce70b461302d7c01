"""Policy-adaptive estimator selection by importance fitting."""

from dataclasses import dataclass
from itertools import chain
from typing import Literal, NamedTuple, get_args

import numpy as np

from counterfold.base import validation
from counterfold.base.arrays import Bools, Floats, Ints
from counterfold.base.errors import ParameterError
from counterfold.base.threads import Pool
from counterfold.estimators.rows import Rows
from counterfold.models.base import Scaling
from counterfold.selectors.base import Candidates, Selector, resample_rows, square_errors

Device = Literal["auto", "cpu", "cuda"]

TOGETHER = 2
"""How many replicates a processor trains at once; a fixed number, so that threads never change the answer."""


class Replicate(NamedTuple):
    """Sampled rows, each action's probability to go to the target's part (n x A), and the rows that went there."""

    sample: Ints
    rho: Floats
    taken: Bools


@dataclass(frozen=True)
class PASIF(Selector):
    r"""Split the log in two, as if one policy had logged and another one were to be valued, and see who values it best.

    $$\tilde\pi(a \mid x) = \frac{\pi_0(a \mid x)\, \rho(x, a)}{p(x)}, \qquad
      \tilde\pi_0(a \mid x) = \frac{\pi_0(a \mid x)\, (1 - \rho(x, a))}{1 - p(x)}, \qquad
      p(x) = \sum_a \pi_0(a \mid x)\, \rho(x, a)$$

    A row goes to the surrogate target's part with probability $\rho$, else to the surrogate logging policy's. The
    target's part has known mean reward, and the score is the squared error of the candidate on the other part, averaged
    over `replicates` bootstrap samples. So that the split resembles the real problem, a network learns $\rho$ by

    $$\min_\rho \frac{1}{n} \sum_i \Bigl(\frac{\tilde\pi(a_i \mid x_i)}{\tilde\pi_0(a_i \mid x_i)} - w_i\Bigr)^2
      + \frac{\alpha}{n} \sum_i (p(x_i) - \text{ratio})^2$$

    with Adam (`rate`, `batch`) for at most `epochs`, until `patience` of them brought nothing. Every row is to be split
    in the same ratio, so that both parts have the same contexts. $\alpha$ is 100, and 1000 while the mean of p is
    farther from the ratio than the `tolerance`; the authors train anew with 0.1, 1, 10, 100, 1000 until it is not. As
    in the cross-validation paper it has two hidden layers of 100 neurons, batch normalisation and 20 % dropout. The
    same seed gives the same answer on the same kind of `device`; "auto" is a GPU if there is one. It needs the extra
    `torch`.

    Udagawa, Kiyohara, Narita, Saito, Tateno (2023), "Policy-adaptive estimator selection for off-policy evaluation".

    >>> import numpy as np
    >>> import counterfold as cf
    >>> rows = cf.example_rows()
    >>> cf.PASIF(device="cpu").scores(rows, [cf.IPS(), cf.DM()], np.random.default_rng(0), cf.Pool()).shape
    (2,)
    """

    replicates: int = 10
    ratio: float = 0.2
    tolerance: float = 0.02
    epochs: int = 5000
    patience: int = 5
    batch: int = 1000
    rate: float = 1e-3
    device: Device = "auto"
    kinds = ("labels",)
    needs = ("all_rows", "logging_probs", "even_rows")
    extra = "torch"

    def __post_init__(self) -> None:
        validation.whole(1, replicates=self.replicates, epochs=self.epochs, patience=self.patience)
        validation.whole(2, batch=self.batch)
        validation.inside(0, 1, ratio=self.ratio)
        validation.at_least(0, tolerance=self.tolerance)
        validation.above(0, rate=self.rate)
        validation.one_of(get_args(Device), device=self.device)

    def scores(self, rows: Rows, candidates: Candidates, rng: np.random.Generator, pool: Pool) -> Floats:
        return np.asarray(self.losses(rows, candidates, rng, pool).mean(axis=1))

    def losses(self, rows: Rows, candidates: Candidates, rng: np.random.Generator, pool: Pool) -> Floats:
        """Return the squared error of each candidate in each replicate that left no part empty."""

        def errors(one: Replicate) -> Floats:
            logged = one.sample[~one.taken]
            policies = surrogates(rows.logging_probs[logged], one.rho[~one.taken])
            truth = rows.rewards[one.sample[one.taken]].mean()
            return square_errors(candidates, rows.take(logged).with_policies(*policies), truth)

        useful = [one for one in self.draw_replicates(rows, rng, pool) if 0 < one.taken.sum() < len(one.taken)]
        if not useful:
            raise ParameterError(f"PASIF needs more rows: each of its splits of {len(rows)} left one part empty.")
        return np.column_stack(pool.map(errors, useful))

    def draw_replicates(self, rows: Rows, rng: np.random.Generator, pool: Pool) -> list[Replicate]:
        """Return bootstrap samples with their trained rules and the splits these make."""
        device = find_device(self.device)
        import torch

        from counterfold.selectors._subsampling import Training, TrainingRows, rules

        scaled = Scaling.of(rows.examples.context).apply(rows.examples)
        logged = TrainingRows(scaled.context, rows.actions, rows.weights, rows.logging_probs)
        training = Training(self.ratio, self.tolerance, self.epochs, self.patience, self.batch, self.rate)
        streams = [np.random.default_rng(seed) for seed in rng.integers(2**63, size=self.replicates)]
        samples = [resample_rows(rows, stream) for stream in streams]
        size = TOGETHER if device == "cpu" else self.replicates

        def learn(start: int) -> list[Floats]:
            some = slice(start, start + size)
            return rules(logged, samples[some], streams[some], training, device)

        found, threads = [], torch.get_num_threads()
        torch.set_num_threads(1)  # the pool's threads are enough, and sums must not depend on their number
        try:
            learnt = chain.from_iterable(pool.map(learn, range(0, self.replicates, size)))
        finally:
            torch.set_num_threads(threads)
        for sample, rho, stream in zip(samples, learnt, streams, strict=True):
            chances = rho[np.arange(len(sample)), rows.actions[sample]]
            found.append(Replicate(sample, rho, stream.random(len(sample)) < chances))
        return found


def surrogates(probs: Floats, rho: Floats) -> tuple[Floats, Floats]:
    """Return the surrogate logging and target policies; their rows sum to 1 as those of the logging policy do."""
    kept, taken = probs * (1 - rho), probs * rho
    return kept / kept.sum(axis=1, keepdims=True), taken / taken.sum(axis=1, keepdims=True)


def find_device(device: Device) -> str:
    """Return the device that is there, or say what is missing."""
    try:
        import torch
    except ImportError:
        raise ParameterError("PASIF needs torch: pip install 'counterfold[torch]'.") from None
    there = torch.cuda.is_available()
    if device == "cuda" and not there:
        raise ParameterError("`device` must be 'cpu' or 'auto' where torch finds no GPU, got 'cuda'.")
    return "cuda" if there and device != "cpu" else "cpu"
