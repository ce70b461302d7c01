"""Show the notebooks of docs/notebooks as pages: what they say, their code, and what it showed when it was last run."""

import html
import json
from collections.abc import Callable, Iterator
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

SHOWN: dict[str, Callable[[str], str]] = {
    "text/html": lambda shown: f'<div class="shown">{shown}</div>',
    "image/png": lambda shown: (
        f'<img class="shown" alt="What this cell draws" src="data:image/png;base64,{shown.strip()}">'
    ),
    "text/plain": lambda shown: f'<pre class="shown">{html.escape(shown)}</pre>',
}
"""How an output of each kind is shown; of several kinds the first here is."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add a page for each notebook, whose name but for the ending is the notebook's."""
    for file in [one for one in files if one.src_uri.endswith(".ipynb")]:
        name = file.src_uri.removesuffix(".ipynb") + ".md"
        files.append(File.generated(config, name, content="\n\n".join(list_blocks(json.loads(file.content_string)))))
    return files


def list_blocks(book: dict[str, Any]) -> Iterator[str]:
    """Yield the blocks of a notebook's page."""
    for cell in book["cells"]:
        source = "".join(cell["source"])
        yield source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```"
        for output in cell.get("outputs", []):
            kinds = output.get("data", {}) | ({"text/plain": output["text"]} if "text" in output else {})
            yield next((show("".join(kinds[kind])) for kind, show in SHOWN.items() if kind in kinds), "")
