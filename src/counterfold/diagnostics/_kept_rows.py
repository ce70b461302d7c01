"""Kept rows: stretches of neighbouring rows that stand for a log, for tests that look at rows and not at sums.

The rows that are kept do not depend on how a log is cut into batches, and there are never more than a few thousand.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import fdtrc

from counterfold.base.arrays import Floats, Ints
from counterfold.base.cached import cached_property
from counterfold.base.hashing import hash_labels, hash_numbers
from counterfold.estimators.rows import Rows

STRETCH_SHIFT = 5
"""A stretch has 2 to this power of rows."""

MOST_STRETCHES = 128
"""At most so many stretches are kept: those whose numbers have the least hashes."""

MOST_COLUMNS = 32
"""So many columns of the context, the first ones, are looked at."""

ALONE = 8
"""So many actions, the most frequent ones, stand alone in a design; the others are pooled."""

WIDEST = 64
"""A design has products of actions and columns only if it has no more columns than this."""

REWARDS_PER_COLUMN = 5
"""A design has a column for so many rows with another reward than the most common one, at least."""

PENALTY = 1e-12
"""What is added to the squares of columns, in units of these, so that their products can be inverted."""


@dataclass(frozen=True, eq=False)
class KeptRows:
    """The context, actions, rewards and places of rows in a few stretches of a log; two such can be added.

    `numbers` are those of the rows in the log, and `places` their times if these are known, or else their numbers.
    `actions` are hashes of labels, as a batch of a large log may know no more than its own labels.
    """

    numbers: Ints
    context: Floats
    actions: Ints
    rewards: Floats
    places: Floats

    @classmethod
    def of(cls, rows: Rows) -> "KeptRows | None":
        """Return the rows that are kept of some rows; nothing where actions are doses."""
        if rows.kind == "doses":
            return None
        kept = choose_rows(rows.row_numbers)
        numbers = rows.row_numbers[kept]
        places = numbers.astype(np.float64) if rows.times is None else rows.times[kept]
        return cls(
            numbers=numbers,
            context=np.asarray(rows.examples.context[kept, :MOST_COLUMNS]),
            actions=hash_actions(rows, rows.actions[kept]),
            rewards=rows.rewards[kept],
            places=places,
        )

    def __len__(self) -> int:
        return len(self.numbers)

    def __add__(self, other: "KeptRows") -> "KeptRows":
        several = KeptRows(
            numbers=np.concatenate([self.numbers, other.numbers]),
            context=np.concatenate([self.context, other.context]),
            actions=np.concatenate([self.actions, other.actions]),
            rewards=np.concatenate([self.rewards, other.rewards]),
            places=np.concatenate([self.places, other.places]),
        )
        return several.take(choose_rows(several.numbers))

    def take(self, index: Ints) -> "KeptRows":
        """Return some of the rows."""
        return replace(
            self,
            numbers=self.numbers[index],
            context=self.context[index],
            actions=self.actions[index],
            rewards=self.rewards[index],
            places=self.places[index],
        )

    @cached_property
    def ranks(self) -> Floats:
        """Return the share of rewards below each one, equal ones counted half; 0 on average."""
        _, places, counts = np.unique(self.rewards, return_inverse=True, return_counts=True)
        below = np.cumsum(counts) - counts / 2
        return np.asarray((below / len(self) - 0.5)[places])

    @cached_property
    def columns(self) -> Floats:
        """Return the context (n x d) centred, scaled and bounded, so that no row has all the say."""
        spread = self.context.std(axis=0)
        scaled = (self.context - self.context.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
        return np.asarray(scaled / np.sqrt(1.0 + scaled * scaled))

    @cached_property
    def cells(self) -> Ints:
        """Return the cell of each row's action: frequent actions have one of their own, others share the last."""
        _, codes, counts = np.unique(self.actions, return_inverse=True, return_counts=True)
        by_frequency = np.argsort(-counts, kind="stable")
        cell = np.empty(len(counts), dtype=np.intp)
        cell[by_frequency] = np.minimum(np.arange(len(counts)), ALONE)
        return np.asarray(cell[codes])

    @cached_property
    def informative(self) -> int:
        """Return how many rows have another reward than the most common one."""
        _, counts = np.unique(self.rewards, return_counts=True)
        return len(self) - int(counts.max())

    @cached_property
    def design(self) -> Floats:
        """Return indicators of the cells of actions, and the columns: of each cell on their own, unless too many.

        There are no columns if rewards are too rare to tell of so many.
        """
        indicators = np.eye(int(self.cells.max()) + 1)[self.cells]
        most = self.informative / REWARDS_PER_COLUMN
        if indicators.shape[1] + self.columns.shape[1] > most:
            return np.empty((len(self), 0))
        width = indicators.shape[1] * (1 + self.columns.shape[1])
        if width > min(WIDEST, most):
            return np.hstack([indicators, self.columns])
        products = indicators[:, :, None] * self.columns[:, None, :]
        return np.hstack([indicators, products.reshape(len(self), -1)])


def hash_actions(rows: Rows, codes: Ints) -> Ints:
    """Return the hash of the label of each of some actions, which are given by their codes."""
    seen = np.flatnonzero(np.bincount(codes, minlength=len(rows.labels)))
    hashes = np.zeros(len(rows.labels), dtype=np.intp)
    hashes[seen] = hash_labels(np.array([str(rows.labels[code]) for code in seen.tolist()]))
    return np.asarray(hashes[codes])


def choose_rows(row_numbers: Ints) -> Ints:
    """Return the places of the rows in the stretches that are kept, in the order of their numbers."""
    stretches = row_numbers >> STRETCH_SHIFT
    starts = np.flatnonzero(np.diff(stretches, prepend=-1))
    hashes = hash_numbers(stretches[starts])
    kept: Ints = np.arange(len(row_numbers))
    different = np.unique(hashes)
    if len(different) > MOST_STRETCHES:
        is_chosen = hashes <= different[MOST_STRETCHES - 1]
        lengths = np.diff(np.append(starts, len(row_numbers)))
        kept = np.flatnonzero(np.repeat(is_chosen, lengths))
    return kept[np.argsort(row_numbers[kept], kind="stable")]


@dataclass(frozen=True, eq=False)
class Fit:
    """What a regression explains: the sum of squares, and with how many free coefficients."""

    explained: float
    rank: int


def fit_squares(products: Floats, cross: Floats) -> Fit:
    """Return what columns explain, by the sums of their products with each other and with what is to be explained.

    A tiny penalty stands for the columns that are sums of others, which count as free coefficients all the same: the
    test then says a little less than it might.
    """
    scale = np.sqrt(np.maximum(np.diagonal(products), 0.0))
    rank = int(np.count_nonzero(scale))
    scale[scale == 0] = 1.0
    scaled = products / scale / scale[:, None]
    np.fill_diagonal(scaled, 1.0 + PENALTY)
    along = cross / scale
    return Fit(float(along @ np.linalg.solve(scaled, along)), rank)


def find_f_test_p(explained: float, freedom: int, left: float, left_freedom: int, informative: float) -> float:
    """Return the p-value of the F-test that coefficients which explain so much of a sum of squares are all 0.

    Where rewards are rare, what is explained by chance varies more than it does of normal ones: its variance is about
    1 + K / m times as large for K coefficients and m informative rewards. The degrees of freedom allow for that.
    """
    if freedom <= 0 or left_freedom <= 0:
        return 1.0
    if left <= 0:
        return 0.0 if explained > 0 else 1.0
    ratio = explained / freedom / (left / left_freedom)
    return float(fdtrc(freedom / (1 + freedom / max(informative, 1.0)), left_freedom, ratio))
