"""Is policy B better than policy A? Compare them on the same rows, so that what they share cancels."""

import numpy as np

import counterfold as cf

rng = np.random.default_rng(2)
rows = 4000
context = rng.normal(size=(rows, 4))
logging_probs = np.full((rows, 3), 1 / 3)
action = rng.integers(3, size=rows)
reward = context[:, 0] + 0.2 * action * (context[:, 1] > 0) + rng.normal(size=rows)
log = cf.Log(context=context, action=action, reward=reward, logging_probs=logging_probs)

policy_a = np.tile([0.2, 0.2, 0.6], (rows, 1))
policy_b = np.where(context[:, 1:2] > 0, [0.1, 0.1, 0.8], [0.8, 0.1, 0.1])

a = cf.evaluate(log, policy_a)
b = cf.evaluate(log, policy_b)
difference = b.estimate - a.estimate
low, high = difference.interval(0.95)

print(f"A {a.value:.4f} ± {a.stderr:.4f}, B {b.value:.4f} ± {b.stderr:.4f}")
print(f"B - A = {difference.value:.4f}, 95 % interval {low:.4f} to {high:.4f}")
