"""Columns that are no context: copies of the reward and outcomes, which no policy can have known, and indices."""

import re
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from counterfold.base.arrays import Bools, Floats, Ints
from counterfold.base.cached import cached_property
from counterfold.log.log import Log

COPY = 0.99999
"""From which correlation on a column is a copy of the reward, perhaps in another unit."""

TELLS, TELLS_ONE_OF_TWO = 0.8, 0.6
"""From which correlation on a column tells too much of the reward, and of one that has two values, to be context.

What is known before a decision seldom does, and a reward model that sees an outcome explains effects of actions away;
to leave out a column that was known costs some precision only.
"""

NOISE = 5.0
"""Of how many standard errors a correlation must be, so that none comes of chance."""

COINCIDENCE = 1e-6
"""Below which probability it is no coincidence that rewards are 0 wherever a column is."""

DIFFERENT = 0.95
"""From which share of different values on the whole numbers of a column called an id identify rows."""

FEW = 10
"""With fewer rows, values tell nothing of what a column is."""

INDEX = re.compile(r"|Unnamed: \d+|__index_level_\d+__")
IDENTIFIER = re.compile(r"(?i:(.*[_ .-])?(id|ids|uuid|guid))|.*[a-z0-9](Id|ID|Uuid|UUID)")
POLICY = re.compile(r"(?i:(.*[_ .-])?(target|policy|pi|prob|probability|propensity|p_?score)([_ .-].*|\d*))")
RATE = re.compile(r"(?i:(.*[_ .-])?(kept|keep|(sub)?sampl\w*|retention|retained)([_ .-].*|\d*))")
"""What columns are called that pandas makes of an index, and what identifiers, probabilities and sampling rates are."""


AFTER = "as if it were known only after the decision"


class Reason(NamedTuple):
    """Why a column is no context, whether it comes of the decision, and whether it is the reward or the action.

    It may say how likely rows were to be kept (`is_rate`).
    """

    what: str
    is_outcome: bool
    is_copy: bool = False
    is_rate: bool = False


@dataclass(frozen=True, eq=False)
class ColumnSums:
    """Sums over rows that tell how each column (d) is related to the rewards; two such can be added.

    `moments` (5 x d) sum x, r, x², r² and x r, centred; `zeros` (3 x d) count rows where the column is 0, where the
    reward is 0, and where both are. `ratios` (3 x d) sum the column over the propensity, the square of that, and rows
    where the column is a probability. `low` and `high` (2 x d) are the ends of the column less the number of the row,
    and of the rewards.
    """

    rows: int
    moments: Floats
    zeros: Floats
    ratios: Floats
    low: Floats
    high: Floats

    def __add__(self, other: "ColumnSums") -> "ColumnSums":
        ends = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        zeros, ratios = self.zeros + other.zeros, self.ratios + other.ratios
        return ColumnSums(self.rows + other.rows, self.moments + other.moments, zeros, ratios, *ends)

    @cached_property
    def correlations(self) -> Floats:
        """Return the correlation of each column with the reward, 0 where one of them does not vary."""
        x, r, xx, rr, xr = self.moments / self.rows
        spread = np.maximum(xx - x**2, 0.0) * np.maximum(rr - r**2, 0.0)
        varies = spread > 1e-18 * (xx * rr)
        return np.asarray(np.divide(xr - x * r, np.sqrt(spread), out=np.zeros(len(x)), where=varies))

    @cached_property
    def are_indices(self) -> Bools:
        """Say which columns number the rows."""
        return np.asarray(self.low[0] == self.high[0])

    @cached_property
    def has_two_rewards(self) -> bool:
        """Say whether the rewards have at most two values: then all of them lie at their ends."""
        if not self.low.size:
            return False
        low, high, (_, r, _, rr, _) = self.low[1, 0], self.high[1, 0], self.moments[:, 0]
        inside = (low + high) * r - rr - low * high * self.rows
        return bool(abs(inside) <= 1e-9 * self.rows * max(low**2, high**2))

    @cached_property
    def tell_rewards(self) -> Bools:
        """Say which columns are so closely related to the reward as an outcome would be."""
        size = np.abs(self.correlations)
        enough = TELLS_ONE_OF_TWO if self.has_two_rewards else TELLS
        return np.asarray((size >= enough) & (size * np.sqrt(self.rows) >= NOISE))

    @cached_property
    def may_be_policies(self) -> Bools:
        """Say which columns may be a policy's probability of the logged action: such weights are 1 on average."""
        mean, square, inside = self.ratios / self.rows
        error = np.sqrt(np.maximum(square - mean**2, 0.0) / self.rows)
        return np.asarray((inside == 1) & (np.abs(mean - 1) < 4 * error) & (error < 0.1))

    @cached_property
    def may_be_rates(self) -> Bools:
        """Say which columns are above 0 and at most 1, and vary, as chances to be kept are."""
        varies = self.moments[2] * self.rows - self.moments[0] ** 2 > 1e-9 * self.rows**2
        return np.asarray((self.ratios[2] == self.rows) & (self.zeros[0] == 0) & varies)

    @cached_property
    def explain_rewards(self) -> Bools:
        """Say in which columns a 0 means that there is no reward, by structure and not by coincidence.

        Either both are 0 in the same rows, or the column is 0 in most rows and every reward lies in one of the others.
        """
        mine, rewards, both = self.zeros
        others, rewarded = self.rows - mine, self.rows - rewards
        chance = rewarded * np.log(np.maximum(others, 1.0) / self.rows)
        is_rare = (mine > self.rows / 2) & (both == mine)
        return np.asarray((is_rare | ((both == mine) & (both == rewards))) & (chance < np.log(COINCIDENCE)))


@dataclass(frozen=True, eq=False)
class ColumnTest:
    """Finds columns that are no context, by their names and values; the first rows of a log tell how to centre.

    `sources` are the columns that these come from; `coded` are columns of 0 and 1, of which `LevelTest` tells.
    """

    names: tuple[str, ...]
    sources: tuple[str, ...]
    coded: Bools
    centre: Floats
    scale: Floats
    identify: Bools

    @classmethod
    def of(cls, first: Log, rows: int) -> Self:
        """Return the test for a log with such first rows."""
        table = np.column_stack([first.context[:rows], first.reward[:rows]])
        spread = table.std(axis=0)
        identify = [is_identifier(*one) for one in zip(first.context_names, first.context[:rows].T, strict=True)]
        centre, scale = table.mean(axis=0), np.where(spread > 0, spread, 1.0)
        coded = np.array(find_coded(first), dtype=bool)
        names = first.context_names, first.context_sources
        return cls(*names, coded, centre, scale, np.array(identify, dtype=bool))

    def sum_rows(self, log: Log, place: Ints | slice, row_numbers: Ints) -> ColumnSums:
        """Return the sums of some rows of a log."""
        context, rewards = np.ascontiguousarray(log.context[place].T), log.reward[place]  # lines are summed faster
        x = (context - self.centre[:-1, None]) / self.scale[:-1, None]
        r, ones = (rewards - self.centre[-1]) / self.scale[-1], np.ones(len(x))
        moments = np.stack([x.sum(axis=1), r.sum() * ones, (x**2).sum(axis=1), (r**2).sum() * ones, x @ r])
        mine, other = context == 0, rewards == 0
        zeros = np.stack([mine.sum(axis=1), other.sum() * ones, (mine & other).sum(axis=1)])
        weights, numbered = context / log.propensity[place], context - row_numbers
        ratios = np.stack(
            [weights.sum(axis=1), (weights**2).sum(axis=1), ((context >= 0) & (context <= 1)).sum(axis=1)]
        )
        low = np.stack([numbered.min(axis=1), r.min() * ones])
        high = np.stack([numbered.max(axis=1), r.max() * ones])
        return ColumnSums(len(r), moments, zeros, ratios, low, high)

    def explain(self, sums: ColumnSums) -> dict[str, Reason]:
        """Return why some columns are no context, by the name of the column that they come from."""
        reasons: dict[str, Reason] = {}
        for place in np.flatnonzero(~self.coded).tolist():
            found = self.explain_number(place, sums)
            if found is None and sums.rows >= FEW:
                found = explain_values(place, self.sources[place], sums)
            reasons |= {} if found is None else {self.sources[place]: found}
        return reasons

    def explain_number(self, place: int, sums: ColumnSums) -> Reason | None:
        """Return that a column only numbers rows, or whatever they are of, if so."""
        is_index = sums.rows >= FEW and sums.are_indices[place]
        if is_index or INDEX.fullmatch(self.sources[place]):
            return Reason("it is an index of the rows", is_outcome=False)
        if sums.rows >= FEW and self.identify[place]:
            return Reason("it is an identifier, different in nearly every row", is_outcome=False)
        return None


def explain_values(place: int, name: str, sums: ColumnSums) -> Reason | None:
    """Return why a column is no context by how it goes with rewards and propensities, if so."""
    correlation, tells = float(sums.correlations[place]), bool(sums.tell_rewards[place])
    if POLICY.fullmatch(name) and sums.may_be_policies[place]:
        return Reason("it is a policy's probability of the logged action", is_outcome=True)
    is_copy = abs(correlation) > COPY
    goes = tells and (sums.has_two_rewards or not is_copy)  # a rate of each of two rewards is a copy, too
    if sums.may_be_rates[place] and (goes or RATE.fullmatch(name)):
        return Reason("it looks like the probability with which a row was kept", is_outcome=tells, is_rate=True)
    if is_copy:
        return Reason("it is a copy of the reward", is_outcome=True, is_copy=True)
    if sums.explain_rewards[place]:
        return Reason(f"there is no reward where it is 0, {AFTER}", is_outcome=True)
    if tells:
        return Reason(f"it tells much of the reward (correlation {correlation:.2f}), {AFTER}", is_outcome=True)
    return None


def find_coded(log: Log) -> list[bool]:
    """Return which columns of the context are 1 for one value of a text, or where one is missing, and 0 elsewhere."""
    found = []
    for source in dict.fromkeys(log.context_sources):
        width = log.context_sources.count(source)
        coded = max(len(log.encodings[source].labels) - 1, 0) if source in log.encodings else 0
        found += [False] * (width - coded) + [True] * coded
    return found


def is_identifier(name: str, values: Floats) -> bool:
    """Say whether a column is called like an identifier and holds whole numbers that nearly all differ.

    >>> is_identifier("user_id", np.array([17.0, 23.0, 4.0])), is_identifier("paid", np.array([17.0, 23.0, 4.0]))
    (True, False)
    """
    if not IDENTIFIER.fullmatch(name) or not np.array_equal(values, np.round(values)):
        return False
    return len(np.unique(values)) >= DIFFERENT * len(values)
