"""What JSON says of evaluations, of one reward or of several."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from counterfold.evaluation.result import Evaluation


def list_evaluations(results: "Mapping[str, Evaluation]") -> list[dict[str, Any]]:
    """Return what JSON says of each target's evaluation."""
    return [{"target": name, **result.to_dict()} for name, result in results.items()]


def join_rewards(answers: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """Return what JSON says of the only reward, or of each of several."""
    if len(answers) == 1:
        return next(iter(answers.values()))
    return {"rewards": [{"reward": name, **one} for name, one in answers.items()]}
