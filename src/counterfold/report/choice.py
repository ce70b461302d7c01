"""The choice among several policies, in sentences for the terminal, the report and notebooks."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from counterfold.base import messages
from counterfold.evaluation.comparison import Comparison
from counterfold.evaluation.decision import Decision, Standing
from counterfold.report.differences import rank_targets
from counterfold.report.numbers import find_error, format_number, format_share

MOST_NAMES = 5
"""How many policies that may be the best are named."""

Quote = Callable[[str], str]


@dataclass(frozen=True, eq=False)
class Choice:
    """What a comparison of several policies comes to; `logged` is what the log's own policy is called."""

    found: Comparison
    decision: Decision
    logged: str = "the log"
    quote: Quote = messages.show

    @property
    def count(self) -> int:
        """Return how many differences there are that hold together."""
        return len(self.found.simultaneous)

    @property
    def baseline(self) -> str:
        """Return what policies are compared with."""
        return self.logged if self.found.baseline is None else self.quote(self.found.baseline)

    def tell(self) -> str:
        """Return which policy to choose, and what it earns more at least; or that none beats the baseline safely."""
        chosen, together = self.decision.choice, f"intervals that hold for all {self.count} policies at once"
        guarded = tell_guards(self.found, self.quote)
        if chosen is None and guarded:
            if not any(one.passes for one in self.found.guarded):
                return f"{guarded} So none is chosen."
            return f"{guarded} None of those beats {self.baseline} safely, by {together}."
        if chosen is None:
            return f"No policy beats {self.baseline} safely: by {together}, each may earn less."
        least, gap = self.found.simultaneous[chosen].low, self.found.differences[chosen]
        more = format_number(least, find_error(gap.stderr, self.found.simultaneous[chosen]))
        sure = f"by {together}, it earns at least {more} more than {self.baseline}"
        if self.decision.verdict == "good":
            return f"{guarded} {self.quote(chosen)} is the safe choice: {sure}.".strip()
        problem = self.found.judge(chosen).reasons[0]
        return f"{guarded} {self.quote(chosen)} would be the choice: {sure}. But check first: {problem}.".strip()

    def tell_contenders(self) -> str:
        """Return which policies may be the best, with their probabilities."""
        ranked = sorted(
            zip(self.names, self.decision.standings, strict=True), key=lambda pair: -pair[1].probability_best
        )
        may = [(name, one) for name, one in ranked if one.may_be_best]
        if len(may) == 1:
            return self.tell_best(*may[0])
        named = [f"{name} ({format_share(one.probability_best)})" for name, one in may[:MOST_NAMES]]
        rest = f" and {len(may) - MOST_NAMES} others" if len(may) > MOST_NAMES else ""
        return f"The log cannot tell these from the best, each with its probability to be it: {', '.join(named)}{rest}."

    def tell_best(self, name: str, standing: Standing) -> str:
        """Return which policy is the best where only one may be, and whether the intervals say so, too.

        To rule out all others needs less than to beat the baseline safely.
        """
        broken = {one.target for one in self.found.guarded if not one.passes}
        but = ", but does not keep to all guards" if standing.policy in broken else ""
        if name == self.baseline:
            return f"If only chance may be wrong, none of them earns more than {name}."
        ends = self.found.simultaneous.get(standing.policy)
        if ends is None or ends.low > 0:
            return f"The log can tell that {name} earns most{but}."
        doubt = f"it is not sure that it beats {self.baseline}"
        return f"If only chance may be wrong, {name} is the best of these{but}; {doubt}."

    @property
    def names(self) -> Sequence[str]:
        """Return what policies are called, the log's own first."""
        return [self.logged, *(self.quote(one.policy) for one in self.decision.standings[1:])]

    @property
    def standings(self) -> dict[str, Standing]:
        """Return how each target stands."""
        return {one.policy: one for one in self.decision.standings[1:]}


def find_choice(found: Comparison, logged: str = "the log", quote: Quote = messages.show) -> Choice | None:
    """Return the choice among several policies; nothing where the log can answer for less than two."""
    if found.decision is None or not found.simultaneous:
        return None
    return Choice(found, found.decision, logged, quote)


def tell_guards(found: Comparison, quote: Quote = messages.show) -> str:
    """Return which policies keep to all guards; nothing where there are none."""
    if found.guards is None:
        return ""
    sure = f"with a probability of at least {100 * next(iter(found.evaluations.values())).level:g} %"
    passing = {one.target for one in found.guarded if one.passes}
    passed = [name for name in rank_targets(found) if name in passing]
    if not passed and len(found.guarded) == 1:
        return f"{quote(found.guarded[0].target)} does not keep to all guards {sure}."
    names = ", ".join(map(quote, passed[:MOST_NAMES])) if passed else "No policy"
    rest = f" and {len(passed) - MOST_NAMES} others" if len(passed) > MOST_NAMES else ""
    keeps, together = ("keep", ", all of them at once") if len(passed) > 1 else ("keeps", "")
    return f"{names}{rest} {keeps} to all guards {sure}{together}."
