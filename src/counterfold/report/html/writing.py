"""Writing: whether a report can be written is known before any work is done."""

from importlib.util import find_spec
from os import PathLike
from pathlib import Path

from counterfold.base.atomic_files import require_place
from counterfold.base.errors import ParameterError

ENDINGS = (".html", ".htm")

PACKAGES = ("altair", "jinja2", "vl_convert")
"""What the extra `report` installs."""


def require_writable(path: str | PathLike[str]) -> Path:
    """Return where a report goes; refuse what is no place for one, and say what is not installed."""
    missing = [one for one in PACKAGES if find_spec(one) is None]
    if missing and isinstance(path, (str, PathLike)):
        needs = missing[0].replace("_", "-")
        raise ParameterError(f"a report needs {needs}: pip install 'counterfold[report]'.")
    return require_place("report", path, ENDINGS)
