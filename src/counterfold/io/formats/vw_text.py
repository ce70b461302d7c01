"""Vowpal Wabbit's own text: contextual bandits with fixed actions (cb), or with a line for each action (cb_adf)."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import ClassVar, NamedTuple

from counterfold.base.errors import ParameterError
from counterfold.io.formats._events import Events, Line, name_feature
from counterfold.io.formats._parsed import Decision
from counterfold.io.formats._vowpal import BY_PLACE, TURNED, UNKNOWN
from counterfold.io.formats.base import Note


class Label(NamedTuple):
    """What stands before the first bar: the action with its cost and probability, other actions, and the tag."""

    chosen: Sequence[tuple[int, float, float]]
    actions: Sequence[int]
    tag: str


@dataclass(frozen=True)
class VwText(Events):
    """Lines such as `2:-1:0.5 | age:31 new`; the reward is minus the cost.

    `lines` says whether a line is a decision (`cb`) or an action, with an empty line behind the last one of a decision
    (`adf`); the first line tells if nobody does: it begins with `shared`, has no label, or has the label 0 there.
    """

    lines: str = "auto"
    suffixes = (".vw", ".dat")
    missing = 0.0
    notes: ClassVar[tuple[Note, ...]] = (TURNED,)

    def __post_init__(self) -> None:
        if self.lines not in {"auto", "cb", "adf"}:
            raise ParameterError(f"`lines` must be 'auto', 'cb' or 'adf', got {self.lines!r}.")

    def decide(self, lines: Iterable[Line]) -> Iterator[Decision | Note]:
        kind = self.lines
        several = AdfNames()
        for is_empty, group in groupby(lines, lambda line: not line.text):
            if is_empty:
                continue
            if kind == "auto":
                first = next(group)
                group = (line for some in ((first,), group) for line in some)  # noqa: PLW2901 (it goes on)
                kind = "adf" if is_action(first) else "cb"
            yield from several.decide(list(group)) if kind == "adf" else map(read_line, group)


def is_action(line: Line) -> bool:
    """Say whether a line can only be one of several that make a decision."""
    before = line.text.partition("|")[0].strip()
    return before.startswith(("shared", "0:")) or not before


def read_line(line: Line) -> Decision | Note:
    """Return the decision of a line."""
    label = read_label(line)
    if len(label.chosen) != 1:
        if label.chosen:
            raise line.error("one action must have a cost, got several")
        return UNKNOWN
    [(action, cost, probability)] = label.chosen
    return Decision(
        str(action),
        0.0 - cost,
        probability,
        available=[str(one) for one in label.actions] if len(label.actions) > 1 else None,
        numbers=read_features(line),
    )


@dataclass(eq=False)
class AdfNames:
    """Makes decisions of lines for actions, which are called by their tags if those of the first decision have any."""

    has_tags: bool | None = None
    count: int = 0

    def decide(self, group: Sequence[Line]) -> Iterator[Decision | Note]:
        """Yield the decision of some lines."""
        shared, lines = (group[0], group[1:]) if group[0].text.startswith("shared") else (None, group)
        labels = [read_label(line) for line in lines]
        chosen = [place for place, label in enumerate(labels) if label.chosen]
        if len(chosen) > 1:
            raise lines[chosen[1]].error("one action of a decision must have a cost; an empty line ends a decision")
        if not chosen:
            yield UNKNOWN
            return
        names = self._name(labels, group[0])
        if not self.has_tags and self.count not in (0, len(names)):
            yield BY_PLACE
        self.count = self.count or len(names)
        _, cost, probability = labels[chosen[0]].chosen[0]
        numbers = read_features(shared) if shared else {}
        yield Decision(names[chosen[0]], 0.0 - cost, probability, available=names, numbers=numbers)

    def _name(self, labels: Sequence[Label], line: Line) -> list[str]:
        tags = [label.tag for label in labels if label.tag]
        are_names = len(set(tags)) == len(labels)
        self.has_tags = are_names if self.has_tags is None else self.has_tags
        if self.has_tags and not are_names:
            raise line.error("every action must have a tag of its own, as in the first decision")
        return tags if self.has_tags else [str(place + 1) for place in range(len(labels))]


def read_label(line: Line) -> Label:
    """Return what stands before the first bar of a line."""
    before, bar, _ = line.text.partition("|")
    if not bar:
        raise line.error("features must follow a `|`, got none")
    words = before.split()
    tag = ""
    if words and (words[-1].startswith("'") or not before[-1:].isspace()):
        tag = words.pop().removeprefix("'") if words[-1].count(":") < 2 else ""
    chosen, actions = [], []
    for word in words:
        action, *numbers = word.split(":")
        if not action.isdigit() or len(numbers) not in (0, 2):
            raise line.error(f"the label must be like 2:-1:0.5 (action:cost:probability), got {word[:40]!r}")
        actions.append(int(action))
        if numbers:
            cost, probability = (read_value(one, line) for one in numbers)
            chosen.append((int(action), cost, probability))
    return Label(chosen, actions, tag)


def read_features(line: Line) -> dict[str, float]:
    """Return the features of a line by their names, behind that of their namespace; those that come again add up."""
    found: dict[str, float] = {}
    for part in line.text.split("|")[1:]:
        words = part.split()
        space, scale = "", 1.0
        if part[:1].strip():
            space, _, weight = words.pop(0).partition(":")
            scale, space = read_value(weight, line) if weight else 1.0, f"{space}."
        for word in words:
            name, _, value = word.partition(":")
            full = name_feature(f"{space}{name}")
            found[full] = found.get(full, 0.0) + scale * (read_value(value, line) if value else 1.0)
    return found


def read_value(text: str, line: Line) -> float:
    """Return a number of a line."""
    try:
        number = float(text)
    except ValueError:
        raise line.error(f"it must hold numbers behind `:`, got {text[:40]!r}") from None
    if math.isnan(number) or "_" in text:
        raise line.error(f"it must hold numbers behind `:`, got {text[:40]!r}")
    return number
