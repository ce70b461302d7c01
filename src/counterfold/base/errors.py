"""What can go wrong through no fault of the code; whatever is quoted from data, a message is safe to show and short."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from counterfold.base import messages


class CounterfoldError(Exception):
    """Base of every error that a user can cause, to catch them all; its message is one clear sentence."""

    def __init__(self, message: str = "") -> None:
        """Take a sentence, which may quote anything."""
        super().__init__(messages.clean_sentence(message))


class DataError(CounterfoldError, ValueError):
    """A log, a target or a file breaks a rule."""


class MissingNumbersError(DataError):
    """A column lacks a number in a late row of a long log, though none was missing in the first rows."""


class ParameterError(CounterfoldError, ValueError):
    """An argument of an estimator, selector, model or function breaks a rule, or a name is unknown."""


class ModelError(CounterfoldError, RuntimeError):
    """A reward model given by the user could not be fitted or used."""


PACKAGE = __name__.partition(".")[0]


def is_own(kind: type) -> bool:
    """Say whether a class is one of this package, and not a user's."""
    return kind.__module__.partition(".")[0] == PACKAGE


def count_own_frames() -> int:
    """Return how many calls of this package lie between whoever asks and the user's code, which warnings point to."""
    frame, number = sys._getframe(1), 0  # noqa: SLF001 (as warnings do it)
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).partition(".")[0] == PACKAGE:
        frame, number = frame.f_back, number + 1
    return number


@contextmanager
def blame(kind: type[CounterfoldError], what: str, *things: object) -> Iterator[None]:
    """Say in one sentence whose code failed, and with what; the error itself is the cause.

    It goes around code of a user, which may raise anything. `what` has a {} for each of the things, which are written
    only then.
    """
    try:
        yield
    except (CounterfoldError, MemoryError):
        raise
    except (Exception, SystemExit) as error:  # whoever's program this is, it is not over
        reason = " ".join(f"{type(error).__name__}: {error}".split()).rstrip(".:")
        named = (" ".join(str(thing).split())[:60] for thing in things)
        raise kind(f"{what.format(*named)} failed with {reason}.") from error


class SupportWarning(UserWarning):
    """The target, of which there may be several, may take actions that the log could never take."""

    target: str = "target"

    def __init__(self, message: str = "") -> None:
        """Take a sentence, which may quote anything."""
        super().__init__(messages.clean_sentence(message))
