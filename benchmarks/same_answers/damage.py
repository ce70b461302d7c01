"""The cases of benchmarks/same_answers that others have collected: the corruption catalogue and the traps.

A case is what happens in this process: an answer, or an error with its type and its sentence. `make torture` and the
tests judge whether that is right; here it only must stay the same.
"""

import sys
import tempfile
import warnings
from functools import partial
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from zlib import crc32

import torture.catalogue
import traps
from same_answers.describing import describe
from torture.worker import make_folder

WAYS = ("memory", "local", "python", "command")
"""How entries of the catalogue are run, all within this process."""

COMMAND = "command memory"
"""The same log through the command line, which one entry in `SHARE_OF_COMMANDS` is."""

SHARE_OF_COMMANDS = 4


def import_parts(package, left_out=()):
    """Import every module of a package, so that it registers what it has; say which cannot be imported."""
    for module in iter_modules(package.__path__):
        if module.name in left_out:
            continue
        try:
            import_module(f"{package.__name__}.{module.name}")
        except ImportError as error:  # of a version whose modules have other names: these cases are missing then
            print(f"{package.__name__}.{module.name} cannot be imported: {error}", file=sys.stderr)


def answers_of_catalogue():
    """Yield how each entry of the corruption catalogue ends, but for slow ones and those that need other processes."""
    import_parts(torture.catalogue)
    for name, entry in torture.catalogue.ENTRIES.items():
        if entry.is_slow:
            continue
        ways = [*WAYS, COMMAND] if crc32(name.encode()) % SHARE_OF_COMMANDS == 0 else WAYS
        for way in ways:
            if way in entry.ways:
                yield f"{name}, {way}", partial(run_entry, entry, way)


def run_entry(entry, way):
    """Make what is corrupt and return the answer to it; a refusal is raised."""
    with warnings.catch_warnings(), make_folder() as folder:
        warnings.simplefilter("ignore")
        case = entry.make(folder)
        try:
            return describe(case.run(way))
        except Exception as error:
            # The folder has another name every time, and may stand anywhere in the sentence.
            error.args = tuple(
                one.replace(str(folder), "FOLDER") if isinstance(one, str) else one for one in error.args
            )
            raise


def answers_of_traps():
    """Yield how each realistic mistake ends, on both engines."""
    import_parts(traps, left_out=("page",))
    for name, trap in traps.TRAPS.items():
        case = trap.case()
        for engine in case.engines:
            yield f"{name}, {engine}", partial(spring_trap, trap, engine)


def spring_trap(trap, engine):
    """Return the answer to a trap, and all findings with their names, severities and texts."""
    with tempfile.TemporaryDirectory() as folder:
        result, value, low, high = traps.evaluate(trap.case(), engine, Path(folder))
    findings = [
        {"name": one.name, "severity": one.severity, "problem": one.problem, "remedy": one.remedy}
        for one in result.diagnostics.findings
    ]
    left_out = dict(result.contents.left_out)
    said = {"value": value, "low": low, "high": high, "verdict": result.verdict, "findings": findings}
    gap = result.uplift()
    return said | {"left_out": left_out, "uplift": [gap.value, gap.stderr, *gap.interval()]}
