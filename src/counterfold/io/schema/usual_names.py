"""What columns are usually called; which have a role because of their names alone, and what is said of that."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from counterfold.base import messages
from counterfold.base.arrays import Floats
from counterfold.base.validation import FIRST
from counterfold.io.formats.base import ROLE
from counterfold.io.schema.same_context import COLUMN
from counterfold.log.encoding.kinds import is_categorical, is_date, is_numeric
from counterfold.log.times import Clock, holds_dates

USUAL_NAMES: dict[str, tuple[str, ...]] = {
    "action": ("item_id", "item", "arm", "chosen", "chosen_action", "action_id", "a", "treatment", "variant", "choice"),
    "reward": (
        "click",
        "clicks",
        "clicked",
        "conversion",
        "converted",
        "revenue",
        "outcome",
        "label",
        "r",
        "y",
        "cost",
    ),
    "propensity": ("pscore", "propensity_score", "prob", "probability", "p", "action_prob", "logging_prob", "ps"),
    "logging_probs": ("pi_b", "probs", "action_probs", "propensities", "probabilities"),
    "group": ("user_id", "session_id", "user", "session"),
    "target": ("new_policy", "policy", "target_probs", "target_policy", "pi_e", "evaluation_probs"),
    "time": ("timestamp", "decided_at", "ts", "date", "datetime", "created_at", "event_time"),
    "dose": ("price", "bid", "discount", "amount"),
}
"""What columns of each role are often called elsewhere. They are suggested; only one of times is taken by itself."""

TIME = re.compile(
    r"time|timestamp|ts|date|day|datetime|date_?time"
    r"|(event|decision|impression|request|log|logged|shown|served|action|utc|local)_(time|timestamp|ts|date|datetime|day)"
    r"|(created|decided|shown|served|logged|occurred|happened|requested|displayed|sent|recorded|observed)_(at|on)"
)
"""What columns are called that say when decisions were made; not those that say when a user was born or joined."""

PEOPLE = (
    "user|usr|customer|visitor|member|patient|person|subscriber|player|student|learner|shopper|participant|respondent"
    "|passenger|rider|listener|viewer|reader"
)
OTHERS = (
    "session|account|acct|cookie|device|client|guest|buyer|household|family|driver|employee|tenant|subject|visit|request"
    "|query|search|conversation|thread|slate"
)
WHO = re.compile(
    rf"(.*_)?(?P<id>uid|({PEOPLE}|{OTHERS})_?(id|uid|uuid|guid|key|hash|token)|({PEOPLE}|account)_?(number|no|nr))"
    rf"|(?P<person>{PEOPLE})|(?P<other>session|account|cookie)"
)
"""What columns are called that say whom a decision was about, or which of several decisions were made together.

Other names without `id` are often those of kinds (`device`), of what was looked for (`query`) or of counts (`visit`).
"""

LOOKS = re.compile(
    r"[^@\s]+@[^@\s]+\.\w+|(?=.*\d)[0-9a-f]{12,}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE
)
"""What identifiers of users look like: addresses of e-mail, hashes, and universally unique identifiers."""

MANY = 20
"""From so many different values on a column is of users if its name does not say that it is an identifier."""

CLUSTER = re.compile(
    r"(.*_)?(village|school|classroom|household|hospital|clinic|ward|cluster|teacher|physician|doctor|herd|litter)"
    r"(_?(id|no|nr|number|code|key|name))?"
)
"""What columns are called whose values are often assigned, or measured, as a whole: the clusters of a trial."""

REPEATED, MOST_REPEATED = 1.25, 12
"""Values repeat if they are in so many rows on average; at most so many columns of such values are looked at."""

BINS, VALUES_PER_BIN = 32, 2
"""Whole numbers are cut into at most so many bins, of so many different numbers, or more.

So what changes slowly with a number can be told from what its values have in common.
"""

IDENTIFIER = (
    "it is called like a user or session; name it as `group` if rows of the same one belong together, or in `context` "
    "to have it taken"
)

MEANINGS = {
    "dose": "the dose that was given",
    "group": "the user or session that a row belongs to",
    "available": "the actions that could be taken",
    "kept": "the probability with which the row was kept",
    "time": "when decisions were made",
}
"""What the columns of roles are that a log need not have; columns of these names may be something else."""

LEAVE_OUT = " Leave the column out if it is something else (`ignore`, --ignore)."
TAKEN = " Column `{}` was taken because of its name: leave it out if it is something else (`ignore`, --ignore)."
"""What to do where a column is not what its role needs."""

ONE_TIME = "name one as `time` (--time {}) to see whether the value changes, and whether the last rewards are in"


def spell(name: str) -> str:
    """Return a name in small letters, with its words apart.

    >>> spell("createdAt"), spell("Event Time"), spell("userID")
    ('created_at', 'event_time', 'user_id')
    """
    return re.sub(r"[ .\-_]+", "_", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)).casefold()


def find_times(table: pa.Table, free: Sequence[str]) -> list[str]:
    """Return the columns that are called like times of decisions, and hold such."""
    return [name for name in free if TIME.fullmatch(spell(name)) and tells_days(table.column(name))]


def tells_days(column: pa.ChunkedArray) -> bool:
    """Say whether a column holds dates or times, or numbers that count from 1970 on or are days such as 20240131."""
    kind = column.type
    if is_numeric(kind) and not pa.types.is_boolean(kind):
        return Clock.of(column).has_days
    return (is_date(kind) or not is_numeric(kind)) and holds_dates(column)


def find_identifiers(table: pa.Table, free: Sequence[str]) -> list[str]:
    """Return the columns that are called like users or sessions, and hold labels of them in the first rows."""
    first = table.slice(0, FIRST)
    return [name for name in free if identifies(spell(name), first.column(name))]


def identifies(name: str, column: pa.ChunkedArray) -> bool:
    """Say whether a column of this name holds labels of users or sessions; `user` may be a kind of users."""
    match, kind = WHO.fullmatch(name), column.type
    is_label = is_categorical(kind) or (is_numeric(kind) and not pa.types.is_boolean(kind))
    if match is None or not is_label:
        return False
    if is_numeric(kind) and not pa.types.is_integer(kind):  # whole numbers, some of which are missing
        numbers = column.cast(pa.float64(), safe=False).drop_null().to_numpy()
        if not np.array_equal(numbers, np.floor(numbers), equal_nan=True):
            return False
    if match["id"] is not None:
        return True
    return (match["person"] is not None or is_categorical(kind)) and len(column.unique()) >= MANY


def find_look_alikes(table: pa.Table, free: Sequence[str]) -> list[str]:
    """Return the columns whose texts look like identifiers of users in the first rows, whatever they are called."""
    first = table.slice(0, FIRST)
    return [name for name in free if looks_like_identifiers(first.column(name))]


def looks_like_identifiers(column: pa.ChunkedArray) -> bool:
    """Say whether a column holds many different texts, all of which are addresses of e-mail or hashes."""
    if not is_categorical(column.type):
        return False
    texts = [one for one in column.unique().to_pylist() if one is not None]
    return len(texts) >= MANY and all(isinstance(one, str) and LOOKS.fullmatch(one) is not None for one in texts)


def find_repeated(table: pa.Table, free: Sequence[str]) -> dict[str, tuple[float, ...]]:
    """Return the columns of text or whole numbers whose many values repeat in the first rows, and how to cut these.

    Text is not cut. The columns that are called like clusters come first, then text, then numbers of many values.
    """
    first = table.slice(0, FIRST)
    ranked: list[tuple[tuple[bool, bool, int], str, tuple[float, ...]]] = []
    for name in free:
        column = first.column(name)
        if not is_label_like(column):
            continue
        known = column.drop_null()
        number = len(known.unique())
        if number < MANY or len(known) < REPEATED * number:
            continue
        edges = () if is_categorical(column.type) else find_edges(known, number)
        rank = (CLUSTER.fullmatch(spell(name)) is None, bool(edges), -number)
        ranked.append((rank, name, edges))
    ranked.sort(key=lambda line: line[0])
    return {name: edges for _, name, edges in ranked[:MOST_REPEATED]}


def is_label_like(column: pa.ChunkedArray) -> bool:
    """Say whether a column holds text, or whole numbers, some of which may be missing."""
    kind = column.type
    if is_categorical(kind) or pa.types.is_integer(kind):
        return True
    if not pa.types.is_floating(kind):
        return False
    few = column.slice(0, MANY)  # which tell of most columns, so that the others are not looked at
    return all(is_whole(some.cast(pa.float64()).drop_null().to_numpy()) for some in (few, column))


def is_whole(numbers: Floats) -> bool:
    """Say whether all numbers are whole, but those that are missing."""
    known = numbers[~np.isnan(numbers)]
    return bool(np.isfinite(known).all() and np.array_equal(known, np.floor(known)))


def find_edges(known: pa.ChunkedArray, different: int) -> tuple[float, ...]:
    """Return the ends of bins with about as many rows each, and several of the different numbers."""
    numbers = known.cast(pa.float64(), safe=False).to_numpy()
    bins = min(BINS, different // VALUES_PER_BIN)
    places = np.arange(1, bins) / bins
    return tuple(np.unique(np.nanquantile(numbers, places)).tolist())


class FoundNames(NamedTuple):
    """The column of each role, those that nobody named (`taken`), and what is to be said besides.

    `identifiers` are columns without a role that are called like users or sessions, and `look_alikes` others whose
    values look like these, and which may be context. `repeated` are more columns whose values repeat, and the edges of
    the bins that whole numbers are cut into.
    """

    roles: dict[str, str]
    taken: dict[str, str]
    identifiers: list[str]
    look_alikes: list[str]
    repeated: dict[str, tuple[float, ...]]
    notes: list[tuple[str, str]]

    @classmethod
    def of(
        cls,
        table: pa.Table,
        roles: Mapping[str, str],
        named: Mapping[str, object],
        unused: Sequence[str],
        context: Sequence[str] = (),
    ) -> "FoundNames":
        """Return the roles that are known, and the one of times if a single column without a role is called so.

        `unused` are columns that nobody named, and `context` those that were named as context.
        """
        times = [] if "time" in roles else find_times(table, unused)
        found = {**roles} | ({"time": times[0]} if len(times) == 1 else {})
        by_name = [role for role in MEANINGS if role in found and named.get(role) is None]
        taken = {role: found[role] for role in by_name if ROLE not in (table.schema.field(found[role]).metadata or {})}
        identifiers: list[str] = []
        look_alikes: list[str] = []
        repeated: dict[str, tuple[float, ...]] = {}
        if found.get("group") in {None, COLUMN}:
            identifiers = find_identifiers(table, unused)
            look_alikes = find_look_alikes(table, [name for name in unused if name not in identifiers])
            there = [name for name in (*unused, *context) if name in table.column_names]
            others = [name for name in there if name not in {*identifiers, *look_alikes, *times}]
            repeated = find_repeated(table, others)
        notes = [note_several_times(times)] if len(times) > 1 else []
        return cls(
            roles=found,
            taken=taken,
            identifiers=identifiers,
            look_alikes=look_alikes,
            repeated=repeated,
            notes=notes,
        )

    def explain(self, *, named: bool) -> dict[str, str]:
        """Return why identifiers are no context, unless the columns of the context are named."""
        return {} if named else dict.fromkeys(self.identifiers, IDENTIFIER)


def note_names(taken: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return what is to be said of columns that nobody named, and what to do about it."""
    several = [(MEANINGS[role], messages.show(name), messages.quote(name)) for role, name in taken.items()]
    return [
        (
            f"column `{name}` was taken for {meaning}, because of its name",
            f"put it into `ignore` (--ignore {typed}) if it is something else",
        )
        for meaning, name, typed in several
    ]


def note_several_times(names: Sequence[str]) -> tuple[str, str]:
    """Return what is to be said where several columns may be times, so that none is taken."""
    listed = " and ".join(f"`{messages.show(name)}`" for name in names)
    done = f"columns {listed} may tell when decisions were made, and none was taken for it"
    return done, ONE_TIME.format(messages.quote(names[0]))


def note_bad_times(name: str, bad: int, rows: int) -> tuple[str, str]:
    """Return what is to be said of a column that would be times, if all rows had one that is written in one way."""
    shown = messages.show(name)
    but = f"{bad:,} of {rows:,} rows have none, or one that is written in another way"
    done = f"column `{shown}` may tell when decisions were made, and was not taken for it: {but}"
    return done, f"write all times in one way, and name it as `time` (--time {messages.quote(name)})"
