"""Diagnostics: how far a log can answer for a target, one file for each check; the file's name is the check's."""

from counterfold.base import registry
from counterfold.diagnostics.base import Answer, Diagnostic, Diagnostics, Finding, Measurement, Verdict, measure_log

__all__ = ["Answer", "Diagnostic", "Diagnostics", "Finding", "Measurement", "Verdict", "build_all", "measure_log"]


def build_all() -> list[Diagnostic]:
    """Return every diagnostic of this folder, with its usual thresholds; those that need an answer come last."""
    every = [registry.find("diagnostics", name)() for name in registry.names("diagnostics")]
    return sorted(every, key=lambda one: one.needs_answer)
