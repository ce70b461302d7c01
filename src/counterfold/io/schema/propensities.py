"""Which column of a table holds propensities: it must be there, may be suggested, and is not that of one action."""

import re
from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa

from counterfold.base import messages
from counterfold.base.errors import DataError
from counterfold.base.validation import FIRST
from counterfold.io.schema import columns, roles
from counterfold.log.assignment.columns import RATE
from counterfold.log.encoding.kinds import is_numeric
from counterfold.log.labels import find_shared_name
from counterfold.log.propensity_checks import FIT

PROBABILITY = re.compile(
    r"(?i:(.*[_ .-])?(p|ps|prob|probability|propensity|p_?score)([_ .-].*|\d*))|.*[a-z0-9](Prob|Probability|Propensity)"
)
"""What columns of propensities are called besides."""


def require_propensities(table: pa.Table, column_roles: Mapping[str, str], targets: Sequence[str]) -> None:
    """Require a column that says how likely the logged actions were; suggest one otherwise."""
    wanted = ("propensity", "logging_probs")
    if not {*wanted, "logger", "logger_probs", "dose"} & set(column_roles):
        useful = [name for name in table.column_names if may_be_propensity(table, name)]
        usual = [roles.suggest_column(role, role, useful) for role in wanted]
        likely = [roles.name_column("propensity", name) for name in find_probabilities(table, column_roles, targets)]
        hint = next(filter(None, [*usual, *likely]), f" {FIT}")
        raise DataError(f"a log must have `logging_probs` or `propensity`, got neither.{hint}")


def find_probabilities(table: pa.Table, column_roles: Mapping[str, str], targets: Sequence[str]) -> Iterator[str]:
    """Yield the columns whose names and first rows say that they are probabilities, but not of the reward."""
    used = {*column_roles.values(), *targets}
    reward = column_roles["reward"].casefold()
    for name in table.column_names:
        is_likely = PROBABILITY.fullmatch(name) is not None and RATE.fullmatch(name) is None
        if not is_likely or name in used or reward in name.casefold():
            continue
        if is_numeric(table.schema.field(name).type):
            first = columns.read_numbers(table.slice(0, FIRST), name)
            if ((first > 0) & (first <= 1)).all() and (first < 1).any():
                yield name


def may_be_propensity(table: pa.Table, name: str) -> bool:
    """Say whether a column may be suggested: not one that numbers rows, nor numbers of which all are 1 or above."""
    if not is_numeric(table.schema.field(name).type):
        return True
    first = columns.read_numbers(table.slice(0, FIRST), name)
    return bool(((first > 0) & (first < 1)).any())


def refuse_one_of_several(table: pa.Table, column_roles: Mapping[str, str]) -> None:
    """Refuse propensities that are called like the probabilities of one action, beside those of others."""
    if not {"propensity", "action"} <= set(column_roles):
        return
    name = column_roles["propensity"]
    labels = columns.list_first_labels(table, column_roles["action"])
    shared = find_shared_name(name, table.column_names, labels)
    if shared is not None:
        rule = "hold the probability of the logged action in each row"
        got = f"got one of the columns `{messages.show(shared)}_ACTION`, each of which is about one action"
        way = f"Name `logging_probs={shared!r}` (--logging-probs {messages.quote(shared)}), or rename it"
        raise DataError(f"column `{messages.show(name)}` must {rule}, {got}. {way}.")
