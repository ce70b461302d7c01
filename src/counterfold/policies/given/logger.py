"""Logger: the policy that wrote the log, to mix others with or to compare them to."""

from dataclasses import dataclass

from counterfold.base.validation import Checker
from counterfold.log.log import Log
from counterfold.policies.given.base import Target, TargetForm


@dataclass(frozen=True)
class Logger(TargetForm):
    r"""The policy that logged, whose weights are 1; of several loggers, that of each row.

    $$\pi(a \mid x_i) = \pi_0(a \mid x_i)$$

    It is known for all actions where the log has `logging_probs`, and otherwise for the logged ones alone.

    >>> import counterfold as cf
    >>> log = cf.Log(action=[0, 1, 0, 1], reward=[0.0, 1.0, 0.0, 3.0], propensity=[0.5, 0.5, 0.5, 0.5])
    >>> cf.estimate(log, 0.5 * cf.Logger() + 0.5 * cf.Always(1), cf.IPS()).value
    1.5
    """

    syntax = "logger"

    def resolve(self, log: Log, check: Checker) -> Target:
        return Target(log.propensity, log.logging_probs)
