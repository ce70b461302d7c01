"""Seeding: copies of scikit-learn's estimators that do the same every time."""

from typing import Any


def copy_seeded(estimator: Any, seed: int) -> Any:
    """Return a copy that is not fitted, with a seed if it has none.

    >>> from sklearn.ensemble import RandomForestClassifier
    >>> copy_seeded(RandomForestClassifier(), 7), copy_seeded(RandomForestClassifier(random_state=1), 7)
    (RandomForestClassifier(random_state=7), RandomForestClassifier(random_state=1))
    """
    from sklearn.base import clone

    copy = clone(estimator)
    seeds = [name for name in copy.get_params() if name == "random_state" or name.endswith("__random_state")]
    return copy.set_params(**{name: seed for name in seeds if copy.get_params()[name] is None})
