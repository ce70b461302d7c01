"""BatchEngine: runs passes over a log, for all rewards and targets at once, and makes evidence of what they find."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from counterfold.base.errors import MissingNumbersError
from counterfold.base.progress import Progress, show_progress
from counterfold.base.validation import Checker
from counterfold.engines.base import Engine, Request
from counterfold.engines.passes.batches import BatchReader, PreparedRows
from counterfold.engines.passes.contexts import find_context_groups
from counterfold.engines.passes.drawing import Count, Drawn, draw_sample
from counterfold.engines.passes.first_pass import FirstPassSums
from counterfold.engines.passes.last_pass import LastPass, LastPassSums
from counterfold.engines.passes.plan import Plan
from counterfold.engines.passes.sum_evidence import SumEvidence
from counterfold.estimators.base import Estimator
from counterfold.estimators.sums import add_known
from counterfold.evidence.evidence import Evidence
from counterfold.io.schema.batches import Batch, Pass, Result, Task, run_together
from counterfold.io.schema.prepared import choose_preparation
from counterfold.io.schema.same_context import COLUMN, ContextGroups
from counterfold.log import log_checks
from counterfold.log.assignment import BalanceSums
from counterfold.log.contents import Contents, Spread


class BatchEngine(Engine, BatchReader):
    """An engine that reads a log batch by batch; each pass over its rows is one for all rewards and targets.

    What was `drawn` from the log before is not read again: evidence is of all other rows. `groups` are rows of the same
    context, where nobody named groups.
    """

    drawn: Drawn | None
    groups: ContextGroups | None

    def gather(self, request: Request) -> Generator[tuple[str, str, Evidence]]:
        rows_by_reward = self._prepare_rewards(progress=request.progress)
        tasks = [find_evidence(rows, request) for rows in rows_by_reward]
        results = self._run(tasks, progress=request.progress)
        for rows, targets in zip(rows_by_reward, results, strict=True):
            for name, evidence in targets.items():
                yield str(rows.scan.reward), name, evidence

    def find_groups(self, *, progress: Progress | bool) -> ContextGroups | None:
        """Return which rows of a log with one reward have the same context, if nobody named groups and any do."""
        (rows,) = self._prepare_rewards(progress=progress)
        return self._run([find_context_groups(rows)], progress=progress)[0]

    def draw(self, count: Count, *, progress: Progress | bool) -> Drawn:
        """Return some rows of a log with one reward, all of a group or none, as a log in memory."""
        (rows,) = self._prepare_rewards(progress=progress)
        return self._run([draw_sample(rows, count)], progress=progress)[0]

    def _prepare_rewards(self, *, progress: Progress | bool) -> list[PreparedRows]:
        """Return the rows of the log as each of its rewards needs them, without those that were drawn before."""
        scans = list(self.scan.split().values())
        tasks = [choose_preparation(scan, self.find_schema).learn() for scan in scans]
        preparations = self._run(tasks, progress=progress)
        if self.drawn is not None:
            scans = [scan.know_actions(self.drawn.log.known_actions) for scan in scans]
            preparations = [replace(preparation, drawn=self.drawn.units) for preparation in preparations]
        if self.groups is not None:
            scans = [scan.name_group(COLUMN) for scan in scans]
            preparations = [replace(preparation, groups=self.groups) for preparation in preparations]
        heads = self.read_heads(preparations)
        return [
            PreparedRows(
                scan=scan,
                preparation=preparation,
                head=Batch(preparation.mark_schema(head.table), head.row_numbers),
                row_count=self.count_rows() - preparation.dropped,
            )
            for scan, preparation, head in zip(scans, preparations, heads, strict=True)
        ]

    def _run(self, tasks: Sequence[Task[Result]], *, progress: Progress | bool) -> list[Result]:
        """Return what tasks find, one for each reward; the passes that they ask for at the same time are one."""

        def total(passes: list[Pass]) -> Sequence[Any]:
            label = " and ".join(dict.fromkeys(one.label for one in passes))
            by = "" if len(passes) == 1 else f" for {len(passes)} rewards"
            columns = list(dict.fromkeys(name for one in passes for name in one.columns))
            try:
                with show_progress(f"{label}{by}", progress=progress, unit="rows") as moved:
                    return self.total(JointWork(passes), columns, moved).found
            except MissingNumbersError as error:
                return [error] * len(passes)

        return run_together(tasks, total)


@dataclass(frozen=True, eq=False)
class JointSums:
    """What each of several passes found, or the error that ended it; what they found of different rows can be added."""

    found: Sequence[Any]

    def __add__(self, other: "JointSums") -> "JointSums":
        return JointSums([add_found(*both) for both in zip(self.found, other.found, strict=True)])


def add_found(one: Any, other: Any) -> Any:
    """Return the sum of what a pass found of different rows, or the error that ended it."""
    ended = [found for found in (one, other) if isinstance(found, MissingNumbersError)]
    return ended[0] if ended else add_known(one, other)


@dataclass(frozen=True, eq=False)
class JointWork:
    """What several passes do with the same batch; a late gap ends one alone, unless it ends all of them."""

    passes: Sequence[Pass]

    def __call__(self, batch: Batch) -> JointSums:
        """Return what each pass knows of a batch."""
        found: list[Any] = []
        for one in self.passes:
            try:
                found.append(one.work_on(batch))
            except MissingNumbersError as error:
                found.append(error)
        if all(isinstance(one, MissingNumbersError) for one in found):
            raise found[0]
        return JointSums(found)


def find_evidence(rows: PreparedRows, request: Request) -> Task[dict[str, Evidence]]:
    """Return the evidence on each target, by one reward."""
    try:
        return (yield from sum_targets((yield from Plan.of(rows, request)), rows, request))
    except MissingNumbersError:  # after first rows without a gap
        return (yield from sum_targets((yield from Plan.of(rows, request, has_gaps=True)), rows, request))


def sum_targets(plan: Plan, rows: PreparedRows, request: Request) -> Task[dict[str, Evidence]]:
    """Return the evidence on each target, by the passes of a plan."""
    first, balance = None, None
    check = plan.builder.schema.roles.checker(None)
    if plan.needs_first_pass:
        first = yield rows.ask("Pass 1 of 2: checking", plan.first_pass, plan.columns)
        require_log(first.rewards, check)
        if first.groups is not None:
            log_checks.require_groups(len(first.groups), check)
        plan, balance = plan.test_balance(sum_balance(plan, first))
    last_pass = prepare_last_pass(plan, first, request)
    last = yield rows.ask("Pass 2 of 2: estimating", last_pass, plan.columns)
    require_log(last.rewards, check)
    if last.rewards == last.propensities:  # of all rows; the first ones tell for certain
        log_checks.refuse_copies(plan.log.reward, plan.log.propensity, last.rewards.count, check)
    if first is None:
        plan, balance = plan.test_balance(last.balance)
    contents = replace(describe_contents(plan, first, last), cuts=last_pass.builder.schema.segments.cuts)
    evidence: dict[str, Evidence] = {}
    for name, target in last.targets.items():
        sample = last_pass.samples[name]
        evidence[name] = SumEvidence(
            rows=sample,
            contents=contents,
            unsupported=target.unsupported,
            squared_weight=target.squared_weight,
            observed={**last.observed, **target.observed},
            sums=target.sums.without_empty,
            model=last_pass.models.get(name),
            segments=target.segments,
            all_rows=plan.unfit_rows(sample, last.rewards.count),
            balance=balance,
        )
    return evidence


def sum_balance(plan: Plan, first: FirstPassSums) -> BalanceSums | None:
    """Return what tells which columns are context: the sums of all rows, or of a row of each group in the sample."""
    if not plan.builder.has_groups:
        return first.balance
    return plan.first_pass.balance.sums(plan.builder.schema.read_log(*first.batch))


def require_log(rewards: Spread, check: Checker) -> None:
    """Require that all rows together are a log."""
    log_checks.require_rows(rewards.count)
    check.variation("reward", rewards.low, rewards.high, rewards.count)


def prepare_last_pass(plan: Plan, first: FirstPassSums | None, request: Request) -> LastPass:
    """Return what the last pass sums, once it is known who competes for every target."""
    batch = plan.head
    count = len(plan.head.row_numbers)
    builder = plan.builder
    if first is not None:
        batch = first.batch
        count = first.rewards.count
        schema = builder.schema
        seen = None if first.seen is None else first.seen > 0
        schema = replace(
            schema,
            actions=replace(schema.actions, seen=seen),
            segments=schema.segments.learn(first.by),
        )
        builder = replace(builder, schema=schema)
    models = plan.fit(first)
    samples = {name: replace(rows, stands_for=count) for name, rows in builder.build(batch, models)[1].items()}
    estimators = {name: request.list_estimators(rows) for name, rows in samples.items()}
    segmented: dict[str, Sequence[Estimator]] = {}
    if builder.schema.segments.cuts:
        segmented = {name: request.list_segmented(rows) for name, rows in samples.items()}
    return LastPass(
        builder=builder,
        models=models,
        estimators=estimators,
        segmented=segmented,
        samples=samples,
        observers=request.observers,
        known_units=None if first is None else first.known_units,
        balance=plan.first_pass.balance if first is None else None,
    )


def describe_contents(plan: Plan, first: FirstPassSums | None, last: LastPassSums) -> Contents:
    """Return what the log holds, by its first rows and by what the passes found."""
    of_first_rows = Contents.of(plan.log)
    knows_actions = plan.builder.schema.actions.labels is not None
    return replace(
        of_first_rows,
        rewards=last.rewards,
        propensities=last.propensities,
        kept=last.kept,
        actions=of_first_rows.actions if knows_actions else (),
        groups=None if first is None else first.group_count,
    )
