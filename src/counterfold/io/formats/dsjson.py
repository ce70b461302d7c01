"""Vowpal Wabbit's dsjson: one decision per line, with its outcome."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from counterfold.base.errors import ParameterError
from counterfold.io.formats._events import WHEN, Events, Line
from counterfold.io.formats._features import Flat, parse_object, read_number
from counterfold.io.formats._parsed import Decision
from counterfold.io.formats._vowpal import BY_PLACE, TURNED, UNKNOWN
from counterfold.io.formats.base import Note

COST, CHOSEN, PROBABILITY, TIME = "_label_cost", "_label_Action", "_label_probability", "Timestamp"

DANGLING = Note(
    "{count} lines hold no decision (no `c` with `a` or `_multi`), as outcomes that came too late, and were skipped",
    "check the joining of outcomes if these are many",
)
INACTIVE = Note(
    "{count} decisions are marked `_skipLearn`, as never shown, and were skipped",
    "make sure that this does not depend on the action",
)
FROM_ZERO = Note(
    "{count} decisions number the actions in `a` from 0 on, though `_label_Action` counts from 1 on, and were read so",
    "nothing, if the log was written so",
)
AGREED = 1e-3
"""How far apart two probabilities may be that are taken for the same."""


@dataclass(frozen=True)
class Dsjson(Events):
    """One decision per line; the reward is minus the cost.

    Actions are called by their `_tag` or `id` if the first decision has these, and by their places 1, 2, ... otherwise;
    `actions` says which, `id` or `place`.
    """

    actions: str = "auto"
    suffixes = (".dsjson",)
    signs = ((COST, PROBABILITY, CHOSEN),)
    missing = 0.0
    no_context = MappingProxyType({TIME: WHEN})
    notes = (TURNED,)

    def __post_init__(self) -> None:
        if self.actions not in {"auto", "id", "place"}:
            raise ParameterError(f"`actions` must be 'auto', 'id' or 'place', got {self.actions!r}.")

    def decide(self, lines: Iterable[Line]) -> Iterator[Decision | Note]:
        naming, first, base = self.actions, None, None
        for line in lines:
            if not line.text:
                continue
            event = parse_object(line)
            skipped = find_reason(event, line)
            if skipped is not None:
                yield skipped
                continue
            choices = list_choices(event, line)
            if naming == "auto":
                naming = "id" if find_names(choices) else "place"
            names = find_names(choices) if naming == "id" else [str(place + 1) for place in range(len(choices))]
            if names is None:
                rule = "every action must have a `_tag` or `id` of its own, as in the first decision"
                raise line.error(f"{rule}; call them by their places with the format 'dsjson:actions=place'")
            first = first or len(names)
            if naming == "place" and len(names) != first:
                yield BY_PLACE
            base = find_base(event, len(names), base, line)
            places = event.get("a")
            if base == 0 and isinstance(places, list) and all(type(one) is int for one in places):
                event["a"] = [place + 1 for place in places]
                yield FROM_ZERO
            yield make_decision(event, names, line)


def find_base(event: Mapping[str, Any], count: int, known: int | None, line: Line) -> int | None:
    """Return whether `a` counts its actions from 0 or from 1 on, which must be the same in all lines.

    A list that holds 0 counts from 0, and one that holds the number of actions from 1. What other lists do, the lines
    before tell; without these it is from 1 on, as in most logs. A list that is wrong in itself is refused elsewhere.
    """
    places = event.get("a")
    if not places or not isinstance(places, list) or not all(type(one) is int for one in places):
        return known
    if min(places) < 0 or max(places) > count or (0 in places and count in places):
        return known
    if 0 in places:
        base = 0
    elif count in places or known is None:
        base = 1
    else:
        return known
    if known is not None and base != known:
        rule = "`a` must number actions from 0 on in all lines, or from 1 on in all"
        raise line.error(f"{rule}, got {json.dumps(places)} behind a line that counts from {known} on")
    return base


def find_reason(event: Mapping[str, Any], line: Line) -> Note | None:
    """Return why a line is no row, if so."""
    shared = event.get("c")
    if not isinstance(shared, dict) or not (event.get("a") or shared.get("_multi")):
        return DANGLING
    if "_outcomes" in event or "_slots" in shared:
        raise line.error("it decides on several slots at once, which is no log of single decisions")
    if line.text.count(f'"{COST}"') > 1:
        raise line.error(f"`{COST}` must be there once")
    if event.get("_skipLearn") is True:
        return INACTIVE
    return UNKNOWN if event.get(COST) is None else None


def list_choices(event: Mapping[str, Any], line: Line) -> Sequence[Any]:
    """Return what is known of each action, in the order of their places; only their number, where that is all."""
    several = event["c"].get("_multi", event.get("a"))
    if not isinstance(several, list):
        raise line.error("`_multi` and `a` must be lists")
    return several


def find_names(choices: Sequence[Any]) -> list[str] | None:
    """Return what each action is called by itself, if all are and differ."""
    names = [find_name(one) for one in choices]
    found = [str(one) for one in names if isinstance(one, str | int)]
    return found if len(set(found)) == len(choices) else None


def find_name(choice: Any) -> Any:
    """Return the `_tag` or `id` of an action, or the `id` in one of its namespaces."""
    if not isinstance(choice, dict):
        return None
    spaces = (one for one in choice.values() if isinstance(one, dict))
    return choice.get("_tag") or choice.get("id", next((one["id"] for one in spaces if "id" in one), None))


def make_decision(event: Mapping[str, Any], names: Sequence[str], line: Line) -> Decision:
    """Return the decision of an event whose actions have these names."""
    places = event.get("a") or range(1, len(names) + 1)
    is_list = isinstance(places, list | range)
    if not is_list or not all(type(one) is int and 0 < one <= len(names) for one in places) or has_repeated(places):
        raise line.error(f"`a` must be different whole numbers from 1 to {len(names)}, got {json.dumps(places)}")
    index = event.get("_labelIndex")
    chosen = event.get(CHOSEN, index + 1 if type(index) is int else places[0])
    if type(chosen) is not int or chosen not in places:
        raise line.error(f"`{CHOSEN}` must be one of `a`, got {json.dumps(chosen)}")
    if type(index) is int and index + 1 != chosen:
        raise line.error(f"`{CHOSEN}` and `_labelIndex` must tell the same action, got {chosen} and {index}")
    probs = read_probabilities(event, names, places, line)
    dropped = read_number(event.get("pdrop", 0.0), "pdrop", line)
    if not 0 <= dropped < 1:
        raise line.error(f"`pdrop` must be at least 0 and below 1, got {dropped:g}")
    label = names[chosen - 1]
    propensity = event.get(PROBABILITY)
    if propensity is not None:
        propensity = read_number(propensity, PROBABILITY, line)
        if dropped and probs is not None and abs(propensity - probs[label] * (1 - dropped)) <= AGREED * probs[label]:
            propensity = probs[label]  # some tools multiply it with the probability that the event was kept
    numbers, words = Flat().add_all(event["c"])
    if isinstance(event.get(TIME), str):
        words[TIME] = event[TIME]
    reward = 0.0 - read_number(event[COST], COST, line)
    kept = 1.0 - dropped
    return Decision(label, reward, propensity, probs, names, kept, numbers=numbers, words=words)


def has_repeated(places: Sequence[int]) -> bool:
    """Say whether a place comes more than once."""
    return len(set(places)) < len(places)


def read_probabilities(
    event: Mapping[str, Any], names: Sequence[str], places: Sequence[int], line: Line
) -> dict[str, float] | None:
    """Return the probability of each action, which `p` holds in the order of `a`."""
    found = event.get("p")
    if found is None:
        return None
    if not isinstance(found, list) or len(found) != len(places):
        raise line.error("`p` must be as long as `a`")
    return {names[place - 1]: read_number(one, "p", line) for place, one in zip(places, found, strict=True)}
