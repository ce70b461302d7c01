"""Self-normalised IPS with weights cut off."""

import math

from counterfold.estimators._ratio import CappedRatio
from counterfold.estimators.snips import SNIPS


class TruncatedSNIPS(CappedRatio):
    r"""SNIPS with no weight above `max_weight`.

    $$V = \frac{\sum_i \min(w_i, M)\, r_i}{\sum_i \min(w_i, M)}$$

    The lower the cap, the nearer to the mean reward of the rows with positive weight, and the less a single row
    matters. The grid has the caps that leave a tenth, 30 %, 60 % and 90 % of all weight.

    Swaminathan, Joachims (2015), "The self-normalized estimator for counterfactual learning"; Ionides (2008),
    "Truncated importance sampling".

    >>> import counterfold as cf
    >>> round(cf.TruncatedSNIPS(max_weight=1.0).value(cf.example_rows()), 4)
    0.5714
    """

    limits = {0.0: "0", math.inf: "snips"}
    uncapped = SNIPS()
