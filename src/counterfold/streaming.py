"""Evaluation of logs that are never in memory as a whole: two passes over a few rows at a time, whose results add up.

The first fits the reward model from sums and takes a sample, the second sums what every candidate says over buckets of
rows; all the rest is computed from these sums as it is from rows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from counterfold import checks, parts
from counterfold.arrays import Ints
from counterfold.candidates import depend_on_rows, gathered
from counterfold.contents import Contents
from counterfold.diagnostics import Diagnostics
from counterfold.engines.base import Batch, Engine
from counterfold.errors import DataError, ParameterError
from counterfold.evaluation import Evaluation
from counterfold.judging import Contest
from counterfold.log import Log
from counterfold.models import as_model
from counterfold.models._given import Given
from counterfold.models._streamed import Streamed, fitted_on, model_stream
from counterfold.models.base import RewardModel
from counterfold.pool import one_blas_thread
from counterfold.progress import Progress, shown
from counterfold.question import Question
from counterfold.readers import LogScan
from counterfold.settling import judge_of, settled
from counterfold.sums import BUCKETS
from counterfold.survey import GROUPS, Survey, Surveying, sample_size
from counterfold.tally import Aim, Looking, Tally, Tallying

if TYPE_CHECKING:
    import pyarrow as pa

    from counterfold.readers._layout import Layout

HEAD = 1 << 14
"""How many of the first rows tell what the columns hold."""


def evaluate_scan(
    scan: LogScan, engine: Engine, aims: Mapping[str, Aim], question: Question, *, progress: Progress | bool
) -> "Answers":
    """Return the evaluation of every target, in one or two passes for all of them."""
    run = Run.of(scan, engine, aims, question, progress=progress)
    found = {name: contest.judged(name, run.tally, run.survey) for name, contest in run.contests.items()}
    return Answers(found, run.contents)


def diagnose_scan(
    scan: LogScan, engine: Engine, aims: Mapping[str, Aim], *, progress: Progress | bool
) -> "tuple[dict[str, Diagnostics], Contents]":
    """Return the diagnostics of every target, and what the log holds."""
    run = Run.of(scan, engine, aims, Question(["snips"], "ocv", None, 0, 0.95), progress=progress)
    found = {name: contest.diagnosed(name, run.tally, run.survey) for name, contest in run.contests.items()}
    return found, run.contents


@dataclass(frozen=True, eq=False)
class Run:
    """What the passes over a log found."""

    plan: "Plan"
    survey: Survey | None
    contests: Mapping[str, Contest]
    tally: Tally

    @classmethod
    def of(
        cls,
        scan: LogScan,
        engine: Engine,
        aims: Mapping[str, Aim],
        question: Question,
        *,
        progress: Progress | bool,
    ) -> "Run":
        """Return what one or two passes find, for all targets at once."""
        with one_blas_thread():
            plan = Plan.of(scan, engine, aims, question)
            survey = None
            if plan.first_pass:
                with shown("First pass", progress=progress, unit="rows") as moved:
                    survey = plan.checked(engine.total(plan.surveying, plan.columns, moved))
            tallying, contests = plan.prepared(survey)
            with shown("Last pass", progress=progress, unit="rows") as moved:
                tally = engine.total(tallying, plan.columns, moved)
        parts.enough(tally.rewards.count)
        parts.varied("reward", tally.rewards.low, tally.rewards.high, tally.rewards.count)
        return cls(plan, survey, contests, tally)

    @property
    def contents(self) -> Contents:
        """Return what the log holds, by its first rows and by what the passes found."""
        known = Contents.of(self.plan.log)
        return replace(
            known,
            rewards=self.tally.rewards,
            propensities=self.tally.propensities,
            actions=known.actions if self.plan.looking.layout.actions is not None else (),
            groups=None if self.survey is None else self.survey.group_count,
        )


class Answers(NamedTuple):
    """The evaluation of every target, and what the log holds."""

    evaluations: dict[str, Evaluation]
    contents: Contents


@dataclass(frozen=True, eq=False)
class Plan:
    """What the first rows tell of all."""

    question: Question
    looking: Looking
    head: Batch
    log: Log
    columns: Sequence[str]
    model: RewardModel | None
    first_pass: bool
    surveying: Surveying

    @classmethod
    def of(cls, scan: LogScan, engine: Engine, aims: Mapping[str, Aim], question: Question) -> "Plan":
        """Return the plan for one log and its targets."""
        from counterfold.readers import _roles

        judge = judge_of(question.selector, "labels")
        if not judge.scales():
            raise ParameterError(f"the selector {type(judge).__name__} needs the log in memory; use engine 'memory'.")
        for aim in aims.values():
            if not isinstance(aim, str) and not callable(aim):
                wanted = "the name of a column, or a function of the context, where the log is not in memory"
                raise ParameterError(f"`target` must be {wanted}, got {type(aim).__name__}.")
        table, numbers = engine.head()
        table, numbers = table.slice(0, HEAD), numbers[:HEAD]
        head = Batch(table, numbers)
        named = [aim for aim in aims.values() if isinstance(aim, str)]
        beside = [*named, *([question.predictions] if question.predictions else [])]
        for name in beside:
            _roles.require(table, {"target": name})
        layout = scan.layout(table, beside)
        if "dose" in layout.roles:
            raise DataError("a log of doses must be evaluated in memory; use engine 'memory'.")
        spread = [place for name in beside for place in _roles.places(table, "target", name)]
        full = any(not isinstance(aim, str) or _is_full(table, aim) for aim in aims.values())
        if full or {"logging_probs", "available", "logger_probs"} & set(layout.roles):
            layout = replace(layout, actions=known_actions(layout, table, engine))
        with checks.part(head.numbers):
            log = layout.log(table)
        layout = replace(layout, width=log.context.shape[1])
        looking = Looking(layout, aims, predictions=question.predictions)
        model = None if question.predictions else _fittable(question.reward_model, log)
        model = model if full else None  # checked, even where nothing can use it
        examples = looking.examples(head)
        plain = table.num_columns - len(layout.context) + log.context.shape[1]  # lists hold more numbers than one
        size, rows = sample_size(plain + 3 * len(log.actions) * (1 + len(aims))), engine.rows()
        unknown = full and log.logging_probs is None and log.available is None
        small = (rows or table.num_rows) <= BUCKETS or "group" in layout.roles
        return cls(
            question=question,
            looking=looking,
            head=head,
            log=log,
            columns=[place for place in table.column_names if place in {*layout.places(table), *spread}],
            model=model,
            first_pass=small or unknown or model is not None or judge.surveys or depend_on_rows(question.candidates),
            surveying=Surveying(layout, size, rows, model_stream(model, examples), looking.examples),
        )

    def checked(self, survey: Survey) -> Survey:
        """Return the survey if the log as a whole is one."""
        parts.enough(survey.rows)
        parts.varied("reward", survey.low, survey.high, survey.rows)
        if survey.groups is not None and len(survey.groups) < 2:
            raise DataError(f"`group` must have at least 2 different groups, got {len(survey.groups)}.")
        return survey

    def prepared(self, survey: Survey | None) -> tuple[Tallying, dict[str, Contest]]:
        """Return what the last pass sums, and who competes for every target."""
        batch, rows, looking = self.head, None, self.looking
        if survey is not None:
            batch, rows = survey.batch, survey.rows
            looking = replace(looking, seen=survey.seen)
        model = self._fitted(batch, survey)
        _, targets = looking.rows(batch, model)
        contests = {}
        for name, (_, sample) in targets.items():
            whole = replace(sample, stands_for=rows)
            judge = settled(judge_of(self.question.selector, "labels"), whole).unfitted()
            estimators, left_out = gathered(self.question.candidates, whole, judge.beyond)
            contests[name] = Contest(self.question, whole, judge, estimators, left_out, model)
        wholes = {name: contest.whole for name, contest in contests.items()}
        every = {name: contest.summed for name, contest in contests.items()}
        return Tallying(looking, model, every, wholes, few(survey)), contests

    def _fitted(self, sample: Batch, survey: Survey | None) -> Streamed | None:
        """Return the reward model, from the sums of the first pass or fitted on the sample."""
        if self.model is None or survey is None:
            return None
        stream = self.surveying.stream
        if stream is not None and survey.model is not None:
            return stream.fitted(survey.model)
        return fitted_on(self.looking.examples(sample), self.model)


def few(survey: Survey | None) -> Ints | None:
    """Return all units of a log, in order, if each can have a bucket: numbers of rows, or hashes of groups."""
    if survey is None:
        return None
    if survey.groups is not None:
        return survey.groups if len(survey.groups) < GROUPS else None
    return survey.batch.numbers if survey.rows <= BUCKETS else None


def known_actions(layout: "Layout", head: "pa.Table", engine: Engine) -> Sequence[Any]:
    """Return all actions: those that the user or the probabilities' columns name, or those in the log."""
    import pyarrow as pa

    from counterfold.readers import _columns

    if layout.actions is not None:
        return tuple(layout.actions)
    width = None
    for role in ("logging_probs", "logger_probs"):
        if role not in layout.roles:
            continue
        found = _columns.matrix(head, layout.roles[role]) if role == "logging_probs" else _first_logger(layout, head)
        names = getattr(found, "column_names", None)
        if names is not None and not _is_map(head, layout.roles[role]):
            return tuple(names)
        if names is not None:
            return parts.action_set(
                layout.labels(head, "action"), None, tuple(engine.distinct(layout.roles[role])), None
            )
        width = found.shape[1]
        break
    labels, column = layout.labels(head, "action"), layout.roles["action"]
    counted = width is not None and labels.dtype.kind in "iu" and labels.min() == 0 and labels.max() < width
    if not counted:  # the first rows may not show the first action
        every = pa.array(engine.distinct(column), head.schema.field(column).type)
        labels = layout.labels(pa.table({column: every}), "action")
    return parts.action_set(labels, None, None, width)


def _first_logger(layout: "Layout", head: "pa.Table") -> Any:
    from counterfold.readers import _columns

    labels = {str(label) for label in layout.labels(head, "logger")}
    return next(iter(_columns.matrices(head, layout.roles["logger_probs"], labels).values()))


def _is_map(table: "pa.Table", column: str) -> bool:
    """Say whether a column holds maps, which may name other actions in other rows."""
    import pyarrow as pa

    return column in table.column_names and pa.types.is_map(table.column(column).type)


def _is_full(table: "pa.Table", column: str) -> bool:
    """Say whether a target's column holds the probabilities of all actions."""
    from counterfold.readers import _columns

    return column not in table.column_names or not _columns.is_numeric(table.column(column).type)


def _fittable(value: Any, log: Log) -> RewardModel | None:
    """Return the reward model, which must be one that can be fitted."""
    if parts.dimensions(value) == 2 or isinstance(value, Given):
        raise ParameterError("`reward_model` must be a model where the log is not in memory, got predictions.")
    return as_model(value, log)
