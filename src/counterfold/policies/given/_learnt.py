"""Policies that were learnt from a log as targets: by columns as they were, among the actions that are available."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from counterfold.base.arrays import Bools
from counterfold.base.errors import DataError, ModelError, blame
from counterfold.base.messages import list_names, list_some, show
from counterfold.base.validation import Checker
from counterfold.log.encoding import ColumnEncoding
from counterfold.log.labels import spell_label, write_label
from counterfold.log.log import Log
from counterfold.log.log_checks import Matrix, order_policy
from counterfold.policies.given.base import Target
from counterfold.policies.learned.policy import Policy

BLAMED = "the policy `{}`, which is the target,"
TABLE = "give the file or the data frame itself to `cf.evaluate`, and not a `Log` of it"


def resolve_policy(policy: Policy, seen: Any, log: Log, check: Checker) -> Target:
    """Return what a policy does in the rows of a log, by what it sees of them, and what it remembers of the rows."""
    name = type(policy).__name__
    with blame(ModelError, BLAMED, name):
        numbers = policy.features.encode(seen, check)
        probs = policy.decide(numbers, find_available(policy, log))
    check = check.rename("target", f"by `predict_proba` of `{name}`")
    matrix = Matrix(probs, tuple(map(write_label, policy.labels)))
    target = Target.of(order_policy("target", matrix, log.known_actions, check), log)
    if policy.learnt_rows is None:
        return target
    with blame(ModelError, BLAMED, name):
        found = policy.learnt_rows.recognise(numbers, log)
    return replace(target, learnt_rows=(policy.learnt_rows,), recognised=found[:, None])


def explain_strangers(policy: Policy, seen: Any, check: Checker) -> str | None:
    """Say so if what a policy sees of a log cannot be of the kind that it was learnt from."""
    with blame(ModelError, BLAMED, type(policy).__name__):
        return policy.features.explain_strangers(seen, check)


def find_available(policy: Policy, log: Log) -> Bools | None:
    """Return which actions of a policy were available in each row, or nothing if the log does not tell.

    In a row where it may take none of these, they are all; the diagnostics then tell.
    """
    if log.available is None:
        return None
    places = {text: place for place, label in enumerate(log.actions) for text in spell_label(label)}
    found = [next((places[text] for text in spell_label(one) if text in places), None) for one in policy.labels]
    every = np.ones(len(log), dtype=bool)  # of an action that the log does not know: such a target is refused
    known = np.column_stack([every if place is None else log.available[:, place] for place in found])
    return known | ~(known & policy.allowed).any(axis=1, keepdims=True)


def restore_columns(policy: Policy, names: Sequence[str], log: Log) -> Any:
    """Return columns of the context of a log in memory as they were before it was encoded, as far as that matters."""
    known = list(dict.fromkeys([*log.context_sources, *log.encodings]))
    missing = next((name for name in names if name not in known), None)
    if missing is not None:
        found = f"Found: {list_names(known)}" if known else "Its context is empty"
        rule = f"have column `{show(missing)}`, which `target` looks at"
        raise DataError(f"the context must {rule}. {found}. Name the columns of the context, or {TABLE}.")
    return pa.table({name: restore_column(name, log, policy.features.encodings.get(name)) for name in names})


def restore_column(name: str, log: Log, learnt: ColumnEncoding | None) -> Any:
    """Return a column of the context before it was encoded, if that tells all that a policy learnt of it."""
    numbers = [log.context[:, place] for place, source in enumerate(log.context_sources) if source == name]
    if name not in log.encodings:
        return pa.array(numbers[0])
    own = log.encodings[name]
    lost = own.find_lost(learnt.values) if learnt is not None else []
    if lost:
        rule = f"tell {list_some(lost)} from other values, as the policy does, but a `Log` keeps rare values as one"
        raise DataError(f"column `{show(name)}` of the context must {rule}; {TABLE}.")
    return own.restore(numbers, len(log))
