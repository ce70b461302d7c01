"""What every diagnostic measures, as naive loops over rows; groups are labels, one per row."""

import math

from reference.balance import context_p, propensities_p
from reference.models import fold_of


def mean(numbers):
    return sum(numbers) / len(numbers)


def error(numbers, groups=None):
    """Return the standard error of a mean; the rows of a group count as one observation."""
    groups = range(len(numbers)) if groups is None else groups
    middle, sums = mean(numbers), {}
    for number, group in zip(numbers, groups, strict=True):
        sums[group] = sums.get(group, 0.0) + number - middle
    apart = [one * len(sums) / len(numbers) for one in sums.values()]
    variance = sum((one - mean(apart)) ** 2 for one in apart) / (len(apart) - 1)
    return math.sqrt(variance / len(apart))


def effective_rows(data, _groups):
    w = data.weights()
    return {"effective_rows": sum(w) ** 2 / sum(one * one for one in w)}


def largest_weight(data, _groups):
    w = data.weights()
    return {"largest_weight": max(w), "largest_share": max(w) / sum(w)}


def mean_weight(data, groups):
    w = data.weights()
    expected = 1 - missing_support(data, groups)["unsupported_mass"]
    z = abs(mean(w) - expected) / error(w, groups)
    return {"mean_weight": mean(w), "mean_weight_p": 2 * (1 - (1 + math.erf(z / math.sqrt(2))) / 2)}


def missing_support(data, _groups):
    masses = []
    for logging, target in zip(data.logging, data.target, strict=True):
        masses.append(sum(wanted for known, wanted in zip(logging, target, strict=True) if known == 0))
    return {"unsupported_rows": sum(mass > 0 for mass in masses), "unsupported_mass": mean(masses)}


def few_groups(_data, groups):
    return {"groups": None if groups is None else len(set(groups))}


def disagreement(data, groups):
    """Return how far IPS is from SNIPS, in standard errors of the difference row by row."""
    w = data.weights()
    value = sum(wi * ri for wi, ri in zip(w, data.r, strict=True)) / sum(w)
    gaps = [wi * ri - value - wi / mean(w) * (ri - value) for wi, ri in zip(w, data.r, strict=True)]
    return {"disagreement": mean(gaps) / error(gaps, groups)}


def model_shift(data, groups):
    """Return how far the direct method moves, by each action's mean reward with and without a row's own fold."""
    units = range(len(data.r)) if groups is None else groups
    folds = [fold_of(unit) for unit in units]

    def predict(row, left_out):
        found = 0.0
        for action, share in enumerate(data.target[row]):
            known = [
                reward
                for reward, taken, fold in zip(data.r, data.a, folds, strict=True)
                if taken == action and fold != left_out
            ]
            found += share * (mean(known) if known else 0.0)
        return found

    inside = [predict(row, None) for row in range(len(data.r))]
    outside = [predict(row, folds[row]) for row in range(len(data.r))]
    return {"model_shift": (mean(outside) - mean(inside)) / error(inside, groups)}


def propensities(data, groups):
    return {"propensities_p": propensities_p(data, first_rows(data, groups))}


def outcome_context(data, groups):
    return {"context_p": context_p(data, first_rows(data, groups))}


def first_rows(data, groups):
    """Return the first row of every group."""
    labels = list(range(len(data.a))) if groups is None else list(groups)
    return [row for row, label in enumerate(labels) if label not in labels[:row]]


MEASURES = {
    "disagreement": disagreement,
    "effective-rows": effective_rows,
    "few-groups": few_groups,
    "largest-weight": largest_weight,
    "mean-weight": mean_weight,
    "missing-support": missing_support,
    "model-shift": model_shift,
    "outcome-context": outcome_context,
    "propensities": propensities,
}
