"""Classifier: a fitted model of scikit-learn, or anything with its `predict_proba` or `predict`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from counterfold.base.errors import DataError, ModelError, ParameterError, blame
from counterfold.base.messages import list_names, shorten
from counterfold.base.notation import read_list
from counterfold.base.validation import Checker
from counterfold.log.labels import write_label
from counterfold.log.log import Log
from counterfold.log.log_checks import check_matrix, order_policy
from counterfold.policies.given import _features
from counterfold.policies.given._learnt import explain_strangers, resolve_policy, restore_columns
from counterfold.policies.given.actions import Actions
from counterfold.policies.given.base import Reads, Target, TargetForm
from counterfold.policies.learned.policy import Policy


@dataclass(frozen=True, eq=False)
class Classifier(TargetForm):
    r"""The policy whose probabilities are those that a fitted classifier predicts, or that takes the class it predicts.

    $$\pi(a \mid x_i) = \hat p(y = a \mid x_i)$$

    Classes are matched with actions by their labels; actions that are no class get 0. A model that was fitted on a data
    frame is given the columns it was fitted on, by name, whether or not they are context. One that was fitted on arrays
    is given the context, or the `columns` that are named here, as numbers. A policy of `learn` takes only actions that
    are available, where the log tells. On a log of doses `predict` gives the dose.

    >>> import counterfold as cf
    >>> from sklearn.linear_model import LogisticRegression
    >>> log = cf.Log(context=[[0], [1], [2], [3]], action=[0, 1, 0, 1], reward=[0, 1, 0, 3], propensity=[0.5] * 4)
    >>> model = LogisticRegression().fit([[-9], [9]], [0, 1])
    >>> cf.estimate(log, model, cf.IPS()).value > 1.4
    True
    """

    model: Any
    columns: Sequence[str] | None = None
    values: Mapping[str, Any] | None = None
    syntax = "MODULE:OBJECT:columns=COLUMNS"
    takes = {"model": str, "columns": read_list}

    def __post_init__(self) -> None:
        if not can_predict(self.model):
            rule = "a fitted model with `predict_proba` or `predict`"
            raise ParameterError(f"`model` must be {rule}, got {shorten(self.model)}.")
        object.__setattr__(self, "columns", _features.check_names(self.columns))

    @property
    def policy(self) -> Policy | None:
        """Return the model, if it is a policy that was learnt from a log."""
        return self.model if isinstance(self.model, Policy) else None

    @property
    def names(self) -> Sequence[str] | None:
        """Return the columns that the model looks at: those that are named, or else those that it was fitted on."""
        if self.columns is not None or not self.is_on_frame:
            return self.columns
        return [str(name) for name in self.model.feature_names_in_]

    @property
    def is_on_frame(self) -> bool:
        """Say whether the model was fitted on a data frame, so that it wants one."""
        return hasattr(self.model, "feature_names_in_")

    @property
    def reads(self) -> tuple[Reads, ...]:
        return _features.list_reads(self.names, _features.RAW if self.is_on_frame else _features.NUMBERS)

    def uses_context(self, *, has_table: bool) -> bool:
        return self.names is None or not has_table

    def fill(self, values: Mapping[str, Any]) -> TargetForm:
        return self if self.names is None else replace(self, values={name: values[name] for name in self.names})

    def look(self, log: Log) -> Any:
        """Return what the model sees of the rows, of the width that it was fitted on."""
        if self.policy is not None and self.is_on_frame:
            return self.pick_columns(self.policy, log)
        if self.is_on_frame and self.names is not None:
            return _features.make_frame(self.names, log, self.values)
        seen = _features.make_matrix(self.names, log, self.values)
        wanted = self.model.n_features_in_ if hasattr(self.model, "n_features_in_") else seen.shape[1]
        if wanted != seen.shape[1]:
            got = f"{seen.shape[1]}: {list_names(self.names or log.context_names)}" if seen.shape[1] else "none"
            way = "Name them in the order of the fit: `cf.Classifier(model, columns=[...])`"
            raise DataError(
                f"`target` was fitted on {wanted} columns, and the context must be these, got {got}. {way}."
            )
        return seen

    def pick_columns(self, policy: Policy, log: Log) -> Any:
        """Return the columns that a policy of `learn` looks at, as they are."""
        if not self.names:
            return np.empty((len(log), 0))
        if self.values is None:
            return restore_columns(policy, self.names, log)
        return pa.table({name: self.values[name] for name in self.names})

    def call(self, method: str, log: Log) -> Any:
        """Return what a method of the model makes of the rows."""
        seen, name = self.look(log), type(self.model).__name__
        with blame(ModelError, f"the method `{method}` of `{{}}`, which is the target,", name):
            return getattr(self.model, method)(seen)

    def resolve(self, log: Log, check: Checker) -> Target:
        if self.policy is not None:
            return resolve_policy(self.policy, self.look(log), log, check)
        if not hasattr(self.model, "predict_proba"):
            return Actions(self.call("predict", log)).resolve(log, check)
        name = "target"
        check = check.rename(name, f"by `predict_proba` of `{type(self.model).__name__}`")
        matrix = check_matrix(name, self.call("predict_proba", log), len(log), check)
        if hasattr(self.model, "classes_"):
            classes = tuple(map(write_label, self.model.classes_))
            if len(classes) != matrix.values.shape[1]:
                got = f"got {matrix.values.shape[1]}"
                raise DataError(f"{check.called(name)} must have a column for each of {len(classes)} classes, {got}.")
            matrix = matrix._replace(names=classes)
        return Target.of(order_policy(name, matrix, log.known_actions, check), log)

    def explain_ambiguity(self, log: Log, check: Checker) -> str | None:
        return None if self.policy is None else explain_strangers(self.policy, self.look(log), check)

    def list_doses(self, log: Log) -> Any:
        return self.call("predict", log)


def can_predict(value: Any) -> bool:
    """Say whether an object is a model; a class is none before it is built and fitted."""
    methods = ("predict_proba", "predict")  # which columns of a data frame may be called as well
    return not isinstance(value, type) and any(callable(getattr(value, name, None)) for name in methods)
