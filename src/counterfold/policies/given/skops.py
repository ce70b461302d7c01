"""Skops: a model in a file of skops, which holds no code."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

from counterfold.base.cached import cached_property
from counterfold.base.errors import DataError, ParameterError, blame
from counterfold.base.messages import list_names, shorten, show
from counterfold.base.notation import read_list, unquote
from counterfold.base.validation import Checker
from counterfold.log.log import Log
from counterfold.policies.given import _features
from counterfold.policies.given._files import read_model_file
from counterfold.policies.given._former_types import rename_former_types
from counterfold.policies.given.base import Reads, Target, TargetForm
from counterfold.policies.given.classifier import Classifier, can_predict
from counterfold.policies.learned.policy import Policy

OWN = frozenset(
    f"counterfold.{name}"
    for name in (
        "policies.learned.policy.Policy",
        "policies.training_rows.LearntRows",
        "policies.learned.features.Features",
        "policies.learned.scorers.LinearScorer",
        "policies.learned.scorers.TreeScorer",
        "policies.learned.scorers.ForestScorer",
        "policies.learned.scorers.ClassifierScorer",
        "policies.learned.scorers.PricedScorer",
        "policies.learned.boosted.BoostedScorer",
        "learning.learners.model_learner.ModelScorer",
        "models.base.Scaling",
        "models._policy_models.PolicyModels",
        "models._policy_models.Equations",
        "models._pooled.Link",
        "models._pooled.Pooled",
        "models._stacked.Stacked",
        "models.action_encoded.Encoded",
        "models.per_action.ActionModels",
        "models.ridge_per_action.ScaledModels",
        "models.linear_plus.Sum",
        "models.logistic_ridge.Logistic",
        "models.nearest_neighbours.Known",
        "models.nearest_neighbours.Neighbours",
        "log.encoding.numbers.NumberEncoding",
        "log.encoding.levels.LevelEncoding",
        "log.encoding.dates.DateEncoding",
    )
)
"""The types that a policy of `learn` consists of, which hold numbers and texts alone; a classifier in it is none."""


@dataclass(frozen=True, eq=False)
class Skops(TargetForm):
    """The policy of a classifier that `skops.io.dump` wrote into a file, used as by `Classifier`.

    Unlike a pickle such a file runs no code when it is loaded. Types that skops does not know are refused, unless they
    are named in `trusted`; those of a policy that `learn` found are known. Needs the extra `skops`.
    """

    path: str | PathLike[str]
    columns: Sequence[str] | None = None
    trusted: Sequence[str] = field(default=())
    syntax = "skops:FILE:columns=COLUMNS:trusted=TYPES"
    takes = {"path": unquote, "columns": read_list, "trusted": read_list}

    def __post_init__(self) -> None:
        if not isinstance(self.path, (str, PathLike)):
            raise ParameterError(f"`path` must be the path of a file, got {shorten(self.path)}.")
        object.__setattr__(self, "columns", _features.check_names(self.columns))
        object.__setattr__(self, "trusted", _features.check_names(self.trusted or None, "trusted") or ())

    @property
    def model(self) -> Any:
        """Return the model in the file, such as a policy of `learn`."""
        return self.form.model

    @cached_property
    def form(self) -> Classifier:
        """Return the model in the file as a target."""
        try:
            from skops import io
        except ModuleNotFoundError:
            raise ParameterError("a file of skops needs skops: pip install 'counterfold[skops]'.") from None
        content, name = read_model_file(self.path), show(self.path)
        with blame(DataError, "`{}` must be a file that `skops.io.dump` wrote, but reading it", name):
            content = rename_former_types(content)
            strange = [one for one in io.get_untrusted_types(data=content) if one not in {*self.trusted, *OWN}]
        if strange:
            listed = ",".join(strange)
            way = f"If you trust who made it, name them: `cf.Skops(path, trusted=[...])` (skops:FILE:trusted={listed})"
            raise DataError(f"`{name}` must hold types that are known to be safe, got {list_names(strange)}. {way}.")
        with blame(DataError, "`{}` must be a file that `skops.io.dump` wrote, but reading it", name):
            model = io.loads(content, trusted=[*self.trusted, *OWN])
            if isinstance(model, Policy):
                model.require_sound()
        if not can_predict(model):
            raise DataError(f"`{name}` must hold a fitted model with `predict`, got {type(model).__name__}.")
        return Classifier(model, self.columns)

    @property
    def reads(self) -> tuple[Reads, ...]:
        return self.form.reads

    def uses_context(self, *, has_table: bool) -> bool:
        return self.form.uses_context(has_table=has_table)

    def fill(self, values: Mapping[str, Any]) -> TargetForm:
        return self.form.fill(values)

    def resolve(self, log: Log, check: Checker) -> Target:
        return self.form.resolve(log, check)

    def list_doses(self, log: Log) -> Any:
        return self.form.list_doses(log)
