"""Steps from capped weights to full ones, each taken as far as its noise allows."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Self

import numpy as np

from counterfold.base import messages, validation
from counterfold.base.arrays import Floats, ratio
from counterfold.base.errors import ParameterError
from counterfold.base.threads import Pool
from counterfold.estimators.base import Estimator
from counterfold.estimators.dm import DM
from counterfold.estimators.rows import Rows
from counterfold.estimators.sndr import SNDR
from counterfold.estimators.snips import SNIPS
from counterfold.estimators.sums import Sums, sum_buckets
from counterfold.estimators.truncated_sndr import TruncatedSNDR
from counterfold.estimators.truncated_snips import TruncatedSNIPS
from counterfold.selectors._model_pull import ModelPull
from counterfold.selectors.base import (
    ROUNDING,
    Candidates,
    Mixture,
    Selection,
    Selector,
    Step,
    UnitAnswer,
    choose_lowest,
)

Rungs = tuple[TruncatedSNIPS | TruncatedSNDR, ...]

EQUIVALENT_ESTIMATORS: dict[Estimator, Estimator] = {
    TruncatedSNIPS(math.inf): SNIPS(),
    TruncatedSNDR(0.0): DM(),
    TruncatedSNDR(math.inf): SNDR(),
}
"""The plain estimators that equal the first or the last rung of a ladder."""

PRIOR_BOLDNESS = {TruncatedSNIPS: 1.0, TruncatedSNDR: 0.05}
"""The prior median of the boldness on each ladder."""

PRIOR_LOG_BOLDNESS_STD = 1.0
"""The prior standard deviation of the logarithm of the boldness."""

BOLDNESS_GRID = np.exp(np.linspace(-5.0, 3.0, 65))
"""The values of the boldness at which its posterior is computed."""

FIXED_BOLDNESS = {TruncatedSNIPS: 0.5, TruncatedSNDR: 0.2}
"""The boldness on each ladder that has a fixed probability next to the posterior (see `Purpose`).

The lower steps are measured well, so they dominate the posterior. They say little about the higher steps where the
logging policy chose by something that rewards depend on and the model does not see: all low rungs then share one bias.
"""

SHARE_OF_EVEN_MIXTURE = 0.5
"""The mixture of two ladders lies this far from the one with the least estimated error towards their plain mean."""


class Purpose(NamedTuple):
    """The use of an answer, which decides how far steps are shortened.

    - `fixed`: the probability that the boldness has its value in `FIXED_BOLDNESS`, whatever the steps say.
    - `doubt`: the factor by which the variance of the remaining bias is enlarged. The steps contain little information
      about that bias.
    """

    fixed: float
    doubt: float


# With a doubt of 4, 98 % of the intervals of good answers cover the true value on 26 families of development problems,
# and 92 % on the family `shared column`.
VALUE = Purpose(fixed=0.2, doubt=4.0)
"""For the value of a target: the squared error is to be small."""

DIFFERENCE = Purpose(fixed=0.7, doubt=2.0)
"""For differences between policies: a shortened step is a bias towards the log, and nothing cancels it."""


@dataclass(frozen=True)
class Ladder(Selector):
    r"""Climb from heavily capped weights to the full ones, and shorten every step by how noisy it is.

    $$\hat V = V_0 + \sum_{l=1}^{L} g_l\, (V_l - V_{l-1}), \qquad
      g_l = \min_{k \le l} \mathbb E_c\, \frac{c^2 \tau_k^2}{c^2 \tau_k^2 + s_k^2}, \qquad
      \tau_l = \hat\sigma \Bigl(1 - \frac{\kappa_{l-1}}{\kappa_l}\Bigr)$$

    The rungs $V_0, \dots, V_L$ of a ladder are self-normalised estimates whose caps leave more and more of the weight,
    $\kappa_l$, up to all of it. $s_l$ is the jackknife standard error of a step, $c \tau_l$ is its prior standard
    deviation, and $\hat\sigma$ is the largest standard deviation of the averaged values under the weights of any rung.
    One ladder has the rungs `TruncatedSNIPS`. The other one starts at `DM`, where no weight is left, and climbs over
    `TruncatedSNDR` to `SNDR`.

    The `boldness` c says how much rungs usually differ: little where a reward model is good. By default it is
    estimated. Its prior is log-normal with median 1, or 0.05 on the ladder of the model, and a standard deviation of
    the logarithm of 1. The likelihood of all steps is $V_l - V_{l-1} \sim N(0, c^2 \tau_l^2 + s_l^2)$.
    $\mathbb E_c$ is the mean under the posterior with a probability of 0.8. With a probability of 0.2 the boldness is
    0.5, or 0.2 on the ladder of the model, whatever the steps say.

    The answer is half-way between the mean of both ladders and their mixture with the least estimated error. Its error
    includes the variance of the remaining bias, enlarged by a factor of 4. Nothing is random here; docs/ladder.md gives
    the reasons. A shortened step is a bias towards the log, which a difference to the log does not cancel. Differences
    therefore have their own shares, for which the probability of 0.2 is 0.7.

    A candidate's score is its squared distance from that answer, plus the variances of the distance and of itself. If
    all rungs are candidates, as in the default set, the answer is the mixture itself. Otherwise it is the best
    candidate.

    Ours; its parts are from Ionides (2008), "Truncated importance sampling"; James, Stein (1961), "Estimation with
    quadratic loss".

    >>> import numpy as np
    >>> import counterfold as cf
    >>> rows = cf.example_rows()
    >>> cf.Ladder().scores(rows, [cf.IPS(), cf.SNIPS()], np.random.default_rng(0), cf.Pool()).round(2)
    array([2.16, 0.26])
    """

    boldness: float | None = None
    ladders: tuple[Rungs, ...] = field(default=(), repr=False)
    knows_pulls: bool = field(default=False, repr=False)
    kinds = ("labels",)
    needs_sample = True

    def __post_init__(self) -> None:
        if not isinstance(self.ladders, tuple):
            raise ParameterError(f"`ladders` must be left to the rows, got {messages.shorten(self.ladders)}.")
        validation.true_or_false(knows_pulls=self.knows_pulls)
        if self.boldness is not None:
            validation.inside(0, 1e60, boldness=self.boldness)

    def resolve(self, rows: Rows) -> Self:
        ladders: list[Rungs] = [(*TruncatedSNIPS.candidates(rows), TruncatedSNIPS(math.inf))]
        if not TruncatedSNDR.find_obstacle(rows):
            fit_noise = "unknown" if rows.model is None else rows.model.fit_noise
            rungs = [*TruncatedSNDR.candidates(rows), TruncatedSNDR(math.inf)]
            # DM alone is the first rung only if the noise of fitting its model can be taken into account.
            if fit_noise != "unknown":
                rungs = [TruncatedSNDR(0.0), *rungs]
            ladders.append(tuple(rungs))
            return replace(self, ladders=tuple(ladders), knows_pulls=fit_noise == "known")
        return replace(self, ladders=tuple(ladders))

    @property
    def rungs(self) -> Rungs:
        """Return the rungs of all ladders."""
        return tuple(rung for ladder in self.ladders for rung in ladder)

    @property
    def pulls(self) -> dict[Estimator, ModelPull]:
        """Return the estimators of the noise of fitting the reward model, by the rungs that use its predictions."""
        if not self.knows_pulls:
            return {}
        return {rung: ModelPull(rung.max_weight) for rung in self.rungs if isinstance(rung, TruncatedSNDR)}

    @property
    def witnesses(self) -> Sequence[Estimator]:
        return [*self.rungs, *self.pulls.values()]

    def answers_segments(self, candidates: Candidates) -> bool:
        available = set(candidates)
        return bool(self.rungs) and all(
            rung in available or EQUIVALENT_ESTIMATORS.get(rung, rung) in available for rung in self.rungs
        )

    def answer_segment(self, sums: Sums, share: float) -> UnitAnswer:
        """Climb both ladders anew on the units of a segment.

        The variance of the remaining bias is enlarged as in the whole log if the segment is all of it. The smaller the
        segment, the less it is enlarged: noisier steps leave more room for a bias themselves.
        """
        jackknife = self.jackknife(sums, self.rungs)
        purposes = [VALUE, DIFFERENCE]
        answers = []
        for purpose, (shares, bias_variance) in zip(purposes, self.mix_for(sums, purposes, jackknife), strict=True):
            factor = (1 + (purpose.doubt - 1) * share) / purpose.doubt
            answer = UnitAnswer(
                estimator=Mixture(self.rungs, tuple(shares.tolist())),
                moves=shares @ jackknife.moves,
                bias_variance=factor * bias_variance,
            )
            answers.append(answer)
        value, difference = answers
        # A boldness that the user has set holds for differences, too.
        if self.boldness is not None:
            return value
        return value._replace(for_differences=difference)

    def scores(self, rows: Rows, candidates: Candidates, rng: np.random.Generator, pool: Pool) -> Floats:
        return self.select(rows, candidates, rng, pool).scores

    def select(self, rows: Rows, candidates: Candidates, rng: np.random.Generator, pool: Pool) -> Selection:
        resolved = self if self.ladders else self.resolve(rows)
        estimators = list(dict.fromkeys([*candidates, *resolved.witnesses]))
        return resolved.select_from_sums(sum_buckets(rows, estimators, pool), candidates, rng)

    def select_from_sums(self, sums: Sums, candidates: Candidates, rng: np.random.Generator) -> Selection:
        # A candidate that equals a rung is judged as that rung, whose noise of fitting the model is known.
        rung_of = {plain: rung for rung, plain in EQUIVALENT_ESTIMATORS.items() if rung in self.rungs}
        judged = [rung_of.get(candidate, candidate) for candidate in candidates]
        estimators = list(dict.fromkeys([*self.rungs, *judged]))
        jackknife = self.jackknife(sums, estimators)
        of_rungs = jackknife.take(range(len(self.rungs)))
        of_candidates = jackknife.take([estimators.index(estimator) for estimator in judged])
        for_value, for_difference = self.mix_for(sums, [VALUE, DIFFERENCE], of_rungs)
        shares, bias_variance = for_value

        distances = of_candidates.values - shares @ of_rungs.values
        distance_moves = of_candidates.moves - shares @ of_rungs.moves
        scores = distances**2 + np.square(distance_moves).sum(axis=1) + np.square(of_candidates.moves).sum(axis=1)
        steps = tuple(self.describe_steps(shares, of_rungs.values, of_rungs.moves))

        # The answer can be the mixture only if every rung, or its equivalent, is a candidate.
        place_of: dict[Estimator, int] = {}
        for place, candidate in enumerate(candidates):
            place_of.setdefault(candidate, place)
        places = []
        for rung in self.rungs:
            place_of_equivalent = place_of.get(EQUIVALENT_ESTIMATORS.get(rung, rung), -1)
            places.append(place_of.get(rung, place_of_equivalent))
        if min(places) < 0:
            return replace(choose_lowest(scores), steps=steps)

        def describe_mixture(rung_shares: Floats, mixture_bias_variance: float) -> Selection:
            candidate_shares = np.zeros(len(candidates))
            np.add.at(candidate_shares, places, rung_shares)
            return Selection(
                scores=scores,
                chosen=int(np.argmax(candidate_shares)),
                shares=candidate_shares,
                moves=rung_shares @ of_rungs.moves,
                bias_variance=mixture_bias_variance,
            )

        selection = replace(describe_mixture(shares, bias_variance), steps=steps)
        # A boldness that the user has set holds for differences, too.
        if self.boldness is not None:
            return selection
        return replace(selection, for_differences=describe_mixture(*for_difference))

    def jackknife(self, sums: Sums, estimators: Sequence[Estimator]) -> "Jackknife":
        """Return the estimates and their moves when a unit is left out, with and without refitting the model."""
        values, fixed_model_moves = sums.jackknife(estimators)
        moves = fixed_model_moves.copy()
        pulls = self.pulls
        pulled = [place for place, estimator in enumerate(estimators) if estimator in pulls]
        if pulled:
            _, pull_moves = sums.jackknife([pulls[estimators[place]] for place in pulled])
            moves[pulled] += pull_moves
        return Jackknife(values=values, fixed_model_moves=fixed_model_moves, moves=moves)

    def describe_steps(self, shares: Floats, values: Floats, moves: Floats) -> Iterator[Step]:
        """Yield every rung, with its share in the answer and the part of the step to it that was taken."""
        first = 0
        for ladder in self.ladders:
            lines = slice(first, first + len(ladder))
            first = lines.stop
            ladder_shares = shares[lines]
            total = ladder_shares.sum()
            # A rung's share is what is taken of the step to it, less what is taken of the next step.
            taken = ladder_shares[::-1].cumsum()[::-1] / total if total > 0 else np.zeros(len(ladder))
            stderr = np.sqrt(np.square(moves[lines]).sum(axis=1))
            for place, rung in enumerate(ladder):
                yield Step(
                    ladder=type(rung).__name__,
                    cap=rung.max_weight,
                    value=float(values[lines][place]),
                    stderr=float(stderr[place]),
                    taken=float(taken[place]) if place else None,
                    share=float(ladder_shares[place]),
                )

    def mix_for(self, sums: Sums, purposes: Sequence[Purpose], jackknife: "Jackknife") -> list[tuple[Floats, float]]:
        """Return for each purpose the share of each rung, and the enlarged variance of the remaining bias.

        `jackknife` is that of all rungs.
        """
        steps_of_ladders = []
        first = 0
        for ladder in self.ladders:
            of_ladder = jackknife.take(range(first, first + len(ladder)))
            steps_of_ladders.append(self.measure_steps(sums, ladder, of_ladder))
            first += len(ladder)

        mixtures = []
        for purpose in purposes:
            climbed = [
                self.climb(steps, ladder, purpose) for steps, ladder in zip(steps_of_ladders, self.ladders, strict=True)
            ]
            shares, bias_variance = climbed[0]
            if len(climbed) == 2:  # there is no third ladder
                # The jackknife shows too little of the noise of heavy weights. The moves by refitting the model would
                # make the ladder of the model look noisier in comparison, so both are compared without them.
                shares, bias_variance = self.mix_ladders(sums, climbed, jackknife.fixed_model_moves)
            mixtures.append((shares, purpose.doubt * bias_variance))
        return mixtures

    def mix_ladders(self, sums: Sums, climbed: Sequence[tuple[Floats, float]], moves: Floats) -> tuple[Floats, float]:
        """Return the share of each rung of both ladders, and the variance of the remaining bias.

        `climbed` has the same of each ladder alone, and `moves` are those of all rungs when a unit is left out.
        """
        (snips_shares, snips_bias_variance), (sndr_shares, sndr_bias_variance) = climbed
        snips_moves = snips_shares @ moves[: len(snips_shares)]
        sndr_moves = sndr_shares @ moves[len(snips_shares) :]
        difference = np.square(snips_moves - sndr_moves).sum() + snips_bias_variance + sndr_bias_variance
        best = 0.5
        if difference > 0:
            best = (snips_moves @ (snips_moves - sndr_moves) + snips_bias_variance) / difference
        share = (1 - SHARE_OF_EVEN_MIXTURE) * np.clip(best, 0.0, 1.0) + SHARE_OF_EVEN_MIXTURE / 2
        if not sums.weights.any():
            share = 1.0  # SNIPS is 0 where there is no weight, whatever the rewards
        bias_variance = float((1 - share) ** 2 * snips_bias_variance + share**2 * sndr_bias_variance)
        return np.concatenate([(1 - share) * snips_shares, share * sndr_shares]), bias_variance

    def measure_steps(self, sums: Sums, ladder: Rungs, jackknife: "Jackknife") -> "Steps":
        """Return the steps of one ladder from the jackknife of its rungs."""
        outcome_sums = [rung.outcome_sums(sums.of_estimator(rung)) for rung in ladder]
        weighted, weight, square = np.stack(outcome_sums, axis=1)
        weight_left = weight.sum(axis=1)
        largest_variance = measure_variance(weighted, weight, square).max()
        added_share = 1 - weight_left[:-1] / np.maximum(weight_left[1:], np.finfo(float).tiny)
        return Steps(
            lengths=np.diff(jackknife.values),
            noise=np.square(np.diff(jackknife.moves, axis=0)).sum(axis=1),
            reach=np.square(added_share) * largest_variance,
        )

    def climb(self, steps: "Steps", ladder: Rungs, purpose: Purpose) -> tuple[Floats, float]:
        """Return the share of each rung of one ladder, and the variance of the remaining bias."""
        kind = type(ladder[0])
        boldness = BOLDNESS_GRID if self.boldness is None else np.array([self.boldness])
        probability = steps.compute_posterior(boldness, PRIOR_BOLDNESS[kind])
        if self.boldness is None and purpose.fixed:
            boldness = np.append(boldness, FIXED_BOLDNESS[kind])
            probability = np.append((1 - purpose.fixed) * probability, purpose.fixed)
        taken, bias_variance = steps.shorten(boldness, probability)
        return np.append(1.0, taken) - np.append(taken, 0.0), bias_variance


class Jackknife(NamedTuple):
    """Estimates, and how they move when a unit is left out (estimators x units).

    - `values`: the estimates.
    - `fixed_model_moves`: the moves with the reward model as it is.
    - `moves`: the moves that also include refitting the reward model without the unit.
    """

    values: Floats
    fixed_model_moves: Floats
    moves: Floats

    def take(self, places: Sequence[int]) -> "Jackknife":
        """Return the jackknife of some of the estimators."""
        kept = list(places)
        return Jackknife(
            values=self.values[kept],
            fixed_model_moves=self.fixed_model_moves[kept],
            moves=self.moves[kept],
        )


class Steps(NamedTuple):
    """The steps of a ladder: their `lengths`, their variances (`noise`), and their prior variances at boldness 1."""

    lengths: Floats
    noise: Floats
    reach: Floats

    def compute_posterior(self, boldness: Floats, prior_median: float) -> Floats:
        """Return the posterior probability of each value of the boldness."""
        variance = np.square(boldness)[:, None] * self.reach + self.noise
        # A step without any variance, between rungs that are equal on this log, says nothing about the boldness.
        is_informative = variance > 0
        divisor = np.where(is_informative, variance, 1.0)
        prior_loss = np.square(np.log(boldness / prior_median) / PRIOR_LOG_BOLDNESS_STD)
        step_losses = np.where(is_informative, np.log(divisor) + self.lengths**2 / divisor, 0.0)
        loss = prior_loss + step_losses.sum(axis=1)
        probability = np.exp((loss.min() - loss) / 2)
        return np.asarray(probability / probability.sum())

    def shorten(self, boldness: Floats, probability: Floats) -> tuple[Floats, float]:
        """Return the part of each step that is taken, and the variance of the remaining bias.

        That is the variance of the true steps given the measured ones, less the noise in what is taken of them.
        """
        prior_variance = np.square(boldness)[:, None] * self.reach
        total_variance = prior_variance + self.noise
        taken_at_boldness = np.divide(
            prior_variance, total_variance, out=np.ones_like(prior_variance), where=total_variance > 0
        )
        # No step is taken further than those below it. Rounding could make a mean a little larger than 1.
        taken = np.minimum.accumulate(np.minimum(probability @ taken_at_boldness, 1.0))
        variance = probability @ (
            taken_at_boldness * self.noise + np.square((taken_at_boldness - taken) * self.lengths)
        )
        return taken, float(np.maximum(variance - taken**2 * self.noise, 0.0).sum())


def measure_variance(weighted: Floats, weight: Floats, square: Floats) -> Floats:
    """Return the variance under each rung's weights, from sums over units (rungs x units).

    The variances within and between units are summed apart: a difference of the sums of all squares would lose the
    digits of rewards that vary little around a large number.
    """
    within = square - ratio(weighted**2, weight)
    within[within < ROUNDING * square] = 0.0
    total_weight = weight.sum(axis=1, keepdims=True)
    overall_mean = ratio(weighted.sum(axis=1, keepdims=True), total_weight)
    between = weight * np.square(ratio(weighted, weight) - overall_mean)
    return ratio((within + between).sum(axis=1), total_weight[:, 0])
