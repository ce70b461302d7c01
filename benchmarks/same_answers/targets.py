"""The cases of benchmarks/same_answers that give a policy in every form there is."""

import sys
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np

import counterfold as cf
from same_answers.logs import (
    OFFERS,
    SHOP,
    columns_of,
    doses_of,
    evaluate,
    log_of,
    shop_of,
    shop_table,
    table_of,
    write,
)

OWN_MODULE = '''"""Policies that the cases of benchmarks/same_answers import by name."""

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

OFFERS = ["standard", "discount", "delivery"]


def choose(context):
    return np.where(context.sum(axis=1) > 40, "discount", "standard")


def shares(context):
    return np.tile([0.2, 0.3, 0.5], (len(context), 1))


def choose_by_name(frame):
    return np.where(frame["device"] == "phone", "discount", "delivery")


def fails(context):
    raise ValueError("nothing can be chosen")


rng = np.random.default_rng(0)
ages = rng.integers(18, 80, size=(300, 1)).astype(float)
model = DecisionTreeClassifier(max_depth=2, random_state=0)
model.fit(ages, np.array(OFFERS)[(ages[:, 0] // 25).astype(int) % 3])
linear = LogisticRegression(max_iter=500).fit(ages / 50, model.predict(ages))
'''

TEXTS = [
    "target",
    "wanted",
    "new",
    "new_discount",
    "actions:wanted",
    "probabilities:target",
    "always:discount",
    "discount",
    "uniform",
    "logger",
    "greedy:score",
    "greedy:score_standard,score_discount,score_delivery",
    "softmax:score",
    "softmax:score:temperature=0.5",
    "0.1*uniform + 0.9*greedy:score",
    "4/5*logger + 1/5*new",
    "0.3*standard + 0.7*discount",
    "0.5*'discount' + 0.5*uniform",
    "policies:choose",
    "policies:choose:columns=age",
    "policies:shares",
    "policies:choose_by_name:columns=device",
    "policies:model:columns=age",
    "skops:policy.skops:columns=age",
    "skops:tree.skops:columns=age",
    "skops:tree.skops:columns=age:trusted=sklearn.tree._tree.Tree",
    "onnx:policy.onnx:columns=age",
]

MISTAKES = [
    "",
    "targt",
    "always:nothing",
    "greedy:scores",
    "greedy:score_standard",
    "softmax:score:temperature=0",
    "softmax:score:warmth=1",
    "0.1*uniform + 0.8*greedy:score",
    "0.5*uniform +",
    "two*uniform + 1*logger",
    "actions:age",
    "actions:nothing",
    "probabilities:age",
    "policies:nothing",
    "policies:fails",
    "policies:OFFERS",
    "nowhere:choose",
    "policies:model",
    "skops:nowhere.skops",
    "skops:log.parquet",
    "onnx:nowhere.onnx",
    "onnx:log.parquet:columns=age",
    "pickle:policy.pickle",
    "uniform:3",
]


def answers_by_target():
    """Yield answers for targets of every form, on both engines."""
    shop = shop_table()
    for text, engine in product([*TEXTS, *MISTAKES], ("memory", "local")):
        yield f"text {text!r}, {engine}", partial(evaluate_text, shop, text, engine)
    for name in list_objects():
        for engine in ("memory", "local"):
            yield f"object {name}, {engine}", partial(evaluate_object, shop, name, engine)
    several = {"a": "target", "b": "uniform", "c": "greedy:score", "d": "0.5*logger + 0.5*discount"}
    for engine in ("memory", "local"):
        yield f"several, {engine}", lambda engine=engine: evaluate(write(shop), several, "plain", engine=engine, **SHOP)
    yield from targets_in_memory()
    yield from targets_of_doses()
    yield "read_target", lambda: {name: cf.read_target(shop, name)[:3] for name in ("target", "wanted", "new")}
    yield "estimates", estimates_of_forms
    yield "checks", lambda: {text: cf.check(shop, text, **SHOP) for text in ("target", "uniform", "greedy:score")}


def prepare():
    """Write a module of policies, and models as files of skops and ONNX."""
    if Path("policies.py").exists():
        return
    Path("policies.py").write_text(OWN_MODULE)
    sys.path.insert(0, str(Path.cwd()))
    import skops.io
    from skl2onnx import to_onnx

    import policies

    skops.io.dump(policies.linear, "policy.skops")
    skops.io.dump(policies.model, "tree.skops")
    Path("policy.onnx").write_bytes(to_onnx(policies.model, policies.ages[:1].astype(np.float32)).SerializeToString())


def evaluate_text(table, text, engine):
    """Evaluate a target that is given as a text."""
    prepare()
    return evaluate(write(table), text, "plain", engine=engine, **SHOP)


def list_objects():
    """Return functions that make targets as objects, by name."""
    return {
        "Probabilities": lambda _: cf.Probabilities("target"),
        "Actions": lambda _: cf.Actions("wanted"),
        "Always": lambda _: cf.Always("delivery"),
        "Uniform": lambda _: cf.Uniform(),
        "Logger": lambda _: cf.Logger(),
        "Greedy": lambda _: cf.Greedy("score"),
        "Greedy, mapping": lambda _: cf.Greedy({offer: f"score_{offer}" for offer in OFFERS}),
        "Greedy, list": lambda _: cf.Greedy([f"score_{offer}" for offer in OFFERS]),
        "Softmax": lambda _: cf.Softmax("score", temperature=2.0),
        "sum": lambda _: 0.1 * cf.Uniform() + 0.9 * cf.Greedy("score"),
        "Mixture": lambda _: cf.Mixture([(0.25, cf.Logger()), (0.75, "wanted")]),
        "shares": lambda _: {"standard": 0.3, "discount": 0.7},
        "function": lambda policies: policies.choose,
        "function of names": lambda policies: cf.Function(policies.choose_by_name, columns=["device"]),
        "function that fails": lambda policies: policies.fails,
        "classifier": lambda policies: cf.Classifier(policies.model, columns=["age"]),
        "classifier of a frame": lambda _: fit_on_frame(),
        "pipeline": lambda _: fit_pipeline(),
        "Skops": lambda _: cf.Skops("policy.skops", columns=["age"]),
        "ONNX": lambda _: cf.ONNX("policy.onnx", columns=["age"]),
        "number": lambda _: 3,
        "nothing": lambda _: None,
        "shares that are too few": lambda _: {"standard": 0.3},
        "unknown label": lambda _: {"nothing": 1.0},
        "half of a policy": lambda _: 0.5 * cf.Uniform(),
    }


def evaluate_object(table, name, engine):
    """Evaluate a target that is an object."""
    prepare()
    import policies

    target = list_objects()[name](policies)
    return evaluate(write(table), target, "plain", engine=engine, **SHOP)


def fit_on_frame():
    """Return a classifier that was fitted on a data frame of numbers."""
    from sklearn.linear_model import LogisticRegression

    other = shop_of(400, seed=7)
    frame = table_of({"age": other["age"], "member": other["member"]}).to_pandas()
    return LogisticRegression().fit(frame, other["action"])


def fit_pipeline():
    """Return a pipeline that looks at columns of text and of numbers."""
    from sklearn.compose import make_column_transformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    other = shop_of(400, seed=7)
    frame = table_of({"age": other["age"], "device": other["device"]}).to_pandas()
    encoder = make_column_transformer((OneHotEncoder(), ["device"]), remainder="passthrough")
    return make_pipeline(encoder, LogisticRegression(max_iter=300)).fit(frame, other["action"])


def targets_in_memory():
    """Yield targets of logs in memory, as arrays and frames of every kind."""
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    c = columns_of()
    log = log_of(c)
    target = c["target"]
    arms = target.argmax(axis=1)
    colours = ["red", "green", "blue"]
    feedback = {"n_rounds": 400, "n_actions": 3, "action": c["action"], "reward": c["reward"], "position": None}
    feedback |= {"context": log.context, "pscore": c["propensity"]}
    named = log_of(c, action=np.array(colours)[c["action"]], actions=colours)
    forms = {
        "matrix": (log, target),
        "lists": (log, target.tolist()),
        "single precision": (log, target.astype(np.float32)),
        "logged actions alone": (log, c["pi"]),
        "labels": (log, cf.Actions(arms)),
        "one label": (log, 2),
        "text labels": (named, np.array(colours)[arms]),
        "list of labels": (named, [colours[arm] for arm in arms]),
        "pandas": (named, pd.DataFrame(target, columns=colours)),
        "pandas, other order": (named, pd.DataFrame(target, columns=colours)[colours[::-1]]),
        "polars": (named, pl.DataFrame(target, schema=colours)),
        "pyarrow": (named, pa.table(dict(zip(colours, target.T, strict=True)))),
        "pandas series of labels": (named, pd.Series([colours[arm] for arm in arms])),
        "categories": (named, pd.Series([colours[arm] for arm in arms], dtype="category")),
        "scores": (log, cf.Greedy(np.log(target))),
        "soft scores": (log, cf.Softmax(np.log(target), temperature=2.0)),
        "mixture of arrays": (log, cf.Mixture([(0.5, target), (0.5, cf.Uniform())])),
        "function": (log, lambda context: cf.Actions(np.where(context[:, 0] > 0, 1, 2))),
        "function of one label": (log, lambda _: 1),
        "function of shares": (log, lambda context: np.tile([0.2, 0.3, 0.5], (len(context), 1))),
        "action_dist": (
            log,
            cf.from_action_dist(target[:, :, None], feedback),
        ),
        "wrong width": (log, target[:, :2]),
        "wrong length": (log, target[:10]),
        "wrong sums": (log, target * 1.1),
        "unknown labels": (named, ["violet"] * 400),
        "wrong names": (named, pd.DataFrame(target, columns=["red", "green", "violet"])),
    }
    for name, (source, form) in forms.items():
        yield f"in memory, {name}", partial(evaluate, source, form, "plain")


def targets_of_doses():
    """Yield targets of logs of doses."""
    from sklearn.linear_model import LinearRegression

    given, dose = doses_of()
    log = cf.Log(**given)
    model = LinearRegression().fit(given["context"], given["dose"])
    forms = {
        "array": dose,
        "draws": np.column_stack([dose, dose + 0.1]),
        "function": lambda context: 0.5 * context[:, 0],
        "model": model,
        "number": 0.5,
        "uniform": "uniform",
        "logger": "logger",
    }
    for name, form in forms.items():
        yield f"doses, {name}", partial(evaluate, log, form)
    columns = {"x": given["context"][:, 0], "price": given["dose"], "reward": given["reward"]}
    columns |= {"propensity": given["propensity"], "target": dose}
    for engine in ("memory", "local"):
        for kernel in ("default", "kernel-ips", cf.KernelDR(bandwidth=0.4)):
            settings = {"dose": "price", "engine": engine, "candidates": kernel}
            yield f"doses, file, {kernel}, {engine}", partial(evaluate_doses, columns, settings)


def evaluate_doses(columns, settings):
    """Write a log of doses and evaluate a target on it."""
    return evaluate(write(columns), **settings)


def estimates_of_forms():
    """Return estimates for targets of several forms."""
    log = cf.read_log(shop_table(), ignore=SHOP["ignore"])
    targets = {
        "uniform": "uniform",
        "logger": "logger",
        "one": "discount",
        "mixture": 0.5 * cf.Uniform() + 0.5 * cf.Always("delivery"),
    }
    return {name: [cf.estimate(log, target, one) for one in ("ips", "snips")] for name, target in targets.items()}
