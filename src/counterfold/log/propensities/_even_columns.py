"""EvenColumns: a step of a pipeline that puts normal scores in the place of skewed columns."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from counterfold.base.arrays import Floats
from counterfold.log.skewed_columns import SkewedColumns


class EvenColumns(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Replaces skewed columns by normal scores of their ranks, as the rows that it is fitted on tell.

    >>> import numpy as np
    >>> column = np.exp(np.linspace(-3.0, 3.0, 61))[:, None]
    >>> EvenColumns().fit(column).transform(column)[[0, 30, 60]].round(2).tolist()
    [[-2.4], [0.0], [2.4]]
    """

    def fit(self, context: Floats, codes: Any = None) -> "EvenColumns":
        """Find the skewed columns and their ranks."""
        self.names_ = tuple(map(str, range(context.shape[1])))
        self.skewed_ = SkewedColumns.of(context, self.names_, np.arange(len(context)))
        return self

    def transform(self, context: Floats) -> Floats:
        """Return the columns, skewed ones by their normal scores."""
        scored = self.skewed_.apply(context, self.names_)
        return context if scored is None else scored
