"""Selector: scores any list of candidates on rows; the lowest score is chosen, the first among equals."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, NamedTuple, Self

import numpy as np

from counterfold.base import validation
from counterfold.base.arrays import Floats, Ints
from counterfold.base.errors import ParameterError
from counterfold.base.threads import Pool
from counterfold.estimators.base import Estimator, require_frozen
from counterfold.estimators.dr import DR
from counterfold.estimators.ips import IPS
from counterfold.estimators.kernel_dr import KernelDR
from counterfold.estimators.kernel_ips import KernelIPS
from counterfold.estimators.needs import Need
from counterfold.estimators.rows import Rows
from counterfold.estimators.sums import Sums
from counterfold.log import kernels
from counterfold.log.log import Kind

ROUNDING = 1e-12

SHOWN, LEAST = 3, 0.005
"""How many members a name lists at most, and the least share that it does."""

Candidates = Sequence[Estimator]
Rule = Literal["standard_error", "standard_deviation", "mean"]


@dataclass(frozen=True)
class Mixture(Estimator):
    r"""A weighted mean of several estimators' contributions, $v_i = \sum_j \alpha_j v_{ij}$.

    >>> from counterfold.estimators.dm import DM
    >>> from counterfold.estimators.ips import IPS
    >>> Mixture((IPS(), DM()), (0.25, 0.75)).name
    '0.75 DM + 0.25 IPS'
    """

    members: tuple[Estimator, ...]
    shares: tuple[float, ...]
    is_linear = False

    def contributions(self, rows: Rows) -> Floats:
        return np.asarray(sum(share * one.contributions(rows) for one, share in self.weighted_members))

    def totals(self, sums_of: Callable[[Estimator], Floats], sizes: Floats) -> Floats:
        return np.asarray(sum(share * one.totals(sums_of, sizes) for one, share in self.weighted_members))

    def uses(self, need: Need) -> bool:
        return any(one.uses(need) for one, _ in self.weighted_members)

    @property
    def may_see_context(self) -> bool:
        return any(one.may_see_context for one, _ in self.weighted_members)

    @property
    def weighted_members(self) -> Sequence[tuple[Estimator, float]]:
        return [(one, share) for one, share in zip(self.members, self.shares, strict=True) if share]

    @property
    def name(self) -> str:
        ranked = sorted(zip(self.shares, self.members, strict=True), key=lambda pair: -pair[0])
        large = [f"{share:.2g} {one.name}" for share, one in ranked if share >= LEAST]
        return " + ".join(large[:SHOWN]) + (" + ..." if len(large) > SHOWN else "")


@dataclass(frozen=True)
class Step:
    """A rung of a ladder: its cap on weights, what is said there, how far the step to it was `taken`, and its share."""

    ladder: str
    cap: float
    value: float
    stderr: float
    taken: float | None
    share: float


@dataclass(frozen=True, eq=False)
class Selection:
    """The scores of all candidates, the place of the best one, and the share that each has in the answer.

    A selector may know the noise of the answer better than contributions do: `moves` are then those of a jackknife over
    units, and `bias_variance` is the variance of what may be left of a bias. `losses` (candidates x splits) and `steps`
    tell how it was chosen, where candidates were cross-validated or are rungs of a ladder. `for_differences` is what to
    choose for differences to other policies, if that is something else: a value may be shrunk towards what the log
    earned for the sake of its squared error, which biases a difference.
    """

    scores: Floats
    chosen: int
    shares: Floats
    moves: Floats | None = None
    bias_variance: float = 0.0
    losses: Floats | None = None
    steps: tuple[Step, ...] = ()
    for_differences: "Selection | None" = None

    def answer(self, candidates: Candidates) -> Estimator:
        """Return the chosen candidate, or the mixture of several."""
        if np.count_nonzero(self.shares) == 1:
            return candidates[self.chosen]
        return Mixture(tuple(candidates), tuple(self.shares.tolist()))


class UnitAnswer(NamedTuple):
    """What answers on some units: an estimator, how its value moves with each unit, and what may be left of a bias.

    `for_differences` is what differences to other policies are made of, if that is another answer.
    """

    estimator: Estimator
    moves: Floats
    bias_variance: float
    for_differences: "UnitAnswer | None" = None

    @property
    def in_differences(self) -> "UnitAnswer":
        """Return the answer that differences are made of."""
        return self if self.for_differences is None else self.for_differences


class Selector(ABC):
    """A frozen dataclass; `rng` and `pool` are arguments, so the same selector gives the same answer anywhere."""

    needs: ClassVar[tuple[Need, ...]] = ()
    """What may be missing, and without which the selector does not apply; `all_rows` says that sums are not enough."""

    kinds: ClassVar[tuple[Kind, ...]] = ("labels", "doses")
    """What an action may be."""

    needs_sample: ClassVar[bool] = False
    """Whether some of its settings come from the rows, so that a large log must be read once before."""

    extra: ClassVar[str | None] = None
    """The optional dependencies that it needs, as named in `pip install counterfold[EXTRA]`."""

    validator: Estimator | None = None
    """The estimator with which candidates are compared, if the selector has one and it is chosen."""

    @abstractmethod
    def scores(self, rows: Rows, candidates: Candidates, rng: np.random.Generator, pool: Pool) -> Floats:
        """Return one score per candidate, lower is better."""

    def select_from_sums(self, sums: Sums, candidates: Candidates, rng: np.random.Generator) -> Selection:
        """Return the candidate with the lowest score, from sums over units of rows."""
        return choose_lowest(self.score_sums(sums, candidates, rng))

    def score_sums(self, sums: Sums, candidates: Candidates, rng: np.random.Generator) -> Floats:
        """Return one score per candidate from sums over units of rows, unless the selector needs all rows."""
        raise NotImplementedError(f"{type(self).__name__} needs rows")

    @property
    def witnesses(self) -> Sequence[Estimator]:
        """Return what the selector must know besides the candidates: the validator, if there is one."""
        return [] if self.validator is None else [self.validator]

    def answers_segments(self, candidates: Candidates) -> bool:
        """Say whether `answer_segment` chooses anew among these candidates in every segment of the rows."""
        return False

    def answer_segment(self, sums: Sums, share: float) -> UnitAnswer:
        """Return the answer for a segment that holds a share of all rows, by the rules of the answer for all rows."""
        raise NotImplementedError(f"{type(self).__name__} has one answer for all segments")

    def find_moves(self, sums: Sums, estimator: Estimator) -> Floats:
        """Return how an estimator, or a mixture of several, moves when a unit is left out."""
        members = estimator.weighted_members
        moves = sums.jackknife([one for one, _ in members])[1]
        return np.asarray(np.array([share for _, share in members]) @ moves)

    @property
    def least_units(self) -> int:
        """Return how many units of rows it takes to choose by their sums."""
        return 2

    def resolve(self, rows: Rows) -> Self:
        """Return the selector with every choice made that it leaves to the rows."""
        return self

    def select(self, rows: Rows, candidates: Candidates, rng: np.random.Generator, pool: Pool) -> Selection:
        """Return the candidate with the lowest score."""
        return choose_lowest(self.scores(rows, candidates, rng, pool))

    def without_refits(self) -> Self:
        """Return the selector as it works on sums, where no reward model is fitted anew."""
        return self

    def can_tune(self, kind: type[Estimator]) -> bool:
        """Say whether the selector can choose among candidates of one kind."""
        return True

    def extend_grid(self, kind: type[Estimator], rows: Rows) -> Sequence[Estimator]:
        """Return candidates that the selector would add to an estimator's own grid."""
        return []


@dataclass(frozen=True)
class Validated(Selector):
    """A selector that compares candidates with a validator: an estimator that is trusted to be unbiased."""

    validator: Estimator | None = None

    @property
    def used_validator(self) -> Estimator:
        """Return the validator; before it is chosen by the rows, DR."""
        return self.validator or DR()

    def resolve(self, rows: Rows) -> Self:
        return replace(self, validator=choose_validator(self.validator, rows))


class CrossValidated(Validated):
    """Scores candidates by their losses on several splits: the mean, plus what the `rule` adds."""

    rule: Rule

    @abstractmethod
    def losses(self, rows: Rows, candidates: Candidates, rng: np.random.Generator, pool: Pool) -> Floats:
        """Return the loss of each candidate on each split (candidates x splits)."""

    @abstractmethod
    def sum_losses(self, sums: Sums, candidates: Candidates, rng: np.random.Generator) -> Floats:
        """Return the loss of each candidate on each split of the units (candidates x splits)."""

    def scores(self, rows: Rows, candidates: Candidates, rng: np.random.Generator, pool: Pool) -> Floats:
        return self.select(rows, candidates, rng, pool).scores

    def select(self, rows: Rows, candidates: Candidates, rng: np.random.Generator, pool: Pool) -> Selection:
        return self.choose_by(self.losses(rows, candidates, rng, pool))

    def select_from_sums(self, sums: Sums, candidates: Candidates, rng: np.random.Generator) -> Selection:
        return self.choose_by(self.sum_losses(sums, candidates, rng))

    def score_sums(self, sums: Sums, candidates: Candidates, rng: np.random.Generator) -> Floats:
        return self.select_from_sums(sums, candidates, rng).scores

    def choose_by(self, losses: Floats) -> Selection:
        """Return the choice of the candidate with the lowest score."""
        return replace(choose_lowest(self.add_pessimism(losses)), losses=losses)

    def add_pessimism(self, losses: Floats) -> Floats:
        """Return the mean loss of each candidate, plus a standard error or deviation over the splits if so ruled."""
        mean = np.asarray(losses.mean(axis=1))
        if self.rule == "mean":
            return mean
        count = 1 if self.rule == "standard_deviation" else losses.shape[1]
        return np.asarray(mean + losses.std(axis=1, ddof=1) / np.sqrt(count))


def choose_lowest(scores: Floats) -> Selection:
    """Return the choice of the lowest score; scores that differ by rounding errors alone are equal."""
    chosen = int(np.argmax(scores <= scores.min() + ROUNDING * abs(scores.min())))
    return Selection(scores, chosen, (np.arange(len(scores)) == chosen).astype(np.float64))


def check_validator(validator: Estimator | None) -> None:
    """Require an estimator, unless the rows are to choose one."""
    if validator is not None:
        validation.an_object(Estimator, "an estimator, such as DR()", validator=validator)
        require_frozen(type(validator))


def choose_validator(validator: Estimator | None, rows: Rows) -> Estimator:
    """Return the validator, by default DR or else IPS, or their likes for doses; refuse one that does not apply."""
    if validator is None and rows.kind == "doses":
        bandwidth = kernels.choose_bandwidth(rows.dose) / 2  # the rule itself is biased where rewards bend sharply
        return KernelIPS(bandwidth) if KernelDR.find_obstacle(rows) else KernelDR(bandwidth)
    if validator is None:
        return IPS() if DR.find_obstacle(rows) else DR()
    if reason := validator.find_obstacle(rows):
        raise ParameterError(f"the validator {validator.name} {reason}.")
    return validator


def shuffle_rows(rows: Rows, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Return the rows in random order, and the places between which they may be cut: anywhere, or between groups."""
    if rows.groups is None:
        return rng.permutation(len(rows)), np.arange(1, len(rows))
    rank = np.argsort(rng.permutation(rows.groups.max() + 1))[rows.groups]
    order = np.argsort(rank, kind="stable")
    return order, np.flatnonzero(np.diff(rank[order])) + 1


def square_errors(candidates: Candidates, rows: Rows, truth: float) -> Floats:
    """Return the squared error of each candidate on some rows."""
    return np.array([(candidate.value(rows) - truth) ** 2 for candidate in candidates])


def resample_rows(rows: Rows, rng: np.random.Generator) -> Ints:
    """Return a bootstrap sample: as many rows, or all rows of as many groups, drawn with replacement."""
    if rows.groups is None:
        return rng.integers(len(rows), size=len(rows))
    unique, where = np.unique(rows.groups, return_inverse=True)
    members = np.split(np.argsort(where, kind="stable"), np.cumsum(np.bincount(where))[:-1])
    return np.concatenate([members[group] for group in rng.integers(len(unique), size=len(unique)).tolist()])
