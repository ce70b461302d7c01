"""The paper's Algorithm 1 and SLOPE as naive loops."""

import math

import numpy as np

from reference.estimators import WITHOUT_MODEL
from reference.models import ridge


def value(data, formula, parameters, alpha):
    """Return an estimate with the reward model fitted on the data given."""
    contributions = formula(data, None if formula in WITHOUT_MODEL else ridge(data, alpha), **parameters)
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
    """Return the place of the candidate that SLOPE chooses, walking along the order; errors may not grow along it."""
    reach = {place: width * max(errors[later] for later in order[step:]) for step, place in enumerate(order)}
    best = order[0]
    for step, place in enumerate(order):
        low, high = values[place] - reach[place], values[place] + reach[place]
        for earlier in order[:step]:
            low = max(low, values[earlier] - reach[earlier])
            high = min(high, values[earlier] + reach[earlier])
        if low > high:
            break
        best = place
    return best
