"""The command `learn`: the best policy that a log supports, and what it is worth."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

from counterfold.base.errors import ParameterError
from counterfold.base.notation import split_commas
from counterfold.base.records import as_dictionary
from counterfold.cli import _texts
from counterfold.cli._report import ReportOptions
from counterfold.cli.options import (
    COLUMNS,
    CommonOptions,
    Everything,
    LogOptions,
    Requirement,
    make_option,
    take_options,
)
from counterfold.cli.printing import print_answer, print_warnings
from counterfold.io.schema.scan import LogScan

if TYPE_CHECKING:
    from counterfold.cli.records import LearnRecord
    from counterfold.learning import Learned

SHARE = "Share of the decisions that a policy may take from the logger; repeat for several."
ATTEMPT = "Where the best attempt goes, whether or not it beats the log, such as for an A/B test."
FORBID = "An action that the policy may not take; repeat for several."

LIMIT = (
    "How often an action may be taken, 'discount <= 20%', must, 'gift >= 5%', or costs, '2 * discount + gift <= 0.3'."
)

EXPLORE = "Share of decisions made at random, 0.05 for 5 % (at most 0.5), so that their log can judge the next policy."

NAME = "policy"
"""What the learnt policy is called in requirements."""


@dataclass(frozen=True, kw_only=True)
class SourceOptions:
    """A log's file and its columns, without any target."""

    sql: Annotated[str | None, make_option("QUERY", _texts.SQL, panel=COLUMNS)] = None
    db: Annotated[str | None, make_option("URI", _texts.DB, panel=COLUMNS)] = None
    columns: LogScan

    def name_target(self, name: str) -> LogOptions:
        """Return the same with the name of what is found as the target."""
        return LogOptions(sql=self.sql, db=self.db, target=[name], columns=self.columns)


@dataclass(frozen=True)
class LearnOptions:
    """How a policy is learnt, and where it goes; whether it can be written is known before anything is read."""

    out: Annotated[
        str, make_option("FILE", "Where the policy goes, a file of skops, policy.skops; an existing one is replaced.")
    ]
    attempt: Annotated[str | None, make_option("FILE", ATTEMPT, "not kept unless it beats the log")] = None
    learners: Annotated[list[str], make_option("NAMES", _texts.LEARNERS)] = field(default_factory=lambda: ["default"])
    share: Annotated[list[float] | None, make_option("NUMBER", SHARE, "1")] = None
    forbid: Annotated[list[str] | None, make_option("ACTION", FORBID, "none")] = None
    limit: Annotated[list[str] | None, make_option("LIMIT", LIMIT, "none")] = None
    explore: Annotated[float, make_option("SHARE", EXPLORE)] = 0.0
    folds: Annotated[int, make_option("N", "Into how many parts rows are divided.")] = 5
    common: CommonOptions = field(default_factory=CommonOptions)

    def __post_init__(self) -> None:
        from counterfold.policies.learned.policy import require_writable

        places = [require_writable(name, path) for name, path in self.places.items()]
        if len(places) > len({place.resolve() for place in places}):
            raise ParameterError("`attempt` must be another file than `out`, got the same.")

    @property
    def places(self) -> dict[str, str]:
        """Return where policies go, by the name of the option."""
        return {"out": self.out} | ({} if self.attempt is None else {"attempt": self.attempt})

    def learn(self, log: LogOptions) -> "Learned":
        """Return what is learnt from a log; print warnings."""
        from counterfold.learning import SHARES, learn

        common = self.common
        with print_warnings():
            return learn(
                log.build_scan(),
                split_commas(self.learners),
                shares=self.share or SHARES,
                forbidden=self.forbid or (),
                limits=self.limit or (),
                explore=self.explore,
                folds=self.folds,
                seed=common.seed,
                level=common.level,
                interval=common.interval,
                reward_range=common.limits,
                threads=common.threads,
                engine=common.engine,
            )

    @contextmanager
    def hold_policies(self, found: "Learned") -> Iterator[None]:
        """Write policies when all that is done meanwhile succeeded; otherwise nothing is left.

        One that only imitates the log is not written, as nobody should ship it in place of what made the log.
        """
        from counterfold.base.atomic_files import hold_draft
        from counterfold.policies.learned.policy import require_writable

        known = {"out": found.policy} if found.beats_log else {}
        known["attempt"] = found.attempted
        with ExitStack() as held:
            for name, path in self.places.items():
                if name in known:
                    held.enter_context(hold_draft(name, require_writable(name, path), known[name].dump()))
            yield


@take_options
def learn(
    source: SourceOptions,
    *,
    wanted: LearnOptions,
    everything: Everything = False,
    report: ReportOptions,
    requirement: Requirement,
) -> None:
    """Learn a policy that earns more than the log did, and say what it is worth."""
    from counterfold.evaluation.assembly import Results

    log = source.name_target(NAME)
    report.spare(log.columns.source)
    found = wanted.learn(log)
    contents = found.evaluation.contents

    def describe() -> dict[str, Any]:
        record: LearnRecord = {
            "log": log.describe(contents),
            "out": wanted.out if found.beats_log else None,
            "attempt_out": wanted.attempt,
            **found.to_record(),
        }
        return as_dictionary(record)

    with wanted.hold_policies(found):
        report.write_learned(found, describe, log)
    if wanted.common.as_json:
        print_answer(describe())
    else:
        from counterfold.report import console, learning

        console.show(*learning.learned(found, wanted.out, wanted.attempt, everything=everything))
    requirement.enforce({"": Results({NAME: found.evaluation}, contents)})
    if not found.beats_log:
        requirement.miss("the policy must beat the log, but nothing does safely")
