"""The process in which entries are run: it reads `[name, way]` as a line of JSON and writes how that ended as another.

It has a memory limit, and the process that started it sees if it dies or hangs.
"""

import contextlib
import faulthandler
import json
import os
import resource
import sys
import tempfile
import traceback
import warnings
from dataclasses import asdict
from pathlib import Path

ADDRESSES = 4 << 30
"""How many bytes of addresses a worker may use; Java needs more, so that Spark has no such limit."""


def main():
    """Answer line by line until the input ends; whatever counterfold prints goes to stderr."""
    answers = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)
    faulthandler.enable()
    warnings.simplefilter("ignore")
    if "--unlimited" not in sys.argv:
        resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    from torture.catalogue import find_entries
    from torture.mutations import make_entry

    entries = find_entries()
    answers.write("ready\n")
    answers.flush()
    for line in sys.stdin:
        name, way = json.loads(line)
        answers.write(json.dumps(run(entries[name] if name in entries else make_entry(name), way)) + "\n")
        answers.flush()


def run(one, way):
    """Return how an entry ended in one way: `end`, a text that a person reads, and the answer if there is one."""
    import counterfold as cf
    from torture.cases import Refused

    with make_folder() as folder:
        case = one.make(folder)
        try:
            found = case.run(way)
        except (cf.CounterfoldError, Refused) as error:
            return {"end": "refused", "text": str(error).replace(f"{folder}/", "")}
        except BaseException:  # noqa: BLE001 whatever it is, it is a finding
            return {"end": "crashed", "text": traceback.format_exc(limit=-4)[-1500:]}
    differs = "" if case.known is None else case.known.find_difference(found)
    text = differs or f"value {found.value}"
    return {"end": "wrong" if differs else "answered", "text": text, "answer": asdict(found)}


@contextlib.contextmanager
def make_folder():
    """Yield an empty folder, and be in it."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory(prefix="torture-", ignore_cleanup_errors=True) as name:
        os.chdir(name)
        Path(name).chmod(0o755)  # entries that take away rights do so further down
        try:
            yield Path(name)
        finally:
            os.chdir(before)


if __name__ == "__main__":
    main()
