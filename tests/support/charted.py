"""What a chart of Altair shows: the numbers at the places of its marks, read from its specification."""

from collections.abc import Iterator
from typing import Any, NamedTuple


class Marks(NamedTuple):
    """Marks of one kind, such as points: the field of each channel, such as x, and the data."""

    kind: str
    fields: dict[str, Any]
    lines: list[dict[str, Any]]
    is_visible: bool

    def read(self, *channels):
        """Return the numbers of some channels, a row for each mark."""
        return [[line[self.fields[channel]] for channel in channels] for line in self.lines]


def list_marks(chart: Any) -> list[Marks]:
    """Return all marks of a chart, panel by panel and layer by layer."""
    spec = chart.to_dict()
    return list(walk(spec, spec.get("datasets", {}), []))


def walk(spec: dict[str, Any], datasets: dict[str, Any], lines: list[dict[str, Any]]) -> Iterator[Marks]:
    """Yield the marks of a part of a chart; data of a part are those of all parts within."""
    data = spec.get("data", {})
    lines = data["values"] if "values" in data else datasets.get(data.get("name"), lines)
    for part in (*spec.get("vconcat", ()), *spec.get("layer", ())):
        yield from walk(part, datasets, lines)
    if "mark" in spec:
        fields = {channel: one.get("field") for channel, one in spec["encoding"].items() if isinstance(one, dict)}
        yield Marks(spec["mark"]["type"], fields, lines, is_visible=spec["mark"].get("opacity") != 0)


def find_marks(chart: Any, kind: str, **fields: str) -> Marks:
    """Return the visible marks of a kind whose channels have some fields; those of several panels as one."""
    marks = [
        one for one in list_marks(chart) if one.kind == kind and one.is_visible and fields.items() <= one.fields.items()
    ]
    assert marks, f"no {kind} with {fields}"
    lines = [line for one in marks for line in one.lines]
    return marks[0]._replace(lines=lines)
