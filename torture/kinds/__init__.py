"""Kinds of attack, one file each: its docstring says what it does, and `attack(limits)` yields how each try ended."""

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules


@dataclass(frozen=True)
class Limits:
    """How much is tried: everything or a representative part, minutes of fuzzing per reader, and names to keep to."""

    is_quick: bool = False
    minutes: float = 1.0
    only: tuple[str, ...] = ()

    def wants(self, name):
        """Say whether an attack is asked for."""
        return not self.only or any(one == name or name.startswith(f"{one}/") for one in self.only)


def find_kinds():
    """Return the module of each kind by its name."""
    names = sorted(module.name for module in iter_modules([str(Path(__file__).parent)]))
    return {name.replace("_", "-"): import_module(f"{__name__}.{name}") for name in names}
