"""What policies that `learn` finds earn on held-out halves of randomised trials and of tables with all outcomes.

The units of a dataset are split into halves. One half gives the log: that of the trial itself, or one of a logger that
prefers some actions in some contexts, drawn from it by rejection sampling. The other half says what each policy
truly earns: the mean of its decisions over the rows of each arm, or over all rows where all outcomes are known.
Gains are differences to the logger in standard deviations of the rewards, with the standard error of the truth of
one split, averaged. `worse` counts splits in which the gain is below 0 by more than two of these.

The folder of `--data` holds the files that its README describes; the package holds none of them.
"""

import argparse
import sys
import time
import warnings
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd

import counterfold as cf
from counterfold_lab.learning import references

DESIGNED = "trial"
"""The logger of the trial itself."""

TILT = 1.5
"""How much the other logger prefers an action where a random line through the contexts is higher."""

GPT_4_COST = 0.12
"""What an answer of the larger model costs, in units of a right answer, where costs count."""


@dataclass(frozen=True)
class Data:
    """A dataset: its context, and either the arm and the reward of each unit, or the rewards of all arms."""

    context: np.ndarray
    n_arms: int
    arm: np.ndarray | None = None
    reward: np.ndarray | None = None
    rewards: np.ndarray | None = None
    group: np.ndarray | None = None

    def take(self, index):
        parts = {name: getattr(self, name) for name in ("arm", "reward", "rewards", "group")}
        taken = {name: part if part is None else part[index] for name, part in parts.items()}
        return Data(context=self.context[index], n_arms=self.n_arms, **taken)

    def draw_log(self, probs, rng):
        """Return a log by a logger's probabilities: by rejection from a trial, or drawn from all outcomes."""
        if self.rewards is not None:
            arm = (probs.cumsum(axis=1) > rng.random((len(probs), 1))).argmax(axis=1)
            return cf.Log(
                context=self.context,
                action=arm,
                reward=self.rewards[np.arange(len(arm)), arm],
                logging_probs=probs,
                actions=list(range(self.n_arms)),
            )
        share = np.bincount(self.arm, minlength=self.n_arms) / len(self.arm)
        ratio = probs / share
        chance = ratio / ratio.max(axis=1, keepdims=True)
        kept = np.flatnonzero(rng.random(len(chance)) < chance[np.arange(len(chance)), self.arm])
        return cf.Log(
            context=self.context[kept],
            action=self.arm[kept],
            reward=self.reward[kept],
            logging_probs=probs[kept],
            actions=list(range(self.n_arms)),
            group=None if self.group is None else self.group[kept],
        )

    def value(self, probs):
        """Return what decisions earn in each unit; the mean over units is the value."""
        if self.rewards is not None:
            return (probs * self.rewards).sum(axis=1)
        share = np.bincount(self.arm, minlength=self.n_arms) / len(self.arm)
        rows = np.arange(len(self.arm))
        level = np.array([self.reward[self.arm == arm].mean() for arm in range(self.n_arms)])
        residual = self.reward - level[self.arm]
        return probs @ level + probs[rows, self.arm] / share[self.arm] * residual

    def stderr(self, values):
        """Return the standard error of the mean over units; those of a group count as one."""
        if self.group is None:
            return values.std() / np.sqrt(len(values))
        _, code = np.unique(self.group, return_inverse=True)
        return np.sqrt((np.bincount(code, weights=values - values.mean()) ** 2).sum()) / len(values)


def encode(frame):
    """Return the columns of a frame as numbers: texts as one column for each level, gaps as the mean and a mark."""
    frame = pd.get_dummies(frame, dtype=float).astype(float)
    gaps = frame.isna()
    marks = gaps.loc[:, gaps.any()].add_suffix(" is missing").astype(float)
    joined = pd.concat([frame.fillna(frame.mean()), marks], axis=1)
    return joined.loc[:, joined.std() > 0].T.drop_duplicates().T.to_numpy()


def read_trial(path, arm, reward, left_out=(), group=None):
    frame = pd.read_parquet(path).replace(-999, np.nan)
    codes, names = pd.factorize(frame[arm], sort=True)
    columns = frame.drop(columns=[arm, reward, *left_out, *([group] if group else [])])
    return Data(
        context=encode(columns),
        n_arms=len(names),
        arm=codes,
        reward=frame[reward].to_numpy(dtype=float),
        group=None if group is None else pd.factorize(frame[group])[0],
    )


def read_models(path, cost=0.0):
    frame = pd.read_parquet(path)
    rewards = frame[["mixtral_8x7b", "gpt_4"]].to_numpy(dtype=float) - np.array([0.0, cost])
    return Data(context=encode(frame.drop(columns=["mixtral_8x7b", "gpt_4"])), n_arms=2, rewards=rewards)


def read_all(folder):
    email = folder / "hillstrom.parquet"
    return {
        "e-mail, visit": read_trial(email, "segment", "visit", ["conversion", "spend"]),
        "e-mail, spend": read_trial(email, "segment", "spend", ["conversion", "visit"]),
        "ballot secrecy": read_trial(
            folder / "wisconsin_ballot_secrecy.parquet", "treat", "vg_12_update", ["township_id"]
        ),
        "schools": read_trial(folder / "bruhn_schools.parquet", "treatment", "outcome.test.score", group="school"),
        "models, mmlu": read_models(folder / "routellm_mmlu.parquet"),
        "models, mmlu less cost": read_models(folder / "routellm_mmlu.parquet", GPT_4_COST),
        "models, gsm8k": read_models(folder / "routellm_gsm8k.parquet"),
    }


def split(data, rows, rng):
    """Return two halves of the units; the first has at most this number of rows."""
    groups = np.arange(len(data.context)) if data.group is None else data.group
    is_first = (rng.random(groups.max() + 1) < 0.5)[groups]
    first = np.flatnonzero(is_first)
    if len(first) > rows and data.group is None:
        first = rng.choice(first, rows, replace=False)
    return data.take(first), data.take(np.flatnonzero(~is_first))


def make_logger(data, name, rng):
    """Return the function from contexts to the logger's probabilities."""
    share = np.full(data.n_arms, 1 / data.n_arms)
    if data.arm is not None:
        share = np.bincount(data.arm, minlength=data.n_arms) / len(data.arm)
    centre, scale = data.context.mean(axis=0), data.context.std(axis=0)
    slopes = rng.normal(size=(data.context.shape[1], data.n_arms)) / np.sqrt(data.context.shape[1])

    def decide(context):
        if name == DESIGNED:
            return np.tile(share, (len(context), 1))
        scores = TILT * (context - centre) / np.where(scale > 0, scale, 1.0) @ slopes
        likely = np.exp(scores - scores.max(axis=1, keepdims=True))
        return 0.1 / data.n_arms + 0.9 * likely / likely.sum(axis=1, keepdims=True)

    return decide


def learn(log, learners):
    """Return what `learn` does in any context, the logger's decisions where nothing beats the log, and its name."""
    learned = cf.learn(log, learners, progress=False, threads=1)
    return (learned.policy.predict_proba if learned.beats_log else None), learned.chosen if learned.beats_log else "-"


def list_references(asked):
    known = {
        "best arm": references.learn_best_arm,
        "ridge T-learner": references.learn_by_model,
        "boosted T-learner": references.learn_by_boosting,
    }
    if find_spec("econml") is not None and not asked.fast:
        known["DRPolicyForest"] = references.learn_by_forest
    return known


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="the folder of the datasets")
    parser.add_argument("--splits", type=int, default=4, help="how many halves of each dataset")
    parser.add_argument("--rows", type=int, default=8000, help="how many rows a log is drawn from at most")
    parser.add_argument("--seed", type=int, default=0, help="that of the first split")
    parser.add_argument("--only", nargs="*", help="datasets")
    parser.add_argument("--learners", nargs="*", default="default", help="the learners of `learn`")
    parser.add_argument("--fast", action="store_true", help="leave EconML's forest out")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    found = []
    for name, data in read_all(asked.data).items():
        if asked.only and name not in asked.only:
            continue
        for logger in (DESIGNED, "tilted"):
            for number in range(asked.seed, asked.seed + asked.splits):
                rng = np.random.default_rng([number, len(name)])
                first, second = split(data, asked.rows, rng)
                decide = make_logger(data, logger, rng)
                log = first.draw_log(decide(first.context), rng)
                logged = second.value(decide(second.context))
                outcomes = second.reward if second.rewards is None else second.rewards

                def judge(method, probs, seconds, note="", *, known=(second, logged, outcomes, name, logger, number)):
                    half, base, rewards, *where = known
                    gains = (half.value(probs) - base) / rewards.std()
                    found.append((*where, method, gains.mean(), half.stderr(gains), seconds, note))
                    print(*where, method, f"{gains.mean():+.4f}", note, sep="; ", file=sys.stderr, flush=True)

                start = time.process_time()
                policy, note = learn(log, asked.learners)
                seconds = time.process_time() - start
                judge("learn", (policy or decide)(second.context), seconds, note)
                for method, reference in list_references(asked).items():
                    start = time.process_time()
                    policy = reference(log, 0)
                    judge(method, policy(second.context), time.process_time() - start)
    table = pd.DataFrame(found, columns=["data", "logger", "split", "method", "gain", "stderr", "seconds", "note"])
    table["worse"] = table.gain < -2 * table.stderr
    shown = table.groupby(["data", "logger", "method"], sort=False)
    lines = shown.agg(
        gain=("gain", "mean"), stderr=("stderr", "mean"), worse=("worse", "sum"), chosen=("note", ", ".join)
    )
    print(lines.round(4).to_string())
    print(
        table.groupby("method").agg(gain=("gain", "mean"), worse=("worse", "sum"), seconds=("seconds", "mean")).round(4)
    )


if __name__ == "__main__":
    main()
