"""What must be said of every log of Vowpal Wabbit."""

from counterfold.io.formats.base import Note

TURNED = Note(
    "rewards are the costs of Vowpal Wabbit with the other sign: more is better",
    "read values as minus the cost per decision",
)
UNKNOWN = Note(
    "{count} decisions have no cost and were skipped",
    "make sure that a cost is missing by chance: if that depends on the action, the value is biased",
)
BY_PLACE = Note(
    "actions have no name (`_tag`, `id` or a tag) and are called by their places 1, 2, ..., of which {count} decisions "
    "have more or fewer than the first one",
    "give every action a name, unless the first, the second and so on are what a policy chooses among",
)
