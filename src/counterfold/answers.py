"""evaluate() and estimate(): the only place that glues logs, targets, models, estimators and selectors together."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import Any, overload

import numpy as np

from counterfold import readers
from counterfold.candidates import Wanted, gathered
from counterfold.contents import Contents
from counterfold.diagnostics import Diagnostics, diagnose
from counterfold.doubts import estimated, questioned, rechosen, refitted, weighed
from counterfold.engines import engine_for
from counterfold.errors import ParameterError
from counterfold.estimates import Estimate, interval_of
from counterfold.estimators._logged import Logged
from counterfold.estimators.base import Estimator
from counterfold.evaluation import Evaluation, tabulated
from counterfold.intervals.base import Interval
from counterfold.log import Log
from counterfold.models import as_model
from counterfold.pool import Pool, one_blas_thread
from counterfold.progress import Progress, shown
from counterfold.question import Question
from counterfold.readers import LogScan
from counterfold.rows import Rows
from counterfold.selectors.base import Selector
from counterfold.settling import judge_of, part, settled, warned
from counterfold.streaming import Answers, diagnose_scan, evaluate_scan
from counterfold.sums import bucketed
from counterfold.target import Target, as_target


def estimate(log: Log, target: Any, estimator: Estimator | str, *, reward_model: Any = "default") -> Estimate:
    """Return the value of a target by one estimator, or by the name of one.

    >>> import counterfold as cf
    >>> log = cf.Log(action=[0, 1, 0, 1], reward=[0.0, 0.0, 1.0, 1.0], propensity=[0.8, 0.4, 0.5, 0.2])
    >>> cf.estimate(log, [0.4, 0.8, 0.5, 0.8], cf.SNIPS())
    Estimate(SNIPS: 0.6667 ± 0.3)
    """
    with one_blas_thread():
        wanted = as_target(target, log)
        rows = rows_of(log, wanted, reward_model)
        one: Estimator = part("estimators", estimator, Estimator)
        reason = one.obstacle(rows)
        if reason:
            raise ParameterError(f"{one.name} {reason}.")
        missing = wanted.unsupported(log)
        return weighed(estimated(one.name, one, rows), rows.weights, None if missing is None else float(missing.max()))


@overload
def evaluate(
    log: Log | LogScan | str | PathLike[str] | Any,
    target: Mapping[str, Any],
    candidates: Wanted | Sequence[Wanted] = "default",
    selector: Selector | str = "default",
    reward_model: Any = "default",
    *,
    seed: int = 0,
    level: float = 0.95,
    interval: Interval | str = "student-t",
    threads: int | None = None,
    progress: Progress | bool = True,
    engine: str = "auto",
) -> dict[str, Evaluation]: ...


@overload
def evaluate(
    log: Log | LogScan | str | PathLike[str] | Any,
    target: Any = "target",
    candidates: Wanted | Sequence[Wanted] = "default",
    selector: Selector | str = "default",
    reward_model: Any = "default",
    *,
    seed: int = 0,
    level: float = 0.95,
    interval: Interval | str = "student-t",
    threads: int | None = None,
    progress: Progress | bool = True,
    engine: str = "auto",
) -> Evaluation: ...


def evaluate(
    log: Log | LogScan | str | PathLike[str] | Any,
    target: Any = "target",
    candidates: Wanted | Sequence[Wanted] = "default",
    selector: Selector | str = "default",
    reward_model: Any = "default",
    *,
    seed: int = 0,
    level: float = 0.95,
    interval: Interval | str = "student-t",
    threads: int | None = None,
    progress: Progress | bool = True,
    engine: str = "auto",
) -> Evaluation | dict[str, Evaluation]:
    """Return what a target would have earned, by what the log itself trusts most among many estimators.

    - `log`: a log in memory; or a `LogScan` or the path of a file, which need not fit there.
    - `target`: probabilities (n x A), or (n) for the logged actions alone, or a callable of the context. On a log of
      doses: the dose that the target would give in each row (n), or several draws of it (n x m). Of a file: the name of
      a column with any of these. A mapping of several targets gives a mapping of evaluations.
    - `candidates`: "default", "plain", "paper" (everything the paper tunes jointly), or any mixture of estimators and
      of classes or names of estimators, which stand for their own grids.
    - `selector`: a selector or the name of one; by default `Ladder`, or `OCV` on a log of doses.
    - `reward_model`: a reward model or the name of one, a scikit-learn estimator (one per action, or one on context and
      dose), predictions (n x A), or None; by default a cross-fitted `SharedRidge`, or `RidgeOnDose` on a log of doses.
    - `interval`: how the interval is made, by name or as an object; see the page on intervals.
    - `seed` fixes the splits; `threads` and `progress` (a bar after two seconds, or your own function of the pieces
      of work done and in all) never change the answer.
    - `engine`: "memory", "local" for files of any size, which are read a few rows at a time, or "spark" for a Spark
      DataFrame, a table's name or a path; by default the size of the file decides. See the page on scale for what
      differs.

    >>> import numpy as np
    >>> import counterfold as cf
    >>> rng = np.random.default_rng(1)
    >>> x, logging = rng.normal(size=(500, 3)), np.full((500, 2), 0.5)
    >>> action = rng.integers(2, size=500)
    >>> reward = (x[:, 0] > 0) * action + rng.normal(size=500)
    >>> log = cf.Log(context=x, action=action, reward=reward, logging_probs=logging)
    >>> result = cf.evaluate(log, np.tile([0.1, 0.9], (500, 1)))
    >>> result.interval.low < 0.45 < result.interval.high
    True
    """
    question = Question(candidates, selector, reward_model, seed, level, interval)
    targets = target if isinstance(target, Mapping) else {"target": target}
    if not targets:
        raise ParameterError("`target` must hold at least one target, got none.")
    if isinstance(log, Log) and engine not in {"auto", "memory"}:
        raise ParameterError(f"`engine` must be 'memory' for a log in memory, got {engine!r}.")
    if not isinstance(log, Log):
        scan = log if isinstance(log, LogScan) else LogScan(log)
        found = evaluated(scan, targets, question, threads, progress=progress, engine=engine).evaluations
    else:
        found = {name: in_memory(log, one, question, threads, name, progress=progress) for name, one in targets.items()}
    return found if isinstance(target, Mapping) else found["target"]


def evaluated(
    scan: LogScan,
    targets: Mapping[str, Any],
    question: Question,
    threads: int | None,
    *,
    progress: Progress | bool = True,
    engine: str = "auto",
) -> Answers:
    """Return the evaluations of several targets of a log that is not read yet, and what it holds."""
    reader = engine_for(scan, engine, threads)
    if reader is not None:
        return evaluate_scan(scan, reader, targets, question, progress=progress)
    table = readers.read_table(scan.source)
    named = [one for one in targets.values() if isinstance(one, str)]
    named_predictions = question.predictions
    log = scan.layout(table, [*named, *([named_predictions] if named_predictions else [])]).log(table)
    if named_predictions:
        question = replace(question, reward_model=readers.read_target(table, named_predictions))
    found = {}
    beside = {"reward_model": named_predictions} if named_predictions else {}
    for name, one in targets.items():
        roles = beside | ({"target": one} if isinstance(one, str) else {})
        with readers.columns_named(roles):
            given = readers.read_target(table, one) if isinstance(one, str) else one
            found[name] = in_memory(log, given, question, threads, name, progress=progress)
    return Answers(found, Contents.of(log))


def checked(
    scan: LogScan, targets: Mapping[str, Any], *, engine: str = "auto"
) -> tuple[dict[str, Diagnostics], Contents]:
    """Return the diagnostics of several targets of a log that is not read yet, and what it holds."""
    reader = engine_for(scan, engine, None)
    if reader is not None:
        return diagnose_scan(scan, reader, targets, progress=True)
    table = readers.read_table(scan.source)
    log = scan.layout(table, list(targets.values())).log(table)
    found = {}
    for name, column in targets.items():
        with readers.columns_named({"target": column}):
            found[name] = diagnose(log, as_target(readers.read_target(table, column), log))
    return found, Contents.of(log)


def in_memory(
    log: Log, target: Any, question: Question, threads: int | None, name: str, *, progress: Progress | bool
) -> Evaluation:
    """Return what a target would have earned, from a log that is in memory."""
    candidates, selector, reward_model = question.candidates, question.selector, question.reward_model
    seed, level = question.seed, question.level
    wanted = as_target(target, log)
    diagnostics = warned(diagnose(log, wanted), name)
    with one_blas_thread(), shown(f"Cross-validating {name}", progress=progress) as moved:
        rows = rows_of(log, wanted, reward_model)
        judge = settled(judge_of(selector, rows.kind), rows)
        estimators, left_out = gathered(candidates, rows, judge.beyond)
        contestants, pool = list(estimators.values()), Pool(threads, moved)
        selection = judge.select(rows, contestants, np.random.default_rng(seed), pool)
        winner = selection.answer(contestants)
        chosen = list(estimators)[selection.chosen] if winner in contestants else winner.name
        answer = estimated(chosen, winner, rows)
        if selection.stderr is None:
            answer = refitted(answer, winner, rows, pool)
            if judge.scales() and len(contestants) > 1:
                sums = bucketed(rows, list(dict.fromkeys([*contestants, *judge.witnesses])), Pool(threads))
                answer = rechosen(answer, judge.unfitted(), sums, contestants, np.random.default_rng(seed))
        else:
            answer = replace(answer, refit_stderr=selection.stderr)
        diagnostics = questioned(diagnostics, answer, winner, getattr(judge, "validator", None), rows)
        answer = weighed(answer, rows.weights, diagnostics.unsupported_mass)
        table = tabulated(estimators, selection, lambda name, one: estimated(name, one, rows))
    return Evaluation(
        estimate=answer,
        level=level,
        selected=chosen,
        estimator=winner,
        selector=judge,
        table=table,
        left_out=left_out,
        diagnostics=diagnostics,
        seed=int(seed),
        logged=estimated("log", Logged(), rows),
        method=interval_of(question.interval, "interval"),
    )


def rows_of(log: Log, target: Target, reward_model: Any) -> Rows:
    """Return the rows of a log for one target, with the reward model that the user wants."""
    return Rows.of(log, target, as_model(reward_model, log, target.draws))
