"""Run notebooks of this folder anew and store what they show; `make notebooks` runs all, and the tests run them, too.

What is stored says nothing of the machine it was made on: no times, no paths, a kernel by its plain name.
"""

import argparse
import os
import tempfile
from base64 import b64decode, b64encode
from io import BytesIO
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from PIL import Image

HERE = Path(__file__).parent
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}

STARTUP = "import altair\n\naltair.renderers.enable('png', scale_factor=1.2)\n"
"""What runs before a notebook: charts are stored as pictures, which need no script and no network to be seen."""


def execute(path: Path) -> nbformat.NotebookNode:
    """Return a notebook that was run in an empty folder; an error in any of its cells is one here."""
    book = nbformat.read(path, as_version=4)
    os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"  # or else the kernel writes a remark on debuggers
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as settings:
        startup = Path(settings) / "profile_default" / "startup" / "charts.py"
        startup.parent.mkdir(parents=True)
        startup.write_text(STARTUP)
        os.environ["IPYTHONDIR"] = settings
        NotebookClient(book, timeout=300, kernel_name="python3", resources={"metadata": {"path": folder}}).execute()
    book.metadata = METADATA
    for cell in book.cells:
        cell.metadata = {}
        for output in cell.get("outputs", []):
            pictures = output.get("data", {})
            if "image/png" in pictures:
                pictures["image/png"] = shrink(pictures["image/png"])
    return book


def shrink(picture: str) -> str:
    """Return a picture of a few colours, which takes a quarter of the room."""
    written = BytesIO()
    Image.open(BytesIO(b64decode(picture))).convert("RGB").quantize(64).save(written, "PNG", optimize=True)
    return b64encode(written.getvalue()).decode()


def main() -> None:
    """Run those that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("notebooks", nargs="*", type=Path, default=sorted(HERE.glob("*.ipynb")))
    parser.add_argument("--out", type=Path, default=HERE, help="the folder that they are written to")
    given = parser.parse_args()
    for path in given.notebooks:
        nbformat.write(execute(path), given.out / path.name)


if __name__ == "__main__":
    main()
