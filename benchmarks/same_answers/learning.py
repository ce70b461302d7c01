"""The cases of benchmarks/same_answers that learn policies."""

from functools import partial
from pathlib import Path

import numpy as np

import counterfold as cf
from same_answers.describing import describe
from same_answers.logs import (
    OFFERS,
    SHOP_OUTCOMES,
    SHOP_TARGETS,
    columns_of,
    doses_of,
    evaluate,
    learn,
    log_of,
    plain_shop,
    shop_of,
    table_of,
    write,
)

LEARNERS = [
    "constant-arm",
    "greedy-learner",
    "softmax-learner",
    "ridge-learner",
    "boosted-learner",
    "policy-tree",
    "imitation",
    "weighted-classifier",
    "model-learner",
    "policy-tree:depth=1",
]

QUICK = ["greedy-learner", "policy-tree"]
"""Learners that take little time."""

N_NEW_ROWS = 8


def learn_and_use(source, learners="default", new_rows=None, **settings):
    """Return what was learnt, and what its policy does in rows of another log."""
    learned = learn(source, learners, **settings)
    return {"learned": describe(learned), "uses": use_policy(learned.policy, new_rows)}


def use_policy(policy, new_rows=None):
    """Return what a policy does in some rows."""
    rows = new_context() if new_rows is None else new_rows
    probabilities = policy.predict_proba(rows)
    drawn, of_drawn = policy.draw(rows, seed=3)
    return {
        "probabilities": probabilities,
        "sums": probabilities.sum(axis=1),
        "predicted": policy.predict(rows),
        "drawn": drawn,
        "probabilities of drawn": of_drawn,
    }


def new_context():
    """Return the context of a few new visitors."""
    columns = shop_of(60, seed=9)
    table = table_of({name: columns[name][:N_NEW_ROWS] for name in ("device", "age", "member")})
    return table.to_pandas()


def save_and_load(learned, name):
    """Save a policy, and return what it does when it is read again, and what it is worth on two logs."""
    learned.policy.save(name)
    loaded = cf.Skops(name).model
    again = evaluate(plain_shop(), f"skops:{name}", "plain")
    other = evaluate(plain_shop(seed=2), f"skops:{name}", "plain")
    return {"uses": use_policy(loaded), "repr": repr(loaded), "own log": describe(again), "other log": describe(other)}


def answers_of_learning():
    """Yield policies that are learnt from logs of several kinds, and what is refused."""
    c = columns_of(500)
    log = log_of(c)
    arrays = np.column_stack([c["x0"], c["x1"]])[:N_NEW_ROWS]
    shop = plain_shop()

    yield "default", partial(learn_and_use, shop)
    yield "default, no gain", partial(learn_and_use, plain_shop(gain=0.0))
    yield "log in memory", partial(learn_and_use, log, QUICK, arrays)
    for learner in LEARNERS:
        yield f"learner {learner}", partial(learn_and_use, shop, [learner])
    small = plain_shop(500)
    yield "learner policy-forest", partial(learn_and_use, small, ["policy-forest"])
    yield "learner object", partial(learn_and_use, shop, [cf.PolicyTree(depth=1), cf.GreedyLearner()])
    yield "classifier", partial(learn_and_use, shop, make_classifier())

    settings = {
        "shares": {"shares": (0.5, 1.0)},
        "explore": {"explore": 0.1},
        "forbidden": {"forbidden": "discount"},
        "limits as a mapping": {"limits": {"discount": 0.2}},
        "limits as texts": {"limits": ["2 * discount + delivery <= 0.6", "delivery >= 5%"]},
        "folds": {"folds": 3, "seed": 4},
        "level": {"level": 0.8, "interval": "normal"},
        "reward range": {"reward_range": (0.0, 1.0)},
        "context": {"context": ["age", "device"]},
        "fitted propensities": {"propensity": "fit"},
    }
    for name, changes in settings.items():
        context = new_context()[["age", "device"]] if name == "context" else None
        yield name, partial(learn_and_use, shop, QUICK, context, **changes)

    c_shop = shop_of()
    columns = {
        "groups": {"group": c_shop["user"]},
        "dates as context": {"decided": c_shop["decided"]},
        "kept": {"kept": np.where(np.arange(1200) % 3, 0.5, 1.0)},
        "available": {"available": available_offers(c_shop)},
        "time": {"time": c_shop["decided"]},
    }
    for name, changes in columns.items():
        rows = new_rows_with_dates() if name == "dates as context" else None
        yield name, partial(learn_and_use, plain_shop(**changes), QUICK, rows)
    features = table_of({"action": OFFERS, "price": [10.0, 8.0, 9.0], "kind": ["plain", "cheap", "quick"]})
    yield "action features", partial(learn_and_use, shop, QUICK, action_features=features)
    ignored = {"ignore": [*SHOP_TARGETS, *SHOP_OUTCOMES]}
    yield (
        "expression as reward",
        partial(
            learn_and_use,
            table_of(c_shop),
            QUICK,
            reward="spend - cost",
            group="user",
            **ignored | {"context": ["device", "age", "member"]},
        ),
    )

    for name, engine_rows in {"local": 3000, "local, few rows": 700}.items():
        large = plain_shop(engine_rows)
        yield name, lambda large=large: learn_and_use(write(large), QUICK, engine="local")
    grouped = plain_shop(3000, user=shop_of(3000)["user"])
    yield "local, groups", lambda: learn_and_use(write(grouped), QUICK, engine="local", group="user")

    yield "saved policy", lambda: save_and_load(learn(shop, QUICK), "policy.skops")
    yield "saved imitation", lambda: save_and_load(learn(plain_shop(gain=0.0), QUICK), "policy.skops")
    yield "saved attempt", lambda: save_attempt(shop)

    given, _ = doses_of()
    mistakes = {
        "doses": (cf.Log(**given), {}),
        "several rewards": (table_of(c_shop), {"reward": ["spend", "cost"]}),
        "folds": (shop, {"folds": 2}),
        "many folds": (shop, {"folds": 21}),
        "explore": (shop, {"explore": 0.6}),
        "share": (shop, {"shares": 1.5}),
        "forbidden": (shop, {"forbidden": "nothing"}),
        "all forbidden": (shop, {"forbidden": OFFERS}),
        "limit": (shop, {"limits": "discount < "}),
        "limit of nothing": (shop, {"limits": {"nothing": 0.2}}),
        "learner": (shop, {"learners": "policy-bush"}),
        "no learners": (shop, {"learners": []}),
        "argument": (shop, {"rewards": "reward"}),
        "no file": ("nowhere.parquet", {}),
    }
    for name, (source, changes) in mistakes.items():
        yield f"mistake, {name}", partial(learn, source, **changes)
    learned = learn(shop, ["greedy-learner"])
    for name, rows in {
        "columns": table_of({"age": [1.0]}).to_pandas(),
        "width": [[1.0, 2.0]],
        "text": "age",
        "unknown value": new_context().assign(device="watch"),
    }.items():
        yield f"policy of other rows, {name}", lambda rows=rows: use_policy(learned.policy, rows)
    yield "policy to a bad path", lambda: learned.policy.save(Path("nowhere") / "policy.skops")
    yield "policy to a file of another kind", lambda: learned.policy.save("policy.pickle")


def make_classifier():
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(max_depth=2, random_state=0)


def available_offers(columns):
    """Return which offers could be made: the last one not to everybody who did not get it."""
    logged = np.array(columns["action"])
    last = (logged == OFFERS[-1]) | (np.arange(len(logged)) % 5 > 0)
    return [{OFFERS[0]: True, OFFERS[1]: True, OFFERS[2]: bool(one)} for one in last]


def new_rows_with_dates():
    """Return the context of a few new visitors, with the time of their visits."""
    return new_context().assign(decided=np.array(shop_of(60, seed=9)["decided"])[:N_NEW_ROWS])


def save_attempt(shop):
    """Save what was attempted, and return what it does when it is read again."""
    learned = learn(shop, ["policy-tree"])
    learned.attempted.save("attempt.skops")
    return use_policy(cf.Skops("attempt.skops").model)
