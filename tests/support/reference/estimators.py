"""Every estimator as a naive loop, and one table of all of them."""

import math

import numpy as np


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


def log_smoothing(data, _q, smoothing):
    result = []
    for exact in ips(data, None):
        sign = 1 if exact >= 0 else -1
        result.append(sign * math.log(1 + smoothing * sign * exact) / smoothing)
    return result


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
    "log-smoothing": (log_smoothing, {"smoothing": 0.4}),
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
    *(control_variate_ips, log_smoothing, mips, policy_convolution),
}

OF_LABELS = {name: pair for name, pair in FORMULAS.items() if name not in OF_DOSES}
