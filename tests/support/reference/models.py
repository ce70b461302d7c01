"""Reward models as naive loops, or by scikit-learn."""

import itertools
import math

import numpy as np
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


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


def standardise(x, like):
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


def see(data, row, action):
    """Return what a model sees of an action: the context, and what both policies think of it."""
    shift = 0.1 / data.target.shape[1]
    return [*data.x[row], *(math.log(probs[row, action] + shift) for probs in (data.target, data.logging))]


def see_all(data):
    """Return what a model sees of every action in every row, each column scaled as those of logged actions are."""
    like = np.array([see(data, i, data.a[i]) for i in range(len(data.r))])
    actions = range(data.target.shape[1])
    several = [standardise(np.array([see(data, i, a) for i in range(len(data.r))]), like) for a in actions]
    return [[several[a][i] for a in actions] for i in range(len(data.r))]


def shared_penalties(
    data, units, rows, aim=0.5, alphas=(1.0, 10.0, 100.0, 1000.0, 10000.0), commons=(1.0, 30.0, 1000.0)
):
    """Return the penalties whose models, fitted on some rows without a fifth of the units, predict that fifth best."""
    seen = see_all(data)
    features, counts, losses = [one[a] for one, a in zip(seen, data.a, strict=True)], shared_counts(data, rows, aim), {}
    for penalties in itertools.product(alphas, commons):
        losses[penalties] = 0.0
        for fold in range(5):
            kept = [i for i in rows if fold_of(units[i]) != fold]
            if len(kept) == len(rows):
                continue
            models = shared_coefficients(features, data, counts, kept, penalties)
            for i in set(rows) - set(kept):
                losses[penalties] += counts[i] * (data.r[i] - dot(features[i], models[data.a[i]])) ** 2
    return min(losses, key=losses.get)


def shared_ridge(data, penalties, folds=1, units=None, aim=0.5):
    """Return the predictions of ridge regressions drawn towards a common one; with folds, of those without a row's."""
    units, q, seen = range(len(data.r)) if units is None else units, np.zeros(data.target.shape), see_all(data)
    features = [one[a] for one, a in zip(seen, data.a, strict=True)]
    for fold in range(folds):
        inside = [i for i in range(len(data.r)) if fold_of(units[i], folds) == fold]
        kept = inside if folds == 1 else sorted(set(range(len(data.r))) - set(inside))
        chosen = shared_penalties(data, units, kept, aim) if penalties is None else penalties
        models = shared_coefficients(features, data, shared_counts(data, kept, aim), kept, chosen)
        low, high = min(data.r[i] for i in kept), max(data.r[i] for i in kept)
        for i in inside:
            predicted = [dot(columns, model) for columns, model in zip(seen[i], models, strict=True)]
            q[i] = [min(max(value, low), high) for value in predicted]
    return q


def stack_shares(predicted, rewards, counts):
    """Return the best shares, none below 0 and 1 in sum: for every set of members, as if only these took part."""
    number, best = predicted.shape[1], (math.inf, None)
    for size in range(1, number + 1):
        for chosen in itertools.combinations(range(number), size):
            gram = [[0.0] * (size + 1) for _ in range(size + 1)]
            for j, k in itertools.product(range(size), repeat=2):
                for i in range(len(rewards)):
                    errors = predicted[i, chosen[j]] - rewards[i], predicted[i, chosen[k]] - rewards[i]
                    gram[j][k] += counts[i] * errors[0] * errors[1]
            for j in range(size):
                gram[j][size] = gram[size][j] = 1.0
            found = np.linalg.lstsq(gram, [0.0] * size + [1.0], rcond=None)[0][:size]
            shares = np.zeros(number)
            shares[list(chosen)] = found
            loss = sum(
                count * (dot(row, shares) - reward) ** 2
                for row, reward, count in zip(predicted, rewards, counts, strict=True)
            )
            if min(found) >= 0 and loss < best[0]:
                best = loss, shares
    return best[1]


def stack_means(data, units, folds, aim=0.5):
    """Return the cross-fitted predictions of a stack of two members: the mean reward of each action, and of all."""
    every, actions = range(len(data.r)), range(data.target.shape[1])

    def predict(rows):
        level = sum(data.r[i] for i in rows) / len(rows)
        found = []
        for action in actions:
            mine = [data.r[i] for i in rows if data.a[i] == action]
            found.append((sum(mine) / len(mine) if mine else level, level))
        return found

    q, counts = np.zeros(data.target.shape), shared_counts(data, every, aim)
    for fold in range(folds):
        kept = [i for i in every if fold_of(units[i], folds) != fold]
        predicted = {}
        for inner in range(5):
            means = predict([i for i in kept if fold_of(units[i]) != inner])
            predicted |= {i: means[data.a[i]] for i in kept if fold_of(units[i]) == inner}
        some = np.array([predicted[i] for i in kept])
        shares = stack_shares(some, [data.r[i] for i in kept], [counts[i] for i in kept])
        means = predict(kept)
        for i in set(every) - set(kept):
            q[i] = [dot(means[action], shares) for action in actions]
    return q


def nearest_neighbours(data, size, counts):
    """Return the mean reward of the nearest rows with an action, or of all rows where it was never logged."""
    q, everyone = np.zeros(data.target.shape), range(len(data.r))
    like = np.array([see(data, i, data.a[i]) for i in everyone])
    for action in range(q.shape[1]):
        mine = [i for i in everyone if data.a[i] == action]
        for i in everyone:
            near = [float(np.linalg.norm((like[j] - see(data, i, action)) / like.std(axis=0))) for j in mine]
            number = min(len(mine), math.ceil(size * math.sqrt(len(mine))))
            chosen = [mine[place] for place in np.argsort(near)[:number]] or everyone
            q[i, action] = sum(counts[j] * data.r[j] for j in chosen) / sum(counts[j] for j in chosen)
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
