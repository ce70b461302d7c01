"""The paper's figures: which problems, which candidates, which ways to choose among them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any, NamedTuple

from counterfold.errors import ParameterError
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
from counterfold.experiments.paper.datasets import NAMES
from counterfold.rows import Rows
from counterfold.selectors.base import Selector
from counterfold.selectors.kfold_cv import KFoldCV
from counterfold.selectors.ocv import OCV
from counterfold.selectors.slope import SLOPE
from counterfold.selectors.theory import Theory

PASIF_NAME = "PAS-IF"
EVERYTHING = "everything"

Families = dict[str, list[Estimator]]
"""Lists of candidates by name; a selector chooses within each."""


TUNED: tuple[type[Estimator], ...] = (TruncatedIPS, SwitchDR, CAB, DRos, DRps, IPSLambda, GroupIPS)
"""What the paper tunes."""


def three(rows: Rows) -> Families:
    """Return IPS, DR and DM, in the order in which SLOPE takes them."""
    del rows
    return {"": [IPS(), DR(), DM()]}


def tuned(rows: Rows) -> Families:
    """Return the grids of the seven estimators that the paper tunes, from high to low variance, and all at once."""
    grids: Families = {}
    for kind in TUNED:
        sign = (
            1 if kind is IPSLambda else -1
        )  # its variance falls as its parameter grows, that of all others grows, too
        grids[kind.__name__] = sorted(kind.candidates(rows), key=partial(parameter, sign))
    alone: list[Estimator] = [IPS(), SNIPS(), DM(), DR(), SNDR()]
    return grids | {EVERYTHING: [*alone, *(one for grid in grids.values() for one in grid)]}


def parameter(sign: int, candidate: Any) -> float:
    """Return the parameter of a candidate, or its opposite."""
    return sign * float(getattr(candidate, fields(candidate)[0].name))


def exactly(validator: Estimator, splits: int = 10) -> OCV:
    """Return the paper's selector, its split ratios not rounded."""
    return OCV(validator, splits, ratio_step=0.0)


BOTH: dict[str, Selector] = {"OCV_IPS": exactly(IPS()), "OCV_DR": exactly(DR())}


@dataclass(frozen=True, eq=False)
class Figure:
    """An experiment: on all of these problems, every selector chooses within every family of candidates.

    `sizes` are numbers of logged rows, where the others train the policies; 0 is half of the dataset. `apart`
    selectors look at a family as a whole, the others score each candidate by itself, so that one scoring serves all
    families. `alone` are candidates that count as methods, too; `overall` averages over all datasets as well.
    """

    title: str
    families: Callable[[Rows], Families] = three
    selectors: dict[str, Selector] = field(default_factory=dict)
    apart: dict[str, Selector] = field(default_factory=dict)
    alone: tuple[Estimator, ...] = (IPS(), DM(), DR())
    datasets: tuple[str, ...] = NAMES
    betas: tuple[tuple[float, float], ...] = ((1.0, 10.0),)
    sizes: tuple[int, ...] = (0,)
    bootstrap: bool = True
    runs: int = 100
    regret: bool = False
    overall: bool = False
    pasif: bool = False


SLOPE_GIVEN: dict[str, Selector] = {"SLOPE": SLOPE(order="given")}

FIGURES: dict[str, Figure] = {
    "figure1": Figure("Choosing among IPS, DM and DR", selectors=BOTH, apart=SLOPE_GIVEN, pasif=True),
    "figure2": Figure(
        "The same for a target that avoids the right action",
        selectors=BOTH,
        apart=SLOPE_GIVEN,
        betas=((1.0, -10.0),),
        pasif=True,
    ),
    "figure3": Figure(
        "Tuning of seven estimators, and all at once",
        tuned,
        {"OCV_IPS": OCV(IPS()), "OCV_DR": OCV(DR())},
        {"SLOPE": SLOPE(order="given"), "Theory": Theory()},
        alone=(SNIPS(),),
        betas=tuple((logging, target) for target in (-10.0, 10.0) for logging in (-3.0, -1.0, 0.0, 1.0, 3.0)),
        runs=5,
        overall=True,
        pasif=True,
    ),
    "figure4": Figure(
        "What each part of the selection does",
        selectors={
            "A: 10-fold CV, 90/10": KFoldCV(DR(), 10),
            "B: A + one-SE rule": KFoldCV(DR(), 10, "standard_error"),
            "C: A + theory split ratio": replace(exactly(DR()), rule="mean"),
            "D: B + C": exactly(DR()),
            "E: D with K=100": exactly(DR(), 100),
        },
        overall=True,
    ),
    "figure5": Figure(
        "More splits",
        selectors={f"K = {splits}": exactly(DR(), splits) for splits in (2, 5, 10, 20, 50, 100, 200, 500, 1000)},
        alone=(),
        datasets=("vehicle",),
        bootstrap=False,
    ),
    "figure6": Figure("A biased validator", selectors=BOTH | {"OCV_DM": exactly(DM())}),
    "figure7": Figure(
        "Few rows",
        selectors=BOTH,
        apart=SLOPE_GIVEN,
        datasets=("satimage",),
        betas=((1.0, -1.0),),
        sizes=(10, 20, 50, 100, 200, 500, 1000, 2000, 5000),
        regret=True,
    ),
}


class Piece(NamedTuple):
    """One run of one problem; `part` is "" or the name of a method that is too slow to be run as often."""

    dataset: str
    logging_beta: float
    target_beta: float
    size: int
    run: int
    part: str

    def __str__(self) -> str:
        """Return what the journal knows the piece by."""
        return "|".join(str(part) for part in tuple(self))


def pieces(figure: Figure, runs: int, datasets: Sequence[str], pasif_runs: int) -> list[Piece]:
    """Return all pieces of a figure, those of the first runs first."""
    if pasif_runs and not figure.pasif:
        raise ParameterError(f"`pasif_runs` must be 0 where the figure has no {PASIF_NAME}, got {pasif_runs}.")
    parts = {"": runs} | ({PASIF_NAME: min(pasif_runs, runs)} if pasif_runs else {})
    wanted = [dataset for dataset in figure.datasets if dataset in datasets]
    if not wanted:
        raise ParameterError(f"`datasets` must hold one of {', '.join(figure.datasets)}, got {', '.join(datasets)}.")
    return [
        Piece(dataset, logging, target, size, run, part)
        for part, count in parts.items()
        for run in range(count)
        for dataset in wanted
        for logging, target in figure.betas
        for size in figure.sizes
    ]
