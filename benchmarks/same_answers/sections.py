"""The sections of benchmarks/same_answers by their names, and where the cases of each are."""

from importlib import import_module

PLACES = {
    "selectors": "memory.answers_by_selector",
    "intervals": "memory.answers_by_interval",
    "models": "memory.answers_by_model",
    "kinds": "memory.answers_by_kind",
    "files": "files.answers_of_files",
    "commands": "commands.answers_of_commands",
    "experiments": "commands.answers_of_experiments",
    "learn": "learning.answers_of_learning",
    "compare": "comparisons.answers_of_comparisons",
    "segments": "columns.answers_by_segment",
    "rewards": "columns.answers_by_rewards",
    "time": "columns.answers_by_time",
    "propensities": "columns.answers_by_propensities",
    "sources": "sources.answers_by_source",
    "formats": "sources.answers_by_format",
    "targets": "targets.answers_by_target",
    "reports": "reports.answers_of_reports",
    "public names": "public.answers_of_names",
    "help": "public.answers_of_help",
    "bad logs": "errors.errors_in_memory",
    "bad files": "errors.errors_of_files",
    "bad questions": "questions.errors_of_questions",
    "catalogue": "damage.answers_of_catalogue",
    "traps": "damage.answers_of_traps",
    "spark": "files.answers_on_spark",
}

NAMES = list(PLACES)


def list_cases(section):
    """Return an iterator over the cases of a section: a name and a function without arguments."""
    module, function = PLACES[section].split(".")
    return getattr(import_module(f"same_answers.{module}"), function)()
