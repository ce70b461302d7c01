"""History: what was decided and earned in each hour or day, in sums that add up; and tables of it by longer periods."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from counterfold.base import validation
from counterfold.base.arrays import Floats, Ints
from counterfold.base.cached import cached_property
from counterfold.base.errors import ParameterError
from counterfold.estimators.rows import Rows
from counterfold.evidence.history.means import Means, Squares, Weights
from counterfold.evidence.history.pieces import PIECES, Pieces, pair_periods
from counterfold.log.partition import ByNumber

if TYPE_CHECKING:
    from counterfold.evidence.records import OverTimeRecord

PeriodName = Literal["hour", "day", "week", "month", "quarter", "year"]

PERIODS: dict[PeriodName, int] = {"hour": 0, "day": 0, "week": 0, "month": 1, "quarter": 3, "year": 12}
"""The periods of a table, the shortest first, and how many months each has if it is made of months."""

HOUR = 3.6e9
"""How many microseconds an hour has."""

HOURS = 1 << 10
"""Logs of more different hours are summed by day."""

MOST, ENOUGH = 31, 50
"""Periods are chosen such that there are at most so many, of at least so many rows on average."""


POWERS = np.array([1, 1, 1, 2, 2, 2, 1, 2, 1, 2, 2, 0, 2, 2])
"""A row that stands for c decisions adds so many powers of c to each sum: copies are no news to sums of squares."""


NOISELESS = 1e-6
"""A difference whose error is below this share of that of the mean reward is one of equal policies."""


@dataclass(frozen=True)
class Period:
    """A line of the table over time.

    Errors are those of the period's own rows, or of as many rows of the whole log if that is larger.
    """

    start: str
    """The first day or hour of the period."""

    rows: int
    """Its rows."""

    value: float
    """What the target would have earned in it."""

    stderr: float
    """The standard error of the value."""

    logged: float
    """What the log earned in it."""

    logged_stderr: float
    """The standard error of what the log earned."""

    difference: float
    """The value less what the log earned."""

    difference_stderr: float
    """The standard error of the difference, paired row by row."""


class Terms(NamedTuple):
    r"""What each row adds to a value that is $\sum a / \sum b$, less a `centre`, which keeps digits.

    $a = \hat q^\pi + w (r - \hat q)$ and $b = 1$ (DR), or, without predictions, $a = w r$ and $b = w$ (SNIPS).
    """

    estimator: str
    a: Floats
    b: Floats
    centre: float

    @classmethod
    def of(cls, rows: Rows) -> "Terms":
        """Return the terms of some rows; the mean reward of all rows, or of a sample of them, is the centre."""
        whole = rows.whole or rows
        centre = float(whole.average(whole.rewards))
        if rows.has("model") and rows.has("target_probs"):
            a = rows.q_policy + rows.weights * rows.residuals - centre
            return cls("DR", a, np.ones(len(rows)), centre)
        return cls("SNIPS", rows.weights * (rows.rewards - centre), rows.weights, centre)


@dataclass(frozen=True, eq=False)
class History:
    r"""Sums of some rows over hours or days (`numbers`, since 1970); those of others can be added.

    The value is $\sum a / \sum b$ (`Terms`). `sums` are those of 1, $a$, $b$, $a^2$, $ab$, $b^2$, $r$, $r^2$ and
    of rewards other than the usual one, over the decisions that rows stand for; $r$ and $a$ are less a `centre`, which
    keeps digits; then those of c², c² r and rows, where c are these decisions, and of $a r$ and $b r$. `alike` is the
    design effect of groups, by which the variances of the value, of the rewards and of their difference are larger.
    `pieces` pair it with those of other targets. `period` is that of the table, if it was chosen.
    """

    estimator: str
    numbers: Ints
    sums: Floats
    centre: float
    pieces: Pieces
    is_hourly: bool
    alike: tuple[float, float, float] = (1.0, 1.0, 1.0)
    period: PeriodName | None = None

    @classmethod
    def of(cls, rows: Rows) -> "History | None":
        """Return the sums of some rows; nothing where no days are known."""
        if rows.times is None or not rows.has_days:
            return None
        name, a, b, centre = Terms.of(rows)
        rewards, unusual = rows.rewards - centre, rows.rewards != rows.usual_reward
        ones = np.ones(len(rows))
        known = ones, a, b, a * a, a * b, b * b, rewards, rewards * rewards, unusual
        lines = np.stack([*known, ones, rewards, ones, a * rewards, b * rewards])
        if rows.counts is not None:
            lines *= rows.counts ** POWERS[:, None]
        hours = np.floor(rows.times / HOUR).astype(np.intp)
        pieces = Pieces.of(hours, rows.examples.units, lines[:3])
        return cls(name, hours, lines, centre, pieces, is_hourly=True).sum_by(hours).shorten()

    def __add__(self, other: "History") -> "History":
        one, two = (self, other) if self.is_hourly == other.is_hourly else (self.by_day, other.by_day)
        numbers, sums = np.concatenate([one.numbers, two.numbers]), np.concatenate([one.sums, two.sums], axis=1)
        return replace(one, numbers=numbers, sums=sums, pieces=one.pieces + two.pieces).sum_by(numbers).shorten()

    def sum_by(self, numbers: Ints) -> "History":
        """Return the sums over what has the same numbers."""
        known, place = np.unique(numbers, return_inverse=True)
        return replace(self, numbers=known, sums=ByNumber(place, len(known)).sums(self.sums))

    def shorten(self) -> "History":
        """Return the sums by day if there are very many hours; it is the same however rows are cut into parts."""
        return self.by_day if len(self.numbers) > HOURS else self

    @property
    def by_day(self) -> "History":
        """Return the sums by day."""
        if not self.is_hourly:
            return self
        return replace(self, is_hourly=False, pieces=self.pieces.by_day).sum_by(self.numbers // 24)

    @property
    def has_hours(self) -> bool:
        """Say whether hours tell more than days."""
        return self.is_hourly and len(self.numbers) > len(self.by_day.numbers)

    def choose_period(self) -> PeriodName:
        """Return the shortest period of which there are not too many, with enough rows each; or the longest."""
        rows, several = self.sums[11].sum(), []
        for period in list(PERIODS)[not self.has_hours :]:
            count = len(np.unique(self.find_keys(period)))
            if count <= MOST and rows >= ENOUGH * count:
                return period
            several += [period] if count > 1 else []
        return several[-1] if several else "day"

    def find_keys(self, period: PeriodName) -> Ints:
        """Return the number of the period of each hour or day."""
        days = self.numbers // 24 if self.is_hourly else self.numbers
        if PERIODS[period]:
            months = days.astype("datetime64[D]").astype("datetime64[M]").astype(np.intp)
            return np.asarray(months // PERIODS[period])
        return np.asarray({"hour": self.numbers, "day": days, "week": (days + 3) // 7}[period])  # from Monday on

    def by(self, period: str | None) -> "History":
        """Return the same, with a table by some period; the best one for the log if it is None."""
        if period is None:
            return replace(self, period=None)
        validation.one_of(PERIODS, period=period)
        if period == "hour" and not self.is_hourly:
            raise ParameterError(f"`period` must be `day` or longer on a log of more than {HOURS} hours.")
        return replace(self, period=next(name for name in PERIODS if name == period))

    @cached_property
    def used_period(self) -> PeriodName:
        """Return the period of the table."""
        return self.period or self.choose_period()

    @cached_property
    def periods(self) -> "History":
        """Return the sums over the periods of the table."""
        return self.sum_by(self.find_keys(self.used_period))

    @property
    def starts(self) -> list[str]:
        """Return the first day of each period of the table, or its hour."""
        keys, period = self.periods.numbers, self.used_period
        if PERIODS[period]:
            months = (keys * PERIODS[period]).astype("datetime64[M]")
            return list(map(str, months.astype("datetime64[D]")))
        if period == "hour":
            return [f"{hour}:00" for hour in keys.astype("datetime64[h]")]
        return list(map(str, (keys * 7 - 3 if period == "week" else keys).astype("datetime64[D]")))

    @property
    def weights(self) -> Weights:
        """Return how much each period of the table counts."""
        total, squares, rows = self.periods.sums[[0, 9, 11]]
        return Weights(rows, total, squares)

    @property
    def contributions(self) -> Floats:
        r"""Return the sums of how far contributions are from the value, and of its square, in each period.

        Those of a ratio are linearised: $(a - V b) / \bar b$.
        """
        rows, a, b, aa, ab, bb = self.periods.sums[:6]
        value, size = a.sum() / b.sum(), b.sum() / rows.sum()
        return np.stack([(a - value * b) / size, (aa - 2 * value * ab + value**2 * bb) / size**2])

    @property
    def plain_variances(self) -> tuple[float, float]:
        """Return the variances of the value and of its difference to the log as if rows belonged to no groups."""
        (gaps, squares), total = self.find_gaps(), float(self.sums[0].sum())
        spreads = self.contributions[1].sum(), squares.around(gaps.sum() / total).sum()
        value, gap = (max(float(one), 0.0) / total**2 for one in spreads)
        return value, gap

    @property
    def values(self) -> Means:
        """Return the mean contributions of each period of the table; what varies are these around the value."""
        (apart, squares), weights = self.contributions, self.weights
        found = Means.of(weights, apart, Squares(weights.squares, apart * weights.squares / weights.total, squares))
        value = self.sums[1].sum() / self.sums[2].sum()
        return found._replace(values=found.values + value + self.centre, variances=found.variances * self.alike[0])

    @property
    def rewards(self) -> Means:
        """Return what the log earned in each period of the table."""
        total, squares, ones, values = self.periods.sums[[6, 7, 9, 10]]
        found = Means.of(self.weights, total, Squares(ones, values, squares))
        return found._replace(values=found.values + self.centre, variances=found.variances * self.alike[1])

    def find_gaps(self) -> tuple[Floats, Squares]:
        """Return the sums, in each period, of contributions less rewards, both less what they are around."""
        (apart, squares), weights = self.contributions, self.weights
        a, b, rewards, plain_squares, counted, ar, br = self.periods.sums[[1, 2, 6, 7, 10, 12, 13]]
        value, size = a.sum() / b.sum(), b.sum() / weights.total.sum()
        both = squares - 2 * (ar - value * br) / size + plain_squares
        values = apart * weights.squares / weights.total - counted
        return apart - rewards, Squares(weights.squares, values, both)

    @property
    def differences(self) -> Means:
        """Return how much more the target would have earned than the log in each period, paired row by row."""
        found, values, rewards = Means.of(self.weights, *self.find_gaps()), self.values, self.rewards
        variances = np.where(found.variances > NOISELESS**2 * rewards.variances, found.variances * self.alike[2], 0.0)
        return found._replace(values=values.values - rewards.values, variances=variances)

    def subtract(self, other: "History") -> Means:
        """Return how much more the target would have earned than another one on the same log, in each period."""
        keys = self.find_keys(self.used_period)
        places = np.searchsorted(self.periods.numbers, keys)
        values, variances = pair_periods(
            self.pieces, other.pieces, places[np.searchsorted(self.numbers, self.pieces.numbers // PIECES)]
        )
        return Means(self.weights.rows, values, variances)

    @property
    def table(self) -> list[Period]:
        """Return a line for each period in which there are rows."""
        several = self.values, self.rewards, self.differences
        numbers = [numbers.tolist() for one in several for numbers in (one.values, np.sqrt(one.variances))]
        lines = zip(self.starts, self.weights.rows.astype(int).tolist(), *numbers, strict=True)
        return [Period(*line) for line in lines]

    def to_record(self) -> "OverTimeRecord":
        """Return what JSON answers say about the table."""
        return {"period": self.used_period, "estimator": self.estimator, "table": self.table}
