"""What calibration of a reward model is shown as: predicted against observed rewards."""

import numpy as np

from counterfold.arrays import Floats, Ints
from counterfold.evidence import Evidence
from counterfold.exhibits.base import Answered, Line, find_ends
from counterfold.rows import Rows


def predict_rows(evidence: Evidence, answer: Answered) -> Rows | None:
    """Return rows with predictions that are out of sample, if any candidate uses the reward model at all."""
    is_used = any(one.uses("model") for one in answer.estimators.values())
    return evidence.predict_out_of_sample() if is_used else None


def compare_bins(rows: Rows, places: Ints, names: list[str], level: float) -> list[Line]:
    """Return a line for each bin that has rows: their mean predicted and observed reward, with an interval."""
    counts = np.ones(len(rows)) if rows.counts is None else rows.counts
    size = len(names)

    def add_up(values: Floats) -> Floats:
        return np.bincount(places, counts * values, size).astype(np.float64)

    number, total = np.bincount(places, minlength=size), add_up(np.ones(len(rows)))
    with np.errstate(invalid="ignore", divide="ignore"):
        predicted, observed = add_up(rows.q_logged) / total, add_up(rows.rewards) / total
        apart = np.square(rows.rewards - observed[places])
        stderr = np.sqrt(np.bincount(places, counts**2 * apart, size)) / total
    return [
        {
            "name": names[at],
            "rows": int(number[at]),
            "predicted": float(predicted[at]),
            "observed": float(observed[at]),
            **find_ends(float(observed[at]), float(stderr[at]), level),
        }
        for at in np.flatnonzero(number).tolist()
    ]
