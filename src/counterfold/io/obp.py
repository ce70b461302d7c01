"""from_obp() and from_action_dist(): what users of Open Bandit Pipeline have in memory, as a log and a target."""

from collections.abc import Mapping
from operator import index
from typing import Any

import numpy as np

from counterfold.base import messages
from counterfold.base.arrays import Floats, Ints
from counterfold.base.errors import DataError
from counterfold.base.validation import WHOLE
from counterfold.io.formats.open_bandit import POSITIONS
from counterfold.log.log import Log


def from_obp(feedback: Mapping[str, Any], *, propensity: Any = None) -> Log:
    """Return the log in a dictionary of bandit feedback, as the datasets of Open Bandit Pipeline (obp) give it.

    It takes `context`, `action`, `reward`, `pscore`, `pi_b` at each row's position, `action_context` as features of the
    actions, and `position`, which is context if there are several. Each row is a decision of its own, whatever its
    position, and the answer notes that. Without `pscore`, `propensity="fit"` fits it; without `n_actions` the actions
    are doses. The rest, such as `expected_reward`, is left alone.

    >>> import numpy as np
    >>> import counterfold as cf
    >>> feedback = {
    ...     "n_rounds": 4, "n_actions": 2, "context": np.array([[0.1], [0.2], [0.3], [0.4]]), "position": None,
    ...     "action": np.array([0, 1, 0, 1]), "reward": np.array([0, 0, 1, 1]),
    ...     "pscore": np.array([0.8, 0.4, 0.5, 0.2]),
    ... }
    >>> log = cf.from_obp(feedback)
    >>> log
    Log(4 rows, 2 actions, 1 context columns, propensities only)
    >>> target = cf.from_action_dist(np.full((4, 2, 1), 0.5), feedback)
    >>> cf.estimate(log, target, cf.IPS())
    Estimate(IPS: 0.875 ± 0.59)
    """
    require_feedback(feedback)
    reward = WHOLE.floats("reward", feedback["reward"], ndim=1)
    position = find_positions(feedback, len(reward))
    context, several = feedback.get("context"), position.max(initial=0) > 0
    if several:
        beside = np.empty((len(reward), 0)) if context is None else WHOLE.floats("context", context, ndim=2)
        WHOLE.length("context", beside, len(reward))
        context = np.column_stack([beside, position])
    given: dict[str, Any] = {
        "context": context,
        "reward": reward,
        "propensity": feedback.get("pscore") if propensity is None else propensity,
    }
    if feedback.get("n_actions") is None:
        return Log(**given, dose=feedback["action"])
    if feedback.get("pi_b") is not None:
        given["logging_probs"] = from_action_dist(feedback["pi_b"], feedback, "pi_b")
    actions, features = count_actions(feedback), feedback.get("action_context")
    if features is not None:
        features = np.asarray(features)[:actions]  # obp counts the actions that were taken, and there may be more
    log = Log(**given, action=feedback["action"], actions=range(actions), action_features=features)
    return log.add_notes([POSITIONS]) if several else log


def from_action_dist(action_dist: Any, feedback: Mapping[str, Any], name: str = "action_dist") -> Floats:
    """Return the probabilities (n x A) that an `action_dist` of obp (n x A x positions) has at each row's position.

    `feedback` are the rows that the policy is for, as for `from_obp`; `name` is what errors call the probabilities.
    """
    require_feedback(feedback)
    found = WHOLE.floats(name, action_dist, ndim=np.ndim(action_dist))
    rows, actions = np.size(feedback["reward"]), count_actions(feedback)
    if found.ndim not in {2, 3} or found.shape[:2] != (rows, actions):
        shape = f"{rows} rows x {actions} actions x positions"
        raise DataError(f"`{name}` must be {shape}, got {' x '.join(map(str, found.shape)) or 'one number'}.")
    if found.ndim == 2:
        return found  # a policy that does not look at the position
    position = find_positions(feedback, rows)
    last, count = int(position.max(initial=0)), found.shape[2]
    if last >= count:
        raise DataError(f"`{name}` must have a slice for each position, got {count} for positions up to {last}.")
    return found[np.arange(rows), :, position]


def require_feedback(feedback: Any) -> None:
    """Require a dictionary of single decisions."""
    if not isinstance(feedback, Mapping):
        raise DataError(f"`feedback` must be a dictionary of bandit feedback, got {type(feedback).__name__}.")
    if "slate_id" in feedback:
        raise DataError("`feedback` must hold single decisions, got slates (`slate_id`), which are lists.")
    lacking = [name for name in ("action", "reward") if feedback.get(name) is None]
    if lacking:
        raise DataError(f"`feedback` must hold `{lacking[0]}`, as obp's datasets give it.")


def count_actions(feedback: Mapping[str, Any]) -> int:
    """Return the number of actions."""
    try:
        return index(feedback["n_actions"])
    except (KeyError, TypeError):
        got = messages.shorten(feedback.get("n_actions"))
        raise DataError(f"`n_actions` must be the number of actions, got {got}.") from None


def find_positions(feedback: Mapping[str, Any], rows: int) -> Ints:
    """Return the position of each row, counted from 0; that of all rows is 0 where there is none."""
    given = feedback.get("position")
    if given is None:
        return np.zeros(rows, dtype=np.intp)
    found = WHOLE.floats("position", given, ndim=1)
    WHOLE.length("position", found, rows)
    WHOLE.every("position", found, (found >= 0) & (found == np.floor(found)), "whole numbers from 0 on")
    return found.astype(np.intp)
