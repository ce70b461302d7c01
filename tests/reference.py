"""Every formula again, as a naive loop that shares no code with the package."""

import itertools
import math
from dataclasses import dataclass

import numpy as np
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


@dataclass
class Data:
    """A log and a target: context, actions, rewards, logging and target probabilities, features of the actions."""

    x: np.ndarray
    a: np.ndarray
    r: np.ndarray
    logging: np.ndarray
    target: np.ndarray
    features: np.ndarray | None = None

    def take(self, index):
        parts = (part[index] for part in (self.x, self.a, self.r, self.logging, self.target))
        return Data(*parts, self.features)

    def weights(self):
        return [self.target[i, a] / self.logging[i, a] for i, a in enumerate(self.a)]


def random_data(seed, rows=60, columns=3, actions=4, *, binary=False):
    """Return a random problem with uneven policies."""
    rng = np.random.default_rng(seed)
    logging, target = (rng.dirichlet(np.full(actions, strength), size=rows) for strength in (2.0, 0.7))
    a = np.array([rng.choice(actions, p=row) for row in logging])
    x = rng.normal(size=(rows, columns))
    r = x[:, 0] * a + rng.normal(size=rows)
    features = np.column_stack([np.arange(actions) % 2, rng.normal(size=actions)])
    return Data(x, a, (r > 0).astype(float) if binary else r, logging, target, features)


@dataclass
class Doses:
    """A log of doses and a target: context, doses, rewards, densities of the logged doses, the target's draws."""

    x: np.ndarray
    d: np.ndarray
    r: np.ndarray
    density: np.ndarray
    target: np.ndarray


def random_doses(seed, rows=60, columns=2, draws=1):
    """Return a random problem whose logged doses are normal around a multiple of the context."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, columns))
    d = 0.5 * x[:, 0] + rng.normal(size=rows)
    density = np.array(
        [math.exp(-((di - 0.5 * xi) ** 2) / 2) / math.sqrt(2 * math.pi) for di, xi in zip(d, x[:, 0], strict=True)]
    )
    target = x[:, :1] + 0.3 * rng.normal(size=(rows, draws))
    return Doses(x, d, x[:, 1] - (d - x[:, 0]) ** 2 + rng.normal(size=rows), density, target)


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


def fold_of(unit, folds=5):
    """Return the fold of a row or group: the finaliser of splitmix64 of its number, halved, modulo the folds."""
    mask = (1 << 64) - 1
    bits = (unit + 0x9E3779B97F4A7C15) & mask
    bits = ((bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9) & mask
    bits = ((bits ^ (bits >> 27)) * 0x94D049BB133111EB) & mask
    return ((bits ^ (bits >> 31)) >> 1) % folds


def standardised(x, like):
    """Return [1, x] row by row, each column less its mean over some rows, by its standard deviation there."""
    columns = []
    for column, known in zip(x.T, like.T, strict=True):
        mean = sum(known) / len(known)
        deviation = math.sqrt(sum((v - mean) ** 2 for v in known) / len(known))
        columns.append([(v - mean) / (deviation or 1.0) for v in column])
    return [[1.0, *row] for row in zip(*columns, strict=True)] if columns else [[1.0] for _ in x]


def shared_counts(data, rows, aim):
    """Return how much each of some rows counts: more where the target goes, in all the effective number of rows."""
    counts = {i: (data.target[i, data.a[i]] / data.logging[i, data.a[i]] + 0.1) ** aim for i in rows}
    scale = sum(counts.values()) / sum(count**2 for count in counts.values())
    return {i: scale * count for i, count in counts.items()}


def shared_coefficients(features, data, counts, rows, penalties):
    """Return the coefficients of every action, from the normal equations of some rows, product by product."""
    width, (alpha, common) = len(features[0]), penalties

    def solved(mine, penalties, towards):
        gram = [[float(j == k) * penalties[j] for k in range(width)] for j in range(width)]
        right = [penalty * pull for penalty, pull in zip(penalties, towards, strict=True)]
        for i in mine:
            for j in range(width):
                right[j] += counts[i] * features[i][j] * data.r[i]
                for k in range(width):
                    gram[j][k] += counts[i] * features[i][j] * features[i][k]
        return np.linalg.solve(gram, right).tolist()

    shared = solved(rows, [0.0] + [common] * (width - 1), [0.0] * width)
    actions = range(data.target.shape[1])
    return [solved([i for i in rows if data.a[i] == a], [alpha] * width, shared) for a in actions]


def dot(left, right):
    return sum(x * y for x, y in zip(left, right, strict=True))


def shared_penalties(data, units, aim=0.7, alphas=(1.0, 10.0, 100.0, 1000.0, 10000.0), commons=(1.0, 30.0, 1000.0)):
    """Return the penalties whose models, fitted without a fifth of the units, predict that fifth best."""
    features, counts, losses = standardised(data.x, data.x), shared_counts(data, range(len(data.r)), aim), {}
    for penalties in itertools.product(alphas, commons):
        losses[penalties] = 0.0
        for fold in range(5):
            kept = [i for i in range(len(data.r)) if fold_of(units[i]) != fold]
            models = shared_coefficients(features, data, counts, kept, penalties)
            for i in set(range(len(data.r))) - set(kept):
                losses[penalties] += counts[i] * (data.r[i] - dot(features[i], models[data.a[i]])) ** 2
    return min(losses, key=losses.get)


def shared_ridge(data, penalties, folds=1, units=None, aim=0.7):
    """Return the predictions of ridge regressions drawn towards a common one; with folds, of those without a row's."""
    units, q = range(len(data.r)) if units is None else units, np.zeros(data.target.shape)
    penalties = shared_penalties(data, units, aim) if penalties is None else penalties
    for fold in range(folds):
        inside = [i for i in range(len(data.r)) if fold_of(units[i], folds) == fold]
        kept = inside if folds == 1 else sorted(set(range(len(data.r))) - set(inside))
        features = standardised(data.x, data.x[kept])
        models = shared_coefficients(features, data, shared_counts(data, kept, aim), kept, penalties)
        for i in inside:
            q[i] = [dot(features[i], model) for model in models]
    return q


def ridge_on_dose(data, alpha, degree=2):
    """Return the predictions for the logged dose and each of the target's, by scikit-learn."""
    middle, reach = (data.d.min() + data.d.max()) / 2, (data.d.max() - data.d.min()) / 2

    def features(doses):
        table = []
        for row, dose in zip(data.x, doses, strict=True):
            linear = [1.0, *row]
            table.append([v * ((dose - middle) / reach) ** k for v in linear for k in range(degree + 1)][1:])
        return np.array(table)

    model = make_pipeline(StandardScaler(), Ridge(alpha=alpha * len(data.r))).fit(features(data.d), data.r)
    return np.column_stack([model.predict(features(doses)) for doses in (data.d, *data.target.T)])


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
    total = sum(w)
    value = sum(ips(data, q)) / total
    return [value + len(w) * wi / total * (r - value) for wi, r in zip(w, data.r, strict=True)]


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
    total = sum(w)
    shift = sum(wi * e for wi, e in zip(w, residuals, strict=True)) / total
    rows = zip(predicted(data, q), w, residuals, strict=True)
    return [policy + shift + len(w) * wi / total * (e - shift) for policy, wi, e in rows]


def truncated_snips(data, _q, max_weight):
    w = [min(wi, max_weight) for wi in data.weights()]
    total = sum(w)
    if total == 0:
        return [0.0] * len(w)
    value = sum(wi * r for wi, r in zip(w, data.r, strict=True)) / total
    return [value + len(w) * wi / total * (r - value) for wi, r in zip(w, data.r, strict=True)]


def truncated_sndr(data, q, max_weight):
    w = [min(wi, max_weight) for wi in data.weights()]
    total = sum(w)
    if total == 0:
        return predicted(data, q)
    residuals = [r - row[a] for r, a, row in zip(data.r, data.a, q, strict=True)]
    shift = sum(wi * e for wi, e in zip(w, residuals, strict=True)) / total
    rows = zip(predicted(data, q), w, residuals, strict=True)
    return [policy + shift + len(w) * wi / total * (e - shift) for policy, wi, e in rows]


def share_caps(weights, shares=(0.1, 0.3, 0.6, 0.9)):
    """Return the caps that leave these shares of all weight, weight by weight from the smallest."""
    caps = []
    for share in shares:
        wanted, below = share * sum(weights), 0.0
        for place, weight in enumerate(sorted(weights)):
            others = len(weights) - place
            if below + others * weight >= wanted:
                caps.append((wanted - below) / others)
                break
            below += weight
    return caps


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


def exponential_ips(data, _q, power):
    return [
        data.target[i, a] / data.logging[i, a] ** power * r for i, (a, r) in enumerate(zip(data.a, data.r, strict=True))
    ]


def control_variate_ips(data, _q, strength):
    w, wr, n = data.weights(), ips(data, None), len(data.r)
    mean, mean_wr = sum(w) / n, sum(wr) / n
    covariance = sum((x - mean_wr) * (y - mean) for x, y in zip(wr, w, strict=True)) / n
    variance_w = sum((y - mean) ** 2 for y in w) / n
    return [x - strength * covariance / variance_w * (y - 1) for x, y in zip(wr, w, strict=True)]


def pooled(data, similar):
    """Return the weights of the logged actions, each policy's probabilities summed over similar actions."""
    result = []
    for i, logged in enumerate(data.a):
        taken = sum(data.target[i, a] * similar(a, logged) for a in range(data.target.shape[1]))
        tried = sum(data.logging[i, a] * similar(a, logged) for a in range(data.target.shape[1]))
        result.append(taken / tried)
    return result


def mips(data, _q, dimensions):
    def similar(a, b):
        return float(all(x == y for x, y in list(zip(data.features[a], data.features[b], strict=True))[:dimensions]))

    return [w * r for w, r in zip(pooled(data, similar), data.r, strict=True)]


def ward(points, number):
    """Return clusters as lists of places: merge the two whose merging adds least to the squares within."""
    found = [[place] for place in range(len(points))]
    while len(found) > number:
        best = None
        for i in range(len(found)):
            for j in range(i):
                one, two = (np.mean([points[p] for p in found[k]], axis=0) for k in (i, j))
                sizes = len(found[i]) * len(found[j]) / (len(found[i]) + len(found[j]))
                cost = sizes * sum((u - v) ** 2 for u, v in zip(one, two, strict=True))
                if best is None or cost < best[0]:
                    best = cost, i, j
        _, i, j = best
        found[j] = found[j] + found[i]
        del found[i]
    return found


def together(found):
    return lambda a, b: float(any(a in cluster and b in cluster for cluster in found))


def learned_mips(data, q, clusters):
    weights = pooled(data, together(ward(q.T, clusters)))
    return [w * r for w, r in zip(weights, data.r, strict=True)]


def off_cem(data, q, clusters):
    weights = pooled(data, together(ward(data.features, clusters)))
    rows = zip(predicted(data, q), weights, data.r, data.a, q, strict=True)
    return [policy + w * (r - row[a]) for policy, w, r, a, row in rows]


def policy_convolution(data, _q, bandwidth):
    actions = range(data.target.shape[1])

    def near(a, b):
        apart = sum((u - v) ** 2 for u, v in zip(data.features[a], data.features[b], strict=True))
        return math.exp(-apart / (2 * bandwidth**2))

    weights = pooled(data, lambda a, b: near(a, b) / sum(near(a, c) for c in actions))
    return [w * r for w, r in zip(weights, data.r, strict=True)]


def kernel_weights(data, bandwidth):
    result = []
    for d, density, draws in zip(data.d, data.density, data.target, strict=True):
        near = 0.0
        for t in draws:
            u = (t - d) / bandwidth
            near += 0.75 * (1 - u * u) / bandwidth if abs(u) < 1 else 0.0
        result.append(near / len(draws) / density)
    return result


def kernel_ips(data, _q, bandwidth):
    return [w * r for w, r in zip(kernel_weights(data, bandwidth), data.r, strict=True)]


def kernel_dr(data, q, bandwidth):
    rows = zip(kernel_weights(data, bandwidth), data.r, q, strict=True)
    return [sum(row[1:]) / len(row[1:]) + w * (r - row[0]) for w, r, row in rows]


FORMULAS = {
    "ips": (ips, {}),
    "snips": (snips, {}),
    "dm": (dm, {}),
    "dr": (dr, {}),
    "sndr": (sndr, {}),
    "truncated-ips": (truncated_ips, {"max_weight": 1.3}),
    "truncated-snips": (truncated_snips, {"max_weight": 1.2}),
    "truncated-sndr": (truncated_sndr, {"max_weight": 0.7}),
    "switch-dr": (switch_dr, {"threshold": 1.1}),
    "cab": (cab, {"max_weight": 0.8}),
    "dros": (dros, {"shrinkage": 2.5}),
    "drps": (drps, {"max_weight": 0.9}),
    "ips-lambda": (ips_lambda, {"mix": 0.3}),
    "group-ips": (group_ips, {"groups": 4}),
    "exponential-ips": (exponential_ips, {"power": 0.6}),
    "control-variate-ips": (control_variate_ips, {"strength": 0.8}),
    "mips": (mips, {"dimensions": 1}),
    "learned-mips": (learned_mips, {"clusters": 2}),
    "off-cem": (off_cem, {"clusters": 3}),
    "policy-convolution": (policy_convolution, {"bandwidth": 0.7}),
    "kernel-ips": (kernel_ips, {"bandwidth": 0.8}),
    "kernel-dr": (kernel_dr, {"bandwidth": 0.8}),
}
"""Each estimator's name on the command line with its formula and some parameters."""

OF_DOSES = ("kernel-ips", "kernel-dr")
"""Those whose formula takes `Doses` instead of `Data`."""

WITHOUT_MODEL = {
    *(ips, snips, truncated_ips, truncated_snips, ips_lambda, exponential_ips),
    *(control_variate_ips, mips, policy_convolution),
}

OF_LABELS = {name: pair for name, pair in FORMULAS.items() if name not in OF_DOSES}


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


def climbed(formula, data, q, units, boldness):
    """Return the rungs of one ladder, the share of each, and the variance of what is left of the bias."""
    caps = [*share_caps(data.weights()), math.inf]
    outcomes = (
        data.r if formula is truncated_snips else [r - row[a] for r, a, row in zip(data.r, data.a, q, strict=True)]
    )
    kept, variances = [], []
    for cap in caps:
        w = [min(wi, cap) for wi in data.weights()]
        mean = dot(w, outcomes) / sum(w)
        kept.append(sum(w))
        variances.append(sum(wi * (y - mean) ** 2 for wi, y in zip(w, outcomes, strict=True)) / sum(w))
    taken, left = [1.0], 0.0
    for rung in range(1, len(caps)):
        reach = (boldness * (1 - kept[rung - 1] / kept[rung])) ** 2 * max(variances)

        def step(part, q, rung=rung):
            return mean_of(formula, part, q, caps[rung]) - mean_of(formula, part, q, caps[rung - 1])

        noise = sum(move**2 for move in left_out(step, data, q, units))
        taken.append(min(taken[-1], reach / (reach + noise)))
        left += (1 - taken[-1]) ** 2 * reach
    return caps, [share - further for share, further in zip(taken, [*taken[1:], 0.0], strict=True)], left


def ladder(data, q, units, boldness):
    """Return shares by (formula, cap), the answer and its error; without predictions there is but one ladder."""
    formulas = [truncated_snips] if q is None else [truncated_snips, truncated_sndr]
    found = [climbed(formula, data, q, units, boldness) for formula in formulas]

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
    return (
        shares,
        answer,
        math.sqrt(noise + sum(part**2 * left for part, (_, _, left) in zip(parts, found, strict=True))),
    )
