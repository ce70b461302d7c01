"""What every diagnostic measures, as naive loops over rows; groups are labels, one per row."""

import math
from itertools import pairwise

import numpy as np
from scipy import stats

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
    found = {"effective_rows": sum(w) ** 2 / sum(one * one for one in w)}
    return found | {"expected_rows": expected_rows(data.logging, data.target)}


def expected_rows(logging, target):
    """Return the expected effective rows, without the largest weights of 2 % of the target, by powers of 2."""
    classes = {}
    for likely, wanted in zip(logging, target, strict=True):
        for known, one in zip(likely, wanted, strict=True):
            if known > 0:
                # All weights of at most 1 are in one class.
                power = max(0, math.frexp(one / known)[1]) if one / known > 1 else 0
                mass, moment = classes.get(power, (0.0, 0.0))
                classes[power] = mass + one, moment + one * one / known
    total = sum(mass for mass, _ in classes.values())
    kept = []
    above = 0.0
    for power in sorted(classes, reverse=True):
        above += classes[power][0]
        if above > 0.02 * total:
            kept.append(classes[power])
    return sum(mass for mass, _ in kept) ** 2 / sum(moment for _, moment in kept)


def largest_weight(data, _groups):
    w = data.weights()
    return {"largest_weight": max(w), "largest_share": max(w) / sum(w)}


def find_skewed_p(numbers, expected):
    """Return the p-value of a mean by Hall's transformation of Student's statistic, number by number."""
    count, middle = len(numbers), mean(numbers)
    second = sum((one - middle) ** 2 for one in numbers) / (count - 1)
    if count < 20:
        return 2 * stats.t.sf(abs(middle - expected) / math.sqrt(second / count), count - 1)
    third = sum((one - middle) ** 3 for one in numbers) / (count - 1)
    fourth = sum((one - middle) ** 4 for one in numbers) / (count - 1)
    skewness = third / second**1.5
    u = (middle - expected) / math.sqrt(second)
    h = math.sqrt(count) * (u + skewness * u**2 / 3 + skewness**2 * u**3 / 27) + skewness / (6 * math.sqrt(count))
    squares = (count - 1) * second**2 / fourth  # so many equal squares would be as unsure
    freedom = min(max(squares, 1), count - 1) if middle < expected else count - 1
    return 2 * stats.t.sf(abs(h), freedom)


def mean_weight(data, groups):
    w = data.weights()
    expected = 1 - missing_support(data, groups)["unsupported_mass"]
    if not groups:
        return {"mean_weight": mean(w), "mean_weight_p": find_skewed_p(w, expected)}
    sums = {}
    for weight, group in zip(w, groups, strict=True):
        sums[group] = sums.get(group, 0.0) + weight - mean(w)
    # A group of twice the usual size is twice as far from the mean.
    units = [mean(w) + total * len(sums) / len(w) for total in sums.values()]
    return {"mean_weight": mean(w), "mean_weight_p": find_skewed_p(units, expected)}


def missing_support(data, _groups):
    masses = []
    for logging, target in zip(data.logging, data.target, strict=True):
        masses.append(sum(wanted for known, wanted in zip(logging, target, strict=True) if known == 0))
    certain = [logging[action] == 1 for logging, action in zip(data.logging, data.a, strict=True)]
    found = {"unsupported_rows": sum(mass > 0 for mass in masses), "unsupported_mass": mean(masses)}
    return found | {"unexplored_rows": sum(certain)}


def find_usual(rewards):
    """Return the reward of at least 80 % of the rows, or else 0."""
    most = max(set(rewards), key=list(rewards).count)
    return most if list(rewards).count(most) >= 0.8 * len(rewards) else 0.0


def few_rewards(data, _groups):
    w, rewards, usual = data.weights(), list(data.r), find_usual(data.r)
    moves = [wi * abs(ri - usual) for wi, ri in zip(w, rewards, strict=True)]
    ranked = sorted(range(len(w)), key=lambda row: -moves[row])
    rest = ranked[1:]
    return {
        "effective_rewards": sum(moves) ** 2 / sum(move * move for move in moves),
        "top_row_share": moves[ranked[0]] / sum(moves),
        "top_five_share": sum(moves[row] for row in ranked[:5]) / sum(moves),
        "value_without_top_row": sum(w[row] * rewards[row] for row in rest) / sum(w[row] for row in rest),
    }


def outlying_rewards(data, _groups):
    """Count rewards that are 100 ranges of all others away from those, one at a time."""
    ranked = sorted(data.r)
    ends = [(ranked[0], ranked[1:]), (ranked[-1], ranked[:-1])]
    far = [min(abs(one - other) for other in rest) > 100 * (max(rest) - min(rest)) for one, rest in ends]
    return {"outlying_rewards": sum(far)}


def count_off_scale(rewards):
    """Count rewards that are far from all others, or codes beside the points of a scale: the most that are so."""
    different = sorted(set(rewards))
    counts = {one: rewards.count(one) for one in different}
    ways = [(number, below) for number in range(1, 5) for below in range(number + 1) if number <= len(different) - 2]
    best = []
    for number, below in ways:
        above = len(different) - (number - below)
        out, rest = different[:below] + different[above:], different[below:above]
        if is_far(out, rest, counts) or (is_scale(rest) and is_off_scale(out, rest, counts)):
            best = out
    return sum(counts[one] for one in best)


def find_ranges(out, rest):
    """Return how far the nearest of some rewards is from the rest, in ranges of the rest."""
    return min(rest[0] - one if one < rest[0] else one - rest[-1] for one in out) / (rest[-1] - rest[0])


def is_far(out, rest, counts):
    """Say whether rewards are far from any others."""
    far, often = find_ranges(out, rest), all(counts[one] > 2 for one in out)
    is_code = all(one in {-9, -99, -999, 9999} for one in out) and far >= 2
    return (out == [-1] and rest[0] == 0) or is_code or (len(rest) >= 10 and far >= (20 if often else 100))


def is_scale(rest):
    """Say whether rewards are the points of a scale."""
    step = min(two - one for one, two in pairwise(rest))
    points = [rest[0] + place * step for place in range(round((rest[-1] - rest[0]) / step) + 1)]
    lacking = sum(one not in rest for one in points)
    is_full = all(one in points for one in rest) and lacking <= (0.2 * len(points) if len(rest) >= 10 else 0)
    return is_full and (step == 1 or (step < 1 and len(rest) > 2))


def is_off_scale(out, rest, counts):
    """Say whether rewards are codes beside a scale, or far from it."""
    far, often = find_ranges(out, rest), all(counts[one] > 2 for one in out)
    if often and far >= (20 if len(rest) >= 4 else 1000):
        return True
    is_code = all(one in {-1, 8, 9, 77, 99, 999} for one in out) and (len(rest) < 10 or far >= 2)
    is_dislike = -1 in out and (rest[0] <= 0 or len(rest) == 2)
    step = min(two - one for one, two in pairwise(rest))
    below, above = [one for one in out if one < rest[0]], [one for one in out if one > rest[-1]]
    enough = True
    if below:
        empty = (rest[0] - max(below)) / step - 1
        enough = empty * min(sum(counts[one] for one in below), counts[rest[0]]) >= 20
    if above and enough:
        empty = (min(above) - rest[-1]) / step - 1
        enough = empty * min(sum(counts[one] for one in above), counts[rest[-1]]) >= 20
    return is_code and not is_dislike and enough


def repeated_rows(data, _groups):
    rows = list(zip(map(tuple, data.x), data.a, data.r, strict=True))
    counts = [rows.count(row) for row in set(rows)]
    same_context = [one for one in map(tuple, data.x) if list(map(tuple, data.x)).count(one) > 1]
    excess = 0.0 if not same_context else None  # which is tested by itself
    return {"repeated_share": 1 - len(counts) / len(rows), "row_copies": math.gcd(*counts), "repeated_excess": excess}


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


def as_read(_data, _groups):
    """Return no number: what is said is what the reader of a file said."""
    return {}


def fitted_propensities(_data, _labels):
    """Nothing was fitted; tests/propensities has the naive loops."""
    return {"propensity_log_loss": None, "propensity_rival_p": None}


def several_loggers(_data, _labels):
    """There is one logger; tests/log/assignment/test_loggers.py has several."""
    return {"loggers_p": None}


def rough_propensities(_data, _labels):
    """All digits are known; tests/propensities/test_precision.py has the naive loops."""
    return {"rough_share": None, "undrawn_mass": None}


def drift(_data, _groups):
    """Return nothing, as the data have no time; `compare_days` is what is measured where they do."""
    names = "periods", "drift_p", "drift", "difference_drift_p", "difference_drift", "logged_drift_p", "late_rows"
    return dict.fromkeys(names)


def compare_days(days, contributions, alike=1.0):
    """Return the p-value and the spread of the means of days, and {day: (rows, mean, variance)}."""
    found, middle = {}, mean(contributions)
    whole = mean([(one - middle) ** 2 for one in contributions])
    for day in sorted(set(days)):
        own = [one for one, when in zip(contributions, days, strict=True) if when == day]
        centre = mean(own)
        spread = sum((one - centre) ** 2 for one in own) / max(len(own) - 1, 1)
        found[day] = len(own), centre, alike * max(spread, whole) / len(own)
    lines = [(day, value, 1 / variance) for day, (rows, value, variance) in found.items() if rows >= 20]
    total = sum(precise for _, _, precise in lines)
    centre = sum(precise * value for _, value, precise in lines) / total
    late = sum(precise * day for day, _, precise in lines) / total
    square = sum(precise * (value - centre) ** 2 for _, value, precise in lines)
    line = sum(precise * (value - centre) * (day - late) for day, value, precise in lines)
    line /= math.sqrt(sum(precise * (day - late) ** 2 for day, _, precise in lines))
    p = 2 * min(stats.chi2.sf(square, len(lines) - 1), math.erfc(abs(line) / math.sqrt(2)))
    beyond = (square - len(lines) + 1) / (total - sum(precise**2 for _, _, precise in lines) / total)
    return min(p, 1.0), math.sqrt(max(beyond, 0.0)), found


def row_order(data, groups):
    rewards, count = data.r.tolist(), len(data.r)
    middle = mean(rewards)
    plain = mean([(one - middle) ** 2 for one in rewards]) / count
    alike = max(1.0, error(rewards, groups) ** 2 / plain) if groups else 1.0
    p, spread, _ = compare_days([place // 32 for place in range(count)], rewards, alike)
    silent = count_silent(rewards, data.a.tolist(), alike) or count_silent(rewards[::-1], data.a.tolist()[::-1], alike)
    return {"row_order_p": p, "row_order": spread, "silent_rows": silent}


def count_silent(rewards, actions, alike, late=0.1, length=32):
    """Return how many rows at the end have a reward most surely in less than a share of the others, by stretches."""
    usual, count = find_usual(rewards), len(rewards)
    hits = [reward != usual for reward in rewards]
    share = mean(hits)
    by_action = {a: mean([hit for hit, b in zip(hits, actions, strict=True) if a == b]) for a in set(actions)}
    found, ends = (0.0, 0), [count - rows for rows in range(length, count // 2 + 1, length)]
    for end in ends:
        size, rest = (sum(by_action[a] for a in some) / share for some in (actions[end:], actions[:end]))
        last, before = sum(hits[end:]) / size, sum(hits[:end]) / rest
        deviation = math.sqrt(alike * share * (1 - share) * ((count - end) / size**2 + end / rest**2))
        if last < late * before:
            found = max(found, ((before - last) / deviation, count - end))
    return found[1] if len(ends) * math.erfc(found[0] / math.sqrt(2)) / 2 < 0.001 else 0


def small_log(data, _labels):
    """Return the level of the rewards; the ends of the interval have tests of their own."""
    rewards = list(data.r)
    mean = sum(rewards) / len(rewards)
    counts = {one: rewards.count(one) for one in rewards}
    common = max(counts, key=counts.get)
    usual = common if counts[common] >= 0.8 * len(rewards) else 0.0
    distance = sum(abs(one - usual) for one in rewards) / len(rewards)
    deviation = (sum((one - mean) ** 2 for one in rewards) / len(rewards)) ** 0.5
    return {"reward_level": min(distance, deviation)}


def harmed_segment(_data, _labels):
    """No column is cut; tests/evaluation/test_segments.py has the naive loops."""
    return {"harmed_segments": None}


def outcome_segments(_data, _labels):
    """No column is cut; tests/evaluation/test_segments.py has the naive loops."""
    return {"outcome_segments": None}


def known_rows(_data, _labels):
    """The target was learnt from nothing; tests/diagnostics/test_known_rows.py has the naive loop."""
    return {"learnt_share": None}


def missing_rewards(_data, _labels):
    """No reward is missing; tests/io/schema/test_missing_rewards.py has the naive loop."""
    return {"missing_rewards": None, "missing_rewards_p": None}


def unnamed_groups(_data, _labels):
    """No column is called like users; `design_effect` is what is measured where one is."""
    return {"design_effect": None, "design_effect_p": None}


def design_effect(weights, rewards, buckets):
    """Return the design effect of SNIPS by sums over buckets of users, and its p-value; rows of nobody are in None."""
    value = sum(w * r for w, r in zip(weights, rewards, strict=True)) / sum(weights)
    rest = [w * (r - value) for w, r in zip(weights, rewards, strict=True)]
    together, squares = 0.0, []
    for bucket in sorted({one for one in buckets if one is not None}):
        own = [e for e, one in zip(rest, buckets, strict=True) if one == bucket]
        squares.append(sum(e * e for e in own))
        together += sum(e * f for i, e in enumerate(own) for j, f in enumerate(own) if i != j)
    freedom = sum(squares) ** 2 / sum(one * one for one in squares)
    p = stats.chi2.sf(freedom * (1 + together / sum(squares)), freedom)
    return 1 + together / sum(e * e for e in rest), p


def capped_rewards(data, _groups):
    """Count the rows at the largest and at the least reward, if the next ones are rare."""
    rewards = data.r.tolist()
    usual = find_usual(data.r)
    capped = 0
    for sign in (1, -1):
        different = sorted(set(rewards), key=lambda one: -sign * one)
        counts = [rewards.count(one) for one in different[:51]]
        is_share = min(rewards) >= 0 and max(rewards) in {1.0, 100.0} and sign == 1
        is_floor = sign == -1 and min(rewards) == 0
        if is_share or is_floor or different[0] == usual or len(counts) < 51:
            continue
        nexts = [count for one, count in zip(different[1:51], counts[1:], strict=True) if one != usual]
        if counts[0] >= max(5, 0.001 * len(rewards), 5 * max(nexts)):
            capped += counts[0]
    return {"capped_rewards": capped}


def clipped_propensities(_data, _groups):
    """All probabilities are logged; tests/diagnostics/test_clipped_propensities.py has the naive loop."""
    return {"clipped_rows": None}


def rank_rewards(rewards):
    """Return the share of rewards below each one, less that above it, halved."""
    below = [sum(other < one for other in rewards) for one in rewards]
    above = [sum(other > one for other in rewards) for one in rewards]
    return [(low - high) / 2 / len(rewards) for low, high in zip(below, above, strict=True)]


def bound_columns(x):
    """Return the columns of the context centred, scaled and bounded."""
    columns = []
    for column in np.asarray(x).T.tolist():
        middle = mean(column)
        spread = math.sqrt(mean([(one - middle) ** 2 for one in column])) or 1.0
        scaled = [(one - middle) / spread for one in column]
        columns.append([one / math.sqrt(1 + one * one) for one in scaled])
    return [list(row) for row in zip(*columns, strict=True)]


def lay_out(x, actions):
    """Return for each row, for each action, 1 and the context if it was taken, and zeros otherwise."""
    labels = sorted(set(actions))
    design = []
    for row, action in zip(bound_columns(x), actions, strict=True):
        one = [1.0, *row]
        design.append([number if action == label else 0.0 for label in labels for number in one])
    return np.array(design)


def regress(design, rewards):
    """Return the sum of squares that a design explains, and the one that is left."""
    coefficients = np.linalg.lstsq(design, rewards, rcond=None)[0]
    predicted = design @ coefficients
    left = sum((r - q) ** 2 for r, q in zip(rewards, predicted, strict=True))
    return sum(r * r for r in rewards) - left, left


def count_informative(rewards):
    """Return how many rewards are not the most common one."""
    rewards = list(rewards)
    return len(rewards) - max(rewards.count(one) for one in set(rewards))


def shifted_rewards(data, _groups):
    ranks = rank_rewards(data.r.tolist())
    design = lay_out(data.x, data.a.tolist())[:-1]
    informative = count_informative(data.r.tolist())
    found = []
    for some in (ranks[1:], ranks[:-1]):
        centred = [one - mean(some) for one in some]
        explained, left = regress(design, centred)
        count, width = design.shape
        freedom = (width - 1) / (1 + (width - 1) / informative)
        p = stats.f.sf(explained / (width - 1) / (left / (count - width)), freedom, count - width)
        share = max(0.0, 1 - left / (count - width) / (sum(one * one for one in centred) / (count - 1)))
        found.append((p, share))
    return {"next_reward_p": found[0][0], "next_reward_share": found[0][1], "own_reward_share": found[1][1]}


def changed_actions(_data, _groups):
    """There are too few rows; tests/diagnostics/test_changed_actions.py has the naive regressions."""
    return {"changed_actions_p": 1.0, "changed_actions_share": 0.0}


def future_columns(data, _groups):
    best = 0.0
    for column in data.x.T:
        apart, total, pairs = 0.0, 0.0, 0
        for action in set(data.a.tolist()):
            mine = sorted((x, r) for x, r, a in zip(column, data.r, data.a, strict=True) if a == action)
            rewards = [r for _, r in mine]
            apart += sum((two - one) ** 2 / 2 for one, two in pairwise(rewards))
            total += sum((one - mean(rewards)) ** 2 for one in rewards)
            pairs += len(rewards) - 1
        best = max(best, 1 - apart / total)
    return {"explained_share": best}


def informed_target(data, _groups):
    scores = []
    for power in (1, 2):
        apart, expected, variance = 0.0, 0.0, 0.0
        for p, t, a in zip(data.logging.tolist(), data.target.tolist(), data.a.tolist(), strict=True):
            middle = sum(pi * ti**power for pi, ti in zip(p, t, strict=True))
            apart += t[a] ** power - middle
            expected += middle
            variance += sum(pi * (ti**power - middle) ** 2 for pi, ti in zip(p, t, strict=True))
        far = max(abs(apart) - 0.003 * expected, 0.0)
        ratio = far / variance
        scores.append(math.sqrt(2 * variance * ((1 + ratio) * math.log1p(ratio) - ratio)))
    return {"informed_target_p": min(1.0, 4 * stats.norm.sf(max(scores)))}


def repeated_context(data, _groups):
    """Every context is there once."""
    assert len(set(map(tuple, data.x.tolist()))) == len(data.x)
    return {"repeated_context_rows": 0}


def perfect_value(data, _groups):
    value = mean([w * r for w, r in zip(data.weights(), data.r, strict=True)])
    means = [mean([r for r, a in zip(data.r, data.a, strict=True) if a == action]) for action in set(data.a.tolist())]
    ends = [(max(data.r), max(means)), (min(data.r), min(means))]
    return {"room_left": min(abs(end - value) / abs(end - best) for end, best in ends)}


MEASURES = {
    "as-read": as_read,
    "disagreement": disagreement,
    "drift": drift,
    "effective-rows": effective_rows,
    "few-groups": few_groups,
    "fitted-propensities": fitted_propensities,
    "few-rewards": few_rewards,
    "harmed-segment": harmed_segment,
    "known-rows": known_rows,
    "largest-weight": largest_weight,
    "mean-weight": mean_weight,
    "missing-rewards": missing_rewards,
    "missing-support": missing_support,
    "model-shift": model_shift,
    "outlying-rewards": outlying_rewards,
    "repeated-rows": repeated_rows,
    "outcome-context": outcome_context,
    "outcome-segments": outcome_segments,
    "propensities": propensities,
    "rough-propensities": rough_propensities,
    "row-order": row_order,
    "several-loggers": several_loggers,
    "small-log": small_log,
    "unnamed-groups": unnamed_groups,
    "capped-rewards": capped_rewards,
    "changed-actions": changed_actions,
    "clipped-propensities": clipped_propensities,
    "future-columns": future_columns,
    "informed-target": informed_target,
    "perfect-value": perfect_value,
    "repeated-context": repeated_context,
    "shifted-rewards": shifted_rewards,
}
