"""Predictions made elsewhere."""

from dataclasses import dataclass
from typing import ClassVar

from counterfold.arrays import Floats
from counterfold.log import Kind
from counterfold.models.base import Examples, RewardModel


@dataclass(frozen=True, eq=False)
class Given(RewardModel):
    r"""Predicted rewards $\hat q(x_i, a)$ (n x A) that the user brings; nothing is ever fitted.

    On a log of doses the columns are the logged dose and what the target would give. Predictions from a model trained
    on other data keep DR unbiased, which in-sample predictions do not promise.

    >>> import numpy as np
    >>> import counterfold as cf
    >>> cf.example_rows(cf.Given(np.full((4, 2), 0.5))).q_policy
    array([0.5, 0.5, 0.5, 0.5])
    """

    values: Floats
    learns: ClassVar[bool] = False
    kinds: ClassVar[tuple[Kind, ...]] = ("labels", "doses")

    def predictions(self, examples: Examples) -> Floats:
        """Return the given predictions of these rows."""
        return self.values[examples.ids]
