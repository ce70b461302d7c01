"""Seeding: copies of scikit-learn's estimators that do the same every time."""

from typing import Any

import numpy as np

LARGEST = 2**32 - 1
"""The largest seed that scikit-learn takes, and EconML."""


def narrow_seed(seed: int) -> int:
    """Return a seed that scikit-learn takes: itself, or one that is drawn by it if it is too large.

    >>> narrow_seed(7), narrow_seed(2**33) == narrow_seed(2**33), narrow_seed(2**33) == narrow_seed(2**34)
    (7, True, False)
    """
    return seed if seed <= LARGEST else int(np.random.SeedSequence(seed).generate_state(1)[0])


def copy_seeded(estimator: Any, seed: int) -> Any:
    """Return a copy that is not fitted, with a seed if it takes one and has none.

    One that does not tell its parameters, as scikit-learn's own do, is copied as it is.

    >>> from sklearn.ensemble import RandomForestClassifier
    >>> copy_seeded(RandomForestClassifier(), 7), copy_seeded(RandomForestClassifier(random_state=1), 7)
    (RandomForestClassifier(random_state=7), RandomForestClassifier(random_state=1))
    """
    from sklearn.base import clone

    copy = clone(estimator, safe=False)
    known = copy.get_params() if hasattr(copy, "get_params") else {}
    missing = [name for name, value in known.items() if value is None and name.split("__")[-1] == "random_state"]
    return copy.set_params(**dict.fromkeys(missing, narrow_seed(seed))) if missing else copy
