"""Benchmark: the benchmark of selection from beginning to end, and the files of its results."""

from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import get_args

from counterfold.base import validation
from counterfold.base.progress import Progress
from counterfold_lab import runner
from counterfold_lab.files import refuse_unwritable, write_csv, write_parquet
from counterfold_lab.journal import check_journal
from counterfold_lab.paper import datasets
from counterfold_lab.results import load_altair
from counterfold_lab.selection import auto_ope, results
from counterfold_lab.selection.experiment import KNOWN, PAPER, Part, SelectionExperiment, list_tasks
from counterfold_lab.selection.results import Alarm, CheckAlarms, Coverage, Score

TRAINING = 2200
"""The training problems of AutoOPE: a hundred of each family, which take about six minutes on one core."""


@dataclass(frozen=True)
class BenchmarkResults:
    """What a benchmark found, and the files that hold it."""

    scores: list[Score]
    coverage: list[Coverage]
    verdicts: list[Alarm]
    checks: list[CheckAlarms]
    files: list[Path]


@dataclass(frozen=True, eq=False)
class Benchmark:
    """The settings of a run; all files go to the folder `out`, and a restart goes on from there.

    Its journal may hold more problems than a run wants: those of another part, or of a run with more problems.
    `training` is the number of problems from which AutoOPE learns before.
    """

    out: Path
    problems: int = 120
    part: Part = "held"
    families: tuple[str, ...] = KNOWN
    data: Path | None = None
    seed: int = 0
    jobs: int = 1
    training: int = TRAINING

    def __post_init__(self) -> None:
        validation.whole(1, problems=self.problems, jobs=self.jobs)
        validation.whole(auto_ope.LEAST, training=self.training)
        validation.seeds(seed=self.seed)
        validation.one_of(get_args(Part), part=self.part)
        for family in self.families:
            validation.one_of(KNOWN, families=family)

    def prepare(self) -> None:
        """Load what a run needs, so that what is missing is reported now, not after hours."""
        load_altair()
        datasets.require(datasets.NAMES if PAPER in self.families else (), self.data, PAPER)

    def run(self, progress: Progress | None = None) -> BenchmarkResults:
        """Return the scores and the paths of the files, each of which is written as a whole or not at all."""
        self.prepare()
        tasks = list_tasks([family for family in KNOWN if family in self.families], self.problems, self.part)
        code = {"version": version("counterfold"), "code": runner.digest_code()}  # because it is what is measured
        settings = {"benchmark": "selection", "seed": self.seed, "training": self.training} | code
        journal, total = self.out / "selection.jsonl", self.training + len(tasks)
        report = progress or (lambda *_: None)
        with refuse_unwritable(self.out):
            check_journal(journal, settings)
            rival = auto_ope.train(self.training, self.out, code, self.jobs, lambda done, _: report(done, total))
            experiment = SelectionExperiment(self.data, self.out / "fits", self.seed, rival)
            rows = runner.run_tasks(
                tasks, experiment, journal, settings, self.jobs, lambda done, _: report(self.training + done, total)
            )
            scores, coverage, verdicts = results.scores(rows), results.coverage(rows), results.verdicts(rows)
            alarms = results.checks(rows)
            files = [
                write_parquet(rows, self.out / "selection.parquet"),
                write_csv(scores, self.out / "selection.csv"),
                write_csv(coverage, self.out / "selection-coverage.csv"),
                write_csv(verdicts, self.out / "selection-verdicts.csv"),
                write_csv(alarms, self.out / "selection-checks.csv"),
                *results.draw_ratios(scores, self.out / "selection-ratios"),
                *results.draw_coverage(coverage, self.out / "selection-coverage"),
                *results.draw_errors(rows, self.out / "selection-errors"),
            ]
        return BenchmarkResults(scores, coverage, verdicts, alarms, files)
