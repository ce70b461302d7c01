"""The cases of benchmarks/same_answers on what reports and notebooks show, and on the tables behind pictures."""

import json
from functools import partial
from pathlib import Path

import numpy as np

import counterfold as cf
from same_answers.describing import describe_exhibits
from same_answers.logs import (
    OFFERS,
    SHOP,
    columns_of,
    compare,
    doses_of,
    evaluate,
    learn,
    log_of,
    plain_shop,
    shop_table,
    table_of,
    write,
)
from same_answers.pages import read_page


def answers_of_reports():
    """Yield what is shown of results of every kind."""
    makers = list_results()
    for name, make in makers.items():
        yield name, partial(show, make)
    for name in ("evaluation", "comparison", "learned", "check"):
        yield f"{name}, without rows", partial(read_report, makers[name], rows=False)
    yield "report in no folder", lambda: makers["evaluation"]().to_html("nowhere/report.html")
    yield "unknown picture", lambda: makers["evaluation"]().plot("nothing")
    yield "picture that does not apply", lambda: makers["evaluation"]().plot("reliability")
    yield "unknown chart", lambda: makers["evaluation"]().chart("nothing")


def show(make):
    """Return everything that is shown of a result."""
    result = make()
    results = result if isinstance(result, dict) else {"": result}
    return {name: show_one(one) for name, one in results.items()}


def show_one(result):
    """Return what a report and a notebook say of a result, and the tables behind its pictures."""
    said = {"repr": f"{result!r}\n", "notebook": read_page(result._repr_html_())}
    if hasattr(result, "to_json"):
        said["json"] = json.loads(result.to_json())
    if hasattr(result, "to_html"):
        result.to_html("report.html")
        said["report"] = read_page(Path("report.html").read_text())
    if hasattr(result, "exhibits"):
        said["exhibits"] = describe_exhibits(result)
    if isinstance(result, cf.Comparison):
        said["exhibits"] = {name: describe_exhibits(result[name]) for name in result}
    if isinstance(result, cf.Learned):
        said["exhibits"] = describe_exhibits(result.evaluation)
        said["attempt"] = describe_exhibits(result.attempt)
        said["policy"] = read_page(result.policy._repr_html_())
    return said


def read_report(make, *, rows):
    """Return the text of a report."""
    make().to_html("report.html", rows=rows)
    return read_page(Path("report.html").read_text())


def list_results():
    """Return functions that make results of every kind, by name."""
    c = columns_of()
    log = log_of(c)
    target = c["target"]
    shop = shop_table()
    names = ["target", *OFFERS]
    given, dose = doses_of()
    loggers = {"logging_probs": None, "logger": [*"ab"] * 200}
    loggers |= {"logger_probs": {"a": c["logging_probs"], "b": c["second"]}}
    unseen = {"unseen": ["unseen"] * 1200}
    known = {"actions": [*OFFERS, "unseen"]}
    about = partial(evaluate, shop, "target", **SHOP)
    learners = ["greedy-learner", "policy-tree"]
    return {
        "evaluation": partial(evaluate, log, target),
        "evaluation of a shop": about,
        "local": lambda: evaluate(write(shop), "target", engine="local", **SHOP),
        "ocv": partial(evaluate, log, target, "plain", cf.OCV(splits=3)),
        "one estimator": partial(evaluate, log, target, "ips", reward_model=None),
        "slope": partial(evaluate, log, target, selector="slope"),
        "groups": partial(about, group="user"),
        "time": partial(about, time="decided"),
        "segments": partial(about, by=["device", "age:3"]),
        "rewards": partial(about, reward=["spend", "cost", "reward"]),
        "missing rewards": partial(about, reward="late", missing_reward="drop"),
        "fitted": partial(evaluate, plain_shop().drop_columns("propensity"), "target", propensity="fit"),
        "kept": partial(evaluate, plain_shop(kept=np.where(np.arange(1200) % 3, 0.5, 1.0)), "target"),
        "loggers": partial(evaluate, log_of(c, **loggers), target),
        "doses": partial(evaluate, cf.Log(**given), dose),
        "not answerable": partial(evaluate, table_of({**columns_of_shop(shop), **unseen}), "unseen", **SHOP | known),
        "predictions": partial(evaluate, log, target, reward_model=c["q"]),
        "small": partial(evaluate, log_of(columns_of(30)), columns_of(30)["target"]),
        "several targets": partial(evaluate, log, {"new": target, "old": c["other"], "even": "uniform"}),
        "comparison": partial(compare, log, {"new": target, "old": c["other"], "even": "uniform"}, "old"),
        "comparison of a shop": partial(compare, shop, names, reward="spend", **SHOP),
        "guards": partial(compare, shop, names, "standard", reward="spend", guards=["cost <= +2%"], **SHOP),
        "comparison, time": partial(compare, shop, names, "standard", time="decided", **SHOP),
        "comparison, segments": partial(compare, shop, names[:3], "standard", by="device", **SHOP),
        "comparison, rewards": partial(compare, shop, names[:3], reward=["spend", "cost"], **SHOP),
        "check": partial(cf.check, log, target),
        "check of a shop": partial(cf.check, shop, "target", time="decided", **SHOP),
        "check, rewards": partial(cf.check, shop, "target", reward=["spend", "cost"], **SHOP),
        "learned": partial(learn, plain_shop(), learners),
        "learned, default": partial(learn, plain_shop(700)),
        "kept the log": partial(learn, plain_shop(gain=0.0), learners),
        "learned within limits": partial(learn, plain_shop(), learners, limits={"discount": 0.2}, explore=0.1),
        "policy": lambda: learn(plain_shop(), learners).policy,
        "estimate": partial(cf.estimate, log, target, "dr"),
        "log": lambda: log,
    }


def columns_of_shop(shop):
    return {name: shop[name] for name in shop.column_names}
