"""Self-normalised doubly robust with weights cut off."""

import math

from counterfold.estimators._ratio import CappedRatio
from counterfold.estimators.sndr import SNDR


class TruncatedSNDR(CappedRatio):
    r"""SNDR with no weight above `max_weight`.

    $$V = \frac1n \sum_i \hat q_i^\pi + \frac{\sum_i \min(w_i, M)\, (r_i - \hat q_i)}{\sum_i \min(w_i, M)}$$

    The lower the cap, the nearer to the reward model with its mean residual added. Its grid is `TruncatedSNIPS`'s.

    Robins, Sued, Lei-Gomez, Rotnitzky (2007), "Performance of double-robust estimators when inverse probability weights
    are highly variable"; Ionides (2008), "Truncated importance sampling".

    >>> import counterfold as cf
    >>> round(cf.TruncatedSNDR(max_weight=1.0).value(cf.example_rows()), 4)
    0.53
    """

    corrects = True
    limits = {0.0: "dm", math.inf: "sndr"}
    needs = ("target_probs", "model")
    uncapped = SNDR()
