"""The classifiers that predict actions from the context, by name."""

from collections.abc import Callable
from typing import Any


def make_logistic() -> Any:
    """Return a multinomial logistic regression on scaled columns, which softmax policies of linear scores are.

    It sees skewed columns by the normal scores of their ranks.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from counterfold.log.propensities._even_columns import EvenColumns

    return make_pipeline(EvenColumns(), StandardScaler(), LogisticRegression(max_iter=300))


def make_boosting() -> Any:
    """Return gradient boosting of small trees, for policies with thresholds and interactions."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(learning_rate=0.1, max_iter=60, max_leaf_nodes=15, random_state=0)


def make_forest() -> Any:
    """Return a forest of random trees, which takes any number of actions at once."""
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(n_estimators=100, min_samples_leaf=10, random_state=0)


CLASSIFIERS: dict[str, Callable[[], Any]] = {
    "logistic": make_logistic,
    "boosting": make_boosting,
    "forest": make_forest,
}
"""What `fit:NAME` stands for; `fit` alone is the first one."""
