"""Ladder as a naive loop."""

import math

from reference.estimators import share_caps, truncated_sndr, truncated_snips
from reference.models import dot


def mean_of(formula, data, q, cap):
    contributions = formula(data, q, cap)
    return sum(contributions) / len(contributions)


def left_out(say, data, q, units):
    """Return what is said of all rows but a unit's, for every unit, so scaled that squares add up to the variance."""
    names = sorted(set(units))
    found = []
    for unit in names:
        kept = [i for i in range(len(data.r)) if units[i] != unit]
        found.append(say(data.take(kept), None if q is None else q[kept]))
    mean = sum(found) / len(found)
    return [math.sqrt((len(names) - 1) / len(names)) * (value - mean) for value in found]


def weigh_boldness(steps, usual):
    """Return the probability of 65 values of boldness, by steps (length, reach, noise) and what is usual."""
    chance = {}
    for place in range(65):
        c = math.exp(-5 + place / 8)
        chance[c] = math.exp(-(math.log(c / usual) ** 2) / 2)
        for length, reach, noise in steps:
            variance = c**2 * reach + noise
            chance[c] *= math.exp(-(length**2) / variance / 2) / math.sqrt(variance)
    return {c: one / sum(chance.values()) for c, one in chance.items()}


def climb(formula, data, q, units, boldness, fixed):
    """Return the rungs of one ladder, the share of each, and the variance of what is left of the bias.

    With a probability (`fixed`), boldness has a value that does not depend on the steps.
    """
    caps = [*share_caps(data.weights()), math.inf]
    if formula is truncated_sndr:
        caps = [0.0, *caps]
    outcomes = (
        data.r if formula is truncated_snips else [r - row[a] for r, a, row in zip(data.r, data.a, q, strict=True)]
    )
    kept, variances, steps = [], [], []
    for cap in caps:
        w = [min(wi, cap) for wi in data.weights()]
        mean = dot(w, outcomes) / sum(w) if cap else 0.0
        kept.append(sum(w))
        variances.append(sum(wi * (y - mean) ** 2 for wi, y in zip(w, outcomes, strict=True)) / sum(w) if cap else 0.0)
    for rung in range(1, len(caps)):

        def step(part, q, rung=rung):
            return mean_of(formula, part, q, caps[rung]) - mean_of(formula, part, q, caps[rung - 1])

        noise = sum(move**2 for move in left_out(step, data, q, units))
        steps.append((step(data, q), (1 - kept[rung - 1] / kept[rung]) ** 2 * max(variances), noise))
    usual = 1.0 if formula is truncated_snips else 0.05
    if boldness is None:
        chance = [(c, (1 - fixed) * one) for c, one in weigh_boldness(steps, usual).items()]
        chance.append((0.5 if formula is truncated_snips else 0.2, fixed))
    else:
        chance = [(boldness, 1.0)]
    taken, left = [1.0], 0.0
    for length, reach, noise in steps:
        each = {c: c**2 * reach / (c**2 * reach + noise) for c, _ in chance}
        g = min(taken[-1], sum(one * each[c] for c, one in chance))
        variance = sum(one * (each[c] * noise + (each[c] - g) ** 2 * length**2) for c, one in chance)
        left += max(variance - g**2 * noise, 0.0)
        taken.append(g)
    return caps, [share - further for share, further in zip(taken, [*taken[1:], 0.0], strict=True)], left


def ladder(data, q, units, boldness, fixed=0.2, doubt=4.0):
    """Return shares by (formula, cap), the answer and its error; without predictions there is but one ladder."""
    shares, answer, error, _ = ladder_against_log(data, q, units, boldness, fixed, doubt)
    return shares, answer, error


def ladder_against_log(data, q, units, boldness, fixed, doubt):
    """Return the same, and the error of the difference to the mean reward of the log."""
    formulas = [truncated_snips] if q is None else [truncated_snips, truncated_sndr]
    found = [climb(formula, data, q, units, boldness, fixed) for formula in formulas]

    def mixed(one, part, q):
        caps, shares, _ = found[one]
        return sum(share * mean_of(formulas[one], part, q, cap) for cap, share in zip(caps, shares, strict=True))

    parts = [1.0]
    if len(found) == 2:
        first, second = (left_out(lambda part, q, one=one: mixed(one, part, q), data, q, units) for one in (0, 1))
        apart = [x - y for x, y in zip(first, second, strict=True)]
        best = (dot(first, apart) + found[0][2]) / (dot(apart, apart) + found[0][2] + found[1][2])
        towards = (min(max(best, 0.0), 1.0) + 0.5) / 2
        parts = [1 - towards, towards]

    def answer(part, q):
        return sum(parts[one] * mixed(one, part, q) for one in range(len(found)))

    noise = sum(move**2 for move in left_out(answer, data, q, units))
    shares = {
        (formulas[one], cap): parts[one] * share
        for one, (caps, mine, _) in enumerate(found)
        for cap, share in zip(caps, mine, strict=True)
    }
    bias = doubt * sum(part**2 * left for part, (_, _, left) in zip(parts, found, strict=True))

    def gain(part, q):
        return answer(part, q) - sum(part.r) / len(part.r)

    apart = sum(move**2 for move in left_out(gain, data, q, units))
    return shares, answer, math.sqrt(noise + bias), math.sqrt(apart + bias)
