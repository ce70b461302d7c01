"""What JSON answers say about one reward, or about several."""

from collections.abc import Mapping
from typing import Any


def join_rewards(answers: Mapping[str, Any]) -> dict[str, Any]:
    """Return the record of the only reward, or those of several, each with its name."""
    if len(answers) == 1:
        return next(iter(answers.values()))
    return {"rewards": [{"reward": name, **one} for name, one in answers.items()]}
