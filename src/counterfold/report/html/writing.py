"""Writing: whether a report can be written is known before any work is done, and nothing half-written is left."""

import os
from importlib.util import find_spec
from os import PathLike
from pathlib import Path

from counterfold.errors import ParameterError
from counterfold.messages import shorten, show

ENDINGS = (".html", ".htm")
LONGEST = 200
"""The longest name of a file, in bytes: most systems know none beyond 255, and a draft's is longer."""

PACKAGES = ("altair", "jinja2", "vl_convert")
"""What the extra `report` installs."""


def require_writable(path: str | PathLike[str]) -> Path:
    """Return where a report goes; refuse what is no place for one, and say what is not installed."""
    if not isinstance(path, (str, PathLike)):
        raise ParameterError(f"`report` must be the name of a file that ends in .html, got {shorten(path)}.")
    found, name = Path(path).expanduser(), shorten(os.fspath(path))
    missing = [one for one in PACKAGES if find_spec(one) is None]
    if missing:
        needs = missing[0].replace("_", "-")
        raise ParameterError(f"a report needs {needs}: pip install 'counterfold[report]'.")
    if found.suffix.lower() not in ENDINGS or "\0" in str(found):
        raise ParameterError(f"`report` must be the name of a file that ends in .html, got {name}.")
    if len(os.fsencode(found.name)) > LONGEST:
        raise ParameterError(f"`report` must have a name of at most {LONGEST} bytes, got {name}.")
    if found.is_dir():
        raise ParameterError(f"`report` must be a file, got the folder {name}.")
    if not found.parent.is_dir():
        raise ParameterError(f"`report` must be in a folder that exists, got {name}.")
    if not os.access(found.parent, os.W_OK):
        raise ParameterError(f"`report` must be in a folder that can be written to, got {name}.")
    return found


def write_whole(path: Path, page: str) -> None:
    """Write a page beside its place first, so that there is never a part of one."""
    draft = path.with_name(f".{os.getpid()}.{path.name}")
    try:
        draft.write_text(page, encoding="utf-8")
        draft.replace(path)
    except OSError as error:
        raise ParameterError(f"`report` could not be written to {show(path)}: {error}.") from None
    finally:
        draft.unlink(missing_ok=True)
