"""Choice: the contender whose difference to the log is the largest even at its lower bound."""

from collections.abc import Mapping

import numpy as np

from counterfold.arrays import Floats, Ints
from counterfold.evaluation.result import Evaluation


def choose_contender(evaluations: Mapping[str, Evaluation]) -> str:
    """Return the name of the contender with the largest lower bound of what it earns more than the log.

    It is one that the log can answer for, unless there is none, and the first of equal ones.
    """
    known = {name: one for name, one in evaluations.items() if one.answerable} or evaluations
    return max(known, key=lambda name: known[name].uplift().interval().low)


def stitch(probs: Mapping[str, Floats], chosen: Mapping[int, str], fold: Ints) -> Floats:
    """Return the decisions (n x A) of the contender that each row's fold takes."""
    found = np.zeros_like(next(iter(probs.values())))
    for number, name in chosen.items():
        found[fold == number] = probs[name][fold == number]
    return found
