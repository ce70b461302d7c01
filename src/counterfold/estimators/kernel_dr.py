"""Doubly robust for doses."""

import math

from counterfold.estimators._reweighted import Smoothed


class KernelDR(Smoothed):
    r"""Doubly robust for doses: the reward model, corrected by what it got wrong at doses near the target's.

    $$v_i = \hat q(x_i, t_i) + \frac{K_h(t_i - d_i)}{f_0(d_i \mid x_i)}\, \bigl(r_i - \hat q(x_i, d_i)\bigr)$$

    The kernel is that of `KernelIPS`; with a model of zeros it is that. A right model has no bias at any `bandwidth`.

    Kallus, Zhou (2018), "Policy evaluation and optimization with continuous treatments".

    >>> import counterfold as cf
    >>> cf.KernelDR(bandwidth=2.0).contributions(cf.example_doses())
    array([-0.1  ,  1.275,  1.2  , -0.075])
    """

    limits = {math.inf: "dm"}
    corrects = True
    needs = ("model",)
