"""Reward models of logs that are never in memory as a whole."""

from collections.abc import Mapping
from typing import TypeVar

from counterfold.base import capacity
from counterfold.base.errors import ModelError, ParameterError, blame
from counterfold.base.hashing import assign_folds
from counterfold.models._fitted import Fitted
from counterfold.models._moments import MAX_CELLS, TUNING_FOLDS, ModelStream, ModelSums, Summed
from counterfold.models.base import Examples, Predictor, RewardModel, TrainedModel
from counterfold.models.cross_fitted import CrossFitted


def solve_stream(stream: ModelStream[Summed], sums: ModelSums, sample: Examples | None = None) -> Fitted:
    """Return the model of all rows, or one for each fold; `sample` are the rows that models see again."""
    without = stream.leave_out_cells(sums)
    if stream.folds > 1:
        return Fitted(solve_folds(stream, sums, stream.folds, sample), without)
    one = stream.fit(sums)
    one = one if sample is None else stream.model.refine(one, sample)
    return Fitted((one,), without, solve_folds(stream, sums, TUNING_FOLDS, sample))


def solve_folds(
    stream: ModelStream[Summed], sums: ModelSums, folds: int, sample: Examples | None
) -> tuple[Predictor, ...]:
    """Return the model of the rows outside each fold."""
    solved = stream.cross_fit(sums, folds)
    if sample is None:
        return solved
    return tuple(stream.model.refine_outside(solved, sample, assign_folds(sample.units, folds)))


Value = TypeVar("Value")


def take_aimed(model: RewardModel, targets: Mapping[str, Value]) -> dict[str, Value]:
    """Return the targets that need a model of their own; the first one, if all share one."""
    return dict(targets if model.is_aimed else list(targets.items())[:1])


def stream_models(model: RewardModel | None, heads: Mapping[str, Examples]) -> dict[str, ModelStream[Summed]]:
    """Return how to fit the models of targets in one pass over the log; nothing if these cannot be solved from sums."""
    plain, folds = (model.model, model.folds) if isinstance(model, CrossFitted) else (model, 1)
    if not isinstance(plain, Summed):
        return {}
    several = take_aimed(plain, heads)
    cells = max(1, MAX_CELLS // len(several))
    streams = {name: ModelStream.of(plain, folds, head, cells) for name, head in several.items()}
    widest = max(streams.values(), key=lambda stream: stream.width)
    capacity.require_sums(len(streams) * widest.cells, widest.n_actions, widest.width)
    return streams


def fit_on_sample(model: RewardModel, samples: Mapping[str, Examples], count: int) -> dict[str, Fitted]:
    """Return models that are fitted on a sample of so many rows, each fold predicted by what the others tell."""
    plain, folds = (model.model, model.folds) if isinstance(model, CrossFitted) else (model, TUNING_FOLDS)
    if not isinstance(plain, TrainedModel):
        rule = "one that can be fitted on some rows and used on others"
        raise ParameterError(f"`reward_model` must be {rule}, got {type(model).__name__}.")
    found = {}
    for name, sample in take_aimed(plain, samples).items():
        fold = assign_folds(sample.units, folds)
        with blame(ModelError, "fitting the reward model {} on {} rows", plain.name, len(sample)):
            predictors = tuple(plain.fit_outside(sample, fold, folds))
        found[name] = Fitted(predictors, predictors, name=plain.name, is_of_sample=len(sample) < count)
    return found
