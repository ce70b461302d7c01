"""What can go wrong through no fault of the code; whatever is quoted from data, a message is safe to show and short."""

from counterfold import messages


class CounterfoldError(Exception):
    """Base of every error that a user can cause, to catch them all; its message is one clear sentence."""

    def __init__(self, message: str = "") -> None:
        """Take a sentence, which may quote anything."""
        super().__init__(messages.clean_sentence(message))


class DataError(CounterfoldError, ValueError):
    """A log, a target or a file breaks a rule."""


class ParameterError(CounterfoldError, ValueError):
    """An argument of an estimator, selector, model or function breaks a rule, or a name is unknown."""


class ModelError(CounterfoldError, RuntimeError):
    """A reward model given by the user could not be fitted or used."""


class SupportWarning(UserWarning):
    """The target, of which there may be several, may take actions that the log could never take."""

    target: str = "target"

    def __init__(self, message: str = "") -> None:
        """Take a sentence, which may quote anything."""
        super().__init__(messages.clean_sentence(message))
