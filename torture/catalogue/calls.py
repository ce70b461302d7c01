"""Calls: junk for every argument of every public function and class, and the command line with bad options."""

import dataclasses
import math
from functools import cache, partial

import numpy as np

import counterfold as cf
from counterfold.base import registry
from torture.cases import PLAIN, CallCase, CommandCase, LogCase
from torture.catalogue import EITHER, ENGINES, REFUSED, RIGHT, entry
from torture.logs import know_answer, make_rows, make_table, write_csv, write_parquet

ROWS = make_rows()
COLUMNS = {name: [row[name] for row in ROWS] for name in ROWS[0]}
KNOWN = know_answer(context=())
QUICK = ("None", "a text", "-1", "NaN", "10 to the 400", "an object", "an array of three dimensions")
"""The junk that the short form tries; one rule checks them all."""

JUNK = {
    "None": None,
    "a text": "junk",
    "an empty text": "",
    "a text with an escape sequence": "\x1b[31mjunk",
    "a text of 100,000 characters": "x" * 100_000,
    "-1": -1,
    "0": 0,
    "1.5": 1.5,
    "NaN": math.nan,
    "infinity": math.inf,
    "10 to the 400": 10**400,
    "a complex number": 1j,
    "an empty list": [],
    "a list of None": [None],
    "an empty dictionary": {},
    "bytes": b"junk",
    "an object": object(),
    "a class": int,
    "a function": lambda: None,
    "an array of three dimensions": np.zeros((2, 2, 2)),
    "an array of objects": np.array([object()], object),
    "True": True,
}


@cache
def make_log():
    """Return the clean log in memory."""
    return cf.read_log(make_table().drop_columns(["target"]))


def add_call(name, function, allowed=EITHER, known=KNOWN, **settings):
    """Register a call."""
    entry(name, allowed, ("python",), **settings)(lambda _folder: CallCase(function, known))


ARGUMENTS = (
    "candidates",
    "selector",
    "reward_model",
    "seed",
    "level",
    "interval",
    "reward_range",
    "threads",
    "progress",
    "engine",
)
for argument in ARGUMENTS:
    for label, value in JUNK.items():

        def evaluate(argument=argument, value=value):
            """Evaluate with one bad argument."""
            return cf.evaluate(make_log(), COLUMNS["target"], **PLAIN | {argument: value})

        unlike = argument in {"candidates", "reward_range", "reward_model"}  # which may change the value
        add_call(f"evaluate({argument}={label})", evaluate, known=None if unlike else KNOWN, is_slow=label not in QUICK)

FUNCTIONS = {
    "evaluate(log={})": lambda value: cf.evaluate(value, **PLAIN),
    "evaluate(target={})": lambda value: cf.evaluate(make_log(), value, **PLAIN),
    "estimate(log={})": lambda value: cf.estimate(value, COLUMNS["target"], cf.IPS()),
    "estimate(target={})": lambda value: cf.estimate(make_log(), value, cf.IPS()),
    "estimate(estimator={})": lambda value: cf.estimate(make_log(), COLUMNS["target"], value),
    "read_log({})": cf.read_log,
    "read_target({})": lambda value: cf.read_target(value, "target"),
    "read_target(column={})": lambda value: cf.read_target(make_table(), value),
}
for pattern, function in FUNCTIONS.items():
    for label, value in JUNK.items():
        add_call(pattern.format(label), partial(function, value), REFUSED, is_slow=label not in QUICK)

ROLES = [one.name for one in dataclasses.fields(cf.LogScan) if one.name != "source"]
for role in ROLES:
    for label in (
        "a text",
        "an empty text",
        "-1",
        "NaN",
        "a list of None",
        "bytes",
        "an object",
        "a class",
        "an empty dictionary",
    ):
        value = JUNK[label]

        def scan(role=role, value=value):
            """Evaluate a table with one bad role."""
            return cf.evaluate(cf.LogScan(make_table(), **{role: value}), **PLAIN)

        add_call(f"LogScan({role}={label})", scan, known=None, is_slow=label not in QUICK)


def use(kind, made):
    """Use an estimator, selector, model or interval."""
    options = {"estimators": "candidates", "selectors": "selector", "models": "reward_model", "intervals": "interval"}
    more = {} if kind == "estimators" else {"candidates": ["ips", "snips"]}
    more |= {"candidates": ["dm"]} if kind == "models" else {}
    return cf.evaluate(
        make_log(), COLUMNS["target"], **PLAIN | more | {options[kind]: [made] if kind == "estimators" else made}
    )


FEW = (
    "None",
    "a text",
    "-1",
    "NaN",
    "infinity",
    "10 to the 400",
    "an empty list",
    "an object",
    "a class",
    "an array of three dimensions",
)
for kind in ("estimators", "selectors", "models", "intervals"):
    for name in registry.names(kind):
        found = registry.find(kind, name)
        for one in dataclasses.fields(found):
            for label in FEW:

                def build(kind=kind, found=found, field=one.name, value=JUNK[label]):
                    """Build an object with one bad field, and use it."""
                    return use(kind, found(**{field: value}))

                add_call(f"{found.__name__}({one.name}={label})", build, known=None, is_slow=label != "a text")
        add_call(
            f"{found.__name__}, the class instead of an object",
            lambda kind=kind, found=found: use(kind, found),
            known=None,
        )

METHODS = {
    "Estimate.interval(level=2)": lambda: cf.estimate(make_log(), COLUMNS["target"], "ips").interval(2.0),
    "Estimate.interval(level=text)": lambda: cf.estimate(make_log(), COLUMNS["target"], "ips").interval("a"),
    "Estimate.interval(method=text)": lambda: cf.estimate(make_log(), COLUMNS["target"], "ips").interval(0.9, "junk"),
    "uplift of another log": lambda: evaluate_plain().uplift(evaluate_rows(120)),
    "uplift of a number": lambda: evaluate_plain().uplift(5),
    "evaluate without targets": lambda: cf.evaluate(make_log(), {}, **PLAIN),
    "evaluate with a target twice as long": lambda: cf.evaluate(make_log(), COLUMNS["target"] * 2, **PLAIN),
    "evaluate with a target of one row": lambda: cf.evaluate(make_log(), COLUMNS["target"][:1], **PLAIN),
    "evaluate with a target of NaN": lambda: cf.evaluate(make_log(), [math.nan] * 240, **PLAIN),
    "evaluate with a target that raises": lambda: cf.evaluate(make_log(), raise_error, **PLAIN),
    "evaluate with a target that returns None": lambda: cf.evaluate(make_log(), lambda _: None, **PLAIN),
    "evaluate with a target that returns too few": lambda: cf.evaluate(make_log(), lambda _: [0.5], **PLAIN),
    "evaluate with a target of another shape": lambda: cf.evaluate(
        make_log(), lambda x: np.ones((len(x), 9)) / 9, **PLAIN
    ),
    "evaluate with a mapping that does not add up": lambda: cf.evaluate(
        make_log(), {"red": 0.2, "green": 0.2}, **PLAIN
    ),
    "evaluate with a mapping to unknown labels": lambda: cf.evaluate(make_log(), {"pink": 0.5, "green": 0.5}, **PLAIN),
    "Actions(None)": lambda: cf.evaluate(make_log(), cf.Actions(None), **PLAIN),
    "Probabilities(text)": lambda: cf.evaluate(make_log(), cf.Probabilities("junk"), **PLAIN),
    "Column of nothing": lambda: cf.evaluate(
        make_table(), "target", ["dm"], "default", cf.Column("junk"), progress=False
    ),
}


def raise_error(_context):
    """Raise as a user's own function might."""
    raise KeyError("column")


def evaluate_plain():
    """Return the evaluation of the clean log."""
    return cf.evaluate(make_log(), COLUMNS["target"], **PLAIN)


def evaluate_rows(count):
    """Return the evaluation of a part of the log."""
    return cf.evaluate(make_table().slice(0, count), **PLAIN)


for name, function in METHODS.items():
    add_call(name, function, REFUSED, None)

OPTIONS = {
    "no file": ["evaluate"],
    "an unknown command": ["evalute", "log.csv"],
    "an unknown option": ["evaluate", "log.csv", "--junk"],
    "an option without a value": ["evaluate", "log.csv", "--seed"],
    "a seed that is a text": ["evaluate", "log.csv", "--seed", "x"],
    "a seed below 0": ["evaluate", "log.csv", "--seed", "-1"],
    "a level of 2": ["evaluate", "log.csv", "--level", "2"],
    "a level of NaN": ["evaluate", "log.csv", "--level", "nan"],
    "threads of 0": ["evaluate", "log.csv", "--threads", "0"],
    "an unknown engine": ["evaluate", "log.csv", "--engine", "junk"],
    "an unknown target": ["evaluate", "log.csv", "--target", "junk"],
    "an empty target": ["evaluate", "log.csv", "--target", ""],
    "a target twice": ["evaluate", "log.csv", "--target", "target", "--target", "target"],
    "an unknown estimator": ["evaluate", "log.csv", "--candidates", "junk"],
    "an estimator with an unknown field": ["evaluate", "log.csv", "--candidates", "switch-dr:junk=1"],
    "an estimator with a bad value": ["evaluate", "log.csv", "--candidates", "switch-dr:threshold=x"],
    "an estimator with code": ["evaluate", "log.csv", "--candidates", "switch-dr:threshold=__import__('os')"],
    "a selector with a bad value": ["evaluate", "log.csv", "--selector", "ocv:splits=-1"],
    "an unknown interval": ["evaluate", "log.csv", "--interval", "junk"],
    "a range of one number": ["evaluate", "log.csv", "--reward-range", "1"],
    "a range of texts": ["evaluate", "log.csv", "--reward-range", "a,b"],
    "a range of NaN": ["evaluate", "log.csv", "--reward-range", "nan,1"],
    "a range that is turned around": ["evaluate", "log.csv", "--reward-range", "9,1"],
    "an unknown verdict": ["evaluate", "log.csv", "--require", "perfect"],
    "an option with an escape sequence": ["evaluate", "log.csv", "--target", "\x1b[31mtarget"],
    "an option of 100,000 characters": ["evaluate", "log.csv", "--target", "x" * 100_000],
    "a comparison with nothing": ["compare", "log.csv", "--baseline", "junk"],
    "rows below 0": ["synth", "new.parquet", "--rows", "-5"],
    "rows that are a text": ["synth", "new.parquet", "--rows", "many"],
    "rows of NaN": ["synth", "new.parquet", "--rows", "nan"],
    "too many rows": ["synth", "new.parquet", "--rows", "1e99"],
    "no actions": ["synth", "new.parquet", "--rows", "10", "--actions", "0"],
    "no files": ["synth", "new", "--rows", "10", "--files", "0"],
    "an unknown reward": ["synth", "new.parquet", "--rows", "10", "--reward", "junk"],
    "an unknown figure": ["paper", "figure99", "--out", "out"],
    "an unknown dataset": ["paper", "figure1", "--out", "out", "--datasets", "junk"],
    "a class that is not there": ["paper", "figure1", "--out", "out", "--add", "junk:Junk"],
    "a class of no module": ["paper", "figure1", "--out", "out", "--add", "junk"],
    "an unknown family": ["bench", "selection", "--out", "out", "--families", "junk"],
    "no problems": ["bench", "selection", "--out", "out", "--problems", "0"],
}
for name, arguments in OPTIONS.items():

    @entry(f"command with {name}", REFUSED, ("command",))
    def command(folder, arguments=arguments):
        """Run a command beside a good log."""
        (folder / "log.csv").write_text(write_csv())
        return CommandCase(arguments)


@entry("8 threads at once", RIGHT, ("python",))
def threads(folder):
    """Evaluate a file in many threads, which must agree and leave BLAS as it was."""
    from concurrent.futures import ThreadPoolExecutor

    from threadpoolctl import threadpool_info

    (folder / "log.parquet").write_bytes(write_parquet())

    def run():
        cf.evaluate(make_log(), COLUMNS["target"], **PLAIN)
        before = [one["num_threads"] for one in threadpool_info()]
        with ThreadPoolExecutor(8) as several:
            ends = list(several.map(lambda way: LogCase(folder / "log.parquet").run(way), ENGINES * 8))
        after = [one["num_threads"] for one in threadpool_info()]
        if before != after:
            raise AssertionError(f"BLAS had {before} threads before, and {after} after")
        if len({round(end.value, 9) for end in ends}) > 1:
            raise AssertionError("threads disagree")
        return ends[0].value

    return CallCase(run, know_answer(context=()))
