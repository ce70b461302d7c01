"""Exhibits: the numbers behind every picture of an answer, one file for each; the file's name is the picture's."""

from counterfold.base import registry
from counterfold.exhibits.base import Answered, Exhibit, Shown, show_all

__all__ = ["Answered", "Exhibit", "Shown", "build_all", "show_all"]


def build_all() -> list[Exhibit]:
    """Return every exhibit of this folder."""
    return [registry.find("exhibits", name)() for name in registry.names("exhibits")]
