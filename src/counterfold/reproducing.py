"""The command `paper`: an experiment of the paper, rerun and shown beside the published results."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from counterfold.errors import ParameterError
from counterfold.options import Data, Jobs, Json, Out, Seed, print_json, separated
from counterfold.progress import bar


def paper(
    figure: Annotated[
        str, typer.Argument(metavar="FIGURE", help="figure1 to figure7, or table (what choosing costs).")
    ],
    *,
    out: Out,
    runs: Annotated[int | None, typer.Option(metavar="N", help="Runs.", show_default="100; figure3 5, table 3")] = None,
    datasets: Annotated[
        list[str] | None,
        typer.Option(metavar="NAMES", help="ecoli, letter and so on, with commas.", show_default="all"),
    ] = None,
    pasif_runs: Annotated[int, typer.Option(metavar="N", help="Runs of PAS-IF, which is slow.")] = 0,
    jobs: Jobs = None,
    policies: Annotated[str, typer.Option(metavar="KIND", help="probabilities (published) or logits (text).")] = (
        "probabilities"
    ),
    data: Data = None,
    add: Annotated[
        list[str] | None, typer.Option(metavar="MODULE:CLASS", help="An estimator or selector of your own; repeat.")
    ] = None,
    as_json: Json = False,
    seed: Seed = 0,
) -> None:
    """Rerun an experiment of the paper, and show the results beside the published ones."""
    from counterfold import checks
    from counterfold.experiments.paper.datasets import NAMES as EVERY
    from counterfold.experiments.paper.reproduction import Reproduction, default_runs
    from counterfold.pool import available_cores

    checks.one_of(("probabilities", "logits"), policies=policies)
    settings: dict[str, Any] = dict(
        pasif_runs=pasif_runs, policies=policies, data=data, add=tuple(add or ()), seed=seed
    )
    chosen = tuple(separated(datasets or [])) or EVERY
    if figure == "table":
        if add or seed or policies != "probabilities":
            raise ParameterError("`table` takes neither `--add` nor `--policies` nor `--seed`.")
        show_costs(chosen, 3 if runs is None else runs, data, out, pasif=pasif_runs > 0, as_json=as_json)
        return
    what = Reproduction(figure, out, default_runs(figure) if runs is None else runs, chosen, **settings)
    with bar(figure, after=0) as progress:
        lines, files = what.run(available_cores() if jobs is None else jobs, progress)
    if as_json:
        print_json(
            {"figure": figure, "lines": [asdict(line) for line in lines], "files": [str(file) for file in files]}
        )
        return
    from counterfold.report import paper as shown
    from counterfold.report import text

    text.show(shown.table(figure, lines), shown.overlaps(lines), shown.paths(files))


def show_costs(
    datasets: tuple[str, ...], runs: int, data: Path | None, out: Path, *, pasif: bool, as_json: bool
) -> None:
    """Measure what choosing costs, write it, and show it."""
    from counterfold import checks
    from counterfold.experiments.files import write_csv
    from counterfold.experiments.paper.cost import measure_costs
    from counterfold.report import paper, text

    checks.whole(1, runs=runs)
    with bar("table", after=0) as progress:
        found = measure_costs(datasets, runs, data, out / "fits", pasif=pasif, progress=progress)
    file = write_csv(found, out / "table.csv")
    if as_json:
        print_json({"table": [asdict(one) for one in found], "files": [str(file)]})
    else:
        text.show(paper.costs(found), paper.paths([file]))
