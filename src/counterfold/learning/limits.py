"""The rules of policies: which actions they may take, how often, and the prices by which they keep to these limits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from counterfold.base.arrays import Bools, Floats, Ints
from counterfold.base.errors import ParameterError
from counterfold.base.messages import clean_sentence, list_names, shorten, show, suggest
from counterfold.base.notation import read_relation, read_term
from counterfold.learning.learners.base import Learner, TrainingRows, fit_learner
from counterfold.log.labels import write_label
from counterfold.log.log import Log
from counterfold.log.support import find_supported
from counterfold.policies.learned.scorers import PricedScorer, Scorer, choose, explore_evenly, share_evenly

FORMS = "{'discount': 0.2}, or texts such as `discount <= 20%`, `gift >= 5%` or `2 * discount + gift <= 0.3`"

SIGNS = {"<=": 1.0, ">=": -1.0}
"""The factor of both sides of a limit that makes it an upper limit."""

MIN_AMOUNT, MAX_AMOUNT = 1e-12, 1e12
"""Costs, limits and their ratios are between these: the linear programs that find prices lose digits beyond."""

MAX_MISSED = 1e-9
"""If policies can keep to all limits, they miss none by a larger part of it than this rounding error."""

MAX_ROUNDS = 100
"""At most so many prices are tried."""

TOLERANCE = 1e-7
"""Two values are equal if they differ by less, in units of the range of the scores."""

PENALTY = 1e3
"""The loss of a policy that misses a limit by the whole of it, in units of the range of the scores.

Such a policy takes twice what is allowed, or nothing of what must be taken. A policy that misses a limit by less loses
less, in proportion.
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


class Limit(NamedTuple):
    """One limit: its text, the costs of all actions, and the largest cost per decision; negative for a lower limit."""

    text: str
    costs: Floats
    most: float


@dataclass(frozen=True, eq=False)
class ActionLimits:
    r"""Limits on how often actions are taken: in each of them, the mean cost of a decision has an upper limit.

    $$\sum_a c_{ka} \, \overline{\pi(a \mid x)} \le m_k$$

    - `texts`: what each limit is.
    - `costs`: the costs of actions (k x A), 1 for an action whose share is limited and 0 for all others.
    - `most`: the upper limits. For a lower limit, both sides are negative.
    - `sizes`: the limits without signs.
    - `explore`: the share of decisions made at random, which uses a part of each limit.
    """

    texts: list[str]
    costs: Floats
    most: Floats
    sizes: Floats
    explore: float = 0.0

    @classmethod
    def of(cls, given: Any, labels: Sequence[Any], allowed: Bools, explore: float = 0.0) -> "ActionLimits | None":
        """Return the limits that a user gives, or None; refuse those that no policy can keep to."""
        names = [str(label) for label in labels]
        if given is None:
            return None
        if isinstance(given, Mapping):
            several = [limit_share(name, share, names) for name, share in given.items()]
        else:
            is_list = isinstance(given, Sequence) and not isinstance(given, str)
            texts = given if is_list else [given]
            several = [read_limit(text, names) for text in texts]
        if not several:
            return None
        most = np.array([limit.most for limit in several])
        limits = cls(
            texts=[limit.text for limit in several],
            costs=np.array([limit.costs for limit in several]),
            most=most,
            sizes=np.abs(most),
            explore=explore,
        )
        limits.leave_room(allowed[None, :]).require_possible(allowed)
        return limits

    def leave_room(self, possible: Bools, counts: Floats | None = None) -> "ActionLimits":
        """Return the limits of the decisions that are not made at random among the possible actions (n x A)."""
        taken = self.take(share_evenly(possible), counts)
        return replace(self, most=(self.most - self.explore * taken) / (1 - self.explore))

    def require_possible(self, allowed: Bools) -> None:
        """Require that some policy can keep to all limits, if all allowed actions can be taken everywhere."""
        from scipy.optimize import linprog

        # The variables are the shares of the allowed actions, and the part by which a limit is missed at most. That
        # part is the smallest possible one.
        costs = self.costs[:, allowed] / self.sizes[:, None]
        most = self.most / self.sizes
        n_limits, n_actions = costs.shape
        solution = linprog(
            c=np.append(np.zeros(n_actions), 1.0),
            A_ub=np.column_stack([costs, -np.ones(n_limits)]),
            b_ub=most,
            A_eq=np.append(np.ones(n_actions), 0.0)[None, :],
            b_eq=[1.0],
        )
        if solution.fun > MAX_MISSED:
            excesses = costs @ solution.x[:-1] - most
            pairs = zip(self.texts, excesses, strict=True)
            which = " or ".join(f"`{text}`" for text, excess in pairs if excess > solution.fun / 2)
            missed = 100 * (1 - self.explore) * solution.fun
            rule = "`limits` must leave something to do in every decision"
            what = " beside what is explored" if self.explore else ""
            remedy = "Widen one, or let other actions be taken"
            raise ParameterError(f"{rule}, but{what} any policy misses {which} by {missed:.3g} % of it. {remedy}.")

    def take(self, probs: Floats, counts: Floats | None = None) -> Floats:
        """Return the mean cost of decisions (n x A) by each limit."""
        return np.asarray(self.costs @ np.average(probs, axis=0, weights=counts))

    def make_lines(self, expected: Floats, out_of_fold: Floats, logged: Floats) -> list[LimitLine]:
        """Return a line for each limit, from the mean costs of three sets of decisions."""
        lines = []
        for place, text in enumerate(self.texts):
            is_lower = bool(self.costs[place].min() < 0)
            sign = -1.0 if is_lower else 1.0
            size = float(self.sizes[place])
            line = LimitLine(
                limit=text,
                most=None if is_lower else size,
                least=size if is_lower else None,
                expected=sign * float(expected[place]),
                out_of_fold=sign * float(out_of_fold[place]),
                logged=sign * float(logged[place]),
            )
            lines.append(line)
        return lines


def limit_share(name: Any, share: Any, labels: Sequence[str], side: str = "<=") -> Limit:
    """Return the limit of an action's share."""
    try:
        most = np.nan if isinstance(share, bool) else float(share)
    except (TypeError, ValueError, OverflowError):
        most = np.nan
    label = show(write_label(name))
    if not 0 < most <= 1:
        remedy = "20 % is 0.2"
        if most == 0 and side == "<=":
            remedy = f"forbid it: `forbidden=[{label!r}]`"
        rule = "`limits` must be shares above 0 and at most 1"
        raise ParameterError(f"{rule}, got {shorten(share)} for {label}; {remedy}.")
    sign = SIGNS[side]
    costs = find_costs([(1.0, write_label(name))], labels)
    return Limit(text=f"{label} {side} {most:.4g}", costs=sign * costs, most=sign * most)


def read_limit(text: Any, labels: Sequence[str]) -> Limit:
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
    if not all(MIN_AMOUNT <= amount <= MAX_AMOUNT for amount in [most, *costs, *ratios]):
        rule = f"`limits` must have numbers from {MIN_AMOUNT:g} to {MAX_AMOUNT:g}"
        raise ParameterError(f"{rule}, got {shorten(text)}. Give costs in a larger or smaller unit.")
    sign = SIGNS[relation.side]
    limit_costs = find_costs(terms, labels)
    return Limit(text=clean_sentence(" ".join(text.split())), costs=sign * limit_costs, most=sign * most)


def read_cost(text: str, labels: Sequence[str]) -> tuple[float, str]:
    """Return the cost and the action of a term such as `2 * discount`.

    A label may itself look like a term, such as `1/2 * price`: it is that label, unless there is an action `price`.
    """
    cost, name = read_term(text)
    if name not in labels and text in labels:
        return 1.0, text
    return 1.0 if cost is None else cost, name


def find_costs(terms: Sequence[tuple[float, str]], labels: Sequence[str]) -> Floats:
    """Return the cost of each action; those that are not named cost nothing."""
    costs = np.zeros(len(labels))
    for cost, name in terms:
        if name not in labels:
            actions = list_names(labels)
            hint = suggest(name, labels)
            raise ParameterError(f"`limits` must be of actions of the log, {actions}, got `{show(name)}`.{hint}")
        costs[labels.index(name)] += cost
    return costs


class PricedPolicy(NamedTuple):
    """A policy at some prices: its mean cost by each limit, and its value by the scores."""

    prices: Floats
    taken: Floats
    value: float


class PolicyShares(NamedTuple):
    """The best mixture of several priced policies.

    - `shares`: the share of each policy.
    - `rates`: the shadow price of each limit.
    - `value`: the value that another policy must exceed at these rates to improve the mixture.
    - `excess`: the largest part by which the mixture misses a limit.
    """

    shares: Floats
    rates: Floats
    value: float
    excess: float


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
        """Return prices of all actions (m x A) and the share of each line of them; None if limits cannot be kept."""
        scale = self.find_scale()
        policies = [self.price(np.zeros(len(self.limits.most)))]
        for _ in range(MAX_ROUNDS):
            best = self.mix(policies, scale)
            policy = self.price(best.rates)
            if policy.value - best.rates @ policy.taken <= best.value + TOLERANCE * scale:
                break
            policies.append(policy)
        if best.excess > 10 * TOLERANCE:
            return None
        kept = np.flatnonzero(best.shares > TOLERANCE)
        prices = np.array([policies[place].prices for place in kept])
        return prices, best.shares[kept] / best.shares[kept].sum()

    def find_scale(self) -> float:
        """Return the range of the scores; the softmax of equal scores has a value, too: its entropy."""
        spread = float(np.ptp(self.scores[self.possible]))
        if self.is_greedy:
            return spread or 1.0
        return max(spread, 1.0)

    def price(self, rates: Floats) -> PricedPolicy:
        """Return the policy at the prices of actions that follow from the rates of limits."""
        prices = rates @ self.limits.costs
        scores = np.where(self.possible, self.scores - prices, -np.inf)
        best = scores.max(axis=1)
        if not self.is_greedy:
            best = best + np.log(np.exp(scores - best[:, None]).sum(axis=1))
        taken = self.limits.take(choose(scores, self.possible, is_greedy=self.is_greedy), self.counts)
        value = float(np.average(best, weights=self.counts)) + float(rates @ taken)
        return PricedPolicy(prices=prices, taken=taken, value=value)

    def mix(self, policies: Sequence[PricedPolicy], scale: float) -> PolicyShares:
        """Return the best mixture of policies; exceeding a limit is allowed, but costs more than any decision earns."""
        from scipy.optimize import linprog

        n_policies = len(policies)
        n_limits = len(self.limits.most)
        sizes = self.limits.sizes
        values = np.array([policy.value for policy in policies]) / scale
        taken = np.column_stack([policy.taken / sizes for policy in policies])
        solution = linprog(
            c=np.append(-values, np.full(n_limits, PENALTY)),
            A_ub=np.column_stack([taken, -np.eye(n_limits)]),
            b_ub=self.limits.most / sizes,
            A_eq=np.append(np.ones(n_policies), np.zeros(n_limits))[None, :],
            b_eq=[1.0],
        )
        return PolicyShares(
            shares=solution.x[:n_policies],
            rates=np.maximum(-solution.ineqlin.marginals, 0) * scale / sizes,
            value=-float(solution.eqlin.marginals[0]) * scale,
            excess=float(solution.x[n_policies:].max()),
        )


@dataclass(frozen=True, eq=False)
class PolicyRules:
    """What every policy must keep to.

    - `possible`: the actions that it may take in each row (n x A).
    - `limits`: limits on how often it takes actions, which it keeps in the rows that it is trained on.
    - `explore`: the share of decisions that it makes at random.
    """

    possible: Bools
    limits: ActionLimits | None = None
    explore: float = 0.0

    def take(self, index: Ints) -> "PolicyRules":
        """Return the rules for some rows."""
        return replace(self, possible=self.possible[index])

    def train(self, learner: Learner, rows: TrainingRows, seed: int) -> Scorer:
        """Return the scores that a learner gives to actions, less the prices by which it keeps to limits."""
        scorer = fit_learner(learner, rows, seed)
        if self.limits is None:
            return scorer
        counts = rows.examples.counts
        search = PriceSearch(
            limits=self.limits.leave_room(self.possible, counts),
            scores=scorer.score(rows.context),
            possible=self.possible,
            counts=counts,
            is_greedy=learner.is_greedy,
        )
        priced = search.find()
        if priced is None:
            texts = ", ".join(self.limits.texts)
            reason = "in some rows too little else can be taken"
            rule = f"`limits` must be such that {learner.name} can keep to them"
            raise ParameterError(f"{rule}, got {texts}, but {reason}.")
        prices, shares = priced
        return PricedScorer(scorer, prices, shares)

    def decide(self, learner: Learner, scorer: Scorer, context: Floats) -> Floats:
        """Return the decisions (n x A) that follow from the scores of a learner."""
        probs = scorer.decide(context, self.possible, is_greedy=learner.is_greedy)
        return explore_evenly(probs, self.possible, self.explore)


def find_possible(log: Log, allowed: Bools, seen: Bools | None = None) -> Bools:
    """Return which actions policies may take in each row (n x A): allowed ones that the log could take there.

    In a row without any such action, all allowed ones are possible; the diagnostics then report it. `seen` are the
    actions that occur, if a longer log shows more of them than these rows.
    """
    possible = find_supported(log, seen) & allowed
    return np.where(possible.any(axis=1, keepdims=True), possible, allowed)
