"""The digest of the code: what changes rows changes it, and what only documents or shows them does not."""

import pytest

from counterfold_lab.runner import PACKAGES, SHOWING, digest_code

FORMULA = '''"""A module."""

LIMIT = 3
"""How many."""


def double(x):
    """Return twice the number."""
    return 2 * x  # a comment
'''


@pytest.fixture
def package(tmp_path):
    """Return a package of a formula and of modules that show what it gives."""
    folder = tmp_path / "package"
    for name in ("formula.py", "cli/command.py", "report/text.py", "commands/bench.py", "selection/results.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(FORMULA)
    return folder


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
    before = digest_code([package])
    edit(package / "formula.py", old, new)
    assert digest_code([package]) == before


@pytest.mark.parametrize(("old", "new"), [("2 * x", "3 * x"), ("LIMIT = 3", "LIMIT = 4"), ("double", "triple")])
def test_formulas_and_constants_count(package, old, new):
    before = digest_code([package])
    edit(package / "formula.py", old, new)
    assert digest_code([package]) != before


def test_what_only_shows_results_does_not_count_and_new_modules_do(package):
    before = digest_code([package])
    for name in ("cli/command.py", "report/text.py", "commands/bench.py", "selection/results.py"):
        edit(package / name, "2 * x", "3 * x")
    assert digest_code([package]) == before
    (package / "formula.py").rename(package / "another.py")
    assert digest_code([package]) != before


def test_a_second_package_counts_and_so_does_its_name(package, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "formula.py").write_text(FORMULA)
    both = digest_code([package, other])
    assert both != digest_code([package])
    edit(other / "formula.py", "2 * x", "3 * x")
    changed = digest_code([package, other])
    assert changed != both
    other.rename(tmp_path / "another")
    assert digest_code([package, tmp_path / "another"]) != changed


def test_the_digest_is_that_of_the_product_and_the_lab():
    assert [folder.name for folder in PACKAGES] == ["counterfold", "counterfold_lab"]
    modules = {file.relative_to(folder).with_suffix("") for folder in PACKAGES for file in folder.rglob("*.py")}
    assert {part for module in modules for part in module.parts} >= SHOWING
    assert len(digest_code()) == 16
    assert digest_code() == digest_code(PACKAGES)
