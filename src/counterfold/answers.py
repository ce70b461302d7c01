"""evaluate() and estimate(): the only place that glues logs, targets, models, estimators and selectors together."""

from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from counterfold import checks
from counterfold.candidates import Wanted, gathered
from counterfold.diagnostics import diagnose
from counterfold.doubts import estimated, questioned, refitted
from counterfold.errors import ParameterError
from counterfold.estimates import Estimate
from counterfold.estimators.base import Estimator
from counterfold.evaluation import Candidate, Evaluation
from counterfold.log import Log
from counterfold.models import as_model
from counterfold.pool import Pool, one_blas_thread
from counterfold.progress import Progress, bar
from counterfold.rows import Rows
from counterfold.selectors.base import Selection, Selector
from counterfold.settling import part, settled, warned
from counterfold.target import Target, as_target


def estimate(log: Log, target: Any, estimator: Estimator | str, *, reward_model: Any = "default") -> Estimate:
    """Return the value of a target by one estimator, or by the name of one.

    >>> import counterfold as cf
    >>> log = cf.Log(action=[0, 1, 0, 1], reward=[0.0, 0.0, 1.0, 1.0], propensity=[0.8, 0.4, 0.5, 0.2])
    >>> cf.estimate(log, [0.4, 0.8, 0.5, 0.8], cf.SNIPS())
    Estimate(SNIPS: 0.6667 ± 0.3)
    """
    with one_blas_thread():
        rows = rows_of(log, as_target(target, log), reward_model)
        one: Estimator = part("estimators", estimator, Estimator)
        reason = one.obstacle(rows)
        if reason:
            raise ParameterError(f"{one.name} {reason}.")
        return estimated(one.name, one, rows)


def evaluate(
    log: Log,
    target: Any,
    candidates: Wanted | Sequence[Wanted] = "default",
    selector: Selector | str = "ocv",
    reward_model: Any = "default",
    *,
    seed: int = 0,
    level: float = 0.95,
    threads: int | None = None,
    progress: Progress | bool = True,
) -> Evaluation:
    """Return what a target would have earned, by the candidate that cross-validation on the log trusts most.

    - `target`: probabilities (n x A), or (n) for the logged actions alone, or a callable of the context. On a log of
      doses: the dose that the target would give in each row (n), or several draws of it (n x m).
    - `candidates`: "default", "paper" (everything the paper tunes jointly), or any mixture of estimators and of classes
      or names of estimators, which stand for their own grids.
    - `selector`: a selector or the name of one; by default `OCV`, with DR or else IPS as validator.
    - `reward_model`: a reward model or the name of one, a scikit-learn estimator (one per action, or one on context and
      dose), predictions (n x A), or None; by default `RidgePerAction`, or `RidgeOnDose` on a log of doses.
    - `seed` fixes the splits; `threads` and `progress` (a bar after two seconds, or your own function of the pieces
      of work done and in all) never change the answer.

    >>> import numpy as np
    >>> import counterfold as cf
    >>> rng = np.random.default_rng(0)
    >>> x, logging = rng.normal(size=(500, 3)), np.full((500, 2), 0.5)
    >>> action = rng.integers(2, size=500)
    >>> reward = (x[:, 0] > 0) * action + rng.normal(size=500)
    >>> log = cf.Log(context=x, action=action, reward=reward, logging_probs=logging)
    >>> result = cf.evaluate(log, np.tile([0.1, 0.9], (500, 1)))
    >>> result.interval.low < 0.45 < result.interval.high
    True
    """
    checks.inside(0, 1, level=level)
    checks.whole(0, seed=seed)
    checked = as_target(target, log)
    diagnostics = warned(diagnose(log, checked))
    watched = bar("Cross-validating") if progress is True else nullcontext(progress or None)
    with one_blas_thread(), watched as moved:
        rows = rows_of(log, checked, reward_model)
        judge = settled(part("selectors", selector, Selector), rows)
        estimators, left_out = gathered(candidates, rows, judge.beyond)
        contestants, pool = list(estimators.values()), Pool(threads, moved)
        selection = judge.select(rows, contestants, np.random.default_rng(seed), pool)
        winner = selection.answer(contestants)
        name = list(estimators)[selection.chosen] if winner in contestants else winner.name
        answer = refitted(estimated(name, winner, rows), winner, rows, pool)
        diagnostics = questioned(diagnostics, answer, winner, getattr(judge, "validator", None), rows)
        table = tabulated(estimators, selection, rows)
    return Evaluation(
        estimate=answer,
        interval=answer.interval(level),
        level=level,
        selected=name,
        estimator=winner,
        selector=judge,
        table=table,
        left_out=left_out,
        diagnostics=diagnostics,
        seed=int(seed),
    )


def rows_of(log: Log, target: Target, reward_model: Any) -> Rows:
    """Return the rows of a log for one target, with the reward model that the user wants."""
    return Rows.of(log, target, as_model(reward_model, log, target.draws))


def tabulated(estimators: dict[str, Estimator], selection: Selection, rows: Rows) -> list[Candidate]:
    """Return a line for every candidate."""
    lines = []
    for place, (name, estimator) in enumerate(estimators.items()):
        one = estimated(name, estimator, rows)
        score, share = float(selection.scores[place]), float(selection.shares[place])
        lines.append(Candidate(name, one.value, one.stderr, score, place == selection.chosen, share))
    return lines
