"""Every formula again, as a naive loop that shares no code with the package."""

from reference.data import Data, Doses, random_data, random_doses
from reference.estimators import FORMULAS, OF_DOSES, OF_LABELS, group_ips, share_caps, truncated_sndr, truncated_snips
from reference.ladder import ladder, ladder_against_log, left_out
from reference.models import (
    nearest_neighbours,
    ridge,
    ridge_on_dose,
    see,
    shared_penalties,
    shared_ridge,
    stack_means,
    stack_shares,
)
from reference.selectors import algorithm_1, scores, slope, value, variance

__all__ = [
    "FORMULAS",
    "OF_DOSES",
    "OF_LABELS",
    "Data",
    "Doses",
    "algorithm_1",
    "group_ips",
    "ladder",
    "ladder_against_log",
    "left_out",
    "nearest_neighbours",
    "random_data",
    "random_doses",
    "ridge",
    "ridge_on_dose",
    "scores",
    "see",
    "share_caps",
    "shared_penalties",
    "shared_ridge",
    "slope",
    "stack_means",
    "stack_shares",
    "truncated_sndr",
    "truncated_snips",
    "value",
    "variance",
]
