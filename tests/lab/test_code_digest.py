"""The digest of the code: what changes rows changes it, and what only documents or shows them does not."""

from pathlib import Path

import pytest

import counterfold
from counterfold.experiments.runner import SHOWING, digest_package

FORMULA = '''"""A module."""

LIMIT = 3
"""How many."""


def double(x):
    """Return twice the number."""
    return 2 * x  # a comment
'''


@pytest.fixture
def package(tmp_path):
    """Return a package of a formula, a command and a chart."""
    for name in ("formula.py", "cli/command.py", "report/text.py", "experiments/selection/results.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(FORMULA)
    return tmp_path


def edit(file, old, new):
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("A module.", "Another text."),
        ("How many.", "How many rows."),
        ("Return twice", "Double"),
        ("# a comment", "# another one"),
        ("2 * x", "(2 * x)"),
        ("\n\n\n", "\n\n\n\n"),
    ],
)
def test_documents_comments_and_layout_do_not_count(package, old, new):
    before = digest_package(package)
    edit(package / "formula.py", old, new)
    assert digest_package(package) == before


@pytest.mark.parametrize(("old", "new"), [("2 * x", "3 * x"), ("LIMIT = 3", "LIMIT = 4"), ("double", "triple")])
def test_formulas_and_constants_count(package, old, new):
    before = digest_package(package)
    edit(package / "formula.py", old, new)
    assert digest_package(package) != before


def test_what_only_shows_results_does_not_count_and_new_modules_do(package):
    before = digest_package(package)
    for name in ("cli/command.py", "report/text.py", "experiments/selection/results.py"):
        edit(package / name, "2 * x", "3 * x")
    assert digest_package(package) == before
    (package / "formula.py").rename(package / "another.py")
    assert digest_package(package) != before


def test_the_package_s_own_digest():
    folder = Path(counterfold.__file__).parent
    parts = {part for file in folder.rglob("*.py") for part in file.relative_to(folder).with_suffix("").parts}
    assert parts >= SHOWING
    assert len(digest_package()) == 16
    assert digest_package() == digest_package(folder)
