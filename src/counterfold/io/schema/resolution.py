"""Which column of a table has each role, whether it was named or is called so."""

from collections.abc import Mapping, Sequence

import pyarrow as pa

from counterfold.io.schema import propensities, roles
from counterfold.io.schema.scan import LogScan, Role
from counterfold.io.schema.usual_names import FoundNames


def resolve_roles(
    scan: LogScan, table: pa.Table, known: Mapping[str, Role], ignore: Sequence[str], targets: Sequence[str]
) -> FoundNames:
    """Return the column of each role that a log has, named or not, once all that must be there is."""
    named: dict[str, str | None] = {role: getattr(scan, role) for role in known}
    found, context = roles.find_roles(table, known, named, ignore), scan.context or ()
    roles.require(table, found, context)
    if "propensity" in known:  # or they are fitted
        propensities.require_propensities(table, found, targets)
        propensities.refuse_one_of_several(table, found)
    roles.refuse_two_roles(table, found, targets)
    unused = [name for name in roles.list_free(table, found, ignore, targets) if name not in context]
    asked = named if scan.horizon is None else named | {"time": found.get("time")}  # which waits for rewards from it on
    return FoundNames.of(table, found, asked, unused, context)
