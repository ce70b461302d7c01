"""What fuzzing has found: every file in `tests/torture/found/`, kept so that it is tried again."""

import shutil
from pathlib import Path

from torture.cases import LogCase
from torture.catalogue import AGREED, ENGINES, entry

FOUND = Path(__file__).parents[2] / "tests" / "torture" / "found"

for file in sorted(FOUND.glob("*")):

    @entry(file.name, AGREED, ENGINES)
    def make(folder, file=file):
        """Copy the file under the name of its format."""
        path = folder / f"log{''.join(file.suffixes)}"
        shutil.copy(file, path)
        return LogCase(path, None)
