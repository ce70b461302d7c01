"""Every formula again, as a naive loop that shares no code with the package."""

import math
from dataclasses import dataclass

import numpy as np
from sklearn.linear_model import Ridge


@dataclass
class Data:
    """A log and a target: context, actions, rewards, logging and target probabilities."""

    x: np.ndarray
    a: np.ndarray
    r: np.ndarray
    logging: np.ndarray
    target: np.ndarray

    def take(self, index):
        return Data(self.x[index], self.a[index], self.r[index], self.logging[index], self.target[index])

    def weights(self):
        return [self.target[i, a] / self.logging[i, a] for i, a in enumerate(self.a)]


def random_data(seed, rows=60, columns=3, actions=4, *, binary=False):
    """Return a random problem with uneven policies."""
    rng = np.random.default_rng(seed)
    logging, target = (rng.dirichlet(np.full(actions, strength), size=rows) for strength in (2.0, 0.7))
    a = np.array([rng.choice(actions, p=row) for row in logging])
    x = rng.normal(size=(rows, columns))
    r = x[:, 0] * a + rng.normal(size=rows)
    return Data(x, a, (r > 0).astype(float) if binary else r, logging, target)


def ridge(data, alpha):
    """Return the paper's reward model: one ridge regression per action, fitted on the rows it predicts."""
    q = np.zeros((len(data.r), data.target.shape[1]))
    for action in range(q.shape[1]):
        mine = data.a == action
        if not mine.any():
            continue
        if (data.r[mine] == data.r[mine][0]).all():
            q[:, action] = data.r[mine][0]
        else:
            q[:, action] = Ridge(alpha=alpha).fit(data.x[mine], data.r[mine]).predict(data.x)
    return q


def predicted(data, q):
    """Return the mean prediction under the target, row by row."""
    return [sum(p * f for p, f in zip(probs, row, strict=True)) for probs, row in zip(data.target, q, strict=True)]


def corrected(data, q, weight):
    """Return predictions corrected by the residuals of the logged actions, with weights transformed."""
    rows = zip(predicted(data, q), data.weights(), data.r, data.a, q, strict=True)
    return [policy + weight(w) * (r - row[a]) for policy, w, r, a, row in rows]


def weighted(data, weight):
    """Return rewards with weights transformed."""
    return [weight(w) * r for w, r in zip(data.weights(), data.r, strict=True)]


def ips(data, _q):
    return weighted(data, lambda w: w)


def truncated_ips(data, _q, max_weight):
    return weighted(data, lambda w: min(w, max_weight))


def ips_lambda(data, _q, mix):
    return weighted(data, lambda w: w / (1 - mix + mix * w))


def snips(data, q):
    w = data.weights()
    value = sum(ips(data, q)) / sum(w)
    return [value + len(w) * wi / sum(w) * (r - value) for wi, r in zip(w, data.r, strict=True)]


def dm(data, q):
    return predicted(data, q)


def dr(data, q):
    return corrected(data, q, lambda w: w)


def switch_dr(data, q, threshold):
    return corrected(data, q, lambda w: w if w <= threshold else 0.0)


def dros(data, q, shrinkage):
    return corrected(data, q, lambda w: shrinkage * w / (w * w + shrinkage))


def drps(data, q, max_weight):
    return corrected(data, q, lambda w: min(w, max_weight))


def sndr(data, q):
    w = data.weights()
    residuals = [r - row[a] for r, a, row in zip(data.r, data.a, q, strict=True)]
    shift = sum(wi * e for wi, e in zip(w, residuals, strict=True)) / sum(w)
    rows = zip(predicted(data, q), w, residuals, strict=True)
    return [policy + shift + len(w) * wi / sum(w) * (e - shift) for policy, wi, e in rows]


def cab(data, q, max_weight):
    result = []
    for i, a in enumerate(data.a):
        blended = 0.0
        for action in range(q.shape[1]):
            w = data.target[i, action] / data.logging[i, action]
            blended += data.target[i, action] * (1 - min(max_weight / w, 1)) * q[i, action]
        w = data.target[i, a] / data.logging[i, a]
        result.append(blended + w * min(max_weight / w, 1) * data.r[i])
    return result


def group_ips(data, q, groups):
    low, high = q.min(), q.max()

    def group(value):
        return min(int((value - low) * (groups / ((high - low) or 1.0))), groups - 1)

    result = []
    for i, a in enumerate(data.a):
        same = [action for action in range(q.shape[1]) if group(q[i, action]) == group(q[i, a])]
        taken, logged = (sum(probs[i, action] for action in same) for probs in (data.target, data.logging))
        result.append(taken / logged * data.r[i])
    return result


FORMULAS = {
    "ips": (ips, {}),
    "snips": (snips, {}),
    "dm": (dm, {}),
    "dr": (dr, {}),
    "sndr": (sndr, {}),
    "truncated-ips": (truncated_ips, {"max_weight": 1.3}),
    "switch-dr": (switch_dr, {"threshold": 1.1}),
    "cab": (cab, {"max_weight": 0.8}),
    "dros": (dros, {"shrinkage": 2.5}),
    "drps": (drps, {"max_weight": 0.9}),
    "ips-lambda": (ips_lambda, {"mix": 0.3}),
    "group-ips": (group_ips, {"groups": 4}),
}
"""Each estimator's name on the command line with its formula and some parameters."""


def value(data, formula, parameters, alpha):
    """Return an estimate with the reward model fitted on the data given."""
    needs_model = formula not in {ips, snips, truncated_ips, ips_lambda}
    contributions = formula(data, ridge(data, alpha) if needs_model else None, **parameters)
    return sum(contributions) / len(contributions)


def variance(data, formula, parameters, alpha):
    """Return the variance of an estimate from its contributions."""
    contributions = formula(data, ridge(data, alpha), **parameters)
    mean = sum(contributions) / len(contributions)
    return sum((c - mean) ** 2 for c in contributions) / len(contributions) ** 2


def algorithm_1(data, candidates, validator, orders, alpha, step=0.0):
    """Return the loss of each candidate on each split: the paper's Algorithm 1, lines 2 to 9, one thing at a time.

    Candidates and the validator are pairs of a formula and its parameters. A `step` rounds the logarithm of the ratio
    of the variances, which the paper does not do.
    """
    rows = len(data.r)
    noise = variance(data, *validator, alpha)
    losses = []
    for formula, parameters in candidates:
        mine = variance(data, formula, parameters, alpha)
        if step:
            mine = noise * math.exp(step * round(math.log(mine / noise) / step))
        share = mine / (mine + noise)
        cut = min(max(math.ceil(share * rows - 0.5), 1), rows - 1)
        row = []
        for order in orders:
            guess = value(data.take(order[:cut]), formula, parameters, alpha)
            truth = value(data.take(order[cut:]), *validator, alpha)
            row.append((guess - truth) ** 2)
        losses.append(row)
    return np.array(losses)


def scores(losses, rule):
    """Return line 11: the mean loss of each candidate plus what the rule adds."""
    result = []
    for row in losses:
        mean = sum(row) / len(row)
        deviation = math.sqrt(sum((loss - mean) ** 2 for loss in row) / (len(row) - 1))
        add = {"mean": 0.0, "standard_deviation": deviation, "standard_error": deviation / math.sqrt(len(row))}
        result.append(mean + add[rule])
    return result


def slope(values, errors, order, width):
    """Return the place of the candidate that SLOPE chooses, walking along the order."""
    best = order[0]
    for step, place in enumerate(order):
        low, high = values[place] - width * errors[place], values[place] + width * errors[place]
        for earlier in order[:step]:
            low = max(low, values[earlier] - width * errors[earlier])
            high = min(high, values[earlier] + width * errors[earlier])
        if low > high:
            break
        best = place
    return best
