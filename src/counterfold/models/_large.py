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
    """Return the model of all rows, or one for each fold; `sample` are the rows that models are refined on."""
    without = stream.leave_out_cells(sums)
    if stream.folds > 1:
        return Fitted(predictors=solve_folds(stream, sums, stream.folds, sample), without=without)
    predictor = stream.fit(sums)
    if sample is not None:
        predictor = stream.model.refine(predictor, sample)
    # cells are formed for the folds of tuning anyway
    elsewhere = solve_folds(stream, sums, TUNING_FOLDS, sample)
    return Fitted(predictors=(predictor,), without=without, elsewhere=elsewhere)


def solve_folds(
    stream: ModelStream[Summed], sums: ModelSums, folds: int, sample: Examples | None
) -> tuple[Predictor, ...]:
    """Return the predictor of each fold, trained on the rows outside the fold."""
    solved = stream.cross_fit(sums, folds)
    if sample is None:
        return solved
    return tuple(stream.model.refine_outside(solved, sample, assign_folds(sample.units, folds)))


Value = TypeVar("Value")


def take_aimed(model: RewardModel, targets: Mapping[str, Value]) -> dict[str, Value]:
    """Return the targets that need a model each: all, or only the first if the model does not depend on the target."""
    if model.is_aimed:
        return dict(targets)
    return dict(list(targets.items())[:1])


def stream_models(model: RewardModel | None, heads: Mapping[str, Examples]) -> dict[str, ModelStream[Summed]]:
    """Return the streams that fit the models of targets in one pass; none if the model is not solved from sums."""
    plain, folds = split_cross_fitted(model, folds=1)
    if not isinstance(plain, Summed):
        return {}
    aimed_heads = take_aimed(plain, heads)
    most_cells = max(1, MAX_CELLS // len(aimed_heads))
    streams = {name: ModelStream.of(plain, folds, head, most_cells) for name, head in aimed_heads.items()}
    widest = max(streams.values(), key=lambda stream: stream.width)
    capacity.require_sums(len(streams) * widest.cells, widest.n_actions, widest.width)
    return streams


def fit_on_sample(model: RewardModel, samples: Mapping[str, Examples], count: int) -> dict[str, Fitted]:
    """Return cross-fitted models that are trained on a sample of `count` rows."""
    plain, folds = split_cross_fitted(model, folds=TUNING_FOLDS)
    if not isinstance(plain, TrainedModel):
        rule = "one that can be fitted on some rows and used on others"
        raise ParameterError(f"`reward_model` must be {rule}, got {type(model).__name__}.")
    fitted = {}
    for name, sample in take_aimed(plain, samples).items():
        fold = assign_folds(sample.units, folds)
        with blame(ModelError, "fitting the reward model {} on {} rows", plain.name, len(sample)):
            predictors = tuple(plain.fit_outside(sample, fold, folds))
        fitted[name] = Fitted(
            predictors=predictors,
            without=predictors,
            name=plain.name,
            is_of_sample=len(sample) < count,
        )
    return fitted


def split_cross_fitted(model: RewardModel | None, *, folds: int) -> tuple[RewardModel | None, int]:
    """Return the model inside `CrossFitted` and its folds, or the model itself and the number of folds passed."""
    if isinstance(model, CrossFitted):
        return model.model, model.folds
    return model, folds
