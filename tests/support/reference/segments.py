"""Segments as naive loops: what SNIPS says of the rows of one, its error, and pooling by a plain integral."""

import math


def snips(weights, rewards, counts):
    """Return the weighted mean reward of some rows."""
    total = sum(w * c for w, c in zip(weights, counts, strict=True))
    return sum(w * r * c for w, r, c in zip(weights, rewards, counts, strict=True)) / total


def answer_segment(weights, rewards, counts, units):
    """Return the value, the log's, and the errors of the value and of the difference, by linear contributions."""
    value = snips(weights, rewards, counts)
    logged = snips([1.0] * len(rewards), rewards, counts)
    usual = sum(w * c for w, c in zip(weights, counts, strict=True)) / sum(counts)
    apart = [w / usual * (r - value) for w, r in zip(weights, rewards, strict=True)]
    gaps = [one - (r - logged) for one, r in zip(apart, rewards, strict=True)]
    return value, logged, error_of_mean(apart, counts, units), error_of_mean(gaps, counts, units)


def error_of_mean(values, counts, units):
    """Return the standard error of a mean of numbers that are 0 on average, where rows of a unit count as one."""
    totals = {}
    for value, count, unit in zip(values, counts, units, strict=True):
        totals[unit] = totals.get(unit, 0.0) + value * count
    number = len(totals)
    return math.sqrt(number / (number - 1) * sum(one**2 for one in totals.values())) / sum(counts)


def pool(values, errors, centre, scale, steps=20_000, most=60.0):
    """Return differences drawn to a centre that is known, and their errors, by a fine sum over how segments differ."""
    weights, means, variances = [], [], []
    for step in range(steps):
        share = most * ((step + 0.5) / steps) ** 3  # finer near 0
        tau = scale * share
        likelihood = 0.0
        for value, error in zip(values, errors, strict=True):
            variance = tau**2 + error**2
            likelihood -= (math.log(variance) + (value - centre) ** 2 / variance) / 2
        width = 3 * most * ((step + 0.5) / steps) ** 2
        weights.append(math.exp(likelihood) * width / (1 + share**2))
        both = list(zip(values, errors, strict=True))
        means.append([(tau**2 * value + error**2 * centre) / (tau**2 + error**2) for value, error in both])
        variances.append([tau**2 * error**2 / (tau**2 + error**2) for error in errors])
    total, found = sum(weights), []
    for k in range(len(values)):
        mean = sum(w * m[k] for w, m in zip(weights, means, strict=True)) / total
        both = zip(weights, means, variances, strict=True)
        found.append((mean, math.sqrt(sum(w * (v[k] + (m[k] - mean) ** 2) for w, m, v in both) / total)))
    return found
