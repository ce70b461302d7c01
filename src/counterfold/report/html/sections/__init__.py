"""Sections of the report, one file for each, in the order of their numbers."""

from counterfold import registry
from counterfold.report.html.sections.base import Section as Section

FOLDER = "report.html.sections"


def build_all() -> list[Section]:
    """Return every section of this folder, in the order of reading."""
    return sorted((registry.find(FOLDER, name)() for name in registry.names(FOLDER)), key=lambda one: one.number)
