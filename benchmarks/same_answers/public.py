"""The cases of benchmarks/same_answers on public names: what they take, how they are shown, what `--help` says."""

import inspect
import re
from dataclasses import fields, is_dataclass
from functools import partial

import numpy as np

import counterfold as cf
from same_answers.commands import run_command
from same_answers.logs import columns_of, evaluate, log_of, plain_shop

PART_OF_RESULTS = (
    "Evaluation",
    "Comparison",
    "Learned",
    "Estimate",
    "Log",
    "Diagnostics",
    "RewardEvaluations",
    "Policy",
)
"""Classes whose objects users get, and whose public attributes are recorded."""


def answers_of_names():
    """Yield what can be said of each public name without a log."""
    yield "all", lambda: dict.fromkeys(sorted(cf.__all__), True)
    for name in sorted(cf.__all__):
        yield f"signature of {name}", partial(describe_signature, getattr(cf, name))
        if is_strategy(getattr(cf, name)):
            yield f"repr of {name}", lambda name=name: repr(getattr(cf, name)())
        if inspect.isclass(getattr(cf, name)):
            yield f"ancestors of {name}", partial(list_ancestors, getattr(cf, name))
    yield "reprs of targets", reprs_of_targets
    for name in PART_OF_RESULTS:
        yield f"attributes of {name}", partial(list_attributes, getattr(cf, name))
    yield "json schema", cf.json_schema
    yield "example rows", lambda: describe_rows(cf.example_rows())
    yield "example doses", lambda: describe_rows(cf.example_doses())
    yield "reprs of results", reprs_of_results
    yield "unknown name", lambda: cf.Nothing
    for name in ("dross", "swich-dr", "ips:max=3", "truncated-ips:max_weight=3", "cab"):
        yield f"estimator {name}", partial(evaluate, log_of(columns_of()), "uniform", name)


def is_strategy(public):
    """Say whether a public name is a class of estimators, selectors, intervals, reward models or learners."""
    bases = (cf.Estimator, cf.Selector, cf.Interval, cf.RewardModel, cf.Learner)
    needs_no_arguments = public not in {*bases, cf.Given, cf.Column}
    return inspect.isclass(public) and issubclass(public, bases) and needs_no_arguments


def reprs_of_targets():
    """Return how the ways to give a target are shown by Python."""
    targets = [cf.Actions("wanted"), cf.Always("red"), cf.Probabilities("p"), cf.Uniform(), cf.Logger()]
    targets += [cf.Greedy("score"), cf.Softmax("score", temperature=0.5), cf.Function(list_attributes, columns=["age"])]
    targets += [cf.Skops("policy.skops"), cf.ONNX("policy.onnx", columns=["age"]), cf.Given([1.0]), cf.Column("q")]
    targets += [0.1 * cf.Uniform() + 0.9 * cf.Greedy("score"), cf.Bounds(0.0, 1.0), cf.sql("select 1")]
    return [show(one) for one in targets]


def describe_signature(public):
    """Return what a function or class takes: names, kinds and defaults, without the types, which name modules."""
    found = []
    for one in inspect.signature(public).parameters.values():
        has_default = one.default is not inspect.Parameter.empty
        found.append(
            {"name": one.name, "kind": one.kind.name, "default": show(one.default) if has_default else "needed"}
        )
    return found


def show(default):
    """Return a default as a text without addresses."""
    return re.sub(r" at 0x[0-9a-f]+", "", repr(default))


def list_ancestors(public):
    """Return which public classes a class derives from."""
    ancestors = public.__mro__[1:]
    return sorted(one.__name__ for one in ancestors if one.__module__.startswith("counterfold") and is_public(one))


def is_public(one):
    return getattr(cf, one.__name__, None) is one


def list_attributes(public):
    """Return the public fields, methods and properties of a class."""
    names = {name for name in dir(public) if not name.startswith("_")}
    if is_dataclass(public):
        names |= {one.name for one in fields(public) if not one.name.startswith("_")}
    return dict.fromkeys(sorted(names), True)


def describe_rows(rows):
    """Return the vectors of a few rows."""
    found = {}
    for name in ("reward", "weights", "target_probs", "q_policy", "q_logged", "residuals", "group"):
        value = getattr(rows, name, None)
        found[name] = value.tolist() if isinstance(value, np.ndarray) else value
    estimators = [
        cf.IPS(),
        cf.SNIPS(),
        cf.DM(),
        cf.DR(),
        cf.SwitchDR(),
        cf.CAB(),
        cf.DRos(),
        cf.KernelIPS(),
        cf.KernelDR(),
    ]
    found["contributions"] = {repr(one): try_contributions(one, rows) for one in estimators}
    return found


def try_contributions(estimator, rows):
    """Return what each row contributes to an estimate, or why that is not known."""
    try:
        return estimator.contributions(rows).tolist()
    except Exception as error:  # noqa: BLE001 (whatever is raised must stay the same)
        return f"{type(error).__name__}: {error}"


def reprs_of_results():
    """Return how results of each kind are shown by Python."""
    c = columns_of()
    log = log_of(c)
    result = evaluate(log, c["target"])
    both = cf.compare(log, {"new": c["target"], "old": c["other"]}, baseline="old", progress=False)
    shop = plain_shop(400)
    learned = cf.learn(shop, ["greedy-learner"], progress=False)
    scan = cf.LogScan(shop)
    shown = [log, result, result.interval, result.estimate, result.diagnostics, result.next_step, result.robustness]
    shown += [result.table[0], both, both.decision, both.table[0], learned, learned.policy, learned.table[0]]
    shown += [scan.read(), cf.estimate(log, c["target"], "ips"), *result.diagnostics.findings]
    return [f"{one!r}" for one in shown]


COMMANDS = ["", "demo", "evaluate", "compare", "check", "learn", "paper", "bench", "bench selection", "bench learning"]
COMMANDS += ["synth", "methods"]


def answers_of_help():
    """Yield the help of each command."""
    for command in COMMANDS:
        yield f"counterfold {command} --help".replace("  ", " "), partial(run_command, *command.split(), "--help")
