"""Tables: from columns that are mapped by name to logs and targets."""

from typing import NamedTuple


class Role(NamedTuple):
    """What a column is for: `kind` is that of its values, a key of `READERS` in `columns.py`.

    Where the user does not name the column, it is looked for under the role's name, but only `beside` another role.
    """

    kind: str
    beside: str | None = None
