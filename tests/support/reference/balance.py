"""Tests of logged propensities and of the context, as naive loops over the rows that count."""

import math

import numpy as np
from scipy.stats import chi2

TOLERANCE, LEAST, SMALL = 0.003, 5.0, 0.1


def normal_tail(score):
    return 0.5 * math.erfc(score / math.sqrt(2))


def tame(deviation, variance, largest):
    """Return how many standard deviations a sum is from 0, by Bennett's inequality."""
    ratio = abs(deviation) * largest / variance
    return math.sqrt(2 * variance / largest**2 * ((1 + ratio) * math.log(1 + ratio) - ratio))


def feature_p(z, a, probs):
    """Return the p-value of a feature: its product with residuals, given that residuals sum to anything."""
    actions = probs.shape[1]
    level, first, second = (np.zeros((actions, actions)) for _ in range(3))
    sums, products = np.zeros(actions), np.zeros(actions)
    for zi, ai, pi in zip(z, a, probs, strict=True):
        residual = np.array([(ai == action) - pi[action] for action in range(actions)])
        spread = np.diag(pi) - np.outer(pi, pi)
        sums, products = sums + residual, products + zi * residual
        level, first, second = level + spread, first + zi * spread, second + zi * zi * spread
    change = first @ np.linalg.pinv(level, rcond=1e-10, hermitian=True)
    residuals, covariance = products - change @ sums, second - change @ first
    centre = [first[k, k] / level[k, k] if level[k, k] else 0.0 for k in range(actions)]
    largest = [max(max(z) - one, one - min(z)) for one in centre]
    kept = [k for k in range(actions) if covariance[k, k] > LEAST * largest[k] ** 2]
    if len(kept) == actions:
        kept.remove(max(kept, key=lambda k: covariance[k, k]))
    if not kept:
        return 1.0
    inverse = np.linalg.inv(covariance[np.ix_(kept, kept)])
    steps = inverse @ residuals[kept]
    square = float(residuals[kept] @ steps)
    square = tame(square, square, max(abs(step) * largest[k] for step, k in zip(steps, kept, strict=True))) ** 2
    allowed = []
    for k in kept:
        expected = sum(probs[:, k])
        spread = sum(p * (zi - centre[k]) ** 2 for p, zi in zip(probs[:, k], z, strict=True))
        allowed.append(TOLERANCE**2 * expected * spread / covariance[k, k])
    return float(chi2.sf(square / (1 + max(allowed)), len(kept)))


def frequency_p(a, probs):
    """Return the p-values of how often each action was taken, and of how that depends on its probability."""
    actions = probs.shape[1]
    counts, slopes = [], []
    for action in range(actions):
        p = [float(one) for one in probs[:, action]]
        residuals = [(ai == action) - pi for ai, pi in zip(a, p, strict=True)]
        expected, total, variance = sum(p), sum(residuals), sum(pi * (1 - pi) for pi in p)
        if variance == 0:
            continue
        far = max(abs(total) - TOLERANCE * expected, 0.0)
        counts.append(tame(far, variance, 1.0) if total > 0 else far / math.sqrt(variance))
        centre = sum(pi * (1 - pi) * math.sqrt(pi) for pi in p) / variance
        spread = sum(pi * (1 - pi) * (math.sqrt(pi) - centre) ** 2 for pi in p)
        slope = sum(e * (math.sqrt(pi) - centre) for e, pi in zip(residuals, p, strict=True))
        far = max(abs(slope) - TOLERANCE * math.sqrt(expected * spread), 0.0)
        slopes.append(tame(far, spread, max(math.sqrt(max(p)) - centre, centre - math.sqrt(min(p)))))
    return [min(1.0, 2 * actions * normal_tail(max(one))) for one in (counts, slopes)]


def sharpness_p(a, probs, score):
    """Return the p-value of the score of another policy."""
    rows, actions = probs.shape
    total = variance = largest = 0.0
    for ai, pi in zip(a, probs, strict=True):
        scores = [score(float(p), actions) for p in pi]
        middle = sum(p * one for p, one in zip(pi, scores, strict=True))
        total += scores[ai] - middle
        variance += sum(p * (one - middle) ** 2 for p, one in zip(pi, scores, strict=True))
        largest = max([largest, *(abs(one - middle) for p, one in zip(pi, scores, strict=True) if p > 0)])
    far = max(abs(total) - TOLERANCE * math.sqrt(rows * variance), 0.0)
    return 2 * normal_tail(tame(far, variance, largest))


def propensities_p(data, rows):
    """Return the least p-value of the tests that need no context, times their number."""
    a, logging = data.a[rows], data.logging[rows]
    several = [feature_p(rows, a, logging), *frequency_p(a, logging)]
    several.append(sharpness_p(a, logging, lambda p, actions: math.log(p + SMALL / actions)))
    several.append(sharpness_p(a, logging, lambda p, actions: 1 / (actions * p + SMALL)))
    return min(1.0, len(several) * min(several))


def context_p(data, rows):
    """Return the least p-value of a column, times their number."""
    several = []
    for column in data.x.T:
        middle = sum(column) / len(column)
        spread = math.sqrt(sum((x - middle) ** 2 for x in column) / len(column))
        scaled = [(x - middle) / spread for x in column]
        bounded = [scaled[row] / math.sqrt(1 + scaled[row] ** 2) for row in rows]
        several.append(feature_p(bounded, data.a[rows], data.logging[rows]))
    return min(1.0, len(several) * min(several))
