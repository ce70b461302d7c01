"""The cases of benchmarks/same_answers that evaluate logs in memory."""

from functools import partial
from itertools import product

import numpy as np

import counterfold as cf
from same_answers.logs import columns_of, doses_of, evaluate, fitted_once, log_of, quick_ocv

INTERVALS = ["normal", "student-t", "bootstrap", "empirical-bernstein", "empirical-likelihood", "confidence-sequence"]
OPERA, OWN_OPERA = cf.OPERA(replicates=20), cf.OPERA(replicates=20, centre="own")
EVERYTHING = ["default", "mips", "off-cem", "policy-convolution", "learned-mips", "control-variate-ips"]


def features_of(c):
    """Return a log whose actions have features, two of them alike in one."""
    return log_of(c, action_features=[[0.0, 1.0], [1.0, 0.5], [1.0, 0.0]])


def loggers_of(c):
    """Return a log of two policies."""
    return log_of(c, logging_probs=None, logger=[*"ab"] * 200, logger_probs={"a": c["logging_probs"], "b": c["second"]})


def answers_by_selector():
    """Yield evaluations by every selector of several sets of candidates."""
    c = columns_of()
    log, features, target = log_of(c), features_of(c), c["target"]
    listed = [cf.IPS(), "dr", cf.IPS(), cf.TruncatedIPS, "switch-dr:threshold=3", cf.DM()]
    kfold, ips = cf.KFoldCV(folds=4), cf.OCV(cf.IPS(), splits=4, rule="mean", split_ratio=0.7)
    judges = ["ladder", quick_ocv, fitted_once, ips, kfold, cf.KFoldCV(cf.DM(), 3, "standard_error"), OPERA, OWN_OPERA]
    judges += ["slope", cf.SLOPE(order="given", width=1.0), cf.Ladder(boldness=0.5)]
    for judge, some in product(judges, ("default", "plain", listed, "dr")):
        name = some if isinstance(some, str) else "list"
        yield f"{judge}, {name}", partial(evaluate, log, target, some, judge)
    for judge in ("ladder", fitted_once, kfold, "slope"):
        yield f"{judge}, paper", partial(evaluate, log, target, "paper", judge, "ridge-per-action", seed=3)
    for one in ("truncated-ips", "switch-dr", "cab", "dros", "drps", "ips-lambda", "truncated-snips", "mips"):
        yield f"theory, {one}", partial(evaluate, features, target, one, "theory")
    yield "pseudo-target", partial(evaluate, loggers_of(c), target, "default", cf.PseudoTarget(replicates=3))
    tiny = cf.PASIF(replicates=2, epochs=3, patience=2, batch=100, device="cpu")
    yield "pasif", partial(evaluate, log, target, "plain", tiny)
    for judge, model in product(("ladder", fitted_once, OPERA), ("default", "ridge-per-action", None)):
        yield f"action features, {judge}, {model}", partial(evaluate, features, target, EVERYTHING, judge, model)


def answers_by_interval():
    """Yield evaluations with every interval, of rows and of groups, and differences between targets."""
    c = columns_of()
    target, reward = c["target"], np.clip(c["reward"], -2, 2) / 4 + 0.5
    methods = [*INTERVALS, cf.StudentT(doubt=1.0), cf.EmpiricalBernstein(low=0.0, high=1.0)]
    groups = {"rows": None, "groups": c["user"], "text groups": [f"u{one}" for one in c["user"]], "few": c["few"]}
    for (name, group), method in product(groups.items(), methods):
        log, level = log_of(c, reward=reward, group=group), 0.8 if name == "groups" else 0.99
        yield f"{method}, {level}, {name}", partial(evaluate, log, target, "plain", level=level, interval=method)
    log = log_of(c)
    new, old = (evaluate(log, one) for one in (target, c["other"]))
    gap, single = new.uplift(old), cf.estimate(log, target, "snips")
    yield "uplift", lambda: [gap, new.uplift(), {name: gap.interval(0.9, name) for name in INTERVALS}]
    yield "uplift of other rows", lambda: new.uplift(evaluate(log_of(columns_of(60)), columns_of(60)["target"]))
    yield "of an estimate", lambda: {name: single.interval(0.9, name) for name in INTERVALS}


def answers_by_model():
    """Yield evaluations with every reward model, of rows and of groups."""
    from sklearn.linear_model import LinearRegression
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    c = columns_of()
    target, tree = c["target"], DecisionTreeRegressor(max_depth=3, random_state=0)
    models = ["ridge-per-action", cf.SharedRidge(alpha=1.0), "cross-fitted", cf.CrossFitted(cf.PerAction(tree), 3)]
    models += [cf.CrossFitted(cf.RidgePerAction(0.1), folds=4), cf.PerAction(tree), cf.ActionEncoded(tree), tree]
    models += [LinearRegression(), None, "ridge-per-action:alpha=2", "shared-ridge", cf.Given(c["q"]), c["q"] + 0.1]
    for (number, model), group, judge in product(enumerate(models), (None, "user"), (fitted_once, "ladder")):
        log, name = log_of(c, group=c[group] if group else None), f"{number} {type(model).__name__}, {group}, {judge}"
        yield name, partial(evaluate, log, target, "default", judge, model)
    binary = log_of(c, reward=(c["reward"] > 1.5).astype(float))
    yield "classes", partial(evaluate, binary, target, reward_model=DecisionTreeClassifier(max_depth=2, random_state=0))
    given, dose = doses_of()
    doses, draws = cf.Log(**given), dose[:, None] + [-0.3, 0.0, 0.1, 0.2]
    for (name, one), model in product({"one": dose, "draws": draws}.items(), ("default", tree, None)):
        yield f"doses, {name}, {model}", partial(evaluate, doses, one, reward_model=model)
    both = np.column_stack([given["reward"] / 2, dose])
    yield "doses, predictions", partial(evaluate, doses, dose, reward_model=both)


def answers_by_kind():
    """Yield evaluations of every kind of log and target, and estimates by every estimator."""
    c = columns_of()
    log, features, loggers, target = log_of(c), features_of(c), loggers_of(c), c["target"]
    allowed = c["logging_probs"] > 0.1
    allowed[np.arange(400), c["action"]] = True
    masked = np.where(allowed, c["logging_probs"], 0)
    masked /= masked.sum(axis=1, keepdims=True)
    several = {"new": target, "old": c["other"], "callable": lambda x: np.tile([0.2, 0.3, 0.5], (len(x), 1))}
    colours = ["red", "green", "blue"]
    alone = {"logging_probs": None, "propensity": c["propensity"]}
    kinds = {
        "several targets": (log, several),
        "text labels": (log_of(c, action=np.array(colours)[c["action"]], actions=colours), target),
        "available": (log_of(c, logging_probs=masked, available=allowed), target),
        "available, propensity": (log_of(c, **alone, available=allowed), target),
        "propensity": (log_of(c, **alone), target),
        "propensity, target vector": (log_of(c, **alone), c["pi"]),
        "target vector": (log, c["pi"]),
        "no context": (log_of(c, context=None), target),
        "exponential": (log, target, ["exponential-ips", "truncated-sndr", "group-ips"]),
        "loggers": (loggers, target, EVERYTHING),
    }
    for (name, question), judge in product(kinds.items(), ("default", quick_ocv)):
        yield f"{name}, {judge}", partial(evaluate, *question, selector=judge)
    given, dose = doses_of()
    doses, kernels = cf.Log(**given), [cf.KernelIPS(0.5), cf.KernelDR, "dm"]
    for judge in (quick_ocv, cf.KFoldCV(folds=4), OPERA, cf.OCV(cf.KernelDR(0.3)), "slope", "ladder"):
        yield f"doses, {judge}", partial(evaluate, doses, dose, kernels, judge)
    yield "doses, groups", partial(evaluate, cf.Log(**given, group=np.arange(500) % 50), dose)
    members = {name: getattr(cf, name) for name in sorted(dir(cf))}
    estimators = {name: one for name, one in members.items() if isinstance(one, type) and issubclass(one, cf.Estimator)}
    logs = {"labels": (features, target), "loggers": (loggers, target), "doses": (doses, dose)}
    logs |= {"groups": (log_of(c, group=c["user"]), target)}
    for (name, kind), (where, question) in product(estimators.items(), logs.items()):
        if kind is not cf.Estimator:
            yield f"{name} of {where}", lambda kind=kind, question=question: cf.estimate(*question, kind())
