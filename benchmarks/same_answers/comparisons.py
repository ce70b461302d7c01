"""The cases of benchmarks/same_answers that compare several policies, and decide among them."""

from functools import partial

import numpy as np

import counterfold as cf
from same_answers.logs import (
    OFFERS,
    SHOP,
    columns_of,
    compare,
    doses_of,
    evaluate,
    log_of,
    shop_of,
    shop_table,
    table_of,
    write,
)

GUARDS = {
    "level": ["cost <= 2.6"],
    "difference": ["cost <= +0.05"],
    "share": ["cost <= +2%"],
    "lower": ["spend >= -1.5"],
    "two": ["cost <= +5%", "spend >= -5%"],
    "expression": ["spend - 0.2 * cost >= 0"],
    "idle": ["spend >= 0"],
}

BAD_GUARDS = ["cost", "cost < 2 < 3", "cots <= 2", "cost <= much", ""]


def answers_of_comparisons():
    """Yield comparisons of several targets, with baselines and guards, and the decisions that follow."""
    c = columns_of()
    log = log_of(c)
    target = c["target"]
    several = {"new": target, "old": c["other"], "even": "uniform", "one": 1}
    yield "two with the log", partial(compare, log, {"new": target, "old": c["other"]})
    yield "several with one", partial(compare, log, several, "old")
    yield "several with the log by name", partial(compare, log, several, "log", candidates="plain")
    yield "one", partial(compare, log, {"new": target})
    yield "all alike", partial(compare, log, {"a": target, "b": target.copy(), "logger": "logger"})
    yield "groups", partial(compare, log_of(c, group=c["user"]), several, "even")
    yield "many", partial(compare, log, many_targets(c), candidates="plain")
    given, dose = doses_of()
    yield "doses", partial(compare, cf.Log(**given), {"dose": dose, "more": dose + 0.2}, "dose")
    for name in ("normal", "empirical-bernstein", "bootstrap:replicates=50"):
        yield f"interval {name}", partial(compare, log, several, "old", interval=name, level=0.9, candidates="plain")
    yield "ocv", partial(compare, log, several, "old", selector=cf.OCV(splits=3))

    shop = shop_table()
    names = ["target", *OFFERS]
    for engine in ("memory", "local"):
        on_engine = partial(compare_file, shop, engine=engine)
        yield f"shop, {engine}", partial(on_engine, names)
        yield f"baseline that is not listed, {engine}", partial(on_engine, ["wanted", "uniform"], "discount")
        yield f"time, {engine}", partial(on_engine, names, "standard", time="decided")
        yield f"segments, {engine}", partial(on_engine, names, "standard", by=["device", "age:3"])
        yield f"several rewards, {engine}", partial(on_engine, names, "standard", reward=["spend", "cost"])
        for name, guards in GUARDS.items():
            yield f"guards {name}, {engine}", partial(on_engine, names, "standard", guards=guards)
        yield f"guards without baseline, {engine}", partial(on_engine, names, guards=GUARDS["two"])
        yield f"guards of one, {engine}", partial(on_engine, ["target"], guards=GUARDS["share"])
        yield (
            f"missing reward of a guard, {engine}",
            partial(on_engine, names, guards=["late <= +2%"], missing_reward="drop"),
        )
    rare = table_of(shop_of(400) | {"unseen": ["unseen"] * 400})
    yield "not answerable", partial(compare, rare, ["unseen", "target"], actions=[*OFFERS, "unseen"], **SHOP)
    yield (
        "baseline not answerable",
        partial(compare, rare, ["unseen", "target"], "unseen", actions=[*OFFERS, "unseen"], **SHOP),
    )

    for guard in BAD_GUARDS:
        yield f"mistake, guard {guard!r}", partial(compare, shop, names, guards=[guard], **SHOP)
    mistakes = {
        "no targets": [[]],
        "a number": [3],
        "target twice": [["target", "target"]],
        "log as a target": [{"log": "target"}],
        "no name": [{"": "target"}],
        "baseline": [["target", "wanted"], "old"],
        "baseline alone": [["target"], "target"],
    }
    for name, arguments in mistakes.items():
        yield f"mistake, {name}", partial(compare, shop, *arguments, **SHOP)
    yield "mistake, argument", partial(compare, shop, names, basline="standard")
    yield "robustness and rows", more_of_an_answer


def compare_file(table, targets, baseline=None, **settings):
    """Write a shop's log and compare policies on it."""
    return compare(write(table), targets, baseline, **{"reward": "spend"} | SHOP | settings)


def many_targets(columns):
    """Return twelve policies between the one that logged and another one."""
    shares = np.linspace(0, 1, 12)
    return {f"p{n}": (1 - s) * columns["logging_probs"] + s * columns["target"] for n, s in enumerate(shares)}


def more_of_an_answer():
    """Return what an answer says when it is asked more."""
    result = evaluate(shop_table(), "target", time="decided", **SHOP)
    counts = {str(width): result.count_rows(width) for width in (0.1, 0.01)}
    facts = [result.robustness, result.next_step, result.contents.context, result.contents.left_out]
    return {"facts": facts, "counts": counts, "by": result.by("month"), "answerable": result.answerable}
