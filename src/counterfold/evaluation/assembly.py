"""Assembly: evaluations from a question and the evidence that an engine gathers."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from counterfold.base import capacity
from counterfold.base.arrays import Floats
from counterfold.base.errors import DataError, ParameterError, SupportWarning, blame, count_own_frames, is_own
from counterfold.base.messages import cut, shorten, show
from counterfold.base.progress import Progress, as_progress, show_progress
from counterfold.base.threads import Pool, limit_blas
from counterfold.diagnostics import Answer, Diagnostic, Diagnostics, Measurement, build_all, measure_log
from counterfold.engines import choose_engine
from counterfold.engines.base import Engine, Request, Source
from counterfold.estimators.base import Estimator, LoggedValue
from counterfold.estimators.estimates import Estimate, Exposure, Moves
from counterfold.estimators.ips import IPS
from counterfold.estimators.rows import Rows
from counterfold.estimators.snips import SNIPS
from counterfold.estimators.unseen_rewards import Limits
from counterfold.evaluation.design import AssignmentObserver, Design
from counterfold.evaluation.noise import include_choosing
from counterfold.evaluation.question import Choice, Question
from counterfold.evaluation.result import Candidate, Evaluation
from counterfold.evaluation.segments import SegmentAssembly
from counterfold.evidence.evidence import Evidence, count_alike
from counterfold.evidence.figure_tables import Answered, FigureTable, build_figures, show_all
from counterfold.log.contents import Contents, Spread
from counterfold.log.log import Log
from counterfold.selectors.base import Selection

Result = TypeVar("Result", Evaluation, Diagnostics)

JACKKNIFE_SOURCE = "jackknife over units"
"""The source of the moves of all estimates on one log whose selectors compute a jackknife; such moves are paired."""


class Results(NamedTuple, Generic[Result]):
    """The results of all targets by one reward, and the contents of the log."""

    targets: dict[str, Result]
    contents: Contents

    def by(self, period: str | None) -> "Results[Result]":
        """Return the same results, with tables over time by this period."""
        targets = {name: result.by(period) for name, result in self.targets.items()}
        return Results(targets=targets, contents=self.contents)


def evaluate_targets(
    source: Source,
    targets: Mapping[str, Any],
    question: Question,
    *,
    threads: int | None = None,
    progress: Progress | bool = True,
    engine: Engine | str = "auto",
    with_exhibits: bool = True,
) -> dict[str, Results[Evaluation]]:
    """Return the evaluation of every target of a log by each of its rewards.

    `engine`: an engine or its name.
    `with_exhibits`: whether to compute the tables behind figures. The contenders of `learn` are evaluated without them.
    """
    pool = Pool(threads)
    progress = as_progress(progress)
    diagnostics = build_all()
    figures = build_figures() if with_exhibits else []
    if not isinstance(engine, Engine):
        engine = choose_engine(source, engine, pool)
    if not engine.keeps_rows:
        question.refuse_need_of_rows()

    def list_estimators(rows: Rows) -> Sequence[Estimator]:
        witnesses = list_witnesses(diagnostics, rows)
        return list(dict.fromkeys([*question.resolve(rows).required_estimators, *witnesses]))

    def list_segmented(rows: Rows) -> Sequence[Estimator]:
        return question.resolve(rows).segmented_estimators

    # Some diagnostics examine the log alone. They measure it once for each reward, not for each target.
    measurements_of_log: dict[str, Mapping[str, Measurement | None]] = {}

    def evaluate(reward: str, name: str, evidence: Evidence) -> Evaluation:
        require_range(evidence.contents.rewards, question.reward_range)
        warn_of_missing_support(evidence, name)
        title = f"Estimating {cut(show(name), 30)}"
        if not isinstance(source, Log) and len(source.rewards) != 1:
            title += f" by {show(reward)}"
        # Choosing from sums takes no time, so no progress is shown.
        shown_progress = progress if engine.keeps_rows else False
        with show_progress(title, progress=shown_progress) as started_progress:
            if reward not in measurements_of_log:
                measurements_of_log[reward] = measure_log(evidence, diagnostics)
            assembly = Assembly(
                question=question,
                choice=question.resolve(evidence.rows),
                evidence=evidence,
                diagnostics=diagnostics,
                of_log=measurements_of_log[reward],
                figures=figures,
                pool=replace(pool, progress=started_progress),
            )
            return assembly.evaluate()

    request = Request(
        targets=targets,
        reward_model=question.needed_reward_model,
        list_estimators=list_estimators,
        list_segmented=list_segmented,
        needs_sample=question.needs_sample,
        observers=[*diagnostics, *figures, AssignmentObserver()],
        progress=progress,
    )
    return gather_results(engine, request, evaluate)


def check_targets(
    source: Source, targets: Mapping[str, Any], *, engine: str = "auto"
) -> dict[str, Results[Diagnostics]]:
    """Return the diagnostics of every target of a log by each of its rewards, without evaluating any target."""
    diagnostics = build_all()
    figures = [figure for figure in build_figures() if not figure.needs_answer]
    if not isinstance(source, Log) and source.by:
        raise ParameterError("`by` must be for `evaluate` or `compare`, which tell what segments would have earned.")

    def check(_reward: str, _name: str, evidence: Evidence) -> Diagnostics:
        exhibits = show_all(figures, evidence, None)
        return replace(Diagnostics.of(evidence, diagnostics), exhibits=exhibits)

    list_estimators = partial(list_witnesses, [diagnostic for diagnostic in diagnostics if not diagnostic.needs_answer])
    request = Request(
        targets=targets,
        reward_model=None,
        list_estimators=list_estimators,
        list_segmented=list_estimators,
        needs_sample=False,
        observers=[*diagnostics, *figures],
    )
    return gather_results(choose_engine(source, engine, Pool()), request, check)


def list_witnesses(diagnostics: Sequence[Diagnostic], rows: Rows) -> list[Estimator]:
    """Return the estimators whose estimates the diagnostics use, each once."""
    return list(dict.fromkeys(witness for diagnostic in diagnostics for witness in diagnostic.witnesses(rows)))


def gather_results(
    engine: Engine, request: Request, examine: Callable[[str, str, Evidence], Result]
) -> dict[str, Results[Result]]:
    """Return the results by reward and target.

    `examine` computes a result from a reward, the name of a target and the evidence on both.
    """
    if not request.targets:
        raise ParameterError("`target` must hold at least one target, got none.")
    results_by_reward: dict[str, Results[Result]] = {}
    try:
        with limit_blas(), closing(engine.gather(request)) as gathered:
            for reward, name, evidence in gathered:
                results = results_by_reward.setdefault(reward, Results(targets={}, contents=evidence.contents))
                results.targets[name] = examine(reward, name, evidence)
    except MemoryError as error:
        raise DataError(capacity.explain_shortage()) from error
    return results_by_reward


@dataclass(frozen=True, eq=False)
class Assembly:
    """Everything that the evaluation of one target is computed from.

    - `question`: what the user asked.
    - `choice`: the candidates that apply to this target, and the selector.
    - `evidence`: what the engine computed from the log for this target.
    - `diagnostics`: the diagnostics to run.
    - `of_log`: the measurements of those diagnostics that examine the log alone.
    - `figures`: the figures whose tables are computed.
    - `pool`: threads to compute with.
    """

    question: Question
    choice: Choice
    evidence: Evidence
    diagnostics: Sequence[Diagnostic]
    of_log: Mapping[str, Measurement | None]
    figures: Sequence[FigureTable]
    pool: Pool

    def evaluate(self) -> Evaluation:
        """Return the evaluation: the choice among the candidates, the estimate with its error, and the diagnostics."""
        question = self.question
        choice = self.choice
        evidence = self.evidence
        candidates = choice.candidates

        design = Design.of(evidence)
        selection = self.choose()
        unweighted = self.find_unweighted() if design.is_same_policy else None
        if unweighted is not None:
            selection = take_alone(selection, unweighted)
        winner = selection.answer(candidates)
        # A winner that is no candidate is a mixture, which has a name of its own.
        name = list(choice.estimators)[selection.chosen] if winner in candidates else winner.name

        logged = self.estimate_log(is_paired=selection.moves is not None)
        if unweighted is None:
            estimate = self.estimate_target(name, winner, selection)
            less_shrunk = selection.for_differences
            if less_shrunk is not None:
                mixture = less_shrunk.answer(candidates)
                for_differences = self.estimate_target(mixture.name, mixture, less_shrunk)
                estimate = replace(estimate, for_differences=for_differences)
        else:
            estimate = replace(logged, name=name)

        table = self.tabulate(selection)
        answered = Answered(
            estimate=estimate,
            uplift=estimate - logged,
            estimators=choice.estimators,
            values={candidate.name: (candidate.value, candidate.stderr) for candidate in table},
            selection=selection,
        )
        segments = SegmentAssembly(
            question=question,
            choice=choice,
            evidence=evidence,
            answered=answered,
            winner=winner if unweighted is None else LoggedValue(),
        ).answer_all(Pool(self.pool.threads))
        answer = Answer(
            estimate=estimate,
            estimator=winner,
            validator=choice.selector.validator,
            segments=segments,
            uplift=answered.uplift,
        )
        exhibits = show_all(self.figures, evidence, answered)
        exhibits_of_log = {
            figure.name: exhibits[figure.name]
            for figure in self.figures
            if not figure.needs_answer and figure.name in exhibits
        }
        diagnostics = Diagnostics.of(evidence, self.diagnostics, answer, self.of_log)
        return Evaluation(
            estimate=estimate,
            level=question.level,
            selected=name,
            estimator=winner,
            selector=choice.selector,
            table=table,
            left_out=choice.left_out,
            diagnostics=replace(diagnostics, exhibits=exhibits_of_log),
            seed=question.seed,
            logged=logged,
            method=question.interval,
            contents=evidence.contents,
            exhibits=exhibits,
            segmented=segments,
            design=design,
        )

    def find_unweighted(self) -> int | None:
        """Return the index of a candidate that is the mean reward where all weights are 1; None without such a one.

        It estimates the value of the policy that logged by the mean reward of the log, without the error of a reward
        model or of a choice.
        """
        candidates = self.choice.candidates
        for estimator in (SNIPS(), IPS()):
            if estimator in candidates:
                return candidates.index(estimator)
        return None

    def choose(self) -> Selection:
        """Return the selection of the selector.

        A selector written by a user may raise any error, or return invalid scores.
        """
        if self.choice.is_settled:
            return Selection(scores=np.zeros(1), chosen=0, shares=np.ones(1))
        selector = self.choice.selector
        candidates = self.choice.candidates
        rng = np.random.default_rng(self.question.seed)
        if is_own(type(selector)):
            return self.evidence.choose(selector, candidates, rng, self.pool)
        with blame(ParameterError, "the selector {}", type(selector).__name__):
            selection = self.evidence.choose(selector, candidates, rng, self.pool)
        if np.shape(selection.scores) != (len(candidates),) or np.isnan(selection.scores).any():
            rule = f"return one score per candidate ({len(candidates)})"
            scores = shorten(selection.scores)
            raise ParameterError(f"the selector {type(selector).__name__} must {rule}, got {scores}.")
        return selection

    def estimate_target(self, name: str, estimator: Estimator, selection: Selection) -> Estimate:
        """Return the estimate of the target by the chosen estimator, with everything that its interval needs."""
        estimate = self.evidence.estimate(name, estimator)
        estimate = self.include_noise(estimate, estimator, selection)
        propensity_variance = self.evidence.find_propensity_variance(estimator)
        return self.complete(include_propensities(estimate, propensity_variance))

    def include_noise(self, estimate: Estimate, winner: Estimator, selection: Selection) -> Estimate:
        """Return the estimate with an error that includes the noise of fitting a reward model and of choosing."""
        if selection.moves is not None:  # the selector measured the error itself
            return replace(
                estimate,
                moves=Moves(source=JACKKNIFE_SOURCE, values=selection.moves),
                bias_variance=selection.bias_variance,
            )
        selector = self.choice.selector
        candidates = self.choice.candidates
        estimate = self.evidence.include_fitting(estimate, winner, self.pool)
        # A selector that needs all rows cannot choose again from sums.
        if len(candidates) < 2 or "all_rows" in selector.needs:
            return estimate
        summed = list(dict.fromkeys([*candidates, *selector.witnesses]))
        sums = self.evidence.sum_units(summed, Pool(self.pool.threads))
        rng = np.random.default_rng(self.question.seed)  # a fresh one, so that all engines repeat the same choices
        return include_choosing(estimate, selector.without_refits(), sums, candidates, rng)

    def complete(self, estimate: Estimate) -> Estimate:
        """Return the estimate with everything that its interval needs, within the possible rewards if known."""
        question = self.question
        estimate = add_knowledge(estimate, self.evidence, question.reward_range)
        shift = float(np.clip(estimate.value, *estimate.unseen.limits)) - estimate.value
        contributions = estimate.contributions + shift if shift else estimate.contributions
        return replace(estimate, contributions=contributions, level=question.level, method=question.interval)

    def estimate_log(self, *, is_paired: bool) -> Estimate:
        """Return the estimate of what the log earned.

        `is_paired`: whether the moves of the target's estimate are those of a jackknife over units. Those of the log
        are then computed over the same units, so that the difference has a paired error.
        """
        evidence = self.evidence
        question = self.question
        logged = evidence.estimate("log", LoggedValue())
        design_effect = count_alike(evidence)
        exposure = Exposure(
            weights=weigh_evenly(evidence.rows, np.ones(len(evidence.rows))),
            rows=evidence.row_count / design_effect,
        )
        effective_rows = evidence.contents.rewards.effective / design_effect
        unseen = evidence.foresee(logged.value, effective_rows, question.reward_range)
        moves = logged.moves
        if is_paired:
            sums = evidence.sum_units([LoggedValue()], Pool(self.pool.threads))
            _, jackknife_moves = sums.jackknife([LoggedValue()])
            moves = Moves(source=JACKKNIFE_SOURCE, values=jackknife_moves[0])
        return replace(
            logged,
            exposure=exposure,
            unseen=unseen,
            moves=moves,
            level=question.level,
            method=question.interval,
        )

    def tabulate(self, selection: Selection) -> list[Candidate]:
        """Return a line for every candidate."""
        named = self.choice.estimators.items()
        scores = selection.scores.tolist()
        shares = selection.shares.tolist()
        table = []
        for index, ((name, estimator), score, share) in enumerate(zip(named, scores, shares, strict=True)):
            estimate = self.evidence.estimate(name, estimator)
            table.append(
                Candidate(
                    name=estimate.name,
                    value=estimate.value,
                    stderr=estimate.stderr,
                    score=score,
                    chosen=index == selection.chosen,
                    share=share,
                )
            )
        return table


def take_alone(selection: Selection, index: int) -> Selection:
    """Return the selection of one candidate alone instead of another or of a mixture. The scores do not change."""
    shares = np.zeros(len(selection.shares))
    shares[index] = 1.0
    return replace(selection, chosen=index, shares=shares, bias_variance=0.0, for_differences=None)


def include_propensities(estimate: Estimate, variance: float) -> Estimate:
    """Return the estimate with the variance that fitting propensities adds; no other part of the error includes it."""
    return replace(estimate, added_variance=estimate.added_variance + variance)


def add_knowledge(estimate: Estimate, evidence: Evidence, limits: Limits | None = None) -> Estimate:
    """Return an estimate with everything that intervals need.

    Some intervals use weights, which is valid only if these are known to be 1 on average: the actions are labels, and
    the log supports all that the target does.
    """
    missing = evidence.unsupported
    weights = evidence.mean_weight.contributions
    has_known_mean = evidence.rows.kind == "labels" and missing is not None and missing.total == 0
    design_effect = count_alike(evidence)
    exposure = Exposure(
        weights=weigh_evenly(evidence.rows, evidence.rows.weights),
        rows=evidence.row_count / design_effect,
    )
    unseen = evidence.foresee(estimate.value, evidence.effective_rows / design_effect, limits)
    return replace(estimate, weights=weights if has_known_mean else None, exposure=exposure, unseen=unseen)


def weigh_evenly(rows: Rows, weights: Floats) -> Floats:
    """Return the weights, each times the number of decisions that its row stands for, relative to the mean number."""
    return weights if rows.counts is None else weights * (rows.counts / rows.counts.mean())


def require_range(rewards: Spread, limits: Limits | None) -> None:
    """Require that all rewards lie within the possible rewards, if the user stated these."""
    if limits is None:
        return
    low, high = limits
    if not low <= rewards.low <= rewards.high <= high:
        stated = f"`reward_range`, which is {low:g} to {high:g}"
        raise DataError(f"`reward` must lie within {stated}, got {rewards.low:g} to {rewards.high:g}.")


def warn_of_missing_support(evidence: Evidence, target: str) -> None:
    """Warn if the target may take actions that the log could never take."""
    missing = evidence.unsupported
    if missing is None or not evidence.lacks_support:
        return
    warning = SupportWarning(
        f"the target puts {evidence.unsupported_mass:.2%} of its probability, in {missing.row_count} of "
        f"{evidence.row_count} rows, on actions that the log could never take; it cannot tell what they earn",
    )
    warning.target = target
    warnings.warn(warning, stacklevel=count_own_frames() + 1)
