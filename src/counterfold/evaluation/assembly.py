"""The one assembly: from a question and the evidence of an engine to evaluations."""

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

Found = TypeVar("Found", Evaluation, Diagnostics)

UNITS = "jackknife over units"
"""The source of moves that all answers on one log share, if their selectors know such."""


class Results(NamedTuple, Generic[Found]):
    """What was found of every target by one reward, and what the log holds."""

    targets: dict[str, Found]
    contents: Contents

    def by(self, period: str | None) -> "Results[Found]":
        """Return the same, with tables over time by some period."""
        return Results({name: one.by(period) for name, one in self.targets.items()}, self.contents)


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
    """Return the evaluation of every target of a log by each of its rewards, by an engine or the name of one.

    `with_exhibits`: whether to compute the tables behind figures. The contenders of `learn` are evaluated without them.
    """
    pool = Pool(threads)
    progress = as_progress(progress)
    diagnostics = build_all()
    figures = build_figures() if with_exhibits else []
    where = engine if isinstance(engine, Engine) else choose_engine(source, engine, pool)
    if not where.keeps_rows:
        question.refuse_need_of_rows()

    def list_estimators(rows: Rows) -> Sequence[Estimator]:
        witnesses = list_witnesses(diagnostics, rows)
        return list(dict.fromkeys([*question.resolve(rows).required_estimators, *witnesses]))

    of_log: dict[str, Mapping[str, Measurement | None]] = {}  # what diagnostics measure of the log, by its reward

    def answer(reward: str, name: str, evidence: Evidence) -> Evaluation:
        require_range(evidence.contents.rewards, question.reward_range)
        warn_of_missing_support(evidence, name)
        visible = progress if where.keeps_rows else False  # choosing from sums takes no time
        by = "" if isinstance(source, Log) or len(source.rewards) == 1 else f" by {show(reward)}"
        with show_progress(f"Estimating {cut(show(name), 30)}{by}", progress=visible) as moved:
            if reward not in of_log:
                of_log[reward] = measure_log(evidence, diagnostics)
            assembly = Assembly(
                question=question,
                choice=question.resolve(evidence.rows),
                evidence=evidence,
                diagnostics=diagnostics,
                of_log=of_log[reward],
                figures=figures,
                pool=replace(pool, progress=moved),
            )
            return assembly.evaluate()

    def list_segmented(rows: Rows) -> Sequence[Estimator]:
        return question.resolve(rows).segmented_estimators

    request = Request(
        targets=targets,
        reward_model=question.needed_reward_model,
        list_estimators=list_estimators,
        list_segmented=list_segmented,
        needs_sample=question.needs_sample,
        observers=[*diagnostics, *figures, AssignmentObserver()],
        progress=progress,
    )
    return gather_results(where, request, answer)


def check_targets(
    source: Source, targets: Mapping[str, Any], *, engine: str = "auto"
) -> dict[str, Results[Diagnostics]]:
    """Return what the diagnostics say of every target of a log by each of its rewards, without evaluating any."""
    diagnostics = build_all()
    figures = [figure for figure in build_figures() if not figure.needs_answer]
    list_estimators = partial(list_witnesses, [one for one in diagnostics if not one.needs_answer])
    if not isinstance(source, Log) and source.by:
        raise ParameterError("`by` must be for `evaluate` or `compare`, which tell what segments would have earned.")
    observers = [*diagnostics, *figures]
    request = Request(targets, None, list_estimators, list_estimators, needs_sample=False, observers=observers)

    def find(_reward: str, _name: str, evidence: Evidence) -> Diagnostics:
        return replace(Diagnostics.of(evidence, diagnostics), exhibits=show_all(figures, evidence, None))

    return gather_results(choose_engine(source, engine, Pool()), request, find)


def list_witnesses(diagnostics: Sequence[Diagnostic], rows: Rows) -> list[Estimator]:
    """Return the estimators whose estimates diagnostics ask for."""
    return list(dict.fromkeys(witness for one in diagnostics for witness in one.witnesses(rows)))


def gather_results(
    engine: Engine, request: Request, find: Callable[[str, str, Evidence], Found]
) -> dict[str, Results[Found]]:
    """Return what is found from the evidence by every reward on every target."""
    if not request.targets:
        raise ParameterError("`target` must hold at least one target, got none.")
    found: dict[str, Results[Found]] = {}
    try:
        with limit_blas(), closing(engine.gather(request)) as several:
            for reward, name, evidence in several:
                results = found.setdefault(reward, Results({}, evidence.contents))
                results.targets[name] = find(reward, name, evidence)
    except MemoryError as error:
        raise DataError(capacity.explain_shortage()) from error
    return found


@dataclass(frozen=True, eq=False)
class Assembly:
    """What is asked of one target, and what is known to answer it."""

    question: Question
    choice: Choice
    evidence: Evidence
    diagnostics: Sequence[Diagnostic]
    of_log: Mapping[str, Measurement | None]
    figures: Sequence[FigureTable]
    pool: Pool

    def evaluate(self) -> Evaluation:
        """Return the answer: the choice among the candidates, its error, and what speaks against it."""
        question, choice, evidence = self.question, self.choice, self.evidence
        design = Design.of(evidence)
        selection = self.choose()
        unweighted = self.find_unweighted() if design.is_same_policy else None
        if unweighted is not None:
            selection = take_alone(selection, unweighted)
        candidates = choice.candidates
        winner = selection.answer(candidates)
        name = list(choice.estimators)[selection.chosen] if winner in candidates else winner.name
        logged = self.estimate_log(knows_moves=selection.moves is not None)
        if unweighted is None:
            estimate = self.estimate_target(name, winner, selection)
            less_shrunk = selection.for_differences
            if less_shrunk is not None:
                mixture = less_shrunk.answer(candidates)
                other = self.estimate_target(mixture.name, mixture, less_shrunk)
                estimate = replace(estimate, for_differences=other)
        else:
            estimate = replace(logged, name=name)
        table = self.tabulate(selection)
        values = {one.name: (one.value, one.stderr) for one in table}
        answered = Answered(estimate, estimate - logged, choice.estimators, values, selection)
        segmented_by = winner if unweighted is None else LoggedValue()
        assembly = SegmentAssembly(question, choice, evidence, answered, segmented_by)
        segments = assembly.answer_all(Pool(self.pool.threads))
        examined = Answer(estimate, winner, choice.selector.validator, segments, answered.uplift)
        shown = show_all(self.figures, evidence, answered)
        apart = {one.name: shown[one.name] for one in self.figures if not one.needs_answer and one.name in shown}
        return Evaluation(
            estimate=estimate,
            level=question.level,
            selected=name,
            estimator=winner,
            selector=choice.selector,
            table=table,
            left_out=choice.left_out,
            diagnostics=replace(Diagnostics.of(evidence, self.diagnostics, examined, self.of_log), exhibits=apart),
            seed=question.seed,
            logged=logged,
            method=question.interval,
            contents=evidence.contents,
            exhibits=shown,
            segmented=segments,
            design=design,
        )

    def find_unweighted(self) -> int | None:
        """Return the place of a candidate that is the mean reward where all weights are 1, if there is one.

        The policy that logged earned the log's mean, without an error of a reward model or of a choice.
        """
        candidates = self.choice.candidates
        return next((candidates.index(one) for one in (SNIPS(), IPS()) if one in candidates), None)

    def choose(self) -> Selection:
        """Return what the selector chooses; one of a user may raise anything, or return no scores."""
        if self.choice.is_settled:
            return Selection(scores=np.zeros(1), chosen=0, shares=np.ones(1))
        selector, candidates = self.choice.selector, self.choice.candidates
        given = selector, candidates, np.random.default_rng(self.question.seed), self.pool
        if is_own(type(selector)):
            return self.evidence.choose(*given)
        with blame(ParameterError, "the selector {}", type(selector).__name__):
            selection = self.evidence.choose(*given)
        if np.shape(selection.scores) != (len(candidates),) or np.isnan(selection.scores).any():
            rule = f"return one score per candidate ({len(candidates)})"
            got = shorten(selection.scores)
            raise ParameterError(f"the selector {type(selector).__name__} must {rule}, got {got}.")
        return selection

    def estimate_target(self, name: str, estimator: Estimator, selection: Selection) -> Estimate:
        """Return what the chosen estimator says of the target, with all that its error and its interval rest on."""
        estimate = self.include_noise(self.evidence.estimate(name, estimator), estimator, selection)
        return self.complete(include_propensities(estimate, self.evidence.find_propensity_variance(estimator)))

    def include_noise(self, estimate: Estimate, winner: Estimator, selection: Selection) -> Estimate:
        """Return the answer with an error that includes the noise of fitting a reward model and of choosing.

        A selector may know its error better. One that needs all rows cannot choose anew from sums.
        """
        if selection.moves is not None:
            return replace(estimate, moves=Moves(UNITS, selection.moves), bias_variance=selection.bias_variance)
        selector, candidates = self.choice.selector, self.choice.candidates
        estimate = self.evidence.include_fitting(estimate, winner, self.pool)
        if len(candidates) < 2 or "all_rows" in selector.needs:
            return estimate
        sums = self.evidence.sum_units(list(dict.fromkeys([*candidates, *selector.witnesses])), Pool(self.pool.threads))
        rng = np.random.default_rng(self.question.seed)  # a fresh one, so that engines choose anew alike
        return include_choosing(estimate, selector.without_refits(), sums, candidates, rng)

    def complete(self, estimate: Estimate) -> Estimate:
        """Return the answer with all that its interval rests on, and within the possible rewards if they are known."""
        question = self.question
        known = add_knowledge(estimate, self.evidence, question.reward_range)
        shift = float(np.clip(known.value, *known.unseen.limits)) - known.value
        contributions = known.contributions + shift if shift else known.contributions
        return replace(known, contributions=contributions, level=question.level, method=question.interval)

    def estimate_log(self, *, knows_moves: bool) -> Estimate:
        """Return what the log earned, with its moves if they are paired with those of the answer."""
        evidence = self.evidence
        logged = evidence.estimate("log", LoggedValue())
        alike = count_alike(evidence)
        exposure = Exposure(weigh_evenly(evidence.rows, np.ones(len(evidence.rows))), evidence.row_count / alike)
        effective = evidence.contents.rewards.effective / alike
        unseen = evidence.foresee(logged.value, effective, self.question.reward_range)
        moves = logged.moves
        if knows_moves:
            sums = evidence.sum_units([LoggedValue()], Pool(self.pool.threads))
            moves = Moves(UNITS, sums.jackknife([LoggedValue()])[1][0])
        known = replace(logged, exposure=exposure, unseen=unseen, moves=moves)
        return replace(known, level=self.question.level, method=self.question.interval)

    def tabulate(self, selection: Selection) -> list[Candidate]:
        """Return a line for every candidate."""
        estimates = (self.evidence.estimate(name, one) for name, one in self.choice.estimators.items())
        scored = zip(estimates, selection.scores.tolist(), selection.shares.tolist(), strict=True)
        return [
            Candidate(one.name, one.value, one.stderr, score, place == selection.chosen, share)
            for place, (one, score, share) in enumerate(scored)
        ]


def take_alone(selection: Selection, place: int) -> Selection:
    """Return the choice of one candidate instead of another, or of a mixture; the scores stay as they are."""
    shares = np.zeros(len(selection.shares))
    shares[place] = 1.0
    return replace(selection, chosen=place, shares=shares, bias_variance=0.0, for_differences=None)


def include_propensities(estimate: Estimate, variance: float) -> Estimate:
    """Return the answer with an error that includes the noise of fitting propensities, which nothing else shows."""
    return replace(estimate, added_variance=estimate.added_variance + variance)


def add_knowledge(estimate: Estimate, evidence: Evidence, limits: Limits | None = None) -> Estimate:
    """Return an estimate with all that intervals rest on; some use weights, if these are known to be 1 on average."""
    missing, weights = evidence.unsupported, evidence.mean_weight.contributions
    is_known = evidence.rows.kind == "labels" and missing is not None and missing.total == 0
    alike = count_alike(evidence)
    exposure = Exposure(weigh_evenly(evidence.rows, evidence.rows.weights), evidence.row_count / alike)
    unseen = evidence.foresee(estimate.value, evidence.effective_rows / alike, limits)
    return replace(estimate, weights=weights if is_known else None, exposure=exposure, unseen=unseen)


def weigh_evenly(rows: Rows, weights: Floats) -> Floats:
    """Return weights as they are where all rows stand for the same number of decisions."""
    return weights if rows.counts is None else weights * (rows.counts / rows.counts.mean())


def require_range(rewards: Spread, limits: Limits | None) -> None:
    """Require rewards between the least and the largest possible one, if the user stated these."""
    if limits is not None and not limits[0] <= rewards.low <= rewards.high <= limits[1]:
        stated = f"`reward_range`, which is {limits[0]:g} to {limits[1]:g}"
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
