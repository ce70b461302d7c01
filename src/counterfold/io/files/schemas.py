"""One set of columns for all files of a folder."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from counterfold.base import messages
from counterfold.base.errors import DataError
from counterfold.io.formats.base import UNREADABLE, leave_out, merge_types
from counterfold.log.encoding.kinds import make_plain


def join_schemas(schemas: Sequence[pa.Schema]) -> pa.Schema:
    """Return the columns of all files, each of a type that holds the values of all: text, if it is in any of them."""
    types: dict[str, pa.DataType] = {}
    reasons = {field.name: field.metadata for schema in schemas for field in schema}
    for field in (field for schema in schemas for field in schema):
        known = types.get(field.name, field.type)
        try:
            types[field.name] = merge_types(field.name, known, field.type)
        except pa.ArrowTypeError:
            is_text = pa.string() in (_plain(known), _plain(field.type))
            types[field.name] = pa.string() if is_text else known
    lacking = {name: sum(name not in one.names for one in schemas) for name in types}
    fields = [pa.field(name, kind, metadata=reasons[name]) for name, kind in types.items()]
    lacks = "it is missing in {} of " + f"{len(schemas)} files"
    return pa.schema([leave_out(one, lacks.format(count)) if (count := lacking[one.name]) else one for one in fields])


def list_fields(schema: pa.Schema) -> list[pa.Field]:
    """Return the columns of a table but an index of pandas; texts are plain ones, as few operations take views."""
    known = [one for one in schema if not one.name.startswith("__index_level_")]
    return [one.with_type(make_plain(one.type)) for one in known]


def read_names(fields: Iterable[pa.Field]) -> list[str]:
    """Return the names of columns and of what is in them, which fails if one is not UTF-8."""
    inner = [[one.type.field(place) for place in range(one.type.num_fields)] for one in fields]
    return [*(one.name for one in fields), *(name for some in inner if some for name in read_names(some))]


def require_distinct(names: Sequence[str]) -> None:
    """Require columns with different names."""
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        got = f"got {messages.join_choices(repeated)} more than once"
        raise DataError(f"columns must have different names, {got}; give each a name of its own.")


def require_readable(schema: pa.Schema, names: Iterable[str]) -> None:
    """Require columns whose values could be read."""
    for name in names:
        sentence = (schema.field(name).metadata or {}).get(UNREADABLE)
        if sentence is not None:
            raise DataError(sentence.decode())


def conform(table: pa.Table, wanted: pa.Schema, keys: Mapping[str, str | None]) -> pa.Table:
    """Return these columns of a file; `keys` are what the names of its folders say, and a column may be missing."""
    if not keys and table.schema.equals(wanted):
        return pa.table(table.columns, schema=wanted)
    return pa.table([_find_column(table, one, keys) for one in wanted], schema=wanted)


def _find_column(table: pa.Table, field: pa.Field, keys: Mapping[str, str | None]) -> pa.ChunkedArray | pa.Array:
    if field.name not in table.column_names:
        value = pa.scalar(keys.get(field.name), pa.string()).cast(field.type)
        return pa.repeat(value, len(table)) if value.is_valid else pa.nulls(len(table), field.type)
    column = table.column(field.name)
    column = column.cast(make_plain(column.type))
    if pa.types.is_dictionary(field.type) and not pa.types.is_dictionary(column.type):
        column = column.cast(field.type.value_type).dictionary_encode()
    column = column.cast(field.type)
    if field.name in keys and len(column):
        said = pa.scalar(keys[field.name], pa.string())
        same = column.is_null() if not said.is_valid else pc.equal(column, said.cast(_plain(field.type)))
        if not pc.all(same, skip_nulls=False).as_py():
            raise pa.ArrowInvalid(f"column `{field.name}` must be {said} in all rows, as the name of its folder says")
    return column


def _plain(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind
