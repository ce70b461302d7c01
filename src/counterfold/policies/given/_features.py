"""What a user's own model looks at: columns that are named, or the context."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from counterfold.base import messages
from counterfold.base.arrays import Floats
from counterfold.base.errors import DataError, ParameterError
from counterfold.log.assignment import is_number
from counterfold.log.indices import call_on_context
from counterfold.log.log import Log
from counterfold.policies.given.base import Reads

RAW, NUMBERS = "raw", "numbers"
"""How features are read: as they are, for a data frame, or as numbers, for a matrix."""


def check_names(names: Any, argument: str = "columns") -> list[str] | None:
    """Return names that are listed in any way, or the only one; nothing if there are none."""
    several = [names] if isinstance(names, str) else names
    is_listed = isinstance(several, Iterable) and not isinstance(several, Mapping)
    found = list(several) if is_listed else []
    if names is not None and not (found and all(isinstance(one, str) and one for one in found)):
        raise ParameterError(f"`{argument}` must be names, as a list of texts, got {messages.shorten(names)}.")
    return None if names is None else found


def list_reads(names: Sequence[str] | None, kind: str) -> tuple[Reads, ...]:
    """Return the columns that hold features."""
    return tuple(Reads(name, kind, is_feature=True) for name in names or ())


def make_frame(names: Sequence[str], log: Log, values: Mapping[str, Any] | None) -> Any:
    """Return the named columns of a table, or else of the context, as a data frame."""
    try:
        import pandas as pd
    except ModuleNotFoundError:
        way = "pip install pandas"
        raise ParameterError(f"`target` reads columns by name as a data frame, which needs pandas: {way}.") from None
    if values is not None:
        return pa.table({name: values[name] for name in names}).to_pandas()
    return pd.DataFrame(pick_context(names, log), columns=list(names))


def make_matrix(names: Sequence[str] | None, log: Log, values: Mapping[str, Any] | None) -> Floats:
    """Return the named columns of a table, or else of the context, as numbers; all of the context without names."""
    if names is None:
        return read_context(log)
    if values is not None:
        return np.column_stack([values[name] for name in names])
    return pick_context(names, log)


def read_context(log: Log) -> Floats:
    """Return the context as it was before it was encoded: columns of numbers, NaN where one is missing.

    Text that nobody named is none of it, so a model need not know of columns that it was not fitted on.
    """
    texts = [name for name, one in log.encodings.items() if not one.is_number and name in log.context_sources]
    if texts and log.named_context:
        way = (
            "Name the columns that it looks at: `cf.Function(f, columns=[...])`, `cf.Classifier(model, columns=[...])`"
        )
        got = f"got column `{messages.show(texts[0])}`"
        raise DataError(f"`target` looks at the whole context, which must be numbers, {got}. {way}.")
    return restore_numbers(log)[1]


def call_on_log(value: Any, log: Log) -> Any:
    """Return what a function makes of the context of a log; anything else as it is."""
    return call_on_context(value, read_context(log), log.index) if callable(value) else value


def restore_numbers(log: Log) -> tuple[list[str], Floats]:
    """Return the columns of the context that hold numbers, and their names; NaN where a number is missing."""
    if not log.encodings:
        return list(log.context_names), log.context
    sources = log.context_sources
    places = [at for at, source in enumerate(sources) if is_number(log, source) and source not in sources[:at]]
    found = log.context[:, places]
    for column, at in enumerate(places):
        if sources[at] in log.encodings:
            found[log.context[:, at + 1] == 1, column] = np.nan
    return [sources[at] for at in places], found


def pick_context(names: Sequence[str], log: Log) -> Floats:
    """Return columns of the context by their names."""
    known, numbers = restore_numbers(log)
    missing = [name for name in names if name not in known]
    if missing:
        found = f"Found: {messages.list_names(known)}" if known else "Its context is empty"
        way = "Name the columns of the context, or give a file or a data frame to `cf.evaluate`"
        raise DataError(
            f"the context must have column `{messages.show(missing[0])}`, which `target` looks at. {found}. {way}."
        )
    return numbers[:, [known.index(name) for name in names]]
