"""Logs without a mistake, which must end right: no check may alarm them."""

from traps import RIGHT, Case, trap
from traps.bandits import make_bandit


@trap("none: propensities, context, the target's probabilities by name", RIGHT)
def clean_log(rng):
    bandit = make_bandit(rng)
    return Case(bandit.table(), truth=bandit.truth)


@trap("none: the whole logging policy is there, too", RIGHT)
def clean_log_with_all_probabilities(rng):
    bandit = make_bandit(rng)
    spread = {f"logging_probs_{label}": bandit.logging[:, place] for place, label in enumerate(bandit.labels)}
    return Case(bandit.table(**spread), truth=bandit.truth)
