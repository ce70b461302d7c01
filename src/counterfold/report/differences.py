"""The differences that are shown of a comparison: of several policies, their intervals hold for all at once."""

from counterfold.estimators.estimates import Estimate
from counterfold.evaluation.comparison import Comparison


def list_differences(found: Comparison) -> dict[str, Estimate]:
    """Return how much more each target would earn, by the intervals that the choice and the next steps go by."""
    together = {} if found.field is None else found.field.widened
    return {name: together.get(name, gap) for name, gap in found.differences.items()}


def name_interval(found: Comparison) -> str:
    """Return what the intervals of the differences are called: "95 % interval", and whether it is for all at once."""
    level = f"{100 * next(iter(found.evaluations.values())).level:g} % interval"
    return f"{level} for all {len(found.simultaneous)} at once" if found.simultaneous else level


def rank_targets(found: Comparison) -> list[str]:
    """Return the targets in the order in which they matter: the choice, others that may be the best, then all others.

    Those that break a guard come after those that keep to all, then those that the log cannot answer for; the baseline
    is last. Otherwise the one that earns most is first.
    """
    decision, broken = found.decision, {one.target for one in found.guarded if not one.passes}
    choice, contenders = (None, []) if decision is None else (decision.choice, decision.contenders)

    def rank(name: str) -> tuple[float, ...]:
        later = name == found.baseline, not found.is_answerable(name), name != choice, name in broken
        return *later, name not in contenders, -found[name].value

    return sorted(found.evaluations, key=rank)
