"""The benchmark of selection from beginning to end: rows in Parquet, scores in CSV, pictures."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, get_args

from counterfold import checks
from counterfold.errors import CounterfoldError, DataError
from counterfold.experiments import runner
from counterfold.experiments.paper import experiment as paper
from counterfold.experiments.paper.datasets import NAMES
from counterfold.experiments.paper.results import drawing, summary
from counterfold.experiments.runner import Row
from counterfold.experiments.selection import methods as selection
from counterfold.experiments.selection.methods import KNOWN, PAPER, Case, Part, Selecting
from counterfold.experiments.selection.results import charts, scoring
from counterfold.experiments.selection.results.scoring import Coverage, Score, Warned
from counterfold.progress import Progress


@dataclass(frozen=True)
class Results:
    """What a benchmark found, and the files that hold it."""

    scores: list[Score]
    coverage: list[Coverage]
    verdicts: list[Warned]
    files: list[Path]

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers, texts, lists and dictionaries."""
        return asdict(self) | {"files": [str(file) for file in self.files]}


@dataclass(frozen=True, eq=False)
class Benchmark:
    """The settings of a run; `out` is where everything goes, and what a restart goes on from.

    Its journal may hold more problems than a run wants: those of another part, or of a run of more.
    """

    out: Path
    problems: int = 120
    part: Part = "held"
    families: tuple[str, ...] = KNOWN
    data: Path | None = None
    seed: int = 0
    jobs: int = 1

    def __post_init__(self) -> None:
        """Check the settings before anything is written."""
        checks.whole(1, problems=self.problems, jobs=self.jobs)
        checks.whole(0, seed=self.seed)
        checks.one_of(get_args(Part), part=self.part)
        for family in self.families:
            checks.one_of(KNOWN, families=family)

    def prepare(self) -> None:
        """Find what a run needs: what is missing is better said now than after hours."""
        drawing.pyplot()
        try:
            for dataset in NAMES if PAPER in self.families else ():
                paper.cached(dataset, self.data)
        except CounterfoldError as error:
            wanted = f"the family `{PAPER}` needs its datasets from `--data`, or to be left out of `--families`"
            raise DataError(f"{wanted}: {error}") from None

    def run(self, progress: Progress | None = None) -> Results:
        """Return the scores and the files written, all of them whole or not there at all."""
        self.prepare()
        families = [family for family in KNOWN if family in self.families]
        try:
            return self.performed(selection.cases(families, self.problems, self.part), progress)
        except OSError as error:
            raise DataError(f"`{self.out}` must be a folder that can be written to: {error}.") from None

    def performed(self, cases: Sequence[Case], progress: Progress | None) -> Results:
        """Return the scores and the files of all wanted problems."""
        stem = self.out / "selection"
        work = Selecting(self.data, self.out / "fits", self.seed)
        rows = runner.rows_of(cases, work, stem.with_suffix(".jsonl"), self.settings, self.jobs, progress)
        scores, coverage, verdicts = scoring.scores(rows), scoring.coverage(rows), scoring.verdicts(rows)
        files = [
            runner.saved(rows, stem.with_suffix(".parquet")),
            summary.write(scores, stem.with_suffix(".csv")),
            summary.write(coverage, self.out / "selection-coverage.csv"),
            summary.write(verdicts, self.out / "selection-verdicts.csv"),
            *charts.ratios(scores, self.out / "selection-ratios"),
            *charts.coverage(coverage, self.out / "selection-coverage"),
            *charts.errors(rows, self.out / "selection-errors"),
        ]
        return Results(scores, coverage, verdicts, files)

    @property
    def settings(self) -> Row:
        """Return what the rows depend on besides their pieces; the code, too, as the default is what is measured."""
        what = {"benchmark": "selection", "seed": self.seed}
        return what | {"version": version("counterfold"), "code": selection.code()}
