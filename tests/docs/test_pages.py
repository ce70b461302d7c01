"""The pages of the docs: links lead somewhere, commands run, words are spelt right, and nothing is left out."""

import inspect
import re
import subprocess
import sys
from urllib.parse import urlsplit

import pytest

from counterfold.base import registry
from pages import DOCS, PAGES, list_anchors, list_blocks, list_links
from places import ROOT

PARTS = ("What it measures", "What causes it", "What to do", "What it cannot see")
SAID, MEANT = r"(?m)^\| (note|caution|not answerable) \|", r'"(note|caution|not answerable)"'
MISSPELT = "taregt"  # in the name of a trap about a name that is misspelt


def name_page(path):
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", PAGES, ids=name_page)
def test_every_link_leads_somewhere(path):
    for link in list_links(path):
        parts = urlsplit(link)
        if parts.scheme:
            continue
        target = (path.parent / parts.path).resolve() if parts.path else path
        assert target.exists(), link
        assert not parts.fragment or parts.fragment in list_anchors(target), link


@pytest.mark.parametrize("path", [path for path in PAGES if list_blocks(path)], ids=name_page)
def test_every_command_that_is_marked_runs(path, run):
    names = {}
    for block in list_blocks(path):
        if block.language == "python":
            exec(block.source, names)  # noqa: S102 (our own page)
            continue
        for number, (program, *arguments) in enumerate(block.commands, start=1):
            assert program == "counterfold"
            code, _, errors = run(*arguments)
            assert code == (block.exit_code if number == len(block.commands) else 0), (arguments, errors)


@pytest.mark.parametrize("name", registry.names("diagnostics"))
def test_every_diagnostic_has_its_page(name):
    text = (DOCS / "findings" / f"{name}.md").read_text(encoding="utf-8")
    assert text.startswith(f"# {name}\n")
    assert [part for part in PARTS if f"\n## {part}" not in text] == []
    source = inspect.getsource(sys.modules[registry.find("diagnostics", name).__module__])
    said, meant = (set(re.findall(pattern, one)) for pattern, one in ((SAID, text), (MEANT, source)))
    assert said == meant


def test_there_is_no_page_of_a_diagnostic_that_is_gone():
    assert {path.stem for path in (DOCS / "findings").glob("*.md")} == set(registry.names("diagnostics"))


def test_every_public_name_is_in_the_reference_once():
    public = re.findall(r"as (\w+)$", (ROOT / "src/counterfold/__init__.pyi").read_text(encoding="utf-8"), re.MULTILINE)
    shown = re.findall(r"^::: counterfold\.(\w+)$", (DOCS / "api.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(shown) == sorted(public)


def test_every_page_has_its_place_in_the_site():
    nav = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:")[2]
    pages = {str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md")}
    assert {page for page in pages if f" {page}\n" not in nav} == set()


def test_words_are_spelt_right():
    codespell = [sys.executable, "-m", "codespell_lib", "--ignore-words-list", MISSPELT]
    done = subprocess.run([*codespell, *map(str, PAGES)], capture_output=True, text=True, check=False)
    assert done.stdout == ""


def test_pages_count_right():
    assert len(registry.names("diagnostics")) == 32, "README.md, docs/index.md and docs/diagnostics.md say thirty-two"
    assert len(registry.names("estimators")) == 23, "README.md says 23, docs/comparison.md says 21 and 2"
