"""Contest: the policies that compete on one log, how they are trained, and how they are evaluated."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from counterfold.base import capacity
from counterfold.base.arrays import Floats, Ints
from counterfold.base.errors import SupportWarning
from counterfold.base.validation import Checker
from counterfold.evaluation.assembly import evaluate_targets
from counterfold.evaluation.question import Question
from counterfold.evaluation.result import Evaluation
from counterfold.learning.contenders import (
    IMITATION,
    Contender,
    find_allowed,
    list_contenders,
    name_constants,
    split_learners,
)
from counterfold.learning.learners.base import Learner, TrainingRows
from counterfold.learning.limits import ActionLimits, PolicyRules, find_possible
from counterfold.log.log import Log
from counterfold.policies.given.base import Target, TargetForm
from counterfold.policies.learned.features import Features
from counterfold.policies.learned.policy import Policy
from counterfold.policies.training_rows import LearntRows


@dataclass(frozen=True, eq=False)
class Decided(TargetForm):
    """A policy given by its probabilities of all actions in all rows (n x A), in the order of the log's actions."""

    probs: Floats

    @property
    def is_streamable(self) -> bool:
        return False

    def resolve(self, log: Log, check: Checker) -> Target:
        return Target.of(self.probs, log)


@dataclass(frozen=True, eq=False)
class Contest:
    """A log, and the policies that compete on it.

    - `log`: the training rows; of a large log, these are a sample.
    - `rows`: the same rows as learners see them.
    - `rules`: what every policy must keep to.
    - `contenders`: the policies that compete, by name.
    - `left_out`: the learners that do not apply to the log, with the reasons.
    - `question`, `threads`: how policies are evaluated.
    """

    log: Log
    rows: TrainingRows
    rules: PolicyRules
    contenders: Mapping[str, Contender]
    left_out: Mapping[str, str]
    question: Question
    threads: int | None = None

    @classmethod
    def of(
        cls,
        log: Log,
        *,
        learners: Sequence[Learner],
        shares: Sequence[float],
        forbidden: Any,
        limits: Any,
        explore: float,
        question: Question,
        threads: int | None,
    ) -> "Contest":
        """Return the contest that the arguments of `learn` describe; refuse arguments that do not fit the log."""
        allowed = find_allowed(log, forbidden)
        action_limits = ActionLimits.of(limits, log.actions, allowed, explore)
        rows = TrainingRows.of(log, allowed)
        applicable, left_out = split_learners(name_constants(learners, rows), rows)
        n_policies = len(applicable) + 1  # and the imitation of the log
        capacity.require_matrix("the policies", len(log) * 2 * n_policies * len(shares), len(log.actions))
        return cls(
            log=log,
            rows=rows,
            rules=PolicyRules(possible=find_possible(log, allowed), limits=action_limits, explore=explore),
            contenders=list_contenders(applicable, shares),
            left_out=left_out,
            question=question,
            threads=threads,
        )

    @property
    def learners(self) -> list[Learner]:
        """Return the learners of the contenders, and the imitation of the log if contenders are mixed with it."""
        needed = [learner for contender in self.contenders.values() for learner in contender.learners]
        return list({learner.name: learner for learner in needed}.values())

    @property
    def complexity(self) -> dict[str, int]:
        """Return how hard each contender's policy is to read."""
        return {name: contender.complexity for name, contender in self.contenders.items()}

    @property
    def constants(self) -> set[str]:
        """Return the names of the contenders that take one action everywhere."""
        return {name for name, contender in self.contenders.items() if contender.is_constant}

    def take(self, index: Ints) -> "Contest":
        """Return the same contest on some of the rows."""
        return replace(self, log=self.log.take(index), rows=self.rows.take(index), rules=self.rules.take(index))

    def train(self, contender: Contender) -> Policy:
        """Return a contender's policy, trained on all rows."""
        learner = contender.learner
        seed = self.question.seed
        return Policy(
            labels=list(self.log.actions),
            features=Features.of(self.log),
            scorer=self.rules.train(learner, self.rows, seed),
            is_greedy=learner.is_greedy,
            allowed=self.rows.allowed,
            share=contender.share,
            logger=self.rules.train(IMITATION, self.rows, seed),
            learnt_rows=LearntRows.of(self.rows.context, self.log) if learner.sees_rewards else None,
            explore=self.rules.explore,
        )

    def evaluate(self, decisions: Mapping[str, Floats], *, with_exhibits: bool = True) -> dict[str, Evaluation]:
        """Return the evaluation of policies, by name, from their decisions (n x A).

        `with_exhibits`: whether to compute the tables behind figures.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SupportWarning)  # the verdict says the same
            results = evaluate_targets(
                self.log,
                {name: Decided(probs) for name, probs in decisions.items()},
                self.question,
                threads=self.threads,
                progress=False,
                with_exhibits=with_exhibits,
            )
        (of_reward,) = results.values()  # a log that `learn` takes has one reward
        return of_reward.targets
