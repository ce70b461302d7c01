"""Each estimator's own tuning rule."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np

from counterfold.base import messages, validation
from counterfold.base.arrays import Floats
from counterfold.base.errors import ParameterError
from counterfold.base.threads import Pool
from counterfold.estimators.base import Estimator, Rules
from counterfold.estimators.rows import Rows
from counterfold.selectors.base import Candidates, Selector


@dataclass(frozen=True)
class Theory(Selector):
    r"""Tune an estimator as its authors suggest; the rule is in the estimator's file.

    `TruncatedIPS` takes $\sqrt n$; `SwitchDR`, `DRos` and `DRps` minimise a bound on their error over the grid;
    `IPSLambda` solves an equation that allows a failure with chance `delta` (0.95 in the paper's results), and its
    solution joins the grid. The paper quotes another equation than its authors give; `rules="paper"` takes that one, as
    the paper's results did. Rules of different estimators cannot be compared, so it tunes one at a time.

    Cief, Kveton, Kompan (2025), "Cross-validated off-policy evaluation", appendix A, which collects the rules.

    >>> import numpy as np
    >>> import counterfold as cf
    >>> rows = cf.example_rows()
    >>> grid = [cf.SwitchDR(1.0), cf.SwitchDR(3.0), cf.SwitchDR(5.0)]
    >>> cf.Theory().scores(rows, grid, np.random.default_rng(0), cf.Pool()).round(3)
    array([0.333, 0.122, 0.293])
    """

    delta: float = 0.95
    rules: Rules = "authors"
    needs = ("all_rows", "even_rows")

    def __post_init__(self) -> None:
        validation.inside(0, 1, delta=self.delta)
        validation.one_of(get_args(Rules), rules=self.rules)

    def scores(self, rows: Rows, candidates: Candidates, rng: np.random.Generator, pool: Pool) -> Floats:
        kinds = sorted({type(candidate).__name__ for candidate in candidates})
        if len(kinds) > 1:
            got = f"{len(kinds)}: {messages.list_some(kinds)}"
            raise ParameterError(f"Theory tunes one estimator at a time, got {got}.")
        return np.array([candidate.risk(rows, self.delta, self.rules) for candidate in candidates])

    def can_tune(self, kind: type[Estimator]) -> bool:
        return kind.has_rule

    def extend_grid(self, kind: type[Estimator], rows: Rows) -> Sequence[Estimator]:
        return kind.suggest(rows, self.delta, self.rules)
