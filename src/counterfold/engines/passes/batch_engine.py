"""BatchEngine: runs one or two passes over a log, for all targets at once, and makes evidence of what they find."""

from collections.abc import Generator
from dataclasses import replace

from counterfold import log_checks
from counterfold.balance import BalanceSums
from counterfold.checks import Checker
from counterfold.contents import Contents, Spread
from counterfold.engines.base import Engine, Request
from counterfold.engines.passes.batches import BatchReader
from counterfold.engines.passes.first_pass import FirstPassSums
from counterfold.engines.passes.last_pass import LastPass, LastPassSums
from counterfold.engines.passes.plan import Plan
from counterfold.engines.passes.sum_evidence import SumEvidence
from counterfold.errors import MissingNumbersError
from counterfold.evidence import Evidence
from counterfold.progress import show_progress


class BatchEngine(Engine, BatchReader):
    """An engine that reads a log batch by batch, in one or two passes for all targets."""

    def gather(self, request: Request) -> Generator[tuple[str, Evidence]]:
        try:
            found = self._find_evidence(Plan.of(self, request), request)
        except MissingNumbersError:  # after first rows without a gap
            found = self._find_evidence(Plan.of(self, request, has_gaps=True), request)
        yield from found.items()

    def _find_evidence(self, plan: Plan, request: Request) -> dict[str, Evidence]:
        """Return the evidence on each target."""
        first, balance = None, None
        check = plan.builder.layout.checker(None)
        if plan.needs_first_pass:
            with show_progress("Pass 1 of 2: checking", progress=request.progress, unit="rows") as progress:
                first = self.total(plan.first_pass, plan.columns, progress)
            require_log(first.rewards, check)
            if first.groups is not None:
                check.several_groups(len(first.groups))
            plan, balance = plan.test_balance(sum_balance(plan, first))
        last_pass = prepare_last_pass(plan, first, request)
        with show_progress("Pass 2 of 2: estimating", progress=request.progress, unit="rows") as progress:
            last = self.total(last_pass, plan.columns, progress)
        require_log(last.rewards, check)
        if last.rewards == last.propensities:  # of all rows; the first ones tell for certain
            log_checks.refuse_copies(plan.log.reward, plan.log.propensity, last.rewards.count, check)
        if first is None:
            plan, balance = plan.test_balance(last.balance)
        contents = describe_contents(plan, first, last)
        evidence: dict[str, Evidence] = {}
        for name, found in last.targets.items():
            known = last_pass.samples[name], contents, found.unsupported, found.squared_weight, found.observed
            evidence[name] = SumEvidence(*known, found.sums.without_empty, last_pass.model, balance=balance)
        return evidence


def sum_balance(plan: Plan, first: FirstPassSums) -> BalanceSums | None:
    """Return what tells which columns are context: the sums of all rows, or of a row of each group in the sample."""
    layout, stream = plan.builder.layout, plan.first_pass.balance
    return stream.sums(layout.log(*first.batch)) if plan.builder.has_groups else first.balance


def require_log(rewards: Spread, check: Checker) -> None:
    """Require that all rows together are a log."""
    log_checks.require_rows(rewards.count)
    check.variation("reward", rewards.low, rewards.high, rewards.count)


def prepare_last_pass(plan: Plan, first: FirstPassSums | None, request: Request) -> LastPass:
    """Return what the last pass sums, once it is known who competes for every target."""
    batch, count, builder = plan.head, len(plan.head.row_numbers), plan.builder
    if first is not None:
        batch, count = first.batch, first.rewards.count
        seen = None if first.seen is None else first.seen > 0
        builder = replace(builder, layout=replace(builder.layout, seen=seen))
    model = plan.fit(first)
    samples = {name: replace(rows, stands_for=count) for name, rows in builder.build(batch, model)[1].items()}
    estimators = {name: request.list_estimators(rows) for name, rows in samples.items()}
    known_units = None if first is None else first.known_units
    balance = plan.first_pass.balance if first is None else None
    return LastPass(builder, model, estimators, samples, request.observers, known_units, balance)


def describe_contents(plan: Plan, first: FirstPassSums | None, last: LastPassSums) -> Contents:
    """Return what the log holds, by its first rows and by what the passes found."""
    known, groups = Contents.of(plan.log), None if first is None else first.group_count
    actions = known.actions if plan.builder.layout.actions is not None else ()
    log = replace(known, rewards=last.rewards, propensities=last.propensities, kept=last.kept)
    return replace(log, actions=actions, groups=groups)
