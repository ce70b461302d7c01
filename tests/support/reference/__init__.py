"""Every formula again, as a naive loop that shares no code with the package."""

from reference.data import Data, Doses, random_data, random_doses
from reference.estimators import FORMULAS, OF_DOSES, OF_LABELS, group_ips, share_caps, truncated_sndr, truncated_snips
from reference.ladder import ladder, left_out
from reference.models import ridge, ridge_on_dose, shared_penalties, shared_ridge
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
    "left_out",
    "random_data",
    "random_doses",
    "ridge",
    "ridge_on_dose",
    "scores",
    "share_caps",
    "shared_penalties",
    "shared_ridge",
    "slope",
    "truncated_sndr",
    "truncated_snips",
    "value",
    "variance",
]
