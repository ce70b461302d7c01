"""The commands `bench ...`: how well answers do on many problems whose truth is known."""

from typing import Annotated, Any

import typer

from counterfold.options import Data, Jobs, Json, Out, Seed, print_json, separated
from counterfold.progress import bar

bench = typer.Typer(help="Measure ways to answer on many problems whose truth is known.")


@bench.callback()
def start() -> None:
    """Measure ways to answer on many problems whose truth is known."""


@bench.command()
def selection(
    *,
    out: Out,
    problems: Annotated[int, typer.Option(metavar="N", help="Problems per family, a tenth as many of paper's.")] = 120,
    part: Annotated[
        str, typer.Option(metavar="PART", help="development: every third problem, held: the others, or all.")
    ] = "held",
    families: Annotated[
        list[str] | None,
        typer.Option(metavar="NAMES", help="binary, paper and so on, with commas.", show_default="all"),
    ] = None,
    jobs: Jobs = None,
    data: Data = None,
    as_json: Json = False,
    seed: Seed = 0,
) -> None:
    """Compare ways to choose an estimator, and how far the default can be trusted."""
    from counterfold.experiments.selection.benchmark import Benchmark
    from counterfold.experiments.selection.tasks import KNOWN
    from counterfold.pool import available_cores

    chosen = tuple(separated(families or [])) or KNOWN
    kind: Any = part  # checked there
    what = Benchmark(out, problems, kind, chosen, data, seed, available_cores() if jobs is None else jobs)
    what.prepare()
    with bar("selection", after=0) as progress:
        found = what.run(progress)
    if as_json:
        print_json({"benchmark": "selection", "part": part, **found.to_dict()})
        return
    from counterfold.report import bench as shown
    from counterfold.report import paper, text

    tables = shown.scores(found.scores), shown.ratios(found.scores)
    text.show(*tables, shown.coverage(found.coverage), shown.verdicts(found.verdicts), paper.paths(found.files))
