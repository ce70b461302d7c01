"""What the tables of figures show, as naive loops over rows that share no code with the package."""

import math
from itertools import product


def bin_weights(weights, per_decade=10):
    """Return the rows and the weight of each bin that has any, by the number of its lower end."""
    found = {}
    for weight in weights:
        if weight > 0:
            place = math.floor(math.log10(weight) * per_decade + 1e-12)
            rows, total = found.get(place, (0, 0.0))
            found[place] = rows + 1, total + weight
    return found


def support_actions(actions, rewards, propensities, target_probs, labels):
    """Return the rows, both shares, the mean reward, that under the weights with its error, and propensities' range."""
    found = {}
    for code, label in enumerate(labels):
        mine = [row for row, action in enumerate(actions) if action == code]
        wanted = sum(probs[code] for probs in target_probs) / len(actions)
        mean = sum(rewards[row] for row in mine) / len(mine) if mine else None
        ends = (
            (min(propensities[row] for row in mine), max(propensities[row] for row in mine)) if mine else (None, None)
        )
        weights = [target_probs[row][code] / propensities[row] for row in mine]
        weighted, error = None, None
        if sum(weights):
            pairs = [(weight, rewards[row]) for weight, row in zip(weights, mine, strict=True)]
            weighted = sum(weight * reward for weight, reward in pairs) / sum(weights)
            error = math.sqrt(sum((weight * (reward - weighted)) ** 2 for weight, reward in pairs)) / sum(weights)
        found[label] = (len(mine), len(mine) / len(actions), wanted, mean, weighted, error, *ends)
    return found


def leave_out_movers(weights, rewards, count):
    """Return the rows with the largest moves, in order, and SNIPS without each and all before it."""
    value = sum(weight * reward for weight, reward in zip(weights, rewards, strict=True)) / sum(weights)
    moves = sorted(range(len(weights)), key=lambda row: (-weights[row] * abs(rewards[row] - value), row))[:count]
    values = []
    for number in range(1, count + 1):
        left = [row for row in range(len(weights)) if row not in moves[:number]]
        total = sum(weights[row] for row in left)
        values.append(sum(weights[row] * rewards[row] for row in left) / total)
    return moves, values


def bound_snips(wanted, propensities, rewards, factor):
    """Return the least and the largest value of SNIPS over all ways to divide or multiply odds by a factor.

    Rows have the target's probability of the logged action (`wanted`), and what was logged as that of the logger.
    """
    values = []
    for factors in product((1 / factor, factor), repeat=len(wanted)):
        odds = [times * p / (1 - p) for times, p in zip(factors, propensities, strict=True)]
        weights = [one * (1 + own) / own for one, own in zip(wanted, odds, strict=True)]
        values.append(sum(w * r for w, r in zip(weights, rewards, strict=True)) / sum(weights))
    return min(values), max(values)


def bound_snips_of_doses(weights, rewards, factor):
    """Return the same over all ways to divide or multiply the weights of doses by a factor."""
    values = []
    for factors in product((1 / factor, factor), repeat=len(weights)):
        changed = [one * weight for one, weight in zip(factors, weights, strict=True)]
        values.append(sum(w * r for w, r in zip(changed, rewards, strict=True)) / sum(changed))
    return min(values), max(values)


def explore_actions(actions, weights, rewards, propensities, share):
    """Return of each action its share in the variance of SNIPS, and the width if a share of decisions explored it."""
    value = sum(weight * reward for weight, reward in zip(weights, rewards, strict=True)) / sum(weights)
    squares = [(weight * (reward - value)) ** 2 for weight, reward in zip(weights, rewards, strict=True)]
    found = {}
    for action in set(actions):
        after = 0.0
        for own, square, propensity in zip(actions, squares, propensities, strict=True):
            new = (1 - share) * propensity + (share if own == action else 0.0)
            after += square * propensity / new
        mine = sum(square for own, square in zip(actions, squares, strict=True) if own == action)
        found[action] = mine / sum(squares), math.sqrt(after / sum(squares))
    return found


def leave_out_each(keys, weights, rewards, counts):
    """Return the rows of each key, and what SNIPS and its difference to the log's mean are without it."""
    found = {}
    for key in set(keys):
        weight = earned = decisions = logged = 0.0
        for own, w, r, c in zip(keys, weights, rewards, counts, strict=True):
            if own != key:
                weight, earned, decisions, logged = weight + c * w, earned + c * w * r, decisions + c, logged + c * r
        found[key] = list(keys).count(key), earned / weight, earned / weight - logged / decisions
    return found
