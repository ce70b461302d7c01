"""The paper's figures: which problems, which candidates, and which ways to choose among them."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from counterfold.estimators.base import Estimator
from counterfold.estimators.dm import DM
from counterfold.estimators.dr import DR
from counterfold.estimators.ips import IPS
from counterfold.estimators.snips import SNIPS
from counterfold.experiments.paper.candidates import CandidateSets, three_candidates, tuned_candidates
from counterfold.experiments.paper.datasets import NAMES
from counterfold.rows import Rows
from counterfold.selectors.base import Selector
from counterfold.selectors.kfold_cv import KFoldCV
from counterfold.selectors.ocv import OCV
from counterfold.selectors.slope import SLOPE
from counterfold.selectors.theory import Theory

PASIF_NAME = "PAS-IF"


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
    candidate_sets: Callable[[Rows], CandidateSets] = three_candidates
    selectors: dict[str, Selector] = field(default_factory=dict)
    set_selectors: dict[str, Selector] = field(default_factory=dict)
    single_candidates: tuple[Estimator, ...] = (IPS(), DM(), DR())
    datasets: tuple[str, ...] = NAMES
    betas: tuple[tuple[float, float], ...] = ((1.0, 10.0),)
    sizes: tuple[int, ...] = (0,)
    bootstrap: bool = True
    runs: int = 100
    regret: bool = False
    overall: bool = False
    pasif: bool = False


def exact_ocv(validator: Estimator, splits: int = 10) -> OCV:
    """Return the paper's selector, which does not round split ratios."""
    return OCV(validator, splits, ratio_step=0.0)


TWO_OCV: dict[str, Selector] = {"OCV_IPS": exact_ocv(IPS()), "OCV_DR": exact_ocv(DR())}
SLOPE_ALONE: dict[str, Selector] = {"SLOPE": SLOPE(order="given")}

FIGURES: dict[str, Figure] = {
    "figure1": Figure(
        "Choosing among IPS, DM and DR",
        selectors=TWO_OCV,
        set_selectors=SLOPE_ALONE,
        pasif=True,
    ),
    "figure2": Figure(
        "The same for a target that avoids the right action",
        selectors=TWO_OCV,
        set_selectors=SLOPE_ALONE,
        betas=((1.0, -10.0),),
        pasif=True,
    ),
    "figure3": Figure(
        "Tuning of seven estimators, and all at once",
        tuned_candidates,
        {"OCV_IPS": OCV(IPS()), "OCV_DR": OCV(DR())},
        SLOPE_ALONE | {"Theory": Theory()},
        single_candidates=(SNIPS(),),
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
            "C: A + theory split ratio": replace(exact_ocv(DR()), rule="mean"),
            "D: B + C": exact_ocv(DR()),
            "E: D with K=100": exact_ocv(DR(), 100),
        },
        overall=True,
    ),
    "figure5": Figure(
        "More splits",
        selectors={f"K = {splits}": exact_ocv(DR(), splits) for splits in (2, 5, 10, 20, 50, 100, 200, 500, 1000)},
        single_candidates=(),
        datasets=("vehicle",),
        bootstrap=False,
    ),
    "figure6": Figure("A biased validator", selectors=TWO_OCV | {"OCV_DM": exact_ocv(DM())}),
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
