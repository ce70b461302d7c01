"""RewardEvaluations: what one target would have earned in several rewards."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from counterfold.base import messages, standard_json
from counterfold.base.display import Reported
from counterfold.base.errors import ParameterError
from counterfold.base.records import as_dictionary
from counterfold.engines.base import Source
from counterfold.evaluation.assembly import Results
from counterfold.evaluation.result import Evaluation
from counterfold.log import log_checks
from counterfold.log.log import Log
from counterfold.models import Column
from counterfold.models.base import Given

if TYPE_CHECKING:
    from counterfold.evaluation.records import RewardsRecord


@dataclass(frozen=True)
class RewardLine:
    """What a target would have earned in one reward, with an interval, and the verdict on it."""

    reward: str
    value: float
    stderr: float
    low: float
    high: float
    verdict: str

    def __str__(self) -> str:
        name = messages.show(self.reward)
        if self.verdict == "not answerable":
            return f"{name} {self.verdict}"
        return f"{name} {self.value:.4g}, from {self.low:.4g} to {self.high:.4g}, {self.verdict}"


@dataclass(frozen=True, eq=False)
class RewardEvaluations(Mapping[str, Evaluation], Reported):
    """Evaluations of one target by several rewards: `found["click"]` is that by the reward `click`.

    `table` has a line for each, and `pandas.DataFrame` and `polars.DataFrame` take it as it is.
    """

    evaluations: Mapping[str, Evaluation]

    def __getitem__(self, reward: str) -> Evaluation:
        return self.evaluations[reward]

    def __iter__(self) -> Iterator[str]:
        return iter(self.evaluations)

    def __len__(self) -> int:
        return len(self.evaluations)

    @property
    def table(self) -> list[RewardLine]:
        """Return a line for each reward."""
        return [
            RewardLine(name, one.value, one.stderr, *one.interval, one.verdict)
            for name, one in self.evaluations.items()
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the evaluations as plain numbers, texts, lists and dictionaries."""
        return as_dictionary(self.to_record())

    def to_record(self) -> "RewardsRecord":
        """Return what JSON answers say about the evaluations."""
        return {"rewards": [{"reward": name, **one.to_record()} for name, one in self.evaluations.items()]}

    def to_json(self) -> str:
        """Return the evaluations as standard JSON; a number that is not finite is null."""
        return standard_json.write_answer(self.to_dict())

    def __repr__(self) -> str:
        return f"RewardEvaluations({'; '.join(map(str, self.table))})"


def has_several_rewards(source: Source) -> bool:
    """Say whether rewards are given as a list, which may hold but one."""
    return not isinstance(source, Log) and not isinstance(source.reward, str)


def join_rewards(
    source: Source, found: Mapping[str, Results[Any]], join: Callable[[dict[str, Any]], Any]
) -> dict[str, Any]:
    """Return what was found of each target: by the one reward, or, joined, by each of several."""
    if not has_several_rewards(source):
        (only,) = found.values()
        return only.targets
    targets = next(iter(found.values())).targets
    return {target: join({reward: one.targets[target] for reward, one in found.items()}) for target in targets}


def require_one_reward(source: Source, reward_model: Any) -> None:
    """Refuse predictions, which are those of one reward, where there are several."""
    is_given = isinstance(reward_model, (Column, Given)) or log_checks.count_dimensions(reward_model) == 2
    if is_given and has_several_rewards(source):
        raise ParameterError("`reward_model` must be a model where there are several rewards, got predictions of one.")
