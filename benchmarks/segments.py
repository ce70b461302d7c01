"""How often the intervals of all segments cover the truth at once, on the bandits of `bench selection`; and the time.

The first column of the context is cut into 5 or 50 segments at its true quantiles, so that the true value and the true
difference to the log are known in each. Development problems are used (see docs/selection_benchmark.md) or, with
`--held SEED`, held ones. Two families are only here: in `one differs` exactly one segment has another true difference
than all others, and `medical` has skewed columns and rewards of two values.

`own` and `pooled` are the roots of the mean squared errors of differences, in standard deviations of the rewards, of
segments by themselves and of those that are pooled. `pooled covers` is the share of pooled intervals that cover their
truth, and `farthest` that share for the one segment of each problem whose true difference is farthest from the mean of
all. `width` and `pooled width` are medians. `harmed` and `outcome` are false alarms: a segment that is called harmed
and is not, and the finding that segments depend on decisions, which they never do here.

`--time FILE` instead evaluates a file with and without a column of segments, and prints the ratio of processor times.
"""

import argparse
import time
import warnings
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import norm, qmc

import counterfold as cf
from counterfold.base.arrays import row_sums
from counterfold_lab.selection.bandits import CONTEXT_COLUMNS, Bandit, draw_bandit

FAMILIES = (
    *("binary", "continuous", "heavy-tailed", "sparse", "near-deterministic logger"),
    *("users", "bands", "revenue", "log-normal columns", "rare responses", "rotation"),
    *("deterministic logger", "useless columns", "medical", "one differs"),
)
ROWS = {5: 2000, 50: 10_000}
POINTS = 1 << 11


@dataclass(frozen=True)
class OneDiffers(Bandit):
    """A bandit in which actions matter otherwise in one segment; the first column says nothing else.

    Scores of rewards are multiplied by `factor` in the segment `place` of `segments`. Policies do not know.
    """

    segments: int = 5
    place: int = 0
    factor: float = -1.0

    def draw_scores(self, rng):
        """Return a random function that does not see the first column but for the segment."""
        compute_plain_scores = super().draw_scores(rng)

        def compute_scores(context):
            rest = context.copy()
            rest[:, 0] = 0.0
            scores = compute_plain_scores(rest)
            is_inside = find_places(context[:, 0], self.segments) == self.place
            scores[0] = np.where(is_inside[:, None], self.factor * scores[0], scores[0])
            return scores

        return compute_scores


def find_places(column, segments):
    """Return the segment of each row, which ends at true quantiles of the column."""
    return np.minimum((norm.cdf(column) * segments).astype(int), segments - 1)


def draw_problem_maker(family, number, segments):
    """Return the bandit of a family that a number draws."""
    rng = np.random.default_rng([len(family), number])
    if family == "one differs":
        return OneDiffers(
            rows=ROWS[segments],
            actions=int(rng.choice([2, 5, 10])),
            reward=str(rng.choice(["binary", "normal"])),
            logging_beta=float(rng.choice([0.5, 1.0])),
            target_beta=float(rng.choice([1.0, 3.0])),
            segments=segments,
            place=int(rng.integers(segments)),
            factor=float(rng.choice([-1.0, 0.0, 3.0])),
        )
    if family == "medical":
        return Bandit(
            rows=ROWS[segments],
            actions=int(rng.choice([2, 3, 5])),
            reward="binary",
            curvature=float(rng.choice([0.0, 0.3])),
            logging_beta=float(rng.choice([1.0, 2.0])),
            target_beta=float(rng.choice([1.0, 3.0])),
            log_normal=True,
        )
    return replace(draw_bandit(family, number), rows=ROWS[segments])


def find_truths(bandit, number, segments):
    """Return the true value and the log's in each segment, by quasi-random contexts there."""
    compute_scores = bandit.draw_scores(np.random.default_rng(number))  # as the problem was drawn
    points = qmc.Sobol(CONTEXT_COLUMNS, scramble=True, rng=np.random.default_rng(0)).random(POINTS)
    found = []
    for place in range(segments):
        inside = np.column_stack([(place + points[:, 0]) / segments, points[:, 1:]])
        rewards, liked, wanted = compute_scores(norm.ppf(inside))
        means = bandit.means(rewards)
        found.append([row_sums(policy, means).mean() for policy in (bandit.target(wanted), bandit.logging(liked))])
    return np.transpose(found)


def draw_segmented(family, number, segments):
    """Return the bandit of one problem, the problem, and its log with the first column cut into segments."""
    bandit = draw_problem_maker(family, number, segments)
    problem = bandit.draw_problem(number)
    log = problem.log
    column = np.log(log.context[:, 0]) / 1.5 if bandit.log_normal else log.context[:, 0]
    place = find_places(column, segments)
    log = cf.Log(
        context=log.context,
        action=log.action,
        reward=log.reward,
        group=log.group,
        logging_probs=log.logging_probs,
        actions=list(range(bandit.actions)),
        by={"place": [f"{one:02d}" for one in place]},
    )
    return bandit, problem, log


def answer(family, number, segments):
    """Return for one problem what is counted."""
    bandit, problem, log = draw_segmented(family, number, segments)
    model = "default" if problem.predictions is None else problem.predictions
    result = cf.evaluate(log, problem.target, reward_model=model, progress=False, threads=1)
    value, logged = find_truths(bandit, number, segments)
    lines = sorted((one for one in result.segments if one.segment[0].isdigit()), key=lambda one: one.segment)
    places = [int(one.segment) for one in lines]
    truth, gap = value[places], (value - logged)[places]
    known = np.array([one.verdict != "not answerable" for one in lines])
    ends = "low", "high", "difference_low", "difference_high", "difference", "pooled", "pooled_low", "pooled_high"
    numbers = np.array([[getattr(one, name) for one in lines] for name in ends])
    low, high, gap_low, gap_high, difference, pooled, pooled_low, pooled_high = numbers
    holds, gap_holds = (low <= truth) & (truth <= high), (gap_low <= gap) & (gap <= gap_high)
    pooled_holds = (pooled_low <= gap) & (gap <= pooled_high)
    scale = float(log.reward.std())
    own, drawn = (
        float(np.mean(np.square((one - gap) / scale)[known])) if known.any() else np.nan for one in (difference, pooled)
    )
    farthest = np.argmax(np.abs(gap - gap.mean()))
    return {
        "value": bool(holds[known].all()),
        "difference": bool(gap_holds[known].all()),
        "value, all": bool(holds.all()),
        "difference, all": bool(gap_holds.all()),
        "answerable": float(known.mean()),
        "own": own,
        "pooled": drawn,
        "pooled covers": float(pooled_holds[known].mean()) if known.any() else np.nan,
        "farthest": float(pooled_holds[farthest]) if known[farthest] else np.nan,
        "width": float(np.median((gap_high - gap_low)[known])) / scale if known.any() else np.nan,
        "pooled width": float(np.median((pooled_high - pooled_low)[known])) / scale if known.any() else np.nan,
        "harmed": bool(((gap_high < 0) & (gap >= 0) & known).any()),
        "outcome": any(one.name == "outcome-segments" for one in result.diagnostics.findings),
    }


def describe(name, found):
    """Return a line of the table."""
    column = {key: np.array([one[key] for one in found], dtype=float) for key in found[0]}
    shares = [f"{column[key].mean():.1%}" for key in ("value", "difference", "value, all", "difference, all")]
    errors = [f"{np.sqrt(np.nanmean(column[key])):.3f}" for key in ("own", "pooled")]
    held = f"{np.nanmean(column['pooled covers']):.1%} | {np.nanmean(column['farthest']):.1%}"
    widths = f"{np.nanmedian(column['width']):.3f} | {np.nanmedian(column['pooled width']):.3f}"
    alarms = f"{column['harmed'].sum():.0f} | {column['outcome'].sum():.0f}"
    cells = f"{len(found)} | {' | '.join(shares)} | {column['answerable'].mean():.1%} | {' | '.join(errors)}"
    return f"| {name} | {cells} | {held} | {widths} | {alarms} |"


def list_numbers(problems, seed):
    """Return the numbers of development problems, or those of held ones that a seed stands for."""
    return [3 * number if seed is None else 30_000 * seed + 3 * number + 1 for number in range(problems)]


def measure_coverage(segments, problems, families, seed):
    """Print a line for each family, and one for all."""
    print(
        "| family | problems | value | difference | value, all | difference, all | answerable | own | pooled | ", end=""
    )
    print("pooled covers | farthest | width | pooled width | harmed | outcome |")
    print("|" + " --- |" * 15, flush=True)
    every = []
    for family in families:
        found = [answer(family, number, segments) for number in list_numbers(problems, seed)]
        every += found
        print(describe(family, found), flush=True)
    print(describe("all", every), flush=True)


def measure_time(path, column, rounds):
    """Print the processor times of evaluations with and without segments, one after the other."""
    spent = {"without": [], "with": []}
    for _ in range(rounds):
        for name, by in (("without", []), ("with", [column])):
            start = time.process_time()
            cf.evaluate(path, "target", engine="local", by=by, progress=False)
            spent[name].append(time.process_time() - start)
    least = {name: min(several) for name, several in spent.items()}
    print(f"without {least['without']:.1f} s, with {least['with']:.1f} s of processor time, ", end="")
    print(f"ratio {least['with'] / least['without']:.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", type=int, default=60, metavar="N", help="per family")
    parser.add_argument("--segments", type=int, default=5, choices=tuple(ROWS))
    parser.add_argument("--families", default=",".join(FAMILIES), metavar="NAMES")
    parser.add_argument("--held", type=int, metavar="SEED", help="held problems, to be looked at once")
    parser.add_argument("--time", metavar="FILE")
    parser.add_argument("--by", default="segment", metavar="COLUMN", help="of the file")
    parser.add_argument("--rounds", type=int, default=2, metavar="N")
    options = parser.parse_args()
    warnings.simplefilter("ignore", cf.SupportWarning)
    if options.time:
        measure_time(options.time, options.by, options.rounds)
    else:
        measure_coverage(options.segments, options.problems, options.families.split(","), options.held)


if __name__ == "__main__":
    main()
