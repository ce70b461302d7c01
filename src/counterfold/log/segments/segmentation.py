"""Segmentation: a column as segments, read from what users give a log in memory."""

from typing import Any, NamedTuple

import numpy as np

from counterfold.base import messages
from counterfold.base.arrays import Ints
from counterfold.base.errors import DataError, ParameterError
from counterfold.base.per_row import take_array
from counterfold.base.validation import Checker, freeze
from counterfold.log.indices import align_rows
from counterfold.log.segments.by import resolve_by
from counterfold.log.segments.columns import as_column, require_values
from counterfold.log.segments.cuts import Cut
from counterfold.log.segments.summaries import ColumnSummary


class Segmentation(NamedTuple):
    """A column as segments: how it is cut, and the segment of each row."""

    cut: Cut
    codes: Ints


def take_segments(several: tuple[Segmentation, ...], index: Ints) -> tuple[Segmentation, ...]:
    """Return the columns as segments of some rows, cut as they are."""
    return tuple(one._replace(codes=take_array(one.codes, index)) for one in several)


def read_segments(given: Any, rows: int, index: Any, check: Checker) -> tuple[Segmentation, ...]:
    """Return the segments of a log in memory, from columns by their names; or as they are, if they are known."""
    if given is None or isinstance(given, tuple):
        return given or ()
    if not hasattr(given, "items"):
        rule = "a mapping of names to columns, such as {'device': device}"
        raise ParameterError(f"`by` must be {rule}, got {messages.shorten(given)}.")
    values = {str(name): as_column(str(name), align_rows("by", one, index, check)) for name, one in given.items()}
    several, found = resolve_by(list(values), []), []
    for by, (name, column) in zip(several, values.items(), strict=True):
        if len(column) != rows:
            shown = messages.show(name)
            raise DataError(f"`by` column `{shown}` must have one entry per row ({rows}), got {len(column)}.")
        require_values(by.column, column.type)
        cut = ColumnSummary.of(column, np.arange(rows)).learn(by)
        found.append(Segmentation(cut, freeze(cut.encode(column))))
    return tuple(found)
