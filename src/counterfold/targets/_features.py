"""What a user's own model looks at: columns that are named, or the context."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from counterfold import messages
from counterfold.arrays import Floats
from counterfold.errors import DataError, ParameterError
from counterfold.log import Log
from counterfold.targets.base import Reads

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
        return log.context
    if values is not None:
        return np.column_stack([values[name] for name in names])
    return pick_context(names, log)


def pick_context(names: Sequence[str], log: Log) -> Floats:
    """Return columns of the context by their names."""
    missing = [name for name in names if name not in log.context_names]
    if missing:
        found = f"Found: {messages.list_names(log.context_names)}" if log.context_names else "Its context is empty"
        way = "Name the columns of the context, or give a file or a data frame to `cf.evaluate`"
        raise DataError(
            f"the context must have column `{messages.show(missing[0])}`, which `target` looks at. {found}. {way}."
        )
    return log.context[:, [log.context_names.index(name) for name in names]]
