"""What estimators and selectors may need of a log, and how it is said that something is missing."""

from typing import Literal

from counterfold.log.log import Kind

Need = Literal["target_probs", "logging_probs", "model", "action_features", "loggers", "all_rows", "even_rows"]
"""What an estimator or selector may need, and what may be missing."""

NEEDS: dict[Need, str] = {
    "target_probs": "needs the target's probabilities of all actions, but only those of the logged actions were given",
    "logging_probs": "needs the logging policy's probabilities of all actions, but only propensities were given",
    "model": "needs a reward model, but there is none",
    "action_features": "needs features of the actions, but the log has no `action_features`",
    "loggers": "needs a log of several policies, but this one has no `logger` and `logger_probs`",
    "all_rows": "needs the log in memory; use engine 'memory'",
    "even_rows": "needs rows that were all kept with the same probability, but those of this log were not (`kept`)",
}
"""Why an estimator or selector does not apply, for each need that may not be met."""

KINDS: dict[Kind, str] = {
    "labels": "is for doses, but the actions of this log are labels",
    "doses": "is for actions that are labels, but those of this log are doses",
}
"""Why an estimator does not apply, for each kind of action that a log may have."""
