"""Sections of the report, one file for each, in the order of reading."""

from counterfold.base import registry
from counterfold.report.html.cases import Report
from counterfold.report.html.sections.base import Section as Section

FOLDER = "report.html.sections"


def build_all() -> list[Section]:
    """Return every section of this folder, in the order of reading."""
    return sorted((registry.find(FOLDER, name)() for name in registry.names(FOLDER)), key=lambda one: one.order)


def list_sections(report: Report) -> list[Section]:
    """Return the sections that a report has."""
    return [one for one in build_all() if one.applies(report)]
