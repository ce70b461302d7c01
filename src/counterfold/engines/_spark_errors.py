"""What Spark says when something is wrong, in one sentence."""

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from counterfold.base import errors
from counterfold.base.errors import DataError, ParameterError


@contextmanager
def explain_errors() -> Iterator[None]:
    """Turn what is wrong with Spark, or what a function found wrong with the data, into one sentence."""
    try:
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException, PySparkRuntimeError
    except ModuleNotFoundError:
        raise ParameterError("`engine` 'spark' needs pyspark: pip install 'counterfold[spark]'.") from None
    try:
        with warnings.catch_warnings(), _silence_loggers():
            warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
            yield
    except PySparkRuntimeError as error:
        if "JAVA_GATEWAY_EXITED" not in str(error):
            raise
        raise ParameterError("`engine` 'spark' needs Java 17 or later, which could not be started.") from None
    except (PySparkException, Py4JError) as error:
        ours = re.findall(rf"{re.escape(errors.__name__)}\.(\w+): (.*)", str(error))
        if ours:
            name, sentence = ours[-1]
            raise getattr(errors, name, DataError)(sentence.strip()) from None
        raise DataError(_find_sentence(str(error))) from error


@contextmanager
def _silence_loggers() -> Iterator[None]:
    """Keep PySpark from printing errors, with Java's stack, before anyone could handle them."""
    from pyspark.logger import PySparkLogger

    loggers = [PySparkLogger.getLogger(f"{kind}QueryContextLogger") for kind in ("SQL", "DataFrame")]
    before = [logger.disabled for logger in loggers]
    try:
        for logger in loggers:
            logger.disabled = True
        yield
    finally:
        for logger, disabled in zip(loggers, before, strict=True):
            logger.disabled = disabled


def _find_sentence(text: str) -> str:
    """Return what happened in one sentence: the end of a Python traceback, or else the first line that tells."""
    raised = re.findall(r"^Traceback .*\n(?:[ \t].*\n)+(\S.*)", text, re.MULTILINE)
    if raised:
        return f"a Spark worker failed: {raised[-1].strip().rstrip('.')}."
    lines = [line.strip(" :") for line in text.splitlines() if not line.startswith("An error occurred while calling")]
    reason = re.sub(r"\s*SQLSTATE: \w+", "", next(filter(None, lines), "no reason was given"))
    return f"Spark could not read the log: {reason.rstrip('.')}."
