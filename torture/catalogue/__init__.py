"""The corruption catalogue: entries with a name, how to make them, and what is allowed to happen.

An entry is a function of an empty folder, in any file here, that makes a `Case`; `@entry` registers it. Names begin
with the file that they are in, as in `csv/byte order mark`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

REFUSED = "refused"
"""One sentence that says what is wrong; any answer would be a sure number from a damaged log."""

RIGHT = "right"
"""The known answer; a refusal would refuse a good log."""

EITHER = "refused or right"
"""A refusal or the known answer."""

AGREED = "any, if all agree"
"""Nobody can tell by the data whether they are damaged; but nothing may crash, and all ways must say the same."""

ENGINES = ("memory", "local")
COMMANDS = ("command memory", "command local")
EVERYWHERE = (*ENGINES, *COMMANDS)
WITH_SPARK = (*EVERYWHERE, "spark")
"""The ways in which an entry is run: an engine through Python or the command line."""


@dataclass(frozen=True)
class Entry:
    """One corrupted file or call: `make` builds it in a folder, and `allowed` is how it may end in each of its ways."""

    name: str
    allowed: str
    ways: tuple[str, ...]
    make: Callable
    seconds: int = 20
    is_slow: bool = False


ENTRIES: dict[str, Entry] = {}


def entry(name, allowed, ways=EVERYWHERE, **settings):
    """Register a function of a folder that makes a case."""

    def register(make):
        place = make.__module__.rpartition(".")[2]
        full = f"{place.replace('_', '-')}/{name}"
        if full in ENTRIES:
            raise ValueError(f"`{full}` must be the name of one entry, got it twice.")
        ENTRIES[full] = Entry(full, allowed, tuple(ways), make, **settings)
        return make

    return register


def find_entries():
    """Return every entry by its name, in the order of files and within these."""
    for module in iter_modules([str(Path(__file__).parent)]):
        import_module(f"{__name__}.{module.name}")
    return ENTRIES
