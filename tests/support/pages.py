"""What the pages of the docs hold: links, headings, and blocks of code that are to be run."""

import doctest
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from places import ROOT

DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.rglob("*.md"), *(ROOT / name for name in ("README.md", "CHANGELOG.md", "SECURITY.md"))])

FENCE = re.compile(r"^( *)```(\w*)[^\n]*\n(.*?)^\1``` *$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"!?\[[^\]\[]*(?:\[[^\]]*\])?[^\]\[]*\]\(([^()\s]+(?:\([^()]*\))?)\)")
HEADING = re.compile(r"^#+ +(.+?)(?: *\{#([\w-]+)\})? *$", re.MULTILINE)
MARKED = re.compile(r"^<!-- run(?:: exits with (\d))? -->\n```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """A block of code that a page asks to have run, and the exit code of its last command."""

    language: str
    code: str
    exit_code: int

    @property
    def commands(self) -> list[list[str]]:
        """Return the arguments of every command, one command after the other."""
        lines = self.code.replace("\\\n", " ")
        words = shlex.shlex(lines, posix=True, punctuation_chars="\n")
        words.whitespace, words.whitespace_split, words.commenters = " \t", True, "#"
        commands: list[list[str]] = [[]]
        for word in words:
            if word.strip():
                commands[-1].append(word)
            else:
                commands.append([])
        return [command for command in commands if command]

    @property
    def source(self) -> str:
        """Return the statements after the prompts of a block of Python."""
        return "".join(one.source for one in doctest.DocTestParser().get_examples(self.code))


def list_blocks(path: Path) -> list[Block]:
    """Return the blocks that a page asks to have run, in their order."""
    found = MARKED.finditer(path.read_text(encoding="utf-8"))
    return [Block(one[2], one[3], int(one[1] or 0)) for one in found]


def list_links(path: Path) -> Iterator[str]:
    """Yield where the links and pictures of a page lead to, but for code."""
    text = re.sub(r"`[^`\n]*`", "", FENCE.sub("", path.read_text(encoding="utf-8")))
    yield from LINK.findall(text)


def list_anchors(path: Path) -> set[str]:
    """Return the anchors of a page's headings, as the site and code hosts make them."""
    text = FENCE.sub("", path.read_text(encoding="utf-8"))
    return {own or make_anchor(title) for title, own in HEADING.findall(text)}


def make_anchor(title: str) -> str:
    """Return the anchor of a heading.

    >>> make_anchor("Wrong propensities, and `kept` rows")
    'wrong-propensities-and-kept-rows'
    """
    return re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", title.lower()).strip())
