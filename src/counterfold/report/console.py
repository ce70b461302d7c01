"""The console that everything is printed at: what a terminal would obey is shown, not obeyed."""

from typing import Any

from rich.console import Console, ConsoleRenderable, Group
from rich.padding import Padding
from rich.text import Text

from counterfold.base import messages


class CleanConsole(Console):
    """Shows every text as it is, not as markup, its control characters escaped and its length bounded.

    Rich asks `render_str` for every text that it is given as such, before it lays it out. A text of Rich's own would
    not pass through here; nothing in the package makes one.
    """

    def __init__(self) -> None:
        """Print to stdout."""
        super().__init__(markup=False, emoji=False, highlight=False)

    def render_str(self, text: str, **options: Any) -> Text:
        """Return a text, ready to be laid out."""
        return super().render_str(messages.abbreviate(text, messages.LONGEST_SENTENCE), **options)


def show(*blocks: ConsoleRenderable | str) -> None:
    """Print the blocks with a blank line between them."""
    CleanConsole().print(Group(*(Padding(block, (0, 0, 1, 1)) for block in blocks)))
