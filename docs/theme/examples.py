"""Show the examples of docstrings as code: Markdown would take their prompts for quotations."""

import re
from typing import Any

import griffe

EXAMPLE = re.compile(r"^( *)>>> .*(?:\n(?!\s*$).*)*", re.MULTILINE)


class FencedExamples(griffe.Extension):
    """Put a fence around every paragraph of a docstring that starts with a prompt."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Change the docstring of a module, class, function or attribute before it is shown."""
        if obj.docstring is not None:
            obj.docstring.value = EXAMPLE.sub(fence, obj.docstring.value)


def fence(found: re.Match[str]) -> str:
    """Return an example between fences, indented as it was."""
    indent = found[1]
    return f"{indent}```pycon\n{found[0]}\n{indent}```"
