"""What several policies say together, by a bootstrap that multiplies the noise of every row, in loops."""

import random
import statistics


def draw_differences(policies, baseline, draws, seed):
    """Yield the noise of the mean of every policy less that of the baseline, all from the same multipliers."""
    rng = random.Random(seed)  # noqa: S311 (no secret)
    rows = len(baseline)
    means = [sum(policy) / rows for policy in policies]
    home = sum(baseline) / rows
    for _ in range(draws):
        noise = [0.0] * len(policies)
        for row in range(rows):
            times = rng.gauss(0.0, 1.0) / rows
            for place, policy in enumerate(policies):
                noise[place] += times * ((policy[row] - means[place]) - (baseline[row] - home))
        yield noise


def find_reach(policies, baseline, wanted, draws, seed):
    """Return how many standard errors all differences are within, with a probability, if all may be wrong at once.

    What is wanted is that probability, and the degrees of freedom of the factor by which they are.
    """
    rng, (level, freedom) = random.Random(-seed), wanted  # noqa: S311 (no secret)
    factors = [(freedom / sum(rng.gauss(0, 1) ** 2 for _ in range(freedom))) ** 0.5 for _ in range(draws)]
    several = list(draw_differences(policies, baseline, draws, seed))
    errors = [statistics.pstdev(noise[place] for noise in several) for place in range(len(policies))]
    largest = sorted(
        factor * max(abs(one) / error for one, error in zip(noise, errors, strict=True))
        for factor, noise in zip(factors, several, strict=True)
    )
    return largest[int(level * draws)]


def find_probabilities(policies, baseline, draws, seed):
    """Return how often the baseline, and each policy, earns most, if only the noise of means is drawn."""
    rows, won = len(baseline), [0] * (len(policies) + 1)
    gaps = [(sum(policy) - sum(baseline)) / rows for policy in policies]
    for noise in draw_differences(policies, baseline, draws, seed):
        values = [0.0, *(gap + one for gap, one in zip(gaps, noise, strict=True))]
        won[values.index(max(values))] += 1
    return [count / draws for count in won]
