"""The cases of benchmarks/same_answers that evaluate files, by function and on Spark."""

from functools import partial
from itertools import product

import numpy as np
import pyarrow as pa
import pyarrow.parquet

import counterfold as cf
from same_answers.logs import columns_of, evaluate, fitted_once, on_both, quick_ocv, table_of, write

COLOURS = ["red", "green", "blue"]


def odd_logs():
    """Yield logs that are hard to evaluate or hold little, as columns of a file."""
    c, large = columns_of(), columns_of(1500)
    half = c["logging_probs"].copy()
    half[np.ix_(c["action"] != 2, [2])] = 0
    half /= half.sum(axis=1, keepdims=True)
    alone = dict.fromkeys(("logging_probs", "q", "user", "few", "second"))
    third = {"action": c["action"] % 2, "target": np.tile([0.0, 0.0, 1.0], (400, 1))}
    huge = np.where(np.arange(400) == 5, 1e-6, c["propensity"])
    yield "no overlap", c | alone | third, {"actions": [0, 1, 2]}
    yield "no weight", c | alone | {"target": np.zeros(400)}
    yield "missing support", c | {"logging_probs": half, "propensity": None}
    yield "offset rewards", c | {"reward": 1e9 + c["reward"]}
    yield "rare rewards", c | {"reward": (np.arange(400) % 50 == 0).astype(float)}
    yield "one huge weight", c | alone | {"propensity": huge, "target": c["pi"]}
    yield "constant context", c | {"x1": np.ones(400)}
    yield "many actions", columns_of(800, 60)
    yield "wrong propensities", c | alone | {"propensity": c["propensity"] / 2}
    for rows in (2, 3, 5, 20):
        yield f"{rows} rows", columns_of(rows, seed=rows + 3), {"actions": [0, 1, 2]}, {"candidates": "plain"}
    for rows in (1000, 1024, 1025, 1500, 3000):
        yield f"{rows} rows", columns_of(rows), {"ignore": ["target", "other", "pi", "few", "user"]}
    yield "many groups", columns_of(3000) | {"user": np.arange(3000) // 2}, {"group": "user"}
    yield "groups", large, {"group": "user"}
    yield "few groups", large, {"group": "few"}
    yield "text groups", large | {"user": [f"u{row % 300}" for row in range(1500)]}, {"group": "user"}


def layouts(c):
    """Yield the same log in every layout of its columns."""
    named, probs = np.array(COLOURS)[c["action"]], c["logging_probs"]
    colours = {"action": named, "logging_probs": None, "propensity": None}
    spread = {f"logging_probs.{name}": probs[:, place] for place, name in enumerate(COLOURS)}
    objects = [dict(zip(COLOURS, row, strict=True)) for row in probs.tolist()]
    maps = pa.array([list(one.items()) for one in objects], pa.map_(pa.string(), pa.float64()))
    shares = probs[:, :2] / probs[:, :2].sum(axis=1, keepdims=True)
    two = colours | {"action": np.array(COLOURS)[c["action"] % 2], "logging_probs_red": shares[:, 0]}
    old = {"reward": "y", "action": "a", "propensity": "p", "logging_probs": "b"}
    renamed = dict.fromkeys(old) | {new: c[name] for name, new in old.items()}
    lists = {"x": np.column_stack([c["x0"], c["x1"]]), "x0": None, "x1": None}
    loggers, both = {"logger": [*"ab"] * 750, "logging_probs": None, "propensity": None}, {"a": probs, "b": c["second"]}
    pairs = zip(probs.tolist(), c["second"].tolist(), strict=True)
    flat = {f"logger_probs.{who}.{place}": one[:, place] for who, one in both.items() for place in range(3)}
    yield "spread columns", c | colours | spread
    yield "objects", c | colours | {"logging_probs": objects}
    yield "maps", c | colours | {"logging_probs": maps}
    yield "fewer columns than actions", c | two | {"logging_probs_green": shares[:, 1]}, {"actions": COLOURS}
    yield "labels from a dictionary", c | colours | spread | {"action": pa.array(named.tolist()).dictionary_encode()}
    yield "renamed columns", c | renamed, old | {"context": ["x0", "x1"]}, {"target": {"new": "target", "old": "other"}}
    yield "target vector", c, {}, {"target": "pi"}
    yield "target vector, no probabilities", c | {"logging_probs": None}, {}, {"target": "pi"}
    yield "propensity", c | {"logging_probs": None}
    yield "available", c | {"available": probs > 0}
    yield "lists as context", c | lists, {"context": ["x", "user"]}
    yield "loggers", c | loggers | {f"logger_probs.{who}": one for who, one in both.items()}
    yield "loggers as objects", c | loggers | {"logger_probs": [{"a": a, "b": b} for a, b in pairs]}
    yield "loggers, spread", c | loggers | flat


def questions(c):
    """Yield other questions to the same log."""
    of_actions = table_of({"action": [0, 1, 2], "size": [0.5, 1.0, 2.0], "weight": [1.0, 0.0, 3.0]})
    two, tree = {"new": "target", "old": "other"}, "per-action:estimator=sklearn.tree.DecisionTreeClassifier"
    fixed = {"rows": "target", "fixed": lambda x: np.tile([0.2, 0.3, 0.5], (len(x), 1))}
    binary = c | {"reward": (c["reward"] > 1).astype(float)}
    yield "predictions", c, {}, {"reward_model": cf.Column("q")}
    yield "predictions, several targets", c, {}, {"reward_model": cf.Column("q"), "target": two}
    yield "action features", c, {"action_features": of_actions}, {"candidates": ["default", "mips", "off-cem"]}
    yield "callable target", c, {}, {"target": fixed}
    yield "no model", c, {}, {"reward_model": None}
    yield "ridge", c, {"group": "user"}, {"reward_model": "ridge-per-action", "selector": fitted_once}
    yield "no penalty", c | {"x1": np.ones(1500)}, {}, {"reward_model": "ridge-per-action:alpha=1e-13"}
    yield "cross-fitted ridge", c, {}, {"reward_model": cf.CrossFitted(cf.RidgePerAction(0.1), 3)}
    yield "tree", binary, {}, {"reward_model": tree}
    yield "paper", c, {}, {"candidates": "paper", "selector": fitted_once, "seed": 4}
    yield "ocv, refitted", c, {}, {"candidates": "plain", "selector": quick_ocv}
    yield "kfold-cv", c, {}, {"selector": cf.KFoldCV(folds=4)}
    yield "opera", c, {}, {"selector": cf.OPERA(replicates=20)}
    yield "slope", c, {}, {"selector": "slope"}
    yield "bootstrap", c, {}, {"interval": "bootstrap", "level": 0.9}
    yield "likelihood, groups", c, {"group": "few"}, {"interval": "empirical-likelihood", "level": 0.5}


def unlike_files(c):
    """Write a folder of files whose columns differ in type and order, and return its name."""
    table = table_of(c)
    write(table.slice(0, 600), "unlike")
    rest = table.slice(600).select(table.column_names[::-1])
    place = rest.schema.get_field_index("user")
    pa.parquet.write_table(rest.set_column(place, "user", rest["user"].cast(pa.int32())), "unlike/9.parquet")
    return "unlike"


def answers_of_files():
    """Yield evaluations of files in every format and layout, on both engines that need no cluster."""
    c = columns_of(1500)
    for some in (odd_logs(), layouts(c), questions(c)):
        yield from on_both(some)
    for name, engine in product(("log.csv", "log.jsonl", "log.arrow", "folder"), ("memory", "local")):
        yield f"{name}, {engine}", lambda name=name, engine=engine: evaluate(write(c, name), engine=engine)
    for engine in ("memory", "local"):
        yield f"unlike files, {engine}", lambda engine=engine: evaluate(unlike_files(c), engine=engine)
    frames = {"pandas": pa.Table.to_pandas, "dictionary": pa.Table.to_pydict, "table": lambda table: table}
    for name, frame in frames.items():
        yield name, lambda frame=frame: evaluate(frame(table_of(c)), "target", "plain")
    yield "read_target", lambda: [cf.read_target(write(c), name)[:2].tolist() for name in ("target", "pi")]
    yield "uplift", lambda: evaluate(write(c), engine="local").uplift(evaluate(write(c), "other", engine="local"))
    many = columns_of(140000)
    lean = {name: many[name] for name in ("x0", "x1", "action", "reward", "propensity", "pi")}
    yield "140000 rows, local", lambda: evaluate(write(lean), "pi", engine="local")


def answers_on_spark():
    """Yield evaluations on a local Spark session."""
    from pyspark.sql import SparkSession

    settings = {"spark.ui.enabled": False, "spark.ui.showConsoleProgress": False, "spark.log.level": "OFF"}
    settings |= {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
    session = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
    c, on_spark = columns_of(1500), partial(evaluate, candidates="plain", engine="spark")
    late = c | {"reward": [*c["reward"][:-1].tolist(), None]}
    yield "path", lambda: on_spark(write(c), {"new": "target", "old": "other"}, candidates="default")
    yield "folder", lambda: on_spark(write(c, "folder"), candidates="default", selector=fitted_once)
    yield "csv", lambda: on_spark(write(c, "log.csv"))
    yield "frame", lambda: on_spark(session.createDataFrame(table_of(c).to_pandas()), "pi")
    yield "groups", lambda: on_spark(cf.LogScan(write(c), group="user"), reward_model=cf.Column("q"))
    yield "missing reward", lambda: on_spark(write(late))
    yield "missing column", lambda: on_spark(write(c), "targt")
    yield "selector in memory", lambda: on_spark(write(c), selector="theory")
    yield "frame by local", lambda: evaluate(session.createDataFrame(table_of(c).to_pandas()), engine="local")
    session.stop()
