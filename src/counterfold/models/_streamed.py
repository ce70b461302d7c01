"""Reward models of logs that are never in memory as a whole."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from counterfold import capacity
from counterfold.arrays import Floats
from counterfold.errors import ModelError, ParameterError, blame
from counterfold.hashing import assign_folds
from counterfold.models._moments import CELLS, FOLDS, ModelStream, ModelSums, Summed
from counterfold.models.base import Examples, Predictor, RewardModel, TrainedModel, check_predictions
from counterfold.models.cross_fitted import CrossFitted


@dataclass(frozen=True, eq=False)
class Streamed(RewardModel):
    """What was fitted before, for rows that come a few at a time.

    With several `predictors`, each row is predicted by that of its fold, which never saw it. `without` are predictors
    fitted on all but one of several equal parts; how they differ tells the noise of fitting. `elsewhere` are those of
    folds, where a single predictor saw every row.
    """

    predictors: tuple[Predictor, ...]
    without: tuple[Predictor, ...] = ()
    elsewhere: tuple[Predictor, ...] = ()
    name: str = "Streamed"
    learns = False

    def predictions(self, examples: Examples) -> Floats:
        if len(self.predictors) == 1:
            return self.predictors[0](examples)
        fold = assign_folds(examples.units, len(self.predictors))
        q = np.empty((len(examples), examples.n_actions))
        for number, predict in enumerate(self.predictors):
            mine = np.flatnonzero(fold == number)
            if len(mine):
                some = examples.take(mine)
                q[mine] = check_predictions(predict(some), some)
        return q


def solve_stream(stream: ModelStream[Summed], sums: ModelSums) -> Streamed:
    """Return the model of all rows, or one for each fold."""
    without = stream.leave_out_cells(sums)
    if stream.folds > 1:
        return Streamed(stream.cross_fit(sums, stream.folds), without)
    return Streamed((stream.fit(sums),), without, stream.cross_fit(sums, FOLDS))


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
    cells = max(1, CELLS // len(several))
    streams = {name: ModelStream.of(plain, folds, head, cells) for name, head in several.items()}
    widest = max(streams.values(), key=lambda stream: stream.width)
    capacity.require_sums(len(streams) * widest.cells, widest.n_actions, widest.width)
    return streams


def fit_on_sample(model: RewardModel, samples: Mapping[str, Examples]) -> dict[str, Streamed]:
    """Return models that are fitted on a sample of the rows, each fold predicted by what the others tell."""
    plain, folds = (model.model, model.folds) if isinstance(model, CrossFitted) else (model, FOLDS)
    if not isinstance(plain, TrainedModel):
        rule = "one that can be fitted on some rows and used on others"
        raise ParameterError(f"`reward_model` must be {rule}, got {type(model).__name__}.")
    found = {}
    for name, sample in take_aimed(plain, samples).items():
        fold = assign_folds(sample.units, folds)
        with blame(ModelError, "fitting the reward model {} on {} rows", plain.name, len(sample)):
            predictors = tuple(plain.fit_outside(sample, fold, folds))
        found[name] = Streamed(predictors, predictors, name=plain.name)
    return found
