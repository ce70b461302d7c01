"""Question: what is asked of a log, whether it is in memory or not."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from counterfold import checks
from counterfold.candidates import Wanted
from counterfold.estimates import interval_of
from counterfold.intervals.base import Interval
from counterfold.models import Column
from counterfold.selectors.base import Selector


@dataclass(frozen=True, eq=False)
class Question:
    """What is asked of a log, whatever the engine: the arguments of `evaluate`."""

    candidates: Wanted | Sequence[Wanted]
    selector: Selector | str
    reward_model: Any
    seed: int
    level: float
    interval: Interval | str = "student-t"

    def __post_init__(self) -> None:
        """Check what is the same for every log."""
        checks.inside(0, 1, level=self.level)
        checks.whole(0, seed=self.seed)
        interval_of(self.interval, "interval")

    @property
    def predictions(self) -> str | None:
        """Return the column of predicted rewards, if there is one."""
        return self.reward_model.name if isinstance(self.reward_model, Column) else None
