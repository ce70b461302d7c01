"""The paper's figures: which problems, which sets of candidates, and which ways to choose among them."""

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import Any

import counterfold as cf
from counterfold_lab.paper.datasets import NAMES

CandidateSets = dict[str, list[cf.Estimator]]
"""Lists of candidates by name; a selector chooses within each. In files of results, the column `family` names them."""

ONLY_SET, EVERYTHING = "", "everything"
"""The name of a set that is the only one, and of the set that holds all candidates of the others."""

TUNED: list[type[cf.Estimator]] = [cf.TruncatedIPS, cf.SwitchDR, cf.CAB, cf.DRos, cf.DRps, cf.IPSLambda, cf.GroupIPS]
PLAIN: tuple[cf.Estimator, ...] = (cf.IPS(), cf.SNIPS(), cf.DM(), cf.DR(), cf.SNDR())
"""The estimators whose parameter the paper tunes, and those without a parameter."""

PASIF_NAME, ORACLE = "PAS-IF", "oracle"


def three_candidates(_: cf.Rows) -> CandidateSets:
    """Return IPS, DR and DM, from high to low variance, as SLOPE needs them."""
    return {ONLY_SET: [cf.IPS(), cf.DR(), cf.DM()]}


def tuned_candidates(rows: cf.Rows) -> CandidateSets:
    """Return the grid of each estimator that the paper tunes, from high to low variance, and a set of everything."""

    def first_parameter(candidate: Any) -> float:
        return float(getattr(candidate, fields(candidate)[0].name))

    grids: CandidateSets = {}
    for kind in TUNED:  # the variance of IPSLambda falls as its parameter grows, and that of the others rises
        grids[kind.__name__] = sorted(kind.candidates(rows), key=first_parameter, reverse=kind is not cf.IPSLambda)
    return grids | {EVERYTHING: [*PLAIN, *(one for grid in grids.values() for one in grid)]}


@dataclass(frozen=True, eq=False)
class Figure:
    """An experiment: on each of its problems, every selector chooses within every set of candidates.

    `selectors` score each candidate by itself, so that one scoring serves all sets; `set_selectors` must look at a set
    as a whole. `single_candidates` are shown as methods, too. `sizes` are numbers of logged rows, while the other rows
    train the policies; 0 is half of the dataset. `bootstrap` says whether policies are trained on bootstrap samples,
    `regret` whether errors are shown beyond that of the best candidate, `overall` whether averages over all datasets
    are shown as well, and `pasif` whether PAS-IF can be run.
    """

    title: str
    candidate_sets: Callable[[cf.Rows], CandidateSets] = three_candidates
    selectors: dict[str, cf.Selector] = field(default_factory=dict)
    set_selectors: dict[str, cf.Selector] = field(default_factory=dict)
    single_candidates: tuple[cf.Estimator, ...] = (cf.IPS(), cf.DM(), cf.DR())
    datasets: tuple[str, ...] = NAMES
    betas: tuple[tuple[float, float], ...] = ((1.0, 10.0),)
    sizes: tuple[int, ...] = (0,)
    bootstrap: bool = True
    runs: int = 100
    regret: bool = False
    overall: bool = False
    pasif: bool = False


def exact_ocv(validator: cf.Estimator, splits: int = 10) -> cf.OCV:
    """Return the paper's selector, which does not round split ratios."""
    return cf.OCV(validator, splits, ratio_step=0.0)


TWO_OCV: dict[str, cf.Selector] = {"OCV_IPS": exact_ocv(cf.IPS()), "OCV_DR": exact_ocv(cf.DR())}
SLOPE_ALONE: dict[str, cf.Selector] = {"SLOPE": cf.SLOPE(order="given")}
THREE = Figure("Choosing among IPS, DM and DR", selectors=TWO_OCV, set_selectors=SLOPE_ALONE, pasif=True)

FIGURES: dict[str, Figure] = {
    "figure1": THREE,
    "figure2": replace(THREE, title="The same for a target that avoids the right action", betas=((1.0, -10.0),)),
    "figure3": Figure(
        "Tuning of seven estimators, and all at once",
        tuned_candidates,
        {"OCV_IPS": cf.OCV(cf.IPS()), "OCV_DR": cf.OCV(cf.DR())},
        SLOPE_ALONE | {"Theory": cf.Theory(rules="paper")},
        single_candidates=(cf.SNIPS(),),
        betas=tuple((logging, target) for target in (-10.0, 10.0) for logging in (-3.0, -1.0, 0.0, 1.0, 3.0)),
        runs=5,
        overall=True,
        pasif=True,
    ),
    "figure4": Figure(
        "What each part of the selection does",
        selectors={
            "A: 10-fold CV, 90/10": cf.KFoldCV(cf.DR(), 10),
            "B: A + one-SE rule": cf.KFoldCV(cf.DR(), 10, "standard_error"),
            "C: A + theory split ratio": replace(exact_ocv(cf.DR()), rule="mean"),
            "D: B + C": exact_ocv(cf.DR()),
            "E: D with K=100": exact_ocv(cf.DR(), 100),
        },
        overall=True,
    ),
    "figure5": Figure(
        "More splits",
        selectors={f"K = {splits}": exact_ocv(cf.DR(), splits) for splits in (2, 5, 10, 20, 50, 100, 200, 500, 1000)},
        single_candidates=(),
        datasets=("vehicle",),
        bootstrap=False,
    ),
    "figure6": Figure("A biased validator", selectors=TWO_OCV | {"OCV_DM": exact_ocv(cf.DM())}),
    "figure7": Figure(
        "Few rows",
        selectors=TWO_OCV,
        set_selectors=SLOPE_ALONE,
        datasets=("satimage",),
        betas=((1.0, -1.0),),
        sizes=(10, 20, 50, 100, 200, 500, 1000, 2000, 5000),
        regret=True,
    ),
}
