"""LearningBenchmark: the benchmark of learning from beginning to end, and the files of its results."""

from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import get_args

from counterfold.base import validation
from counterfold.base.progress import Progress
from counterfold_lab import runner
from counterfold_lab.files import refuse_unwritable, write_csv, write_parquet
from counterfold_lab.learning import results
from counterfold_lab.learning.experiment import KNOWN, LearningExperiment, list_tasks
from counterfold_lab.learning.results import Gain, Holding
from counterfold_lab.paper import datasets
from counterfold_lab.paper.datasets import NAMES
from counterfold_lab.results import load_altair
from counterfold_lab.selection.experiment import PAPER, Part


@dataclass(frozen=True)
class LearningResults:
    """What a benchmark found, and the files that hold it."""

    gains: list[Gain]
    coverage: list[Holding]
    files: list[Path]


@dataclass(frozen=True, eq=False)
class LearningBenchmark:
    """The settings of a run; all files go to the folder `out`, and a restart goes on from there."""

    out: Path
    problems: int = 12
    part: Part = "held"
    families: tuple[str, ...] = KNOWN
    rows: tuple[int, ...] = (500, 2000)
    seed: int = 0
    jobs: int = 1
    data: Path | None = None

    def __post_init__(self) -> None:
        validation.whole(1, problems=self.problems, jobs=self.jobs)
        validation.whole(20, **{f"rows[{place}]": size for place, size in enumerate(self.rows)})
        validation.seeds(seed=self.seed)
        validation.one_of(get_args(Part), part=self.part)
        for family in self.families:
            validation.one_of((*KNOWN, PAPER), families=family)

    @property
    def known_families(self) -> list[str]:
        """Return the families in the order of the benchmark, with every dataset where the paper's are wanted."""
        wanted = {*self.families, *(NAMES if PAPER in self.families else ())}
        return [family for family in KNOWN if family in wanted]

    def prepare(self) -> None:
        """Load what a run needs, so that what is missing is reported now, not after hours."""
        load_altair()
        for family in self.known_families:
            datasets.require([family] if family in NAMES else [], self.data, family)

    def run(self, progress: Progress | None = None) -> LearningResults:
        """Return what was found and the paths of the files, each of which is written as a whole or not at all."""
        self.prepare()
        tasks = list_tasks(self.known_families, max(self.problems, 2), self.rows, self.part)
        settings = {"benchmark": "learning", "seed": self.seed, "version": version("counterfold")}
        settings |= {"code": runner.digest_code()}  # because it is what is measured
        with refuse_unwritable(self.out):
            work = LearningExperiment(self.seed, data=self.data)
            rows = runner.run_tasks(tasks, work, self.out / "learning.jsonl", settings, self.jobs, progress)
            gains, coverage = results.gains(rows), results.holdings(rows)
            files = [
                write_parquet(rows, self.out / "learning.parquet"),
                write_csv(gains, self.out / "learning.csv"),
                write_csv(coverage, self.out / "learning-coverage.csv"),
                *results.draw_gains(gains, self.out / "learning-gains"),
            ]
        return LearningResults(gains, coverage, files)
