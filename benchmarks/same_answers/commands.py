"""The cases of benchmarks/same_answers that are command lines."""

import contextlib
import io
import json
import os
import runpy
import shutil
import sys
from functools import partial
from itertools import product
from pathlib import Path
from unittest import mock

import numpy as np

from places import DATASETS
from same_answers.logs import (
    OFFERS,
    SHOP_OUTCOMES,
    SHOP_TARGETS,
    THREADS,
    columns_of,
    plain_shop,
    shop_table,
    table_of,
    write,
)
from same_answers.pages import read_page

# The command line would take the folder of the datasets from here; cases name it.
os.environ.pop("COUNTERFOLD_DATASETS", None)


def run_command(*words):
    """Return the exit code of a command line and what it printed; JSON is read."""
    out = io.StringIO()
    err = io.StringIO()
    code = 0
    arguments = mock.patch.object(sys, "argv", ["counterfold", *words])
    with arguments, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            runpy.run_module("counterfold", run_name="__main__")
        except SystemExit as stopped:
            code = stopped.code or 0
    text = out.getvalue()
    is_json = text.startswith(("{", "["))
    # A line break behind every text makes it one of several lines, which are compared one by one.
    return {"code": code, "out": json.loads(text) if is_json else f"{text}\n", "err": f"{err.getvalue()}\n"}


def run_on(table, line):
    """Write a log and run a command about it."""
    write(table)
    words = line.split() if isinstance(line, str) else list(line)
    takes_threads = THREADS is not None and words[0] in {"evaluate", "compare", "learn"}
    return run_command(*words, *(["--threads", THREADS] if takes_threads else []))


def answers_of_commands():
    """Yield command lines, most of them about one file and on both engines."""
    c = columns_of(1500)
    rare = c["logging_probs"] * [1, 1, 0]
    rare = rare / rare.sum(axis=1, keepdims=True)
    first = c["action"] % 2
    c |= {"first": first, "rare": rare, "p": rare[np.arange(1500), first]}
    lines = [
        "evaluate log.parquet --json",
        "evaluate log.parquet --json --target target --target other --candidates plain,switch-dr",
        "evaluate log.parquet --json --validator ips --splits 3 --candidates ips,dr,snips",
        "evaluate log.parquet --json --selector ocv:refit=false --interval bootstrap:replicates=50 --level 0.9",
        "evaluate log.parquet --json --selector ladder --reward-model ridge-per-action --seed 2",
        "evaluate log.parquet --json --predictions q --context x0 --interval normal",
        "evaluate log.parquet --json --target pi --reward-model none --group user",
        "evaluate log.parquet --json --logging-probs rare --action first --propensity p --actions 0,1,2",
        "evaluate log.parquet",
        "evaluate log.parquet --all",
        "evaluate log.parquet --all --candidates plain --target target --target rare",
        "compare log.parquet --json --target target --target other --baseline other --candidates plain",
        "compare log.parquet --json --interval empirical-bernstein --candidates plain --target target",
        "compare log.parquet --target target --target other --candidates plain",
        "compare log.parquet --target other --baseline target",
        "compare log.parquet --target other --baseline other",
        "check log.parquet",
        "check log.parquet --json --target target --target pi --group few",
        "check log.parquet --target target --target rare",
        "check log.parquet --target targt",
        "evaluate log.parquet --selector ocvv",
        "evaluate log.parquet --reward y --candidates plain",
    ]
    for line, engine in product(lines, ("memory", "local")):
        yield f"{line} --engine {engine}", partial(run_on, c, f"{line} --engine {engine}")
    yield from shop_commands()
    yield from requirements()
    yield from learning_commands()
    yield from other_commands()


def shop_commands():
    """Yield commands about a shop's log, with segments, times, guards, several rewards and reports."""
    shop = shop_table()
    ignored = [f"--ignore={name}" for name in (*SHOP_TARGETS, *SHOP_OUTCOMES, "user")]
    every = [f"--target={name}" for name in ("target", *OFFERS)]
    commands = {
        "segments": ["evaluate", "--target=target", "--by=device", "--by=age:3"],
        "time": ["evaluate", "--target=target", "--time=decided", "--period=week"],
        "time, default": ["evaluate", "--target=target", "--time=decided", "--group=user"],
        "rewards": ["evaluate", "--target=target", "--reward=spend", "--reward=cost", "--reward=spend - 0.2 * cost"],
        "missing": ["evaluate", "--target=target", "--reward=late", "--missing-reward=drop"],
        "horizon": [
            "evaluate",
            "--target=target",
            "--reward=spend",
            "--time=decided",
            "--reward-time=came",
            "--horizon=7d",
        ],
        "fit": ["evaluate", "--target=discount", "--propensity=fit", "--reward=spend"],
        "mixture": ["evaluate", "--target=0.1*uniform + 0.9*greedy:score"],
        "several targets": ["evaluate", *every],
        "target of actions": ["evaluate", "--target-action=wanted", "--target-probability=target"],
        "range": ["evaluate", "--target=target", "--reward=spend", "--reward-range=0,500"],
        "decision": ["compare", *every, "--reward=spend", "--baseline=standard"],
        "guards": ["compare", *every, "--reward=spend", "--guard=cost <= +2%", "--guard=cost <= 3"],
        "compare, time": ["compare", *every[:2], "--time=decided", "--period=month"],
        "compare, segments": ["compare", *every[:3], "--by=device", "--baseline=discount"],
        "check": ["check", "--target=target", "--target=discount"],
        "check, rewards": ["check", "--target=target", "--reward=spend", "--reward=cost"],
        "check, time": ["check", "--target=target", "--time=decided"],
        "sql": ["evaluate", "--sql=select * from 'log.parquet' where age > 30", "--target=target"],
        "sql and log": ["evaluate", "--sql=select * from 'log.parquet'", "log.parquet"],
    }
    for name, (command, *options) in commands.items():
        log = [] if "sql" in name else ["log.parquet"]
        for form in ([], ["--json"]):
            words = [command, *log, *options, *ignored, *form]
            yield " ".join([name, *form]), partial(run_on, shop, words)
    for command, *options in (["evaluate", *every[:1]], ["compare", *every[:2]], ["check", *every[:1]]):
        words = [command, "log.parquet", *options, *ignored, "--report=report.html"]
        yield f"{command} with a report", partial(run_with_report, shop, words)
        yield f"{command} with a report without rows", partial(run_with_report, shop, [*words, "--no-rows"])


def run_with_report(table, words):
    """Run a command that writes a report, and return what both say."""
    path = Path("report.html")
    path.unlink(missing_ok=True)
    said = run_on(table, words)
    return said | {"report": read_page(path.read_text()) if path.exists() else None}


def requirements():
    """Yield commands whose exit code depends on the verdict."""
    half = [[0.5, 0.5, 0.0]] * 120
    never = [[0.0, 0.0, 1.0]] * 120
    rewards = np.random.default_rng(4).normal(size=120)
    logs = {
        "none": table_of(
            {"half": half, "never": never, "logging_probs": half, "action": [0, 1] * 60, "reward": rewards}
        ),
        "some": plain_shop(half=[0.5] * 1200, never=np.linspace(0.0, 0.01, 1200)),
    }
    for (name, log), command, verdict in product(
        logs.items(), ("evaluate", "compare", "check"), ("good", "undecided", "caution", "fine")
    ):
        line = f"{command} log.parquet --target half --require {verdict}"
        yield f"{name}: {line}", partial(run_on, log, line)
        both = f"{command} log.parquet --target half --target never --require {verdict} --json"
        yield f"{name}: {both}", partial(run_on, log, both)


def learning_commands():
    """Yield commands that learn policies."""
    shop = plain_shop()
    null = plain_shop(gain=0.0)
    learners = "--learners greedy-learner,policy-tree"
    lines = [
        f"learn log.parquet --out policy.skops {learners}",
        f"learn log.parquet --out policy.skops {learners} --json",
        f"learn log.parquet --out policy.skops {learners} --all --share 0.5 --share 1 --explore 0.1",
        f"learn log.parquet --out policy.skops {learners} --forbid discount --limit delivery<=30%",
        f"learn log.parquet --out policy.skops {learners} --attempt attempt.skops --require good",
        f"learn log.parquet --out policy.skops {learners} --folds 3 --level 0.9 --seed 3 --engine local",
        "learn log.parquet",
        "learn log.parquet --out policy.pickle",
        "learn log.parquet --out policy.skops --learners greedy",
    ]
    for line in lines:
        yield line, partial(run_and_list, shop, line)
        if " --learners greedy-" in line:
            yield f"no gain: {line}", partial(run_and_list, null, line)
    report = f"learn log.parquet --out policy.skops {learners} --report report.html"
    yield report, partial(run_with_report, shop, report)
    yield f"no gain: {report}", partial(run_with_report, null, report)
    yield "learn, then evaluate", partial(learn_then_evaluate, shop)


def run_and_list(table, line):
    """Run a command, and return what it printed and which files it wrote."""
    for path in Path().glob("*.skops"):
        path.unlink()
    said = run_on(table, line)
    return said | {"files": sorted(path.name for path in Path().glob("*.skops"))}


def learn_then_evaluate(table):
    """Learn a policy, and evaluate it on its own log and on another one."""
    said = run_on(table, "learn log.parquet --out policy.skops --learners policy-tree")
    line = "evaluate log.parquet --json --target skops:policy.skops"
    return [said, run_on(table, line), run_on(plain_shop(seed=2), line)]


def other_commands():
    """Yield commands without a log, and wrong ones."""
    lines = [
        "demo",
        "demo --json",
        "demo --seed 1",
        "demo --all",
        "methods",
        "methods --json",
        "methods --markdown",
        "--version",
        "evaluate",
        "evaluate nowhere.csv",
        "evaluate nowhere.csv --json",
        "evalute",
        "compare nowhere.csv",
        "learn nowhere.csv --out policy.skops",
        "check",
        "evaluate log.parquet --levl 0.9",
        "evaluate log.parquet --level high",
        "evaluate log.parquet --require great",
        "",
    ]
    for line in lines:
        yield f"counterfold {line}", partial(run_command, *line.split())
    yield "demo with a report", demo_with_report


def demo_with_report():
    """Run the demonstration, and return what it prints and what its report says."""
    said = run_command("demo", "--report", "demo.html")
    return said | {"report": read_page(Path("demo.html").read_text())}


def answers_of_experiments():
    """Yield the smallest runs of the commands that make logs and measure."""
    logs = [
        "--rows 500",
        "--rows 1k --actions 3 --context 0 --reward continuous",
        "--rows 800 --targets 2 --groups 50 --seed 3",
        "--rows 600 --logged-only",
        "--rows 900 --files 3 --force",
    ]
    for number, options in enumerate(logs):
        yield f"synth {options}", partial(run_synth, f"log{number}", options.split())
    for line in (
        "synth log.parquet --rows many",
        "synth log.csv --rows 10",
        "synth log.parquet --rows 0",
        "synth log.parquet --reward kind",
    ):
        yield line, partial(run_command, *line.split())

    quick = "--problems 1 --part all --jobs 1"
    yield (
        "smallest bench learning",
        partial(run_bench, f"bench learning --families binary --rows 60 --out learning {quick}"),
    )
    yield (
        "smallest bench selection",
        partial(run_bench, f"bench selection --families binary --training 10 --out selection {quick}"),
    )
    for line in (
        "bench",
        "bench nothing",
        "bench selection",
        "bench selection --out here --families binry",
        "bench learning --out here --part holdout",
        "paper figure9 --out here --jobs 1",
        "paper figure1 --out here --runs 0 --jobs 1",
        "paper figure1 --out here --data nowhere --jobs 1",
        "paper figure1 --out here --policies greedy --jobs 1",
    ):
        yield line, partial(run_command, *line.split())
    file = DATASETS / "ecoli.parquet"
    if file.exists():
        yield "paper figure1", partial(run_paper, file, "paper figure1")
        yield "paper table", partial(run_command, *["paper", "table", "--seed", "3", "--out", "here", "--data", "data"])
    else:
        print("The paper's datasets are not at hand (COUNTERFOLD_DATASETS), so `paper` is not run.", file=sys.stderr)


def run_synth(name, options):
    """Write a log, and return what the command says and what the log holds."""
    import pyarrow.dataset as ds

    place = name if "--files" in options else f"{name}.parquet"
    said = [run_command("synth", place, *options, *form, "--force") for form in ([], ["--json"])]
    paths = sorted(Path(place).iterdir()) if Path(place).is_dir() else [Path(place)]
    table = ds.dataset([str(path) for path in paths], format="parquet").to_table()
    ends = [table.slice(0, 2).to_pylist(), table.slice(len(table) - 1).to_pylist()]
    schema = [f"{one.name}: {one.type}" for one in table.schema]
    return {"said": said, "rows": len(table), "schema": schema, "ends": ends}


def run_bench(line):
    """Run a benchmark and return its JSON and its text, without the seconds that it took."""
    return run_twice(line.split())


def run_twice(words):
    """Run a command as JSON and as text; the second time it finds what the first one wrote."""
    return forget_seconds([run_command(*words, "--json"), run_command(*words)])


def run_paper(file, line):
    """Run a figure of the paper on one dataset, once."""
    folder = Path("data")
    folder.mkdir(exist_ok=True)
    shutil.copy(file, folder)
    words = [*line.split(), "--datasets", "ecoli", "--runs", "1", "--jobs", "1", "--out", "figure", "--data", "data"]
    return run_twice(words)


def forget_seconds(said):
    """Return the same without any entry of a mapping that is a time."""
    if isinstance(said, dict):
        return {name: forget_seconds(one) for name, one in said.items() if "second" not in name}
    return [forget_seconds(one) for one in said] if isinstance(said, list) else said
