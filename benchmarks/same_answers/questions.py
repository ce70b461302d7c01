"""The cases of benchmarks/same_answers that are mistakes in a question or in a parameter, and unreadable sources."""

import math
from functools import partial
from itertools import product
from pathlib import Path

import counterfold as cf
from same_answers.logs import columns_of, doses_of, evaluate, log_of, table_of, write

NAN = math.nan


def of_bytes(name, content, engine):
    """Write a file and evaluate it."""
    Path(name).write_bytes(content)
    return evaluate(name, engine=engine)


def errors_of_questions():
    """Yield questions that cannot be asked, and sources that cannot be read."""
    c = columns_of(60)
    log, target = log_of(c), c["target"]
    vector = log_of(c, logging_probs=None, propensity=c["propensity"])
    given, dose = doses_of(60)
    dosed = cf.Log(**given)
    questions = {
        "level": {"level": 1.0},
        "level text": {"level": "a"},
        "seed": {"seed": -1},
        "seed half": {"seed": 0.5},
        "interval": {"interval": "normall"},
        "interval kind": {"interval": 3},
        "interval field": {"interval": "bootstrap:replicates=1"},
        "selector": {"selector": "ocvv"},
        "selector kind": {"selector": cf.IPS()},
        "selector field": {"selector": "ocv:split=3"},
        "selector value": {"selector": "ocv:splits=x"},
        "selector twice": {"selector": "ocv:splits=3:splits=4"},
        "candidates": {"candidates": "dross"},
        "candidates kind": {"candidates": [3]},
        "candidates empty": {"candidates": []},
        "candidates that need more": {"candidates": ["mips", "kernel-ips"]},
        "candidates field": {"candidates": "dros:shrinkage=-1"},
        "validator": {"selector": cf.OCV(cf.KernelIPS())},
        "theory of several": {"selector": "theory", "candidates": ["cab", "dros"]},
        "theory of none": {"selector": "theory", "candidates": "dr"},
        "pseudo-target": {"selector": "pseudo-target"},
        "folds": {"selector": cf.KFoldCV(folds=100)},
        "model": {"reward_model": "ridge"},
        "model for doses": {"reward_model": "ridge-on-dose"},
        "model class": {"reward_model": "per-action:estimator=nowhere.Model"},
        "model fails": {"reward_model": "per-action:estimator=sklearn.linear_model.LogisticRegression"},
        "engine": {"engine": "local"},
        "engine name": {"engine": "sparc"},
    }
    for name, question in questions.items():
        yield name, partial(evaluate, log, target, **question)
    yield "no target", partial(evaluate, log, {})
    yield "no target's probabilities", partial(evaluate, vector, c["pi"], "dm")
    yield "pasif without probabilities", partial(evaluate, vector, target, "plain", "pasif")
    yield "ladder of doses", partial(evaluate, dosed, dose, selector="ladder")
    yield "labels of doses", partial(evaluate, dosed, dose, "plain")
    yield "estimate", partial(cf.estimate, log, target, "mips")
    yield "estimate of unknown", partial(cf.estimate, log, target, "sndrr")
    yield "estimate of other kind", partial(cf.estimate, log, target, 3)
    yield "estimate's interval", lambda: cf.estimate(log, target, "ips").interval(2.0)
    fields = {
        cf.OCV: {"splits": 1, "split_ratio": 2.0, "rule": "mode", "ratio_step": -1, "refit": 3},
        cf.KFoldCV: {"folds": 1, "rule": "a"},
        cf.Ladder: {"boldness": 0, "ladders": 3},
        cf.SLOPE: {"order": "a", "width": -1},
        cf.OPERA: {"replicates": 0, "centre": "a"},
        cf.PASIF: {"replicates": 0, "ratio": 1, "batch": 1, "rate": 0, "device": "tpu"},
        cf.Theory: {"delta": 1, "rules": "a"},
        cf.PseudoTarget: {"replicates": 0},
        cf.Bootstrap: {"replicates": 1, "seed": -1},
        cf.StudentT: {"doubt": -1},
        cf.EmpiricalBernstein: {"low": NAN},
        cf.SharedRidge: {"alpha": -1, "common": -1, "aim": 2},
        cf.RidgePerAction: {"alpha": -1},
        cf.RidgeOnDose: {"alpha": -1, "degree": 0},
        cf.CrossFitted: {"model": 3, "folds": 1},
        cf.CAB: {"max_weight": -1},
        cf.DRos: {"shrinkage": "a"},
        cf.ExponentialIPS: {"power": 2},
        cf.GroupIPS: {"groups": 0},
        cf.IPSLambda: {"mix": True},
        cf.KernelDR: {"bandwidth": 0},
        cf.LogSmoothing: {"smoothing": -1},
        cf.MIPS: {"dimensions": 0.5},
        cf.OffCEM: {"clusters": 1.5},
        cf.SwitchDR: {"threshold": NAN},
    }
    for kind, values in fields.items():
        for name, value in values.items():
            yield f"{kind.__name__}, {name}", lambda kind=kind, name=name, value=value: repr(kind(**{name: value}))
    yield "opera", lambda: cf.OPERA(cf.IPS(), centre="own")
    contents = {
        "empty.csv": b"",
        "log.xyz": b"a",
        "log.parquet": b"nothing",
        "log.json": b"[1]",
        "twice.csv": b"a,a\n1,2",
    }
    contents |= {
        "header.csv": b"action,reward\n",
        "ragged.csv": b"action,reward\n1,2,3\n",
        "log.jsonl": b'{"a": 1}\n{"a"',
    }
    for (name, content), engine in product(contents.items(), ("memory", "local", "auto")):
        yield f"{name}, {engine}", partial(of_bytes, name, content, engine)
    yield "no file", partial(evaluate, "nowhere.parquet", engine="local")
    yield "table by local", partial(evaluate, table_of(c), engine="local")
    yield "no table", partial(evaluate, 3)
    yield "unknown engine", lambda: evaluate(write(c), engine="sparc")
    yield "read_log", lambda: cf.read_log(write(c), reward="rewards")
    yield "read_target", lambda: cf.read_target(write(c), "targets")
    yield "a log", lambda: cf.read_log(write(c), context=["x0"], group="user")
