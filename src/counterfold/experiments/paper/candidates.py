"""The sets of candidates that the paper chooses from."""

from dataclasses import fields
from typing import Any

from counterfold.estimators.base import Estimator
from counterfold.estimators.cab import CAB
from counterfold.estimators.dm import DM
from counterfold.estimators.dr import DR
from counterfold.estimators.dros import DRos
from counterfold.estimators.drps import DRps
from counterfold.estimators.group_ips import GroupIPS
from counterfold.estimators.ips import IPS
from counterfold.estimators.ips_lambda import IPSLambda
from counterfold.estimators.sndr import SNDR
from counterfold.estimators.snips import SNIPS
from counterfold.estimators.switch_dr import SwitchDR
from counterfold.estimators.truncated_ips import TruncatedIPS
from counterfold.rows import Rows

CandidateSets = dict[str, list[Estimator]]
"""Lists of candidates by name; a selector chooses within each. In files of results, the column `family` names them."""

ONLY_SET, EVERYTHING = "", "everything"
"""The name of a set that is the only one, and of the set that holds all candidates of the others."""

TUNED: tuple[type[Estimator], ...] = (TruncatedIPS, SwitchDR, CAB, DRos, DRps, IPSLambda, GroupIPS)
"""The estimators whose parameter the paper tunes."""

PLAIN: tuple[Estimator, ...] = (IPS(), SNIPS(), DM(), DR(), SNDR())
"""The estimators without a parameter."""


def three_candidates(rows: Rows) -> CandidateSets:
    """Return IPS, DR and DM, from high to low variance, as SLOPE needs them."""
    del rows
    return {ONLY_SET: [IPS(), DR(), DM()]}


def tuned_candidates(rows: Rows) -> CandidateSets:
    """Return the grid of each estimator that the paper tunes, from high to low variance, and a set of everything."""
    grids: CandidateSets = {}
    for kind in TUNED:  # the variance of IPSLambda falls as its parameter grows, and that of the others rises
        grids[kind.__name__] = sorted(kind.candidates(rows), key=parameter, reverse=kind is not IPSLambda)
    return grids | {EVERYTHING: [*PLAIN, *(one for grid in grids.values() for one in grid)]}


def parameter(candidate: Any) -> float:
    """Return the value of a candidate's first parameter."""
    return float(getattr(candidate, fields(candidate)[0].name))
