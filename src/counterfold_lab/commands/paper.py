"""The command `paper`: an experiment of the paper, rerun and shown beside the published results."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from counterfold.base.errors import ParameterError
from counterfold.base.notation import split_commas
from counterfold.base.progress import bar
from counterfold.cli.options import make_option, take_options
from counterfold.cli.printing import print_json, print_warnings
from counterfold_lab.commands._options import ExperimentOptions

if TYPE_CHECKING:
    from counterfold_lab.records import CostsRecord, FigureRecord


@dataclass(frozen=True)
class PaperOptions:
    """Which experiment of the paper is run, and how it may differ from the published one."""

    figure: Annotated[str, typer.Argument(metavar="FIGURE", help="figure1 to figure7, or table (what choosing costs).")]
    runs: Annotated[int | None, make_option("N", "Runs.", "100; figure3 5, table 3")] = None
    datasets: Annotated[list[str] | None, make_option("NAMES", "ecoli, letter and so on, with commas.", "all")] = None
    pasif_runs: Annotated[int, make_option("N", "Runs of PAS-IF, which is slow.")] = 0
    policies: Annotated[str, make_option("KIND", "probabilities (published) or logits (text).")] = "probabilities"
    add: Annotated[list[str] | None, make_option("MODULE:CLASS", "An estimator or selector of your own; repeat.")] = (
        None
    )

    def list_datasets(self) -> tuple[str, ...]:
        """Return the names of the datasets."""
        from counterfold_lab.paper.datasets import NAMES

        return tuple(split_commas(self.datasets)) or NAMES


@take_options
def paper(options: PaperOptions, run: ExperimentOptions) -> None:
    """Rerun an experiment of the paper, and show the results beside the published ones."""
    from counterfold.base import validation

    validation.one_of(("probabilities", "logits"), policies=options.policies)
    if options.figure == "table":
        show_costs(options, run)
    else:
        show_figure(options, run)


def show_figure(options: PaperOptions, run: ExperimentOptions) -> None:
    """Run the experiment behind a figure, write its results, and show them."""
    from counterfold.report import console
    from counterfold_lab.paper.figures import FIGURES
    from counterfold_lab.paper.reproduction import Reproduction
    from counterfold_lab.report import paper as tables

    figure, added = options.figure, tuple(options.add or ())
    usual = FIGURES[figure].runs if figure in FIGURES else 1  # an unknown name is refused below
    runs = usual if options.runs is None else options.runs
    policies: Any = options.policies  # checked before
    settings = options.list_datasets(), options.pasif_runs, policies, run.data, added, run.seed
    experiment = Reproduction(figure, run.out, runs, *settings)
    with print_warnings(), bar(f"Running {figure}", unit="tasks") as progress:
        lines, files = experiment.run(run.count_jobs(), progress)
    if run.as_json:
        record: FigureRecord = {"figure": figure, "lines": lines, "files": [str(file) for file in files]}
        print_json(record)
    else:
        console.show(tables.table(figure, lines), tables.overlaps(lines), tables.paths(files))


def show_costs(options: PaperOptions, run: ExperimentOptions) -> None:
    """Measure what choosing costs, write it, and show it."""
    from counterfold.base import validation
    from counterfold.report import console
    from counterfold_lab.files import refuse_unwritable, write_csv
    from counterfold_lab.paper.reproduction import measure_costs
    from counterfold_lab.report import paper as tables

    if options.add or run.seed or options.policies != "probabilities":
        raise ParameterError("`table` takes neither `--add` nor `--policies` nor `--seed`.")
    runs, pasif = 3 if options.runs is None else options.runs, options.pasif_runs > 0
    validation.whole(1, runs=runs)
    with refuse_unwritable(run.out):
        run.out.mkdir(parents=True, exist_ok=True)
        with bar("Measuring datasets") as progress:
            wanted = options.list_datasets(), runs, run.data, run.out / "fits"
            found = measure_costs(*wanted, pasif=pasif, progress=progress)
        file = write_csv(found, run.out / "table.csv")
    if run.as_json:
        record: CostsRecord = {"table": found, "files": [str(file)]}
        print_json(record)
    else:
        console.show(tables.costs(found), tables.paths([file]))
