"""Logs for benchmarks/same_answers, in memory and in files of every format."""

import json
import math
import os
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

import counterfold as cf

THREADS = os.environ.get("SAME_ANSWERS_THREADS")
SETTINGS = {"progress": False} | ({} if THREADS is None else {"threads": int(THREADS)})
"""What must not change any answer; `record --threads` sets the number of threads."""

evaluate = partial(cf.evaluate, **SETTINGS)
learn = partial(cf.learn, **SETTINGS)
quick_ocv, fitted_once = cf.OCV(splits=3), cf.OCV(splits=5, refit=False)


def compare(log, targets, baseline=None, **settings):
    """Compare several targets with a baseline."""
    return cf.compare(log, targets, baseline=baseline, **SETTINGS | settings)


def columns_of(rows=400, actions=3, seed=0):
    """Return the columns of a log of labels: its roles under their own names, targets, groups and predictions."""
    rng, every = np.random.default_rng(seed), np.arange(rows)
    x = rng.normal(size=(rows, 2))
    logging, target, other, second = (rng.dirichlet(np.full(actions, 3.0), size=rows) for _ in range(4))
    code = (logging.cumsum(axis=1) > rng.random((rows, 1))).argmax(axis=1)
    reward = x[:, 0] * (code == 1) + code / actions + rng.normal(size=rows)
    roles = {"action": code, "reward": reward, "propensity": logging[every, code], "logging_probs": logging}
    targets = {"target": target, "other": other, "pi": target[every, code], "q": np.tile(x[:, :1], actions)}
    beside = {"user": every % 97, "few": every % 7, "second": second}
    return {"x0": x[:, 0], "x1": x[:, 1], **roles, **targets, **beside}


def log_of(c, **changes):
    """Return a log in memory."""
    given = {"context": np.column_stack([c["x0"], c["x1"]]), "logging_probs": c["logging_probs"]}
    return cf.Log(**{"action": c["action"], "reward": c["reward"]} | given | changes)


def doses_of(rows=500):
    """Return a log of doses and a target for it."""
    rng = np.random.default_rng(5)
    x, noise = rng.normal(size=(rows, 2)), rng.normal(size=rows)
    dose, density = x[:, 0] + noise, np.exp(-0.5 * noise**2) / math.sqrt(2 * math.pi)
    reward = rng.normal(size=rows) - (dose - 1) ** 2
    return {"context": x, "dose": dose, "reward": reward, "propensity": density}, 0.5 + 0.5 * x[:, 0]


def table_of(columns):
    """Return a table; a column that is None is left out."""
    kept = {name: column for name, column in columns.items() if column is not None}
    return pa.table({name: c.tolist() if isinstance(c, np.ndarray) else c for name, c in kept.items()})


def write(columns, name="log.parquet"):
    """Write columns as the format that the name tells, in several pieces, and return the name."""
    table, path = columns if isinstance(columns, pa.Table) else table_of(columns), Path(name)
    if path.suffix == ".parquet":
        pa.parquet.write_table(table, path, row_group_size=700)
    elif path.suffix == ".csv":
        texts = {n: [json.dumps(v) if isinstance(v, list) else v for v in c] for n, c in table.to_pydict().items()}
        pa.csv.write_csv(pa.table(texts), path)
    elif path.suffix == ".jsonl":
        path.write_text("".join(f"{json.dumps(row)}\n" for row in table.to_pylist()))
    elif path.suffix == ".arrow":
        with pa.ipc.new_file(str(path), table.schema) as file:
            file.write_table(table, max_chunksize=500)
    else:
        path.mkdir(exist_ok=True)
        for number, first in enumerate(range(0, len(table), 600)):
            pa.parquet.write_table(table.slice(first, 600), path / f"{number}.parquet", row_group_size=250)
    return name


def from_file(columns, scan, question, name="log.parquet"):
    """Write a log and evaluate it."""
    return evaluate(cf.LogScan(write(columns, name), **scan), **question)


def on_both(table):
    """Yield a case for each engine from lines of a name, columns and, if need be, arguments of scan and evaluate."""
    for (name, columns, *more), engine in product(table, ("memory", "local")):
        scan, question = (*more, {}, {})[:2]
        yield f"{name}, {engine}", partial(from_file, columns, scan, question | {"engine": engine})


def shop_of(rows=1200, seed=1, gain=0.3):
    """Return the columns of a shop's log: texts, dates, groups, several rewards, gaps in these, scores and targets.

    With a `gain` of 0 no offer is better than another one for anybody.
    """
    rng = np.random.default_rng(seed)
    every = np.arange(rows)
    device = rng.choice(["phone", "tablet", "pc"], rows, p=[0.6, 0.1, 0.3])
    age = rng.integers(18, 80, rows)
    member = rng.random(rows) < 0.4
    shares = np.where(member[:, None], [0.5, 0.3, 0.2], [0.4, 0.2, 0.4])
    code = (shares.cumsum(axis=1) > rng.random((rows, 1))).argmax(axis=1)
    likes = ((device == "phone") & (code == 1)) | ((age > 55) & (code == 2))
    bought = rng.random(rows) < 0.2 + gain * likes
    spend = np.where(bought, rng.exponential(20.0, rows), 0.0).round(2)
    cost = (1.0 + code + rng.random(rows)).round(3)
    decided = np.datetime64("2024-02-05T08:00:00") + np.sort(rng.integers(0, 42 * 24 * 60, rows)).astype("m8[m]")
    came = decided + rng.integers(1, 12 * 24 * 60, rows).astype("m8[m]")
    odds = np.exp(np.column_stack([np.zeros(rows), device == "phone", age / 50]))
    wanted = odds / odds.sum(axis=1, keepdims=True)
    context = {"device": device.tolist(), "age": age, "member": member}
    logged = {
        "action": np.array(OFFERS)[code].tolist(),
        "reward": bought.astype(float),
        "propensity": shares[every, code],
    }
    rewards = {"spend": spend, "cost": cost, "late": [value or None for value in spend.tolist()]}
    times = {
        "decided": pa.array(decided),
        "came": pa.array(came, mask=~bought),
    }
    targets = {
        "target": wanted[every, code],
        "wanted": np.array(OFFERS)[wanted.argmax(axis=1)].tolist(),
        **{f"new_{offer}": wanted[:, place] for place, offer in enumerate(OFFERS)},
        **{f"score_{offer}": odds[:, place].round(4) for place, offer in enumerate(OFFERS)},
    }
    beside = {"user": rng.integers(0, rows // 6, rows)}
    return {**context, **logged, **rewards, **times, **targets, **beside}


OFFERS = ["standard", "discount", "delivery"]

SHOP_TARGETS = ["target", "wanted", *(f"{kind}_{offer}" for kind in ("new", "score") for offer in OFFERS)]
SHOP_OUTCOMES = ["spend", "cost", "late", "came"]


def plain_shop(rows=1200, seed=1, gain=0.3, **changes):
    """Return a shop's log as a table with nothing but its context, its roles and one target."""
    c = shop_of(rows, seed, gain) | changes
    kept = ["device", "age", "member", "action", "reward", "propensity", "target", *changes]
    return table_of({name: c[name] for name in kept})


SHOP = {"ignore": [*SHOP_TARGETS, *SHOP_OUTCOMES, "user"]}
"""Which columns of a whole shop's log are no context."""


def shop_table(**changes):
    """Return a whole shop's log as a table."""
    return table_of(shop_of() | changes)
