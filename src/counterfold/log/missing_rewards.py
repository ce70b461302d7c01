"""MissingRewards: how many rewards of a log are not there, whether that depends on the action, and what was done."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from counterfold.base.arrays import Floats

LEAST_EXPECTED = 5
"""Actions that would have fewer missing, or other, rewards if all actions were alike are tested as one."""


@dataclass(frozen=True)
class MissingRewards:
    """How many of the `rows` had no reward, and what was done: they were left out (`drop`), or counted as 0 (`zero`).

    `p` is the chance that shares of missing rewards differ so much between actions if being missing does not depend on
    them; `highest` and `lowest` are the actions with the largest and the smallest share. Nobody knows these of doses.
    """

    way: str
    count: int
    rows: int
    p: float | None = None
    highest: tuple[str, float] | None = None
    lowest: tuple[str, float] | None = None

    @classmethod
    def of(cls, way: str, count: int, rows: int, by_action: Mapping[str, tuple[int, int]]) -> "MissingRewards":
        """Return it from the number of missing rewards, and of all rows, of each action."""
        counts = np.array(list(by_action.values()), dtype=float).reshape(-1, 2)
        expected = counts[:, 1] * min(count, rows - count) / max(rows, 1)
        is_rare = expected < LEAST_EXPECTED
        if 0 < expected[is_rare].sum() < LEAST_EXPECTED and (~is_rare).sum() > 1:
            is_rare[np.argmin(np.where(is_rare, np.inf, expected))] = True  # too few even together
        pooled = np.concatenate([counts[~is_rare], counts[is_rare].sum(axis=0, keepdims=True)])
        p = compare_shares(pooled[pooled[:, 1] > 0])
        if p is None:
            return cls(way, count, rows)
        shares = {label: missing / of_all for label, (missing, of_all) in by_action.items()}
        frequent = {label: share for (label, share), rare in zip(shares.items(), is_rare, strict=True) if not rare}
        ranked = sorted((frequent or shares).items(), key=lambda one: (-one[1], one[0]))
        return cls(way, count, rows, p, ranked[0], ranked[-1])

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain numbers and texts."""
        return asdict(self)


def compare_shares(counts: Floats) -> float | None:
    """Return the p-value of Pearson's chi-square test that missing rewards are as frequent after all actions.

    Of two actions, one of which is rare, it is that of Fisher's exact test.

    >>> round(compare_shares(np.array([[10.0, 100.0], [30.0, 100.0]])), 5)
    0.00041
    """
    missing, rows = counts.T
    rest, total = rows - missing, rows.sum()
    if len(counts) < 2 or not missing.any() or not rest.any():
        return None
    from scipy.stats import chi2, fisher_exact

    if len(counts) == 2 and rows.min() * min(missing.sum(), rest.sum()) < LEAST_EXPECTED * total:
        return float(fisher_exact(np.stack([missing, rest])).pvalue)
    shares = missing.sum() / total, rest.sum() / total
    parts = zip((missing, rest), shares, strict=True)
    return float(
        chi2.sf(sum(((found - rows * share) ** 2 / (rows * share)).sum() for found, share in parts), len(counts) - 1)
    )
