"""What the results of counterfold say, as what JSON can hold."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass

import numpy as np

import counterfold as cf

FIRST_ROWS = 3
"""Of how many rows a case keeps what is said of each."""


def describe(result):
    """Return all that a result says through its public names."""
    for kinds, function in DESCRIPTIONS:
        if isinstance(result, kinds):
            return function(result)
    if is_dataclass(result) and not isinstance(result, type):
        return {one.name: describe(getattr(result, one.name)) for one in fields(result)}
    return result


def describe_evaluation(result):
    """Return what an evaluation says."""
    return {
        "to_dict": result.to_dict(),
        "stderr": result.stderr,
        "repr": repr(result),
        "estimator": repr(result.estimator),
        "estimate": describe(result.estimate),
        "gap": describe(result.uplift()),
        "logged": describe(result.logged),
        "bounds": describe(result.interval),
        "table": describe(result.table),
        "segments": describe(result.segments),
        "over_time": describe(result.over_time()),
    }


def describe_estimate(result):
    """Return what an estimate says."""
    contributions = result.contributions
    return {
        "name": result.name,
        "value": result.value,
        "stderr": result.stderr,
        "first": contributions[:FIRST_ROWS].tolist(),
        "last": float(contributions[-1]),
        "count": len(contributions),
        "interval": describe(result.interval(0.9)),
    }


def describe_comparison(result):
    """Return what a comparison says."""
    return {
        "to_dict": result.to_dict(),
        "repr": repr(result),
        "names": list(result),
        "table": describe(result.table),
        "simultaneous": describe(result.simultaneous),
        "decision": describe(result.decision),
        "contenders": None if result.decision is None else result.decision.contenders,
        "guarded": describe(result.guarded),
        "segments": describe(result.segments),
        "over_time": {name: one.to_dict() for name, one in result.over_time().items()},
    }


def describe_learned(result):
    """Return what a learnt policy and the answer on it say."""
    return {
        "to_dict": result.to_dict(),
        "repr": repr(result),
        "beats_log": result.beats_log,
        "chosen": result.chosen,
        "simpler": describe(result.simpler),
        "sentence": result.sentence,
        "next_step": describe(result.next_step),
        "table": describe(result.table),
        "limits": describe(result.limits),
        "evaluation": describe(result.evaluation),
        "attempt": describe(result.attempt),
        "policy": describe_policy(result.policy),
        "attempted": describe_policy(result.attempted),
    }


def describe_policy(policy):
    """Return what a learnt policy says of itself."""
    return {
        "repr": repr(policy),
        "text": policy.describe(),
        "classes": policy.classes_,
        "features": getattr(policy, "feature_names_in_", None),  # arrays have no names
        "importance": dict(policy.importance),
    }


def describe_exhibits(result):
    """Return the tables behind the pictures of a result."""
    return {name: {"lines": shown.lines, "facts": shown.facts} for name, shown in result.exhibits.items()}


def describe_rewards(result):
    """Return what evaluations by several rewards say."""
    by_reward = {str(name): describe(result[name]) for name in result}
    return {"rewards": by_reward, "table": describe(result.table), "to_dict": result.to_dict()}


def describe_check(result):
    """Return what was found in a log."""
    return {"to_dict": result.to_dict(), "repr": repr(result), "verdict": result.verdict}


def describe_log(result):
    """Return what a log holds."""
    names = {"actions": [*map(str, result.actions)], "names": result.context_names}
    return {"repr": repr(result), **names, "notes": describe(result.notes)}


DESCRIPTIONS = [
    (cf.Evaluation, describe_evaluation),
    (cf.Estimate, describe_estimate),
    (cf.Comparison, describe_comparison),
    (cf.Learned, describe_learned),
    (cf.RewardEvaluations, describe_rewards),
    (cf.Diagnostics, describe_check),
    (cf.Log, describe_log),
    (Mapping, lambda result: {str(name): describe(one) for name, one in result.items()}),
    (np.ndarray, lambda result: result.tolist()),
    ((list, tuple), lambda result: [describe(one) for one in result]),
]
"""What is said of each kind of result; the first kind that fits counts."""
