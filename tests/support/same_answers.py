"""Whether two answers are the same, up to how sums are rounded."""

import numpy as np
import pytest


def require_same(found, expected):
    """Require the same numbers to 1e-12, whatever they were read from."""
    for part in ("value", "score", "share", "stderr"):
        left, right = ([getattr(one, part) for one in result.table] for result in (found, expected))
        np.testing.assert_allclose(left, right, rtol=1e-12, atol=1e-12)
    assert found.selected == expected.selected
    ends = [(one.value, one.stderr, one.interval.low, one.interval.high) for one in (found, expected)]
    assert ends[0] == pytest.approx(ends[1], rel=1e-12, abs=1e-12)
    assert found.diagnostics.verdict == expected.diagnostics.verdict
