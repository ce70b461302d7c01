"""The cases of benchmarks/same_answers that are mistakes: what is wrong with a log, a file or a question."""

import math
from functools import partial

import numpy as np
import pandas as pd
import pyarrow as pa

import counterfold as cf
from same_answers.logs import columns_of, doses_of, evaluate, log_of, on_both, table_of

NAN, LATE = math.nan, 2000
"""The row that is wrong is a late one, in the last row group of a file."""


def put(column, value, row=LATE):
    """Return a column with another value in one row."""
    cells = column.tolist() if isinstance(column, np.ndarray) else list(column)
    cells[row] = value
    return cells


def errors_in_memory():
    """Yield logs that cannot be built, and targets and predictions that do not go with one."""
    c = columns_of(60)
    probs, target, reward, action = (c[name] for name in ("logging_probs", "target", "reward", "action"))
    given, dose = doses_of(60)
    alone = {"logging_probs": None, "propensity": c["propensity"]}
    none, allowed = {"logging_probs": None}, np.ones((60, 3))
    pair, words = {"a": probs, "b": c["second"]}, [*"ab"] * 30
    logs = {
        "reward matrix": {"reward": probs},
        "reward text": {"reward": ["x"] * 60},
        "reward long text": {"reward": ["a long text that is no number at all"] * 60},
        "reward complex": {"reward": reward + 1j},
        "reward dates": {"reward": np.full(60, "2020-01-01", dtype="M8[D]")},
        "reward masked": {"reward": np.ma.masked_array(reward, np.arange(60) == 3)},
        "reward infinite": {"reward": put(reward, math.inf, 9)},
        "reward large": {"reward": put(reward, 1e70, 9)},
        "reward constant": {"reward": np.ones(60)},
        "reward single": {"reward": [1.0]},
        "reward empty": {"reward": []},
        "action length": {"action": action[:50]},
        "action matrix": {"action": probs},
        "action ragged": {"action": [[1], [1, 2]] * 30},
        "action missing": {"action": put(action.astype(object), None, 4)},
        "action nan": {"action": put(action.astype(float), NAN, 4)},
        "action mixed": {"action": np.array([1, "a"] * 30, dtype=object), **alone},
        "action not available": {"action": put(action.astype(object), pd.NA, 4)},
        "action unknown": {"action": put(action, 9, 4)},
        "action none": {"action": None},
        "action single": {"action": np.zeros(60, int), **alone},
        "actions text": {"actions": "abc"},
        "actions number": {"actions": 3},
        "actions repeated": {"actions": [0, 1, 1]},
        "actions few": {"actions": [0, 1]},
        "actions other": {"actions": ["a", "b", "c"]},
        "context vector": {"context": c["x0"]},
        "context length": {"context": probs[:50]},
        "context nan": {"context": put(probs, [NAN, 0, 0], 7)},
        "context large": {"context": put(probs, [0, 1e70, 0], 7)},
        "context ragged": {"context": put(probs, [1.0], 7)},
        "group single": {"group": [1] * 60},
        "group missing": {"group": put(words, None, 3)},
        "group length": {"group": [1, 2]},
        "probs sum": {"logging_probs": probs * 1.1},
        "probs negative": {"logging_probs": put(probs, [-0.5, 1.0, 0.5], 5)},
        "probs nan": {"logging_probs": put(probs, [NAN, 0.5, 0.5], 5)},
        "probs width": {"logging_probs": probs[:, :2]},
        "probs vector": {"logging_probs": c["propensity"]},
        "probs length": {"logging_probs": probs[:9]},
        "probs names": {"logging_probs": pa.table(dict(zip("abc", probs.T, strict=True))), "actions": [0, 1, 2]},
        "probs of logged": {"logging_probs": np.eye(3)[(action + 1) % 3]},
        "neither": none,
        "propensity zero": alone | {"propensity": put(c["propensity"], 0.0, 8)},
        "propensity above": alone | {"propensity": put(c["propensity"], 1.5, 8)},
        "propensity tiny": alone | {"propensity": put(c["propensity"], 1e-40, 8)},
        "propensity nan": alone | {"propensity": put(c["propensity"], NAN, 8)},
        "propensity length": alone | {"propensity": [0.5]},
        "propensity other": {"propensity": put(c["propensity"], 0.987, 8)},
        "available kind": {"available": allowed * 2},
        "available logged": {"available": allowed * 0},
        "available width": {"available": allowed[:, :2]},
        "available probs": {"available": np.eye(3)[action]},
        "features length": {"action_features": [[1.0]]},
        "features vector": {"action_features": [1.0, 2.0, 3.0]},
        "features nan": {"action_features": [[1.0], [NAN], [math.inf]]},
        "features missing": {"action_features": {0: [1.0], 1: [2.0]}},
        "features by index": {"action_features": pd.DataFrame({"size": [1.0, 2.0, 3.0]}, index=[0, 1, 7])},
        "features empty": {"action_features": np.empty((3, 0))},
        "features text": {"action_features": [["a"], ["b"], ["c"]]},
        "logger alone": none | {"logger": words},
        "logger_probs alone": none | {"logger_probs": pair},
        "logger_probs kind": none | {"logger": words, "logger_probs": probs},
        "logger unknown": none | {"logger": put(words, "z", 3), "logger_probs": pair},
        "logger single": none | {"logger": ["a"] * 60, "logger_probs": pair},
        "logger_probs sum": none | {"logger": words, "logger_probs": pair | {"b": probs / 2}},
        "logger_probs width": none | {"logger": words, "logger_probs": pair | {"b": probs[:, :2]}},
        "logger_probs length": none | {"logger": words, "logger_probs": pair | {"b": probs[:5]}},
        "logger_probs other": {"logger": words, "logger_probs": pair},
        "logger_probs of logged": none | {"logger": words, "logger_probs": pair | {"b": np.eye(3)[(action + 1) % 3]}},
    }
    for name, changes in logs.items():
        yield name, partial(log_of, c, **changes)
    doses = {
        "constant": {"dose": np.ones(60)},
        "close": {"dose": np.arange(60) * 1e-70},
        "nan": {"dose": put(dose, NAN, 3)},
        "length": {"dose": dose[:5]},
        "no density": {"propensity": None},
        "density zero": {"propensity": put(given["propensity"], 0.0, 3)},
        **{name: {name: value} for name, value in {"action": action, "actions": [1], "logging_probs": probs}.items()},
        **{
            name: {name: value} for name, value in {"available": allowed, "logger": words, "logger_probs": pair}.items()
        },
        "action_features": {"action_features": [[1.0]]},
    }
    for name, changes in doses.items():
        yield f"doses, {name}", lambda changes=changes: cf.Log(**given | changes)
    log, dosed = log_of(c), cf.Log(**given)
    targets = {
        "sum": target * 2,
        "nan": put(target, [NAN, 0.5, 0.5], 6),
        "negative": put(target, [-1.0, 1.0, 1.0], 6),
        "width": target[:, :2],
        "length": target[:9],
        "vector": put(c["pi"], 1.2, 6),
        "short vector": c["pi"][:9],
        "text": "target",
        "ragged": put(target, [1.0], 6),
        "none": None,
        "callable": lambda x: x[:, 0] * 100,
        "names": pa.table(dict(zip("abc", target.T, strict=True))),
    }
    for name, value in targets.items():
        yield f"target, {name}", partial(evaluate, log, value, "plain")
    for name, value in {
        "far": dose + 1e9,
        "nan": put(dose, NAN, 3),
        "none": dose[:, None][:, :0],
        "3": dose[:3],
    }.items():
        yield f"target of doses, {name}", partial(evaluate, dosed, value)
    models = {
        "width": probs[:, :2],
        "nan": put(probs, [NAN, 1, 1], 2),
        "length": probs[:7],
        "vector": reward,
        "number": 3,
    }
    for name, value in models.items():
        yield f"predictions, {name}", partial(evaluate, log, target, reward_model=value)
    yield "predictions of doses", partial(evaluate, dosed, dose, reward_model=probs)


def errors_of_files():
    """Yield files with something wrong, most of it in a late row, on both engines."""
    c = columns_of(2100)
    probs, reward, action, target = (c[name] for name in ("logging_probs", "reward", "action", "target"))
    half, alone = [0.5, 0.5, 0.5], {"logging_probs": None}
    texts = [str(row) for row in probs.tolist()]
    names = ["red", "green", "blue"]
    objects = [dict(zip(names, row, strict=True)) for row in probs.tolist()]
    pairs = pa.map_(pa.string(), pa.float64())
    maps = [list(one.items()) for one in objects]
    colours = {"action": np.array(names)[action], "propensity": None}
    loggers = {"logger": [*"ab"] * 1050, "logger_probs.a": probs, "logger_probs.b": c["second"]}
    loggers |= {"logging_probs": None, "propensity": None}
    lists, renamed = put([[1.0, 2.0]] * 2100, [1.0]), {"reward": None, "y": put(reward, NAN)}
    given, dose = doses_of(2100)
    doses = {"x": given.pop("context")[:, 0], **given, "target": dose}
    lines = [
        ("reward nan", {"reward": put(reward, NAN)}),
        ("reward null", {"reward": put(reward, None)}),
        ("reward large", {"reward": put(reward, 1e70)}),
        ("reward renamed", renamed, {"reward": "y"}),
        ("reward text", {"reward": ["a"] * 2100}),
        ("reward constant", {"reward": np.ones(2100)}),
        ("reward named wrongly", {}, {"reward": "rewrd"}),
        ("propensity zero", alone | {"propensity": put(c["propensity"], 0.0)}),
        ("propensity tiny", alone | {"propensity": put(c["propensity"], 1e-40)}),
        (
            "propensity above, renamed",
            alone | {"propensity": None, "p": put(c["propensity"], 2.0)},
            {"propensity": "p"},
        ),
        ("propensity other", {"propensity": put(c["propensity"], 0.987)}),
        ("neither", alone | {"propensity": None}),
        ("probs sum", {"logging_probs": put(probs, half)}),
        ("probs sum, renamed", {"logging_probs": None, "b": put(probs, half)}, {"logging_probs": "b"}),
        ("probs negative", {"logging_probs": put(probs, [-1.0, 1.0, 1.0])}),
        ("probs null inside", {"logging_probs": put(probs, [None, 0.5, 0.5])}),
        ("probs null", {"logging_probs": put(probs, None)}),
        ("probs length", {"logging_probs": put(probs, [0.5, 0.5])}),
        ("probs of logged", {"logging_probs": put(probs, np.eye(3)[(action[LATE] + 1) % 3].tolist())}),
        ("probs numbers", {"logging_probs": reward}),
        ("probs of texts", {"logging_probs": [["a", "b", "c"]] * 2100}),
        ("probs JSON", {"logging_probs": put(texts, "[0.2, ")}),
        ("probs JSON, other", {"logging_probs": put(texts, "[0.2, [1]]")}),
        ("probs names", {"logging_probs": objects}),
        ("probs names, given", colours | {"logging_probs": objects}, {"actions": ["red", "green", "black"]}),
        ("probs object null", colours | {"logging_probs": put(objects, None)}),
        ("probs map null", colours | {"logging_probs": pa.array(put(maps, None), pairs)}),
        ("probs map of texts", {"logging_probs": pa.array([[("a", "b")]] * 2100, pa.map_(pa.string(), pa.string()))}),
        ("actions few", {}, {"actions": [0, 1]}),
        ("actions repeated", {}, {"actions": [0, 1, 1]}),
        ("actions text", {}, {"actions": "abc"}),
        ("action unknown", {"action": put(action, 9)}),
        (
            "action unknown, text",
            colours | alone | {"propensity": c["propensity"]},
            {"actions": ["red", "green", "grey"]},
        ),
        ("action null", {"action": put(action, None)}),
        ("action null, renamed", {"action": None, "a": put(action, None)}, {"action": "a"}),
        ("action lists", {"action": probs}),
        ("action missing", {"action": None}),
        ("action single", {"action": np.zeros(2100, int), **alone}),
        ("target sum", {"target": put(target, half)}),
        ("target sum, renamed", {"new": put(target, half)}, {}, {"target": "new"}),
        ("target above, renamed", {"new": put(c["pi"], 2.0)}, {}, {"target": "new"}),
        ("target null", {"target": put(target, None)}),
        ("target width", {"target": np.full((2100, 4), 0.25)}),
        ("target text", {"target": ["a"] * 2100}),
        ("target named wrongly", {}, {}, {"target": "targt"}),
        ("context nan", {"x0": put(c["x0"], NAN)}),
        ("context length", {"x": lists}, {"context": ["x"]}),
        ("context width", {"x": [[1.0, 2.0]] * 1400 + [[1.0]] * 700}, {"context": ["x"]}),
        ("context text", {"x": ["a"] * 2100}, {"context": ["x"]}),
        ("context missing", {}, {"context": ["x0", "x9"]}),
        ("context of action", {}, {"context": ["x0", "action"]}),
        ("group single", {"group": [1] * 2100}),
        ("group null, renamed", {"team": put(c["user"], None)}, {"group": "team"}),
        ("group missing", {}, {"group": "usr"}),
        ("available kind", {"available": np.full((2100, 3), 2)}),
        ("available logged", {"available": put(np.ones((2100, 3)), [0.0, 0.0, 0.0])}),
        ("available probs", {"available": put(np.ones((2100, 3)), np.eye(3)[action[LATE]].tolist())}),
        ("available width", {"available": np.ones((2100, 2))}),
        ("logger alone", {"who": loggers["logger"]}, {"logger": "who"}),
        ("logger_probs alone", loggers | {"logger": None}),
        ("logger unknown", loggers | {"logger": put(loggers["logger"], "z")}),
        ("logger single", loggers | {"logger": ["a"] * 2100}),
        ("logger_probs sum", loggers | {"logger_probs.b": put(c["second"], half)}),
        ("logger_probs numbers", {"logger": loggers["logger"], "logger_probs": reward}),
        ("logger_probs other", loggers | {"logging_probs": probs}),
        ("predictions missing", {}, {}, {"reward_model": cf.Column("p")}),
        ("predictions width", {"p": np.ones((2100, 2))}, {}, {"reward_model": cf.Column("p")}),
        ("predictions nan", {"p": put(probs, [NAN, 1.0, 1.0])}, {}, {"reward_model": cf.Column("p")}),
        ("predictions null", {"p": put(probs, None)}, {}, {"reward_model": cf.Column("p")}),
        ("predictions numbers", {}, {}, {"reward_model": cf.Column("pi")}),
        ("predictions given", {}, {}, {"reward_model": probs}),
        ("features missing", {}, {"action_features": {"action": [0, 1], "size": [1.0, 2.0]}}),
        ("features repeated", {}, {"action_features": {"action": [0, 1, 1], "size": [1.0, 2.0, 3.0]}}),
        ("features alone", {}, {"action_features": {"action": [0, 1, 2]}}),
        ("features nan", {}, {"action_features": {"action": [0, 1, 2], "size": [1.0, NAN, 3.0]}}),
        ("features label", {}, {"action_features": {"label": [0, 1, 2], "size": [1.0, 2.0, 3.0]}}),
        ("features null", {}, {"action_features": {"action": [0, 1, None], "size": [1.0, 2.0, 3.0]}}),
        ("selector in memory", {}, {}, {"selector": "theory"}),
        ("target in memory", {}, {}, {"target": target}),
        ("callable target", {}, {}, {"target": lambda x: np.full((len(x), 3), 0.5)}),
        ("model for doses", {}, {}, {"reward_model": "ridge-on-dose"}),
    ]
    yield from on_both((name, c | changes, *more) for name, changes, *more in lines)
    one = {name: column[:1] for name, column in c.items()}
    yield from on_both([("single row", one), ("doses", doses), ("dose constant", doses | {"dose": np.ones(2100)})])
    yield from on_both([("no rows", table_of(c).slice(0, 0))])
