"""Logs to learn from: with a gain that is easy to see, or with none at all."""

import numpy as np

import counterfold as cf
from counterfold.evaluation.question import Question
from counterfold.learning.contenders import list_contenders
from counterfold.learning.contest import Contest
from counterfold.learning.learners.base import TrainingRows
from counterfold.learning.limits import PolicyRules


def draw_log(seed=0, rows=400, effect=1.0, **changes):
    """Return a log in which action 1 earns `effect` times the first column more than 0, and 2 never earns anything."""
    rng = np.random.default_rng(seed)
    context = rng.normal(size=(rows, 2))
    probs = np.tile([0.5, 0.3, 0.2], (rows, 1))
    action = rng.choice(3, size=rows, p=[0.5, 0.3, 0.2])
    reward = effect * np.where(action == 1, context[:, 0], 0.0) + 0.5 * rng.normal(size=rows)
    return cf.Log(**{"context": context, "action": action, "reward": reward, "logging_probs": probs} | changes)


def make_contest(log, learners, shares=(1.0,)):
    """Return the contest of some learners on a log of three actions, all of which can be taken."""
    return Contest(
        log=log,
        rows=TrainingRows.of(log, np.ones(3, dtype=bool)),
        rules=PolicyRules(possible=np.ones((len(log), 3), dtype=bool)),
        contenders=list_contenders(learners, shares),
        left_out={},
        question=Question.of(),
        threads=1,
    )
