"""Doubly robust with pessimistic shrinkage."""

from counterfold.estimators._reweighted import CappedWeights, ShrunkDR


class DRps(ShrunkDR, CappedWeights):
    r"""Doubly robust with no weight above `max_weight`.

    $$v_i = \hat q_i^\pi + \min(w_i, \lambda)\,(r_i - \hat q_i)$$

    The authors choose the parameter as they do for `DRos`, with $\hat w_i = \min(w_i, \lambda)$.

    Su, Dimakopoulou, Krishnamurthy, Dudík (2020), "Doubly robust off-policy evaluation with shrinkage".

    >>> import counterfold as cf
    >>> cf.DRps(max_weight=3.0).contributions(cf.example_rows())
    array([ 0.16, -0.36,  1.  ,  1.72])
    """
