"""A log that grows: the sequence of all looks holds at once, and other intervals do not."""

import numpy as np
import pytest
from scipy.stats import binomtest

import counterfold as cf
import growing_logs

LOGS = 200


def test_every_look_at_a_growing_log_is_a_point_of_one_path():
    log, settings = growing_logs.draw_log(0), {"candidates": [cf.IPS()], "interval": growing_logs.KNOWN}
    gap = cf.evaluate(log, **settings, progress=False).uplift()
    path = gap.method.path(gap.contributions, level=gap.level)
    for rows in (500, 1500, 4000):
        so_far = {name: column[:rows] for name, column in log.items()}
        looked = cf.evaluate(so_far, **settings, progress=False).uplift().interval()
        assert tuple(looked) == pytest.approx(path[rows - 1])
    assert (np.diff(path[:, 0]) >= 0).all()
    assert (np.diff(path[:, 1]) <= 0).all()


@pytest.mark.slow
@pytest.mark.statistical
def test_weekly_looks_find_a_difference_that_is_not_there_unless_the_interval_is_a_sequence():
    """If a method is ever wrong in 5 % of the logs, the test says more with a chance of 0.05 %: in 22 of 200 or more.

    Eight looks by the normal interval are wrong in about 20 % of the logs: in fewer than 22 of 200 once in 4,000 runs.
    """
    every = [growing_logs.watch(growing_logs.draw_log(number), candidates=[cf.IPS()]) for number in range(LOGS)]
    wrong = dict(zip(growing_logs.METHODS, np.any(every, axis=1).sum(axis=0).tolist(), strict=True))
    chances = {name: binomtest(count, LOGS, 0.05, alternative="greater").pvalue for name, count in wrong.items()}
    assert chances["confidence-sequence"] > 0.0005
    assert chances["normal"] < 0.0005
