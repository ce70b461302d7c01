"""Target: the probabilities of the policy to value, checked against one log; TargetForm: a way to give it."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np

from counterfold.base.arrays import Floats, Ints
from counterfold.base.errors import DataError, ParameterError
from counterfold.base.validation import Checker, freeze
from counterfold.log import kernels
from counterfold.log.log import Log
from counterfold.log.support import find_supported, is_certain
from counterfold.policies.training_rows import LearntRows

if TYPE_CHECKING:
    from counterfold.policies.given.mixture import Mixture


@dataclass(frozen=True, eq=False)
class Target:
    """`logged` holds the probability of each logged action, `probs` (n x A) those of all actions if they are known.

    On a log of doses, `doses` (n x m) holds what the target would give, one or several draws per row, and `logged` the
    density of that at the logged dose, smoothed with a rule-of-thumb bandwidth. Policies that `learn` found
    remember `learnt_rows`, and `recognised` (n x k x 3) says what each row is to each of the k that are mixed here.
    """

    logged: Floats
    probs: Floats | None = None
    doses: Floats | None = None
    learnt_rows: tuple[LearntRows, ...] = ()
    recognised: Ints | None = None

    @classmethod
    def of(cls, probs: Floats, log: Log) -> Self:
        """Return the target that has these probabilities of all actions."""
        return cls(probs[np.arange(len(log)), log.action], probs)

    def remember(self, several: Sequence["Target"]) -> "Target":
        """Return the target with what the policies that it is made of were learnt from."""
        learnt = tuple(one for target in several for one in target.learnt_rows)
        found = [target.recognised for target in several if target.recognised is not None]
        return replace(self, learnt_rows=learnt, recognised=np.concatenate(found, axis=1)) if found else self

    @property
    def draws(self) -> int:
        """Return how many doses the target would give in a row."""
        return 1 if self.doses is None else self.doses.shape[1]

    def lay_out(self, log: Log) -> tuple[Floats, Floats]:
        """Return the logged dose and those it would give (n x (1 + m)), and the probability of each action or dose.

        What is not known, or does not apply, has no columns.
        """
        nothing = np.empty((len(log), 0))
        if log.dose is None or self.doses is None:
            return nothing, nothing if self.probs is None else self.probs
        probs = np.full((len(log), 1 + self.draws), 1 / self.draws)
        probs[:, 0] = 0.0
        return freeze(np.column_stack([log.dose, self.doses])), probs

    def find_unsupported(self, log: Log) -> Floats | None:
        """Return the probability, row by row, of actions that the log could never take; nothing if that is unknown.

        Of a target that is known for the logged actions alone, it is known where these had probability 1: there it is
        what the target does besides; elsewhere it is taken for 0. On a log of doses these are doses outside the range
        of the logged ones by more than the bandwidth.
        """
        if log.dose is not None and self.doses is not None:
            reach = kernels.choose_bandwidth(log.dose)
            outside = (self.doses < log.dose.min() - reach) | (self.doses > log.dose.max() + reach)
            return np.asarray(outside.mean(axis=1))
        if self.probs is None:
            only = is_certain(log.propensity, log.precision)
            elsewhere = np.where(only & ~is_certain(self.logged), 1 - self.logged, 0.0)
            return elsewhere if elsewhere.any() else None
        supported = find_supported(log)
        return np.zeros(len(log)) if supported.all() else np.where(supported, 0.0, self.probs).sum(axis=1)


class Reads(NamedTuple):
    """A column that a target is made from: `kind` says how it is read, a key of `READERS` in `tables/columns.py`.

    A feature is what the policy looks at, and may be context as well; any other column is the policy's own.
    """

    name: str
    kind: str
    is_feature: bool = False


class TargetForm(ABC):
    """One of the ways in which a user may say what the target does.

    Names of columns stand in its fields until `fill` puts their values there, of whatever rows are worked on. Forms can
    be mixed: `0.1 * cf.Uniform() + 0.9 * cf.Greedy("score")`.
    """

    syntax: ClassVar[str] = ""
    """How it is written as a text, if it can be."""

    takes: ClassVar[Mapping[str, Callable[[str], Any]]] = {}
    """Its fields that a text may give, and how each is read: the first behind its name, others as FIELD=VALUE."""

    __array_ufunc__ = None
    """So that numbers of numpy leave it to this class what multiplying by them means."""

    @abstractmethod
    def resolve(self, log: Log, check: Checker) -> Target:
        """Return the target on a log of labels, checked."""

    @property
    def reads(self) -> tuple[Reads, ...]:
        """Return the columns that it is made from, where the log is a table."""
        return ()

    @property
    def is_full(self) -> bool:
        """Say whether it is known for all actions, and not for the logged ones alone."""
        return True

    @property
    def is_streamable(self) -> bool:
        """Say whether it can be computed for any rows of a log that is not in memory."""
        return True

    def uses_context(self, *, has_table: bool) -> bool:
        """Say whether it looks at the context, all columns of which it must then see; a table may have others."""
        return False

    def bind(self, find: "Callable[[Any], TargetForm]") -> "TargetForm":
        """Return it with every form that it consists of as `find` makes it, which knows the columns of a table."""
        return self

    def fill(self, values: Mapping[str, Any]) -> "TargetForm":
        """Return it with the values of columns in place of their names."""
        return self

    def require_known(self, log: Log) -> None:  # noqa: B027 (most know nothing to refuse)
        """Refuse what the actions of a log show to be wrong, before anything is computed."""

    def explain_ambiguity(self, log: Log, check: Checker) -> str | None:
        """Return why it can be read in two ways or in none, if so, by the first rows of a log if this is a long one."""
        return None

    def list_doses(self, log: Log) -> Any:
        """Return what it gives on a log of doses."""
        wanted = "doses on a log of doses: a column, an array, a function of the context, or a model with `predict`"
        raise ParameterError(f"`target` must be {wanted}, got {type(self).__name__}, which chooses among actions.")

    def __rmul__(self, share: float) -> "Mixture":
        from counterfold.policies.given.mixture import Mixture

        return Mixture([(share, self)])

    def __add__(self, other: "TargetForm") -> "Mixture":
        from counterfold.policies.given.mixture import Mixture

        if not isinstance(other, TargetForm):
            return NotImplemented
        return Mixture([*Mixture.list_parts(self), *Mixture.list_parts(other)])


def refuse_ambiguity(form: TargetForm, log: Log, check: Checker) -> None:
    """Refuse a target that can be read in two ways."""
    reason = form.explain_ambiguity(log, check)
    if reason is not None:
        raise DataError(reason)
