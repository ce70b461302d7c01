"""evaluate(), check(), compare() and estimate(): a log and what is asked in, the answer out of `assembly.py`.

The functions live here, because a module `evaluate.py` would take the place of `cf.evaluate` once it was imported.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import Any, Unpack, overload

from counterfold import intervals
from counterfold.base import registry
from counterfold.base.errors import ParameterError
from counterfold.base.messages import shorten
from counterfold.base.progress import Progress
from counterfold.base.threads import limit_blas
from counterfold.diagnostics import Diagnostics
from counterfold.engines.memory import RowEvidence
from counterfold.estimators.base import Estimator, require_frozen
from counterfold.estimators.estimates import Estimate
from counterfold.estimators.rows import Rows
from counterfold.estimators.unseen_rewards import Limits
from counterfold.evaluation.assembly import add_knowledge, check_targets, evaluate_targets
from counterfold.evaluation.candidates import Wanted, try_out
from counterfold.evaluation.comparison import Comparison as Comparison
from counterfold.evaluation.comparison import add_baseline, guard_comparison, list_targets, resolve_baseline
from counterfold.evaluation.guard import Guard, add_rewards, read_guards
from counterfold.evaluation.question import Question
from counterfold.evaluation.result import Candidate as Candidate
from counterfold.evaluation.result import Evaluation as Evaluation
from counterfold.evaluation.rewards import RewardEvaluations as RewardEvaluations
from counterfold.evaluation.rewards import join_rewards, require_one_reward
from counterfold.intervals.base import Interval
from counterfold.io.schema.scan import Columns, LogScan, open_log, require_known
from counterfold.log.assignment import choose_context
from counterfold.log.contents import Contents
from counterfold.log.log import Log
from counterfold.models import as_model
from counterfold.policies.given import as_target, find_form, has_fixed_shares, require_given
from counterfold.selectors.base import Selector


def estimate(log: Log, target: Any, estimator: Estimator | str, *, reward_model: Any = "default") -> Estimate:
    """Return the value of a target by one estimator, or by the name of one.

    >>> import counterfold as cf
    >>> log = cf.Log(action=[0, 1, 0, 1], reward=[0.0, 0.0, 1.0, 1.0], propensity=[0.8, 0.4, 0.5, 0.2])
    >>> cf.estimate(log, [0.4, 0.8, 0.5, 0.8], cf.SNIPS())
    Estimate(SNIPS: 0.6667 ± 0.3)
    """
    if not isinstance(log, Log):
        way = "Read a file or a data frame by `cf.read_log` first, or give it to `cf.evaluate`, which reads it."
        raise ParameterError(f"`log` must be a `Log`, got {shorten(log)}. {way}")
    with limit_blas():
        form = find_form(require_given(target))
        log = log if log.named_context or form.uses_context(has_table=False) else choose_context(log)[0]
        wanted = as_target(form, log)
        rows = Rows.of(log, wanted, as_model(reward_model, log, wanted.draws))
        one: Estimator = registry.resolve("estimators", Estimator, estimator, "`estimator` must be one")
        require_frozen(type(one))
        reason = one.find_obstacle(rows)
        if reason:
            raise ParameterError(f"{one.name} {reason}.")
        try_out(one, rows)
        evidence = RowEvidence.of(rows, Contents.of(log))
        return add_knowledge(evidence.estimate(one.name, one), evidence)


class Settings(Columns, total=False):
    """The arguments of `evaluate` besides the log and its target, for functions that call it."""

    candidates: Wanted | Sequence[Wanted]
    selector: Selector | str
    reward_model: Any
    seed: int
    level: float
    interval: Interval | str
    reward_range: Limits | None
    threads: int | None
    progress: Progress | bool
    engine: str


@overload
def evaluate(
    log: Log | LogScan | str | PathLike[str] | Any,
    target: Mapping[Any, float],
    candidates: Wanted | Sequence[Wanted] = "default",
    selector: Selector | str = "default",
    reward_model: Any = "default",
    *,
    seed: int = 0,
    level: float = 0.95,
    interval: Interval | str = intervals.DEFAULT,
    reward_range: Limits | None = None,
    threads: int | None = None,
    progress: Progress | bool = True,
    engine: str = "auto",
    **columns: Unpack[Columns],
) -> Evaluation: ...


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
    interval: Interval | str = intervals.DEFAULT,
    reward_range: Limits | None = None,
    threads: int | None = None,
    progress: Progress | bool = True,
    engine: str = "auto",
    **columns: Unpack[Columns],
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
    interval: Interval | str = intervals.DEFAULT,
    reward_range: Limits | None = None,
    threads: int | None = None,
    progress: Progress | bool = True,
    engine: str = "auto",
    **columns: Unpack[Columns],
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
    interval: Interval | str = intervals.DEFAULT,
    reward_range: Limits | None = None,
    threads: int | None = None,
    progress: Progress | bool = True,
    engine: str = "auto",
    **columns: Unpack[Columns],
) -> Evaluation | dict[str, Evaluation]:
    """Return what a target would have earned, by what the log itself trusts most among many estimators.

    - `log`: a `Log` in memory, the path of a file or folder that need not fit there, a data frame, or a `LogScan`.
    - `columns`: which column of a file or data frame has which role, by the arguments of `read_log`:
      `action="item_id", reward="click"`. What is not named is looked for under the role's own name. Several rewards,
      `reward=["click", "score - 0.2 * cost"]`, give a mapping of evaluations (`RewardEvaluations`) by reward.
    - `target`: probabilities (n x A), or (n) for the logged actions alone; the actions that it would take, as text (n),
      as one label or as `Actions`; a mapping {label: probability}; a callable of the context that returns any of these;
      a fitted classifier; or a policy such as `"0.1*uniform + 0.9*greedy:score"`, of which the page on targets has all.
      On a log of doses: the dose that the target would give in each row (n), or several draws of it (n x m). Of a file:
      the name of a column with any of these, or a label. A mapping of names to such targets, which has other values
      than plain numbers, gives a mapping of evaluations.
    - `candidates`: "default", "plain", "paper" (everything the paper tunes jointly), or any mixture of estimators and
      of classes or names of estimators, which stand for their own grids.
    - `selector`: a selector or the name of one; by default `Ladder`, or `OCV` on a log of doses.
    - `reward_model`: a reward model or the name of one, a scikit-learn estimator (one per action, or one on context and
      dose), predictions (n x A), or None; by default a cross-fitted `PooledRidge`, or `RidgeOnDose` on a log of doses;
      "best" is a cross-fitted `Stack` of several, which takes seconds.
    - `interval`: how the interval is made, by name or as an object; see the page on intervals.
    - `reward_range`: the least and the largest possible reward, if you know them; the answer lies between them. By
      default they are known where there are two different rewards, such as 0 and 1; and the least one is, where it is
      0 or the usual one, as for no purchase.
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
    >>> frame = {"item": action, "click": reward, "p": logging[:, 0], "new": np.where(action == 1, 0.9, 0.1)}
    >>> cf.evaluate(frame, "new", action="item", reward="click", propensity="p").verdict
    'good'
    """
    question = Question.of(candidates, selector, reward_model, seed, level, interval, reward_range)
    source, named = open_log(log, columns, evaluate), name_targets(target)
    targets = {"target": target} if named is None else named
    require_one_reward(source, reward_model)
    results = evaluate_targets(source, targets, question, threads=threads, progress=progress, engine=engine)
    found = join_rewards(source, results, RewardEvaluations)
    return found["target"] if named is None else found


def check(
    log: Log | LogScan | str | PathLike[str] | Any,
    target: Any = "target",
    *,
    engine: str = "auto",
    **columns: Unpack[Columns],
) -> Diagnostics | dict[str, Diagnostics]:
    """Return whether a log can answer for a target, without evaluating it: the findings, and the verdict they give.

    The arguments are those of `evaluate`; a mapping of names to targets gives a mapping of diagnostics, and so do
    several rewards.

    >>> import counterfold as cf
    >>> log = {"item": ["a", "b"] * 300, "click": [0, 1, 1] * 200, "propensity": [0.5] * 600, "new": ["b"] * 600}
    >>> cf.check(log, "new", action="item", reward="click").verdict
    'good'
    """
    source, named = open_log(log, columns, check), name_targets(target)
    targets = {"target": target} if named is None else named
    found = join_rewards(source, check_targets(source, targets, engine=engine), dict)
    return found["target"] if named is None else found


def name_targets(target: Any) -> Mapping[str, Any] | None:
    """Return several targets by their names, or None if there is one."""
    return target if isinstance(target, Mapping) and not has_fixed_shares(target) else None


def compare(
    log: Log | LogScan | str | PathLike[str] | Any,
    targets: Mapping[str, Any] | Sequence[str] | str,
    *,
    baseline: str | None = None,
    guards: Sequence[str] | str = (),
    **settings: Unpack[Settings],
) -> Comparison | dict[str, Comparison]:
    """Return how much more each target would have earned than the log did, or than the target `baseline`.

    `targets` are named, or are names of columns, to which a `baseline` that is not among them is added. Differences are
    paired row by row, so that their errors may be much smaller than those of the values. `guards` are limits on other
    rewards of the log, such as `"latency <= +2%"` of what the baseline has, `"refund <= +0.01"` or `"latency <= 200"`:
    `guarded` says which targets keep to all of them, and only these are chosen. The other arguments are those of
    `evaluate`; several rewards give a mapping of comparisons.

    >>> import counterfold as cf
    >>> log = {"item": ["a", "b"] * 300, "click": [0, 1, 1] * 200, "propensity": [0.5] * 600}
    >>> found = cf.compare(log, {"old": "a", "new": "b"}, baseline="old", action="item", reward="click")
    >>> [(line.target, line.verdict) for line in found.table]
    [('new', 'good')]
    """
    require_known({name: "" for name in settings if name not in Settings.__annotations__}, compare)
    named = list_targets(targets)
    if not isinstance(targets, Mapping):
        named = add_baseline(named, baseline)
    baseline = resolve_baseline(baseline, named)
    rules = read_guards(guards)
    if rules:
        return compare_guarded(log, named, baseline, rules, settings)
    found: Mapping[str, Any] = evaluate(log, named, **settings)
    first = next(iter(found.values()))
    if isinstance(first, RewardEvaluations):
        return {name: Comparison({target: found[target][name] for target in found}, baseline) for name in first}
    return Comparison(found, baseline)


def compare_guarded(
    log: Any, targets: Mapping[str, Any], baseline: str | None, guards: Sequence[Guard], settings: Settings
) -> Comparison:
    """Return a comparison with guards on other rewards, which are evaluated in the same pass over the log."""
    if isinstance(log, Log):
        raise ParameterError("`guards` must be given with a file or a data frame, got a `Log`, which has one reward.")
    is_scan = isinstance(log, LogScan)
    decisive, rewards = add_rewards(vars(log) if is_scan else settings, guards)
    source = replace(log, reward=rewards) if is_scan else log
    asked: Any = settings if is_scan else {**settings, "reward": rewards}
    found: Mapping[str, Any] = evaluate(source, targets, **asked)
    by_reward = {reward: {name: found[name][reward] for name in found} for reward in rewards}
    return guard_comparison(by_reward, baseline, guards, decisive)
