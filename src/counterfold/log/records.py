"""What JSON answers hold about a log."""

from typing import Literal, NotRequired

from typing_extensions import TypedDict

from counterfold.base.records import Records
from counterfold.log.propensities.quality import Bin


class EndsRecord(TypedDict):
    """The smallest and the largest of some numbers."""

    low: float
    """The smallest."""

    high: float
    """The largest."""


class EncodingRecord(TypedDict):
    """How a context column was turned into numbers."""

    kind: Literal["numbers", "levels", "dates"]
    """The kind of column."""

    missing: int
    """Rows in which its value is missing."""

    filled_with: NotRequired[float]
    """The number that replaces missing ones."""

    levels: NotRequired[list[str]]
    """Its values that have a column of their own."""

    rare_levels: NotRequired[int]
    """How many other values it has."""

    first_day: NotRequired[float]
    """The first day, from which days are counted, in days since 1970-01-01."""


class FittedPropensitiesRecord(TypedDict):
    """How propensities were fitted, and how well they predict held-out rows."""

    classifier: str
    """The classifier."""

    rows: int
    """Rows on which the fit was measured."""

    log_loss: float
    """The log loss."""

    plain_log_loss: float
    """The log loss of the actions' frequencies alone."""

    rival_p: float | None
    """The p-value of how much better another classifier predicts the actions."""

    reliability: list[Bin]
    """Predicted probabilities against observed frequencies."""


class LogRecord(TypedDict):
    """What a log holds."""

    file: NotRequired[str]
    """The file or folder that it was read from."""

    sql: NotRequired[str]
    """The query that it was read with."""

    db: NotRequired[str]
    """The database of the query, without a password."""

    rows: int
    """Its rows."""

    kept: EndsRecord | None
    """The probabilities with which rows were kept; null where all rows were kept alike."""

    decisions: float
    """How many decisions its rows stand for."""

    kind: Literal["labels", "doses"]
    """Whether actions are labels or doses."""

    actions: list[str]
    """The labels of the actions."""

    dose: EndsRecord | None
    """The range of the doses."""

    context: list[str]
    """The columns that were taken as context."""

    left_out: dict[str, str]
    """Other columns, and why they were not taken."""

    encoded: dict[str, EncodingRecord]
    """Context columns that were turned into numbers, and how."""

    groups: int | None
    """Its groups, such as users."""

    loggers: list[str] | None
    """The labels of the loggers, where there are several."""

    action_features: int | None
    """The number of features of each action."""

    fitted_propensities: FittedPropensitiesRecord | None
    """How propensities were fitted, where none were logged."""


RECORDS = Records(
    parts={
        "log": LogRecord,
        "ends": EndsRecord,
        "encoding": EncodingRecord,
        "fitted_propensities": FittedPropensitiesRecord,
        "bin": Bin,
    }
)
