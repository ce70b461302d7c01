"""Speed and scale: how long evaluations take against naive loops, plain scikit-learn and merely reading the file.

Every measurement is a process of its own; what is compared is measured by turns, and ratios are of medians. Prints a
table and writes docs/scale/bench.json, from which docs/scale/scale.png is drawn. `--data` keeps the logs and a journal
of what was measured, so that a run that was stopped goes on where it was as long as the code is the same. Logs have
190 bytes a row, 21 where only weights are in them; `--most 100000000` adds those of 50 and 100 million rows.
"""

import argparse
import json
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from measuring import Bench, Group, machine
from scale_plot import drawn

sys.path.insert(0, str(Path(__file__).parents[1]))

from torture.spark import find_obstacle

RESULTS = Path(__file__).parents[1] / "docs" / "scale" / "bench.json"
WIDE = {"actions": 10, "context": 10}
NARROW = {"actions": 10, "context": 0, "logged_only": True}
SETS = {5: "plain", 66: ["plain", "truncated-ips", "switch-dr"], 191: "paper"}
ACTIONS = (2, 10, 100, 1000)
PAPER = {"candidates": "paper", "splits": 100}


@dataclass(frozen=True)
class Sizes:
    """How much is measured."""

    repeats: int = 5
    every: int = 1
    rows: tuple = (10**4, 10**5, 10**6, 10**7, 5 * 10**7)
    weights: tuple = (10**6, 10**7, 10**8)
    single: int = 100_000
    more: int = 10**6
    spark: tuple = (10**6, 5 * 10**6)
    targets: tuple = (1, 5, 10, 20)


QUICK = Sizes(1, 40, (10**4, 10**5, 10**6), (10**5, 10**6), 20_000, 200_000, (10**5,), (1, 5, 10))


def joint(sizes):
    """The joint task of the paper against the naive loop, and what more splits cost."""
    for validator in ("ips", "dr"):
        works = {"naive loop, K = 10": {"kind": "naive", "validator": validator, "splits": 10, "every": sizes.every}}
        for refit, splits, threads in (
            *((True, 10, None), (True, 10, 1), (True, 100, None)),
            *((False, 10, None), (False, 10, 1), (False, 100, None), (False, 1000, None)),
        ):
            label = f"{'refits' if refit else 'no refits'}, K = {splits}" + (", one thread" if threads else "")
            works[label] = {"kind": "choose", "validator": validator, "splits": splits, "refit": refit}
            if threads:
                works[label]["threads"] = threads
        title = f"joint task of the paper, {validator.upper()} validates"
        yield Group(title, works, "naive loop, K = 10", min(3, sizes.repeats))


def single(sizes):
    """Whole evaluations against one doubly robust estimate with scikit-learn's Ridge."""
    log = {"rows": sizes.single, **WIDE}
    works = {"one DR by scikit-learn": {"kind": "plain_dr", "log": log}}
    for candidates in ("plain", "paper"):
        for refit in (True, False):
            label = f"{candidates}, in memory, {'refits' if refit else 'no refits'}, K = 10"
            works[label] = {"kind": "evaluate_in_memory", "candidates": candidates, "splits": 10, "refit": refit}
            works[label]["log"] = log
        works[f"{candidates}, from the file, K = 10"] = evaluate(log, candidates=candidates, splits=10)
    yield Group(f"{sizes.single:,} rows against one DR estimate", works, "one DR by scikit-learn", sizes.repeats)


def rows(sizes):
    """Evaluations from a file against merely reading it."""
    for count in sizes.rows:
        log = {"rows": count, **WIDE}
        works = {"read by pyarrow": {"kind": "read", "log": log}}
        for candidates in ("plain", "paper"):
            works[f"{candidates}, K = 100"] = evaluate(log, candidates=candidates)
        yield Group(f"{count:,} rows", works, "read by pyarrow", fewer(sizes, count))
    for count in sizes.weights:
        log = {"rows": count, **NARROW}
        works = {
            "read by pyarrow": {"kind": "read", "log": log},
            "plain, K = 100": evaluate(log, candidates="plain"),
        }
        yield Group(f"{count:,} rows, weights only", works, "read by pyarrow", fewer(sizes, count))


def more(sizes):
    """What more of anything costs."""
    log = {"rows": sizes.more, **WIDE}
    several = log | {"targets": sizes.targets[-1]}
    scaled = {count: log | {"actions": count, "rows": min(sizes.more, 10 * sizes.more // count)} for count in ACTIONS}
    wide = {count: log | {"context": count} for count in (1, 10, 50)}
    actions = sweep("actions", {f"{count}": evaluate(one) for count, one in scaled.items()}, sizes)
    yield from (
        sweep("candidates", {f"{count}": evaluate(log, candidates=some) for count, some in SETS.items()}, sizes),
        sweep("splits", {f"{count}": evaluate(log, splits=count) for count in (10, 100, 1000)}, sizes),
        sweep("targets", {f"{count}": evaluate(several, targets=count) for count in sizes.targets}, sizes),
        replace(actions, against=None),  # of logs that are not equally long
        sweep("context columns", {f"{count}": evaluate(one) for count, one in wide.items()}, sizes),
        sweep("threads", {f"{count}": evaluate(log, threads=count) for count in (1, 2)}, sizes),
    )


def spark(sizes):
    """The same evaluations on Spark."""
    if find_obstacle():
        return
    for count in sizes.spark:
        log = {"rows": count, **WIDE}
        works = {"local": evaluate(log), "spark, local[2,4]": evaluate(log) | {"kind": "spark"}}
        yield Group(f"{count:,} rows on Spark", works, "local", min(3, sizes.repeats))


SECTIONS = {one.__name__: one for one in (joint, single, rows, more, spark)}


def evaluate(log, **settings):
    return {"kind": "evaluate", "log": log, **PAPER, **settings}


def sweep(what, works, sizes):
    return Group(f"more {what}", works, next(iter(works)), sizes.repeats)


def fewer(sizes, count):
    return min(3, sizes.repeats) if count >= 10**7 else sizes.repeats


def margins(groups):
    """Return what ten more of something cost: seconds, and as a share of the evaluation that the others vary around."""
    places = {"candidates": (191, "candidates"), "splits": (100, "splits"), "targets": (1, "targets")}
    found = []
    for group in groups:
        what = group["title"].removeprefix("more ")
        if what in places:
            usual, name = places[what]
            points = {line.get(name) or line["work"].get(name, 1): line["seconds"] for line in group["lines"]}
            least, most = min(points), max(points)
            if least == most:
                continue
            seconds = 10 * (points[most] - points[least]) / (most - least)
            found.append({"what": what, "seconds": seconds, "share": seconds / points.get(usual, points[most])})
    return found


def show(found, console):
    """Print all as a table."""
    table = Table(title="medians, and the least and most", title_justify="left")
    for heading in ("what", "seconds", "least - most", "us per row", "MiB", "ratio"):
        table.add_column(heading, justify="left" if heading == "what" else "right", overflow="fold")
    for group in [group for groups in found["sections"].values() for group in groups]:
        table.add_section()
        table.add_row(f"[bold]{group['title']}[/bold]", *[""] * 5)
        for line in group["lines"]:
            table.add_row(f"  {escape(line['label'])}", *cells(line))
            if "session_seconds" in line:
                table.add_row("  start of its session before that", f"{line['session_seconds']:.3f}", *[""] * 4)
    console.print(table)
    for one in found["margins"]:
        console.print(f"10 more {one['what']}: {one['seconds']:.3f} s, {one['share']:.1%} of the whole")
    if reason := find_obstacle():
        console.print(f"Spark was left out: {reason}.")
    console.print(", ".join(f"{name.replace('_gib', ' (GiB)')} {value}" for name, value in found["machine"].items()))


def cells(line):
    count = line["work"].get("log", {}).get("rows")
    ratio = line["ratio"]
    return (
        f"{line['seconds']:.3f}",
        f"{line['low']:.3f} - {line['high']:.3f}",
        f"{1e6 * line['seconds'] / count:.2f}" if count else "",
        "" if line["work"]["kind"] == "spark" else f"{line['peak_mib']:.0f}",
        "" if ratio is None else f"{ratio:.2f}" if ratio > 0.1 else f"1/{1 / ratio:.0f}",
    )


def written(found, path):
    """Write all results as a whole, beside those of other sections from the same machine."""
    path.parent.mkdir(parents=True, exist_ok=True)
    before = json.loads(path.read_text()) if path.exists() else {}
    if before.get("machine") == found["machine"]:
        kept = before["sections"] | found["sections"]
        found["sections"] = {name: kept[name] for name in SECTIONS if name in kept}
    found["margins"] = margins(found["sections"].get("more", []))
    part = path.with_name(f".{path.name}")
    part.write_text(json.dumps(found, indent=1) + "\n")
    part.replace(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small sizes, each once, and no file in docs/")
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="where logs and measurements are kept")
    parser.add_argument("--sections", nargs="+", choices=SECTIONS, default=list(SECTIONS), metavar="NAME")
    parser.add_argument("--most", type=int, default=10**7, metavar="ROWS", help="leave out longer logs")
    parser.add_argument("--repeats", type=int, metavar="N", help="how often each is measured")
    parser.add_argument("--output", type=Path, metavar="FILE", help="where the results go")
    given = parser.parse_args()
    sizes = QUICK if given.quick else Sizes()
    sizes = replace(sizes, repeats=given.repeats or sizes.repeats)
    fit = {name: tuple(n for n in getattr(sizes, name) if n <= given.most) for name in ("rows", "weights", "spark")}
    console = Console(soft_wrap=True) if sys.stdout.isatty() else Console(width=110)
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(given.data or Path(folder), console.print)
        groups = {name: list(SECTIONS[name](replace(sizes, **fit))) for name in given.sections}
        found = {"machine": machine(), "sections": {}}
        for name, several in groups.items():
            found["sections"][name] = [bench.group(one) for one in several]
        output = given.output or (Path(folder) / "bench.json" if given.quick else RESULTS)
        written(found, output)
        show(found, console)
        drawn(found, output.with_name("scale.png"))


if __name__ == "__main__":
    main()
