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

PLAIN: dict[Estimator, Estimator] = {
    TruncatedSNIPS(math.inf): SNIPS(),
    TruncatedSNDR(0.0): DM(),
    TruncatedSNDR(math.inf): SNDR(),
}
"""What the first and the last rungs are otherwise known as."""

USUAL, SPREAD = {TruncatedSNIPS: 1.0, TruncatedSNDR: 0.05}, 1.0
"""The median of boldness on each ladder before a log is seen, and the standard deviation of its logarithm."""

BOLDNESS = np.exp(np.linspace(-5.0, 3.0, 65))
"""The values of boldness that are weighed against each other."""

DOUBT = 4.0
"""How much larger the variance of what is left of the bias is stated than the steps say, which know little of it.

With it 98 % of the intervals of good answers cover the true value on 26 families of development problems, and 92 %
on the family `shared column`.
"""

EVEN = 0.5
"""How far the mixture of two ladders is drawn from the best one, by what is known, towards their mean."""

BOLD = {TruncatedSNIPS: 0.5, TruncatedSNDR: 0.2}
"""The boldness on each ladder that is relied on besides the one that is learnt.

The lower steps are measured well, and so decide what boldness is learnt. They say little of the higher ones where the
logging policy chose by what rewards depend on and the model does not see: all low rungs are wrong together then.
"""


class Purpose(NamedTuple):
    """What an answer is for, which decides how far steps are shortened.

    - `fixed`: the probability that boldness has the value in `BOLD`, whatever the steps say.
    - `doubt`: how much larger the variance of what is left of the bias is stated than the steps say.
    """

    fixed: float
    doubt: float


VALUE = Purpose(fixed=0.2, doubt=DOUBT)
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
    $\kappa_l$, up to all of it. $s_l$ is the standard error of a step by the jackknife, $c \tau_l$ how long it may be
    before anything is known, $\hat\sigma$ the largest standard deviation of what is averaged under the weights of any
    rung. One ladder has the rungs `TruncatedSNIPS`; the other goes from `DM`, where no weight is left, by
    `TruncatedSNDR` to `SNDR`.

    The `boldness` c says how much rungs usually differ: little where a reward model is good. By default it is learnt:
    its logarithm is normal around that of 1, or of 0.05 on the ladder of the model, with a standard deviation of 1,
    times the likelihood of all steps, $V_l - V_{l-1} \sim N(0, c^2 \tau_l^2 + s_l^2)$; $\mathbb E_c$ is the mean under
    it, but with a probability of 0.2 the boldness is 0.5, or 0.2 on the ladder of the model, whatever the steps say.
    The answer is half-way between the mean of both ladders and their mixture with the least estimated error. What may
    be left of the bias is part of the error, four times doubted. Nothing is random here. docs/ladder.md tells why. A
    shortened step is a bias towards the log, which a difference to the log does not cancel. So differences have shares
    of their own, by which that probability is 0.7.

    A candidate's score is its squared distance from that answer, plus the variances of the distance and of itself. If
    all rungs are candidates, as in the default set, the answer is the mixture itself; else it is the best candidate.

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
            noise = "unknown" if rows.model is None else rows.model.fit_noise
            first = () if noise == "unknown" else (TruncatedSNDR(0.0),)
            ladders.append((*first, *TruncatedSNDR.candidates(rows), TruncatedSNDR(math.inf)))
            return replace(self, ladders=tuple(ladders), knows_pulls=noise == "known")
        return replace(self, ladders=tuple(ladders))

    @property
    def rungs(self) -> Rungs:
        """Return the rungs of all ladders."""
        return tuple(rung for ladder in self.ladders for rung in ladder)

    @property
    def pulls(self) -> dict[Estimator, ModelPull]:
        """Return what tells the noise of fitting a model, for each rung that it moves."""
        moved = [rung for rung in self.rungs if isinstance(rung, TruncatedSNDR)] if self.knows_pulls else []
        return {rung: ModelPull(rung.max_weight) for rung in moved}

    @property
    def witnesses(self) -> Sequence[Estimator]:
        return [*self.rungs, *self.pulls.values()]

    def answers_segments(self, candidates: Candidates) -> bool:
        there = set(candidates)
        return bool(self.rungs) and all(rung in there or PLAIN.get(rung, rung) in there for rung in self.rungs)

    def answer_segment(self, sums: Sums, share: float) -> UnitAnswer:
        """Climb both ladders anew on the units of a segment.

        What is left of the bias is doubted as much as in the whole log where the segment is all of it, and the less
        the smaller it is: its steps are noisier, so that they leave more room for a bias themselves.
        """
        known = self.jackknife(sums, self.rungs)
        purposes = [VALUE, DIFFERENCE]
        answers = []
        for purpose, (shares, doubt) in zip(purposes, self.mix_for(sums, purposes, known), strict=True):
            mixture = Mixture(self.rungs, tuple(shares.tolist()))
            times = (1 + (purpose.doubt - 1) * share) / purpose.doubt
            answers.append(UnitAnswer(mixture, moves=shares @ known.moves, bias_variance=times * doubt))
        value, difference = answers
        if self.boldness is not None:  # which holds for differences, too
            return value
        return value._replace(for_differences=difference)

    def scores(self, rows: Rows, candidates: Candidates, rng: np.random.Generator, pool: Pool) -> Floats:
        return self.select(rows, candidates, rng, pool).scores

    def select(self, rows: Rows, candidates: Candidates, rng: np.random.Generator, pool: Pool) -> Selection:
        judge = self if self.ladders else self.resolve(rows)
        every = list(dict.fromkeys([*candidates, *judge.witnesses]))
        return judge.select_from_sums(sum_buckets(rows, every, pool), candidates, rng)

    def select_from_sums(self, sums: Sums, candidates: Candidates, rng: np.random.Generator) -> Selection:
        rung_of = {plain: rung for rung, plain in PLAIN.items() if rung in self.rungs}
        judged = [rung_of.get(one, one) for one in candidates]
        every = list(dict.fromkeys([*self.rungs, *judged]))
        known = self.jackknife(sums, every)
        rungs = known.take(range(len(self.rungs)))
        others = known.take([every.index(one) for one in judged])
        (shares, doubt), (bold_shares, bold_doubt) = self.mix_for(sums, [VALUE, DIFFERENCE], rungs)
        count = len(candidates)
        gaps, apart = others.values - shares @ rungs.values, others.moves - shares @ rungs.moves
        scores = gaps**2 + np.square(apart).sum(axis=1) + np.square(others.moves).sum(axis=1)
        there = {one: place for place, one in reversed(list(enumerate(candidates)))}
        places = [there.get(rung, there.get(PLAIN.get(rung, rung), -1)) for rung in self.rungs]
        steps = tuple(self.describe_steps(shares, rungs.values, rungs.moves))
        if min(places) < 0:
            return replace(choose_lowest(scores), steps=steps)

        def describe_mixture(of_rungs: Floats, bias_variance: float) -> Selection:
            mixture = np.zeros(count)
            np.add.at(mixture, places, of_rungs)
            moves = of_rungs @ rungs.moves
            return Selection(scores, int(np.argmax(mixture)), mixture, moves, bias_variance)

        found = replace(describe_mixture(shares, doubt), steps=steps)
        if self.boldness is not None:  # which holds for differences, too
            return found
        return replace(found, for_differences=describe_mixture(bold_shares, bold_doubt))

    def jackknife(self, sums: Sums, estimators: Sequence[Estimator]) -> "Jackknife":
        """Return what estimators say, and how that moves when a unit is left out, also of what models learn from."""
        values, shown = sums.jackknife(estimators)
        moves, pulls = shown.copy(), self.pulls
        pulled = [place for place, one in enumerate(estimators) if one in pulls]
        if pulled:
            moves[pulled] += sums.jackknife([pulls[estimators[place]] for place in pulled])[1]
        return Jackknife(values, shown, moves)

    def describe_steps(self, shares: Floats, values: Floats, noise: Floats) -> Iterator[Step]:
        """Yield every rung, with its share in the answer, and how far the step to it was taken."""
        first = 0
        for ladder in self.ladders:
            mine = slice(first, first + len(ladder))
            first, total = mine.stop, shares[mine].sum()
            taken = shares[mine][::-1].cumsum()[::-1] / total if total > 0 else np.zeros(len(ladder))
            stderr = np.sqrt(np.square(noise[mine]).sum(axis=1))
            for place, rung in enumerate(ladder):
                numbers = float(values[mine][place]), float(stderr[place]), float(taken[place]) if place else None
                yield Step(type(rung).__name__, rung.max_weight, *numbers, float(shares[mine][place]))

    def mix_for(self, sums: Sums, purposes: Sequence[Purpose], known: "Jackknife") -> list[tuple[Floats, float]]:
        """Return for each purpose the share of each rung, and the variance of what may be left of the bias.

        `known` is the jackknife of all rungs.
        """
        measured = []
        first = 0
        for ladder in self.ladders:
            measured.append(self.measure_steps(sums, ladder, known.take(range(first, first + len(ladder)))))
            first += len(ladder)
        found = []
        for purpose in purposes:
            climbed = [self.climb(steps, ladder, purpose) for steps, ladder in zip(measured, self.ladders, strict=True)]
            shares, left = climbed[0]
            if len(climbed) == 2:  # there is no third ladder
                # the jackknife knows too little of heavy weights, so of learning, too
                shares, left = self.mix_ladders(sums, climbed, known.shown)
            found.append((shares, purpose.doubt * left))
        return found

    def mix_ladders(self, sums: Sums, climbed: Sequence[tuple[Floats, float]], noise: Floats) -> tuple[Floats, float]:
        """Return the share of each rung of both ladders, and the variance of what may be left of the bias.

        `climbed` is the same of each ladder alone, and `noise` how rungs move when a unit is left out.
        """
        (one, left), (other, right) = climbed
        first, second = one @ noise[: len(one)], other @ noise[len(one) :]
        gap = np.square(first - second).sum() + left + right
        best = (first @ (first - second) + left) / gap if gap > 0 else 0.5
        share = (1 - EVEN) * np.clip(best, 0.0, 1.0) + EVEN / 2
        if not sums.weights.any():
            share = 1.0  # SNIPS is 0 where there is no weight, whatever the rewards
        remaining = float((1 - share) ** 2 * left + share**2 * right)
        return np.concatenate([(1 - share) * one, share * other]), remaining

    def measure_steps(self, sums: Sums, ladder: Rungs, known: "Jackknife") -> "Steps":
        """Return the steps of one ladder, whose jackknife is known, their noise, and how long they may be."""
        weighted, weight, square = np.stack([one.outcome_sums(sums.of_estimator(one)) for one in ladder], axis=1)
        left, spread = weight.sum(axis=1), measure_variance(weighted, weight, square).max()
        reach = np.square(1 - left[:-1] / np.maximum(left[1:], np.finfo(float).tiny)) * spread
        return Steps(np.diff(known.values), np.square(np.diff(known.moves, axis=0)).sum(axis=1), reach)

    def climb(self, steps: "Steps", ladder: Rungs, purpose: Purpose) -> tuple[Floats, float]:
        """Return the share of each rung of one ladder, and the variance of what may be left of the bias."""
        kind = type(ladder[0])
        bold = BOLDNESS if self.boldness is None else np.array([self.boldness])
        chance = steps.weigh(bold, USUAL[kind])
        if self.boldness is None and purpose.fixed:
            bold = np.append(bold, BOLD[kind])
            chance = np.append((1 - purpose.fixed) * chance, purpose.fixed)
        taken, left = steps.shorten(bold, chance)
        return np.append(1.0, taken) - np.append(taken, 0.0), left


class Jackknife(NamedTuple):
    """What estimators say, and how that moves when a unit is left out (estimators x units).

    `shown` are the moves with the reward model as it is, and `moves` those with what it learns from the unit.
    """

    values: Floats
    shown: Floats
    moves: Floats

    def take(self, places: Sequence[int]) -> "Jackknife":
        """Return the same of some estimators."""
        some = list(places)
        return Jackknife(self.values[some], self.shown[some], self.moves[some])


class Steps(NamedTuple):
    """The steps of a ladder, their variances, and how large the squares of steps of boldness 1 would be on average."""

    lengths: Floats
    noise: Floats
    reach: Floats

    def weigh(self, bold: Floats, usual: float) -> Floats:
        """Return the probability of each of several values of boldness, once the steps are known."""
        total = np.square(bold)[:, None] * self.reach + self.noise
        there = total > 0
        known = np.where(there, total, 1.0)
        prior = np.square(np.log(bold / usual) / SPREAD)
        loss = prior + np.where(there, np.log(known) + self.lengths**2 / known, 0.0).sum(axis=1)
        chance = np.exp((loss.min() - loss) / 2)
        return np.asarray(chance / chance.sum())

    def shorten(self, bold: Floats, chance: Floats) -> tuple[Floats, float]:
        """Return how far each step is taken, and the variance of what may be left of the bias.

        That is the variance of what the steps really are, given what they seem to be, less the noise that is taken.
        """
        own = np.square(bold)[:, None] * self.reach
        each = np.divide(own, own + self.noise, out=np.ones_like(own), where=own + self.noise > 0)
        taken = np.minimum.accumulate(np.minimum(chance @ each, 1.0))  # rounding may take a step a little too far
        variance = chance @ (each * self.noise + np.square((each - taken) * self.lengths))
        return taken, float(np.maximum(variance - taken**2 * self.noise, 0.0).sum())


def measure_variance(weighted: Floats, weight: Floats, square: Floats) -> Floats:
    """Return the variance under each rung's weights, from sums over units (rungs x units).

    What varies within units and between them is summed apart, as the difference of the squares in all would lose the
    digits of rewards that vary little around a large number.
    """
    within = square - ratio(weighted**2, weight)
    within[within < ROUNDING * square] = 0.0
    total = weight.sum(axis=1, keepdims=True)
    between = weight * np.square(ratio(weighted, weight) - ratio(weighted.sum(axis=1, keepdims=True), total))
    return ratio((within + between).sum(axis=1), total[:, 0])
