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
"""Numbers whose relative difference is at most this count as equal."""

MAX_NAMED_MEMBERS = 3
"""The name of a mixture lists at most this many of its members."""

MIN_NAMED_SHARE = 0.005
"""The name of a mixture lists no member with a smaller share."""

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
        return np.asarray(sum(share * member.contributions(rows) for member, share in self.weighted_members))

    def totals(self, sums_of: Callable[[Estimator], Floats], sizes: Floats) -> Floats:
        return np.asarray(sum(share * member.totals(sums_of, sizes) for member, share in self.weighted_members))

    def uses(self, need: Need) -> bool:
        return any(member.uses(need) for member, _ in self.weighted_members)

    @property
    def may_see_context(self) -> bool:
        return any(member.may_see_context for member, _ in self.weighted_members)

    @property
    def weighted_members(self) -> Sequence[tuple[Estimator, float]]:
        return [(member, share) for member, share in zip(self.members, self.shares, strict=True) if share]

    @property
    def name(self) -> str:
        ranked = sorted(zip(self.shares, self.members, strict=True), key=lambda pair: -pair[0])
        parts = [f"{share:.2g} {member.name}" for share, member in ranked if share >= MIN_NAMED_SHARE]
        if len(parts) > MAX_NAMED_MEMBERS:
            parts = [*parts[:MAX_NAMED_MEMBERS], "..."]
        return " + ".join(parts)


@dataclass(frozen=True)
class Step:
    """A rung of a ladder.

    - `ladder`: the class of the rung.
    - `cap`: its cap on weights.
    - `value`, `stderr`: its estimate and the standard error.
    - `taken`: the part of the step to this rung that was taken; None for the first rung.
    - `share`: its share in the answer.
    """

    ladder: str
    cap: float
    value: float
    stderr: float
    taken: float | None
    share: float


@dataclass(frozen=True, eq=False)
class Selection:
    """The choice of a selector.

    - `scores`: the scores of all candidates; the lowest is the best.
    - `chosen`: the place of the best candidate.
    - `shares`: the share of each candidate in the answer.
    - `moves`: how the answer moves in a jackknife over units, if the selector computes it. They may show more of the
      noise of the answer than its contributions.
    - `bias_variance`: the variance of the bias that may remain.
    - `losses`: the losses on the splits (candidates x splits), if candidates were cross-validated.
    - `steps`: the rungs of the ladders, if there are any.
    - `for_differences`: the choice for differences to other policies, if it is another one. A value may be shrunk
      towards the value of the log to reduce its squared error, which biases a difference.
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
        """Return the chosen candidate, or the mixture of all candidates with a share."""
        if np.count_nonzero(self.shares) == 1:
            return candidates[self.chosen]
        return Mixture(tuple(candidates), tuple(self.shares.tolist()))


class UnitAnswer(NamedTuple):
    """The answer on some units.

    - `estimator`: the chosen estimator or mixture.
    - `moves`: how its value moves when a unit is left out.
    - `bias_variance`: the variance of the bias that may remain.
    - `for_differences`: the answer for differences to other policies, if it is another one.
    """

    estimator: Estimator
    moves: Floats
    bias_variance: float
    for_differences: "UnitAnswer | None" = None

    @property
    def in_differences(self) -> "UnitAnswer":
        """Return the answer for differences to other policies."""
        return self if self.for_differences is None else self.for_differences


class Selector(ABC):
    """A frozen dataclass; `rng` and `pool` are arguments, so the same selector gives the same answer anywhere."""

    needs: ClassVar[tuple[Need, ...]] = ()
    """Optional data that the selector requires; `all_rows` means that sums are not enough."""

    kinds: ClassVar[tuple[Kind, ...]] = ("labels", "doses")
    """The kinds of actions that the selector supports."""

    needs_sample: ClassVar[bool] = False
    """Whether some of its settings depend on the rows. A large log is then read once more to draw a sample."""

    extra: ClassVar[str | None] = None
    """The optional dependencies that it needs, as named in `pip install counterfold[EXTRA]`."""

    validator: Estimator | None = None
    """The estimator that candidates are compared with, if the selector uses one and it is already chosen."""

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
        """Return the estimators that are needed besides the candidates: the validator, if there is one."""
        return [] if self.validator is None else [self.validator]

    def answers_segments(self, candidates: Candidates) -> bool:
        """Return whether `answer_segment` chooses anew among these candidates in every segment."""
        return False

    def answer_segment(self, sums: Sums, share: float) -> UnitAnswer:
        """Return the answer for a segment with this share of all rows, by the same method as for all rows."""
        raise NotImplementedError(f"{type(self).__name__} has one answer for all segments")

    def find_moves(self, sums: Sums, estimator: Estimator) -> Floats:
        """Return how an estimator or a mixture moves when a unit is left out."""
        members = [member for member, _ in estimator.weighted_members]
        shares = np.array([share for _, share in estimator.weighted_members])
        _, moves = sums.jackknife(members)
        return np.asarray(shares @ moves)

    @property
    def least_units(self) -> int:
        """Return the least number of units whose sums are enough to choose."""
        return 2

    def resolve(self, rows: Rows) -> Self:
        """Return the selector with all settings that depend on the rows."""
        return self

    def select(self, rows: Rows, candidates: Candidates, rng: np.random.Generator, pool: Pool) -> Selection:
        """Return the candidate with the lowest score."""
        return choose_lowest(self.scores(rows, candidates, rng, pool))

    def without_refits(self) -> Self:
        """Return the selector for sums, where reward models cannot be refitted."""
        return self

    def can_tune(self, kind: type[Estimator]) -> bool:
        """Return whether the selector can choose among candidates of this class."""
        return True

    def extend_grid(self, kind: type[Estimator], rows: Rows) -> Sequence[Estimator]:
        """Return candidates that the selector adds to an estimator's own grid."""
        return []


@dataclass(frozen=True)
class Validated(Selector):
    """A selector that compares candidates with a validator, an estimator that is assumed to be unbiased."""

    validator: Estimator | None = None

    @property
    def used_validator(self) -> Estimator:
        """Return the validator, or DR before `resolve` has chosen one."""
        return self.validator or DR()

    def resolve(self, rows: Rows) -> Self:
        return replace(self, validator=choose_validator(self.validator, rows))


class CrossValidated(Validated):
    """A selector that scores candidates by the mean of their losses on several splits, plus what the `rule` adds."""

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
        """Return the mean loss of each candidate, plus its standard error or deviation if the rule says so."""
        mean = np.asarray(losses.mean(axis=1))
        if self.rule == "mean":
            return mean
        deviation = losses.std(axis=1, ddof=1)
        if self.rule == "standard_error":
            deviation = deviation / np.sqrt(losses.shape[1])
        return np.asarray(mean + deviation)


def choose_lowest(scores: Floats) -> Selection:
    """Return the choice of the lowest score, the first one if several differ only by rounding errors."""
    lowest = scores.min()
    chosen = int(np.argmax(scores <= lowest + ROUNDING * abs(lowest)))
    is_chosen = np.arange(len(scores)) == chosen
    return Selection(scores, chosen, shares=is_chosen.astype(np.float64))


def check_validator(validator: Estimator | None) -> None:
    """Require an estimator, unless the rows are to choose one."""
    if validator is not None:
        validation.an_object(Estimator, "an estimator, such as DR()", validator=validator)
        require_frozen(type(validator))


def choose_validator(validator: Estimator | None, rows: Rows) -> Estimator:
    """Return the validator, or by default DR, IPS where DR does not apply, and their kernel versions for doses.

    A validator that does not apply to the rows is an error.
    """
    if validator is not None:
        obstacle = validator.find_obstacle(rows)
        if obstacle:
            raise ParameterError(f"the validator {validator.name} {obstacle}.")
        return validator
    if rows.kind == "doses":
        # The bandwidth of the rule of thumb itself is biased where rewards bend sharply.
        bandwidth = kernels.choose_bandwidth(rows.dose) / 2
        return KernelIPS(bandwidth) if KernelDR.find_obstacle(rows) else KernelDR(bandwidth)
    return IPS() if DR.find_obstacle(rows) else DR()


def shuffle_rows(rows: Rows, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Return the rows in random order, and the places where the order may be cut: anywhere, or between groups."""
    if rows.groups is None:
        return rng.permutation(len(rows)), np.arange(1, len(rows))
    rank_of_group = np.argsort(rng.permutation(rows.groups.max() + 1))
    ranks = rank_of_group[rows.groups]
    order = np.argsort(ranks, kind="stable")
    return order, np.flatnonzero(np.diff(ranks[order])) + 1


def square_errors(candidates: Candidates, rows: Rows, truth: float) -> Floats:
    """Return the squared error of each candidate on some rows."""
    return np.array([(candidate.value(rows) - truth) ** 2 for candidate in candidates])


def resample_rows(rows: Rows, rng: np.random.Generator) -> Ints:
    """Return a bootstrap sample of rows, or of whole groups with all their rows."""
    if rows.groups is None:
        return rng.integers(len(rows), size=len(rows))
    unique, group_of_row = np.unique(rows.groups, return_inverse=True)
    ends = np.cumsum(np.bincount(group_of_row))
    members = np.split(np.argsort(group_of_row, kind="stable"), ends[:-1])
    drawn = rng.integers(len(unique), size=len(unique)).tolist()
    return np.concatenate([members[group] for group in drawn])
