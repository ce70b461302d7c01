"""Limits: how often a policy may take actions, or must, and the prices of actions by which it keeps to that."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from counterfold.base.arrays import Bools, Floats
from counterfold.base.errors import ParameterError
from counterfold.base.messages import clean_sentence, list_names, shorten, show, suggest
from counterfold.base.notation import read_relation, read_term
from counterfold.learning.learners.base import Learner, TrainingRows, fit_learner
from counterfold.log.labels import write_label
from counterfold.policies.learned.scorers import PricedScorer, Scorer, choose, share_evenly

FORMS = "{'discount': 0.2}, or texts such as `discount <= 20%`, `gift >= 5%` or `2 * discount + gift <= 0.3`"

SIGNS = {"<=": 1.0, ">=": -1.0}
"""What both sides of a limit are multiplied by, so that it is of what may be taken at most."""

LEAST_AMOUNT, MOST_AMOUNT = 1e-12, 1e12
"""Costs, limits and their ratios are between these: the linear programs that find prices lose digits beyond."""

ROUNDS, NEAR, FINE = 100, 1e-7, 1e3
"""How many prices are tried at most; how far apart two values are that count as equal; and a penalty.

The penalty is for a policy that misses a limit by the whole of it: it takes twice what is allowed, or nothing of what
must be taken. A policy that misses a limit by less pays less, in proportion. The penalty and what counts as equal are
in units of the distance between the smallest and the largest score.
"""


@dataclass(frozen=True)
class LimitLine:
    """A limit on what a policy may take, and what is taken per decision: a share, or costs."""

    limit: str
    """The limit."""

    most: float | None
    """The upper limit, if there is one."""

    least: float | None
    """The lower limit, if there is one."""

    expected: float
    """What the policy takes in the rows that it was trained on."""

    out_of_fold: float
    """What the policies of the folds take in held-out rows."""

    logged: float
    """What the log took."""


@dataclass(frozen=True, eq=False)
class ActionLimits:
    r"""Limits of how often actions are taken: the costs of what is taken are at most so much per decision in each.

    $$\sum_a c_{ka} \, \overline{\pi(a \mid x)} \le m_k$$

    `costs` (k x A) are 1 for an action whose share is limited, and 0 for all others; `texts` say what each limit is.
    Where something is to be taken so often at least, both sides are negative. `sizes` are without signs, and a share
    `explore` of the decisions is made at random, which takes its part of each limit.
    """

    texts: list[str]
    costs: Floats
    most: Floats
    sizes: Floats
    explore: float = 0.0

    @classmethod
    def of(cls, given: Any, labels: Sequence[Any], allowed: Bools, explore: float = 0.0) -> "ActionLimits | None":
        """Return the limits that a user gives, if there are any; refuse those that no policy can keep to."""
        names = [str(label) for label in labels]
        given = () if given is None else given
        if isinstance(given, Mapping):
            found = [limit_share(name, share, names) for name, share in given.items()]
        else:
            is_list = isinstance(given, Sequence) and not isinstance(given, str)
            found = [read_limit(text, names) for text in (given if is_list else [given])]
        if not found:
            return None
        texts, costs, most = zip(*found, strict=True)
        limits = cls(list(texts), np.array(costs), np.array(most), np.abs(most), explore)
        limits.leave_room(allowed[None, :]).require_possible(allowed)
        return limits

    def leave_room(self, possible: Bools, counts: Floats | None = None) -> "ActionLimits":
        """Return what is left for the decisions that are not made at random among possible actions (n x A)."""
        taken = self.take(share_evenly(possible), counts)
        return replace(self, most=(self.most - self.explore * taken) / (1 - self.explore))

    def require_possible(self, allowed: Bools) -> None:
        """Require that some policy can keep to all limits, if all allowed actions can be taken everywhere."""
        from scipy.optimize import linprog

        costs, most = self.costs[:, allowed] / self.sizes[:, None], self.most / self.sizes
        aims, count = np.append(np.zeros(costs.shape[1]), 1.0), costs.shape[1]
        lines = np.column_stack([costs, -np.ones(len(costs))])
        every = np.append(np.ones(count), 0.0)[None, :]
        found = linprog(aims, lines, most, every, [1.0])
        if found.fun > 1e-9:
            excess = costs @ found.x[:-1] - most
            which = " or ".join(
                f"`{text}`" for text, one in zip(self.texts, excess, strict=True) if one > found.fun / 2
            )
            missed = 100 * (1 - self.explore) * found.fun
            rule = "`limits` must leave something to do in every decision"
            what = " beside what is explored" if self.explore else ""
            way = "Widen one, or let other actions be taken"
            raise ParameterError(f"{rule}, but{what} any policy misses {which} by {missed:.3g} % of it. {way}.")

    def take(self, probs: Floats, counts: Floats | None = None) -> Floats:
        """Return what decisions (n x A) take of each limit, on average."""
        return np.asarray(self.costs @ np.average(probs, axis=0, weights=counts))

    def tell(self, expected: Floats, out_of_fold: Floats, logged: Floats) -> list[LimitLine]:
        """Return a line for each limit, from what several decisions take of it."""
        is_least, sizes = self.costs.min(axis=1) < 0, self.sizes.tolist()
        most, least = (
            [size if one else None for size, one in zip(sizes, side, strict=True)] for side in (~is_least, is_least)
        )
        taken = (np.where(is_least, -one, one).tolist() for one in (expected, out_of_fold, logged))
        return list(map(LimitLine, self.texts, most, least, *taken))


def limit_share(name: Any, share: Any, labels: Sequence[str], side: str = "<=") -> tuple[str, Floats, float]:
    """Return the limit of an action's share: its text, the costs of all actions, and the most that is allowed."""
    try:
        most = np.nan if isinstance(share, bool) else float(share)
    except (TypeError, ValueError, OverflowError):
        most = np.nan
    label = show(write_label(name))
    if not 0 < most <= 1:
        way = f"forbid it: `forbidden=[{label!r}]`" if most == 0 and side == "<=" else "20 % is 0.2"
        raise ParameterError(f"`limits` must be shares above 0 and at most 1, got {shorten(share)} for {label}; {way}.")
    sign = SIGNS[side]
    return f"{label} {side} {most:.4g}", sign * find_costs([(1.0, write_label(name))], labels), sign * most


def read_limit(text: Any, labels: Sequence[str]) -> tuple[str, Floats, float]:
    """Return the limit that a text describes: of one action's share, or of the costs of several."""
    relation = read_relation(text) if isinstance(text, str) else None
    if relation is None or relation.sign or relation.is_enclosed:
        raise ParameterError(f"`limits` must be {FORMS}, got {shorten(text)}.")
    most = relation.amount
    if relation.left in labels:
        return limit_share(relation.left, most, labels, relation.side)
    terms = [read_cost(piece.strip(), labels) for piece in relation.left.split("+")]
    costs = [cost for cost, _ in terms]
    if not all(name for _, name in terms) or not all(amount > 0 for amount in [most, *costs]):
        raise ParameterError(f"`limits` must be {FORMS}, got {shorten(text)}.")
    ratios = [cost / most for cost in costs]
    if not all(LEAST_AMOUNT <= amount <= MOST_AMOUNT for amount in [most, *costs, *ratios]):
        rule = f"`limits` must have numbers from {LEAST_AMOUNT:g} to {MOST_AMOUNT:g}"
        raise ParameterError(f"{rule}, got {shorten(text)}. Give costs in a larger or smaller unit.")
    sign = SIGNS[relation.side]
    return clean_sentence(" ".join(text.split())), sign * find_costs(terms, labels), sign * most


def read_cost(text: str, labels: Sequence[str]) -> tuple[float, str]:
    """Return the cost and the action of a term such as `2 * discount`.

    A label may itself look like a term, such as `1/2 * price`: it is that label, unless there is an action `price`.
    """
    cost, name = read_term(text)
    if name not in labels and text in labels:
        return 1.0, text
    return 1.0 if cost is None else cost, name


def find_costs(terms: Sequence[tuple[float, str]], labels: Sequence[str]) -> Floats:
    """Return what each action costs; those that are not named cost nothing."""
    costs = np.zeros(len(labels))
    for cost, name in terms:
        if name not in labels:
            known, hint = list_names(labels), suggest(name, labels)
            raise ParameterError(f"`limits` must be of actions of the log, {known}, got `{show(name)}`.{hint}")
        costs[labels.index(name)] += cost
    return costs


class Column(NamedTuple):
    """A policy at some prices: what it takes of each limit, and what it is worth by its scores."""

    prices: Floats
    taken: Floats
    worth: float


@dataclass(frozen=True, eq=False)
class PriceSearch:
    r"""Finds the prices at which a policy keeps to limits, from its scores (n x A) in rows that count so often.

    $$\max_w \sum_j w_j v_j \quad \text{with} \quad \sum_j w_j t_{kj} \le m_k, \quad \sum_j w_j = 1$$

    where $v_j$ and $t_j$ are what the policy at the prices of round $j$ is worth and takes. The shadow prices of each
    round's limits give those of the next one, until that is worth no more. Where many rows have the same scores, a few
    prices are mixed.

    Dantzig, Wolfe (1960), "Decomposition principle for linear programs".
    """

    limits: ActionLimits
    scores: Floats
    possible: Bools
    counts: Floats | None
    is_greedy: bool

    def find(self) -> tuple[Floats, Floats] | None:
        """Return prices of all actions (m x A) and how often each line of them holds; nothing if limits cannot."""
        spread = float(np.ptp(self.scores[self.possible]))
        scale = spread or 1.0 if self.is_greedy else max(spread, 1.0)  # a softmax of equal scores is worth its entropy
        columns = [self.price(np.zeros(len(self.limits.most)))]
        for _ in range(ROUNDS):
            weights, rates, worth, excess = self.mix(columns, scale)
            found = self.price(rates)
            if found.worth - rates @ found.taken <= worth + NEAR * scale:
                break
            columns.append(found)
        kept = np.flatnonzero(weights > NEAR)
        prices = np.array([columns[place].prices for place in kept])
        return None if excess > 10 * NEAR else (prices, weights[kept] / weights[kept].sum())

    def price(self, rates: Floats) -> Column:
        """Return the policy at the prices that rates of limits give to actions."""
        prices = rates @ self.limits.costs
        scores = np.where(self.possible, self.scores - prices, -np.inf)
        best = scores.max(axis=1)
        if not self.is_greedy:
            best = best + np.log(np.exp(scores - best[:, None]).sum(axis=1))
        taken = self.limits.take(choose(scores, self.possible, is_greedy=self.is_greedy), self.counts)
        return Column(prices, taken, float(np.average(best, weights=self.counts)) + float(rates @ taken))

    def mix(self, columns: Sequence[Column], scale: float) -> tuple[Floats, Floats, float, float]:
        """Return the best shares of policies, the rates of limits beside these, what a policy is worth, and the excess.

        What goes beyond a limit is allowed, and costs far more than any decision is worth.
        """
        from scipy.optimize import linprog

        count, limits = len(columns), len(self.limits.most)
        worth = np.array([one.worth for one in columns]) / scale
        sizes, most = self.limits.sizes, self.limits.most / self.limits.sizes
        taken = np.column_stack([one.taken / sizes for one in columns])
        aims, every = np.append(-worth, np.full(limits, FINE)), np.append(np.ones(count), np.zeros(limits))
        found = linprog(aims, np.column_stack([taken, -np.eye(limits)]), most, every[None, :], [1.0])
        rates = np.maximum(-found.ineqlin.marginals, 0) * scale / sizes
        return found.x[:count], rates, -float(found.eqlin.marginals[0]) * scale, float(found.x[count:].max())


def fit_within(learner: Learner, rows: TrainingRows, possible: Bools, seed: int, limits: ActionLimits | None) -> Scorer:
    """Return what a learner learns from rows, less the prices of actions by which it keeps to limits there."""
    scorer = fit_learner(learner, rows, seed)
    if limits is None:
        return scorer
    counts, scores = rows.examples.counts, scorer.score(rows.context)
    found = PriceSearch(limits.leave_room(possible, counts), scores, possible, counts, learner.is_greedy).find()
    if found is None:
        texts = ", ".join(limits.texts)
        why = "in some rows too little else can be taken"
        raise ParameterError(f"`limits` must be such that {learner.name} can keep to them, got {texts}, but {why}.")
    return PricedScorer(scorer, *found)
