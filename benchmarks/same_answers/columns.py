"""The cases of benchmarks/same_answers on columns that a log may have: segments, rewards, times and propensities."""

from functools import partial

import numpy as np
import pyarrow as pa

import counterfold as cf
from same_answers.describing import describe
from same_answers.logs import (
    SHOP,
    columns_of,
    compare,
    evaluate,
    log_of,
    plain_shop,
    shop_of,
    shop_table,
    table_of,
    write,
)

ENGINES = ("memory", "local")


def evaluate_shop(changes, engine, target="target", **settings):
    """Write a shop's log, with other or more columns, and evaluate a target on it."""
    return evaluate(write(shop_table(**changes)), target, engine=engine, **SHOP | settings)


def on_engines(cases):
    """Yield a case for each engine from lines of a name, other columns and settings."""
    for name, changes, settings in cases:
        for engine in ENGINES:
            yield f"{name}, {engine}", partial(evaluate_shop, changes, engine, **settings)


def answers_by_segment():
    """Yield answers for segments by columns of every kind."""
    every = np.arange(1200)
    rng = np.random.default_rng(5)
    gaps = [None if place % 9 == 0 else f"region {place % 4}" for place in range(1200)]
    tight = [None if place % 50 == 0 else float(place % 83) for place in range(1200)]
    yield from on_engines(
        [
            ("text", {}, {"by": "device"}),
            ("flag", {}, {"by": ["member"]}),
            ("numbers", {}, {"by": ["age"]}),
            ("numbers in parts", {}, {"by": ["age:5"]}),
            ("numbers in two", {}, {"by": ["age:2", "device"]}),
            ("dates", {}, {"by": "decided"}),
            ("groups in segments", {}, {"by": "device", "group": "user"}),
            ("gaps", {"region": gaps}, {"by": ["region"]}),
            ("numbers with gaps", {"spot": tight}, {"by": ["spot:4"], "context": ["age", "device"]}),
            ("few numbers", {"level": every % 5}, {"by": "level"}),
            ("many values", {"town": [f"town {place % 70}" for place in every]}, {"by": "town"}),
            ("small segments", {"rare": ["big" if place % 60 else "small" for place in every]}, {"by": "rare"}),
            ("ocv", {}, {"by": "device", "selector": cf.OCV(splits=3)}),
            ("one estimator", {}, {"by": "device", "candidates": "dr"}),
            ("no model", {}, {"by": "device", "reward_model": None}),
            ("several targets", {}, {"by": "device", "target": {"new": "target", "one": "discount"}}),
            ("several rewards", {}, {"by": "device", "reward": ["spend", "cost"]}),
            ("other interval", {}, {"by": "age:3", "interval": "empirical-likelihood", "level": 0.8}),
            ("context as well", {}, {"by": "device", "context": ["device", "age"]}),
            ("action", {}, {"by": "action"}),
            ("reward", {}, {"by": "reward"}),
            ("unknown", {}, {"by": "devise"}),
            ("identifier", {"visit": [f"v{place}" for place in every]}, {"by": "visit"}),
            ("too many parts", {}, {"by": "age:51"}),
            ("one part", {}, {"by": "age:1"}),
            ("twice", {}, {"by": ["device", "device"]}),
            ("outcome", {"stay": rng.normal(size=1200)}, {"by": "stay"}),
        ]
    )
    c = columns_of()
    kinds = np.array(["a", "b", "c"])[np.arange(400) % 3]
    by = {"kind": kinds, "x0:3": c["x0"]}
    yield "log in memory", partial(evaluate, log_of(c, by=by), c["target"])
    yield (
        "log in memory, loggers",
        partial(
            evaluate,
            log_of(
                c,
                logging_probs=None,
                logger=[*"ab"] * 200,
                logger_probs={"a": c["logging_probs"], "b": c["second"]},
                by=by,
            ),
            c["target"],
        ),
    )


def answers_by_rewards():
    """Yield answers by several rewards, expressions, rewards that are missing and bounds of rewards."""
    half = ["late", "spend - 0.2 * cost"]
    quoted = {"unit price": np.linspace(1, 2, 1200)}
    gaps = [None if place % 10 == 3 else value for place, value in enumerate(shop_of()["reward"].tolist())]
    by_action = [
        None if action == "discount" and place % 3 else value
        for place, (action, value) in enumerate(zip(shop_of()["action"], shop_of()["reward"].tolist(), strict=True))
    ]
    late = {"reward": "spend", "time": "decided", "reward_time": "came"}
    yield from on_engines(
        [
            ("several", {}, {"reward": ["spend", "cost", "reward"]}),
            ("several, several targets", {}, {"reward": ["spend", "cost"], "target": {"a": "target", "b": "discount"}}),
            ("expression", {}, {"reward": "spend - 0.2 * cost"}),
            ("expression of cases", {}, {"reward": "case when spend > 10 then 1 else 0 end"}),
            ("expression, quoted", quoted, {"reward": '"unit price" * spend'}),
            ("expression, coalesce", {}, {"reward": "coalesce(late, 0)"}),
            ("missing", {"reward": gaps}, {}),
            ("missing, dropped", {"reward": gaps}, {"missing_reward": "drop"}),
            ("missing, zero", {"reward": gaps}, {"missing_reward": "zero"}),
            ("missing by action, dropped", {"reward": by_action}, {"missing_reward": "drop"}),
            ("missing by action, zero", {"reward": by_action}, {"missing_reward": "zero"}),
            ("several, some missing", {}, {"reward": half, "missing_reward": "drop"}),
            ("horizon", {}, late | {"horizon": "7d"}),
            ("horizon, no times of rewards", {}, {"reward": "spend", "time": "decided", "horizon": "3d"}),
            ("horizon and end", {}, late | {"horizon": "12h", "until": "2024-03-10"}),
            ("horizon, too long", {}, late | {"horizon": "300d"}),
            ("horizon, unreadable", {}, late | {"horizon": "soon"}),
            ("end without horizon", {}, {"until": "2024-03-10"}),
            ("bounds", {}, {"reward": "spend", "reward_range": (0, 200)}),
            ("narrow bounds", {}, {"reward": "spend", "reward_range": (0, 1)}),
            ("bounds turned round", {}, {"reward": "spend", "reward_range": (1, 0)}),
            ("skewed", {}, {"reward": "spend", "candidates": "ips", "interval": "empirical-bernstein:low=0:high=2000"}),
            ("unknown way", {"reward": gaps}, {"missing_reward": "guess"}),
            ("expression that fails", {}, {"reward": "spend -"}),
            ("expression of texts", {}, {"reward": "upper(device)"}),
            ("expression with an aggregate", {}, {"reward": "spend / sum(spend)"}),
            ("same reward twice", {}, {"reward": ["spend", "spend"]}),
            ("predictions beside several", {}, {"reward": ["spend", "cost"], "reward_model": np.ones((1200, 3))}),
        ]
    )


def answers_by_time():
    """Yield answers on logs with times of every kind, and their tables over time."""
    c = shop_of()
    decided = np.array(c["decided"])
    days = (np.arange(1200) // 30).astype("m8[D]")
    spread = np.datetime64("2022-01-01") + days * 20
    drifting = c["reward"] * (np.arange(1200) < 600) + (np.array(c["action"]) == "delivery") * (np.arange(1200) > 800)
    late = np.where(np.arange(1200) < 1100, c["reward"], 0.0)
    kinds = {
        "timestamps": decided,
        "dates": decided.astype("M8[D]"),
        "text": [str(one).replace("T", " ") for one in decided],
        "text with a zone": [f"{one}Z" for one in decided],
        "seconds": decided.astype("M8[s]").astype(np.int64),
        "milliseconds": decided.astype("M8[ms]").astype(np.int64),
        "days as numbers": [int(str(one)[:10].replace("-", "")) for one in decided],
        "order alone": np.arange(1200)[::-1],
        "zone": pa.array(decided, pa.timestamp("us", tz="Europe/Berlin")),
        "years": spread,
        "missing": [None, *decided[1:].tolist()],
        "early": np.concatenate([[np.datetime64("1960-01-01T00:00:00")], decided[1:]]),
        "unreadable": ["31/01/2024"] * 1200,
    }
    without = {"decided": None}
    yield from on_engines((name, without | {"at": column}, {"time": "at"}) for name, column in kinds.items())
    yield from on_engines(
        [
            ("found by its name", without | {"timestamp": decided}, {}),
            ("two of such names", without | {"timestamp": decided, "created_at": decided}, {}),
            ("drift", {"reward": drifting}, {"time": "decided"}),
            ("late rewards", {"reward": late}, {"time": "decided"}),
            ("groups", {}, {"time": "decided", "group": "user"}),
            ("confidence sequence", {}, {"time": "decided", "candidates": "ips", "interval": "confidence-sequence"}),
            ("several rewards", {}, {"time": "decided", "reward": ["spend", "cost"]}),
        ]
    )
    for period in ("hour", "day", "week", "month", "quarter", "year", "decade"):
        yield f"by {period}", partial(by_period, period)
    yield "log in memory", lambda: evaluate(log_of(columns_of(), time=decided[:400]), columns_of()["target"])


def by_period(period):
    """Return the table over time by a period, of an answer and of a comparison."""
    result = evaluate(plain_shop(decided=shop_of()["decided"]), "target", time="decided")
    both = compare(shop_table(), ["target", "standard"], "standard", time="decided", **SHOP)
    lines = [result.over_time(period), result.by(period).diagnostics.to_dict()]
    return [describe(lines), {name: one.to_dict() for name, one in both.over_time(period).items()}]


def answers_by_propensities():
    """Yield answers with propensities that are fitted, computed, rounded, or of several loggers; and kept rows."""
    c = shop_of()
    p = c["propensity"]
    device = np.array(c["device"])
    forms = {
        "logarithms": {"logprob": np.log(p)},
        "percent": {"pct": 100 * p},
        "weights": {"weight": 1 / p},
    }
    texts = {"logarithms": "exp(logprob)", "percent": "pct / 100", "weights": "1 / weight"}
    drawn = np.random.default_rng(3).binomial(1000, p) / 1000
    kept = np.where(device == "phone", 0.5, 1.0)
    no = {"propensity": None}
    cases = [(f"computed from {name}", no | columns, {"propensity": texts[name]}) for name, columns in forms.items()]
    cases += [(f"{name} as they are", {"propensity": next(iter(one.values()))}, {}) for name, one in forms.items()]
    cases += [
        (f"fitted, {fit}", no, {"propensity": fit}) for fit in ("fit", "fit:logistic", "fit:boosting", "fit:forest")
    ]
    cases += [
        ("fitted by nothing", no, {"propensity": "fit:magic"}),
        ("fitted, context", no, {"propensity": "fit", "context": ["member", "age"]}),
        ("fitted, groups", no, {"propensity": "fit", "group": "user"}),
        ("fitted, uniform", no, {"propensity": "fit", "target": "uniform"}),
        ("one number", no, {"propensity": 0.3}),
        ("one expression", no, {"propensity": "case when member then 0.3 else 0.4 end"}),
        ("counted", {"propensity": drawn}, {"propensity_precision": "1000 draws"}),
        ("rounded", {"propensity": p.round(1)}, {"propensity_precision": "1 digits"}),
        ("float16", {"propensity": p.astype(np.float16)}, {"propensity_precision": "float16"}),
        ("precision unknown", {}, {"propensity_precision": "very good"}),
        ("rounded, not said", {"propensity": p.round(1)}, {}),
        ("clipped", {"propensity": np.maximum(p, 0.3)}, {}),
        ("kept", {"kept": kept}, {}),
        ("kept, groups", {"kept": kept}, {"group": "user"}),
        ("kept, one number", {"share": np.full(1200, 0.25)}, {"kept": "share"}),
        ("kept, zero", {"kept": np.zeros(1200)}, {}),
        ("wrong by half", {"propensity": p / 2}, {}),
    ]
    yield from on_engines(cases)
    yield from own_classifiers()
    yield from loggers_and_matrices()


def own_classifiers():
    """Yield answers with propensities that a classifier of scikit-learn fits."""
    from sklearn.naive_bayes import GaussianNB

    c = columns_of(800)
    yield "own classifier", partial(evaluate, log_of(c, logging_probs=None, propensity=GaussianNB()), c["target"])
    table = plain_shop(propensity=[0.5] * 1200).drop_columns("propensity")
    yield "own classifier of a table", partial(evaluate, table, "target", propensity=GaussianNB())
    alone = log_of(c, logging_probs=None, propensity="fit")
    yield "log in memory", partial(evaluate, alone, c["target"])
    yield (
        "log in memory, all estimators",
        partial(evaluate, alone, c["target"], ["default", "control-variate-ips", "group-ips"]),
    )


def loggers_and_matrices():
    """Yield answers on logs of several loggers, and of actions that are not always available."""
    c = columns_of(1200)
    changed = {"logging_probs": None, "propensity": None, "logger": [*"ab"] * 600}
    changed |= {"logger_probs.a": c["logging_probs"], "logger_probs.b": c["second"]}
    allowed = c["logging_probs"] > 0.15
    allowed[np.arange(1200), c["action"]] = True
    masked = np.where(allowed, c["logging_probs"], 0)
    masked /= masked.sum(axis=1, keepdims=True)
    features = table_of({"action": [0, 1, 2], "size": [0.5, 1.0, 2.0], "kind": ["a", "b", "a"]})
    ignore = {"ignore": ["target", "other", "pi", "few", "user", "q", "second"]}
    cases = {
        "loggers, balanced": (c | changed, ignore),
        "loggers, own": (c | changed, ignore | {"logger_weights": "own"}),
        "loggers, target logger": (c | changed, ignore | {"target": cf.Logger()}),
        "loggers, groups": (c | changed, ignore | {"group": "user"}),
        "loggers, unknown weights": (c | changed, ignore | {"logger_weights": "mine"}),
        "available": (
            c | {"available": allowed, "logging_probs": masked, "propensity": None},
            ignore | {"target": "uniform"},
        ),
        "available, fitted": (
            c | {"available": allowed, "logging_probs": None, "propensity": None},
            ignore | {"propensity": "fit", "target": "uniform"},
        ),
        "action features": (c, ignore | {"action_features": features, "candidates": ["default", "mips", "off-cem"]}),
        "predictions": (c, ignore | {"reward_model": cf.Column("q")}),
    }
    for name, (columns, settings) in cases.items():
        for engine in ENGINES:
            yield f"{name}, {engine}", partial(evaluate_columns, columns, engine, **settings)


def evaluate_columns(columns, engine, target="target", **settings):
    """Write columns and evaluate a target on them."""
    return evaluate(write(columns), target, engine=engine, **settings)
