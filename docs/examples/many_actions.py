"""Many actions that are alike: their features tell what each of them alone has too few rows to tell."""

import numpy as np

import counterfold as cf

rng = np.random.default_rng(0)
rows, actions, genres, logs = 1000, 200, 8, 10
features = np.eye(genres)[rng.integers(genres, size=actions)]
charm = 0.1 * rng.normal(size=actions)  # an action is little more than its genre


def softmax(scores):
    odds = np.exp(scores - scores.max(axis=1, keepdims=True))
    return odds / odds.sum(axis=1, keepdims=True)


estimators = [cf.IPS(), cf.DR(), cf.MIPS(), cf.OffCEM(clusters=genres)]
misses = {estimator: [] for estimator in estimators}
model = cf.CrossFitted(cf.RidgePerAction(alpha=10.0))  # five rows per action: it must not predict what it has seen
inside = dict.fromkeys(estimators, 0)
for _ in range(logs):
    context = rng.normal(size=(rows, genres))
    liking = 0.5 * context @ features.T + charm
    logging_probs, target = softmax(2 * rng.normal(size=(rows, actions))), softmax(4 * liking)
    action = (logging_probs.cumsum(axis=1) > rng.random((rows, 1))).argmax(axis=1)
    reward = liking[np.arange(rows), action] + rng.normal(size=rows)
    truth = (target * liking).sum(axis=1).mean()
    log = cf.Log(context=context, action=action, reward=reward, logging_probs=logging_probs, action_features=features)
    for estimator in estimators:
        found = cf.estimate(log, target, estimator, reward_model=model)
        misses[estimator].append(abs(found.value - truth))
        low, high = found.interval(0.95)
        inside[estimator] += low <= truth <= high

for estimator in estimators:
    missed = f"{estimator.name:20} is {np.mean(misses[estimator]):.3f} off the truth on average"
    print(f"{missed}; the truth is in {inside[estimator]} of {logs} of its 95 % intervals")
