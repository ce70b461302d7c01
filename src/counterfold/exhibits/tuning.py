"""Tuning: what every estimator with a parameter says at each of its settings."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from counterfold.estimators.base import Estimator
from counterfold.evidence.evidence import Evidence
from counterfold.exhibits.base import Answered, Exhibit, Shown, find_ends

FEWEST = 3
"""An estimator is shown if it has at least so many settings."""


@dataclass(frozen=True)
class Tuning(Exhibit):
    """A line for each setting of each estimator of which several settings competed: what it says there.

    `low` and `high` are the ends of a normal interval, as if the reward model were fixed; `share` is the part in the
    answer.
    """

    def show(self, evidence: Evidence, answer: Answered) -> Shown | None:
        families: dict[str, dict[str, Estimator]] = {}
        for name, one in answer.estimators.items():
            families.setdefault(type(one).__name__, {})[name] = one
        known = dict(zip(answer.estimators, answer.selection.scores.tolist(), strict=True))
        shares = dict(zip(answer.estimators, answer.selection.shares.tolist(), strict=True))
        lines = []
        for family, members in families.items():
            parameter = find_parameter(members)
            if parameter is None:
                continue
            for name, one in members.items():
                value, stderr = answer.values[name]
                setting = float(getattr(one, parameter))
                numbers = {"value": value, **find_ends(value, stderr, answer.estimate.level)}
                where = {"family": family, "parameter": parameter, "setting": setting}
                lines.append({**where, **numbers, "score": known[name], "share": shares[name]})
        lines.sort(key=lambda line: (line["family"], line["setting"]))
        return Shown(lines, {}) if lines else None


def find_parameter(members: Mapping[str, Estimator]) -> str | None:
    """Return the only field in which estimators of one class differ, if it is a finite number and they are several."""
    settings = [{name: getattr(one, name) for name in one.list_parameters()} for one in members.values()]
    if len(settings) < FEWEST:
        return None
    varied = [name for name in settings[0] if len({repr(one[name]) for one in settings}) > 1]
    if len(varied) != 1:
        return None
    values = [one[varied[0]] for one in settings]
    return varied[0] if all(isinstance(one, (int, float)) and np.isfinite(one) for one in values) else None
