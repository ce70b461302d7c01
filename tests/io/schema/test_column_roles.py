"""The table of roles: every place that lists the arguments of a log lists those of the table, and no others."""

import inspect
import re
from dataclasses import fields
from pathlib import Path
from typing import get_type_hints

import pytest
from typer.testing import CliRunner

import counterfold as cf
from counterfold.cli import app
from counterfold.io.schema.column_roles import ARGUMENTS, ROLES
from counterfold.io.schema.columns import READERS
from counterfold.io.schema.scan import Columns

DOCS = Path(__file__).parents[3] / "docs"


def test_a_scan_and_its_columns_have_the_arguments_of_the_table_in_its_order():
    assert [one.name for one in fields(cf.LogScan)] == ["source", *ARGUMENTS]
    assert list(Columns.__annotations__) == list(ARGUMENTS)


def test_a_scan_and_its_columns_have_the_same_types():
    of_scan = {one.name: one.type for one in fields(cf.LogScan) if one.name != "source"}
    assert get_type_hints(Columns) == of_scan


def test_roles_are_arguments_of_a_log():
    assert set(ROLES) <= set(inspect.signature(cf.Log).parameters)


def test_roles_are_looked_for_beside_other_roles_and_hold_values_that_can_be_read():
    assert {argument.beside for argument in ROLES.values()} <= {None, *ROLES}
    assert {argument.kind for argument in ROLES.values()} == {*READERS, "matrices"}


@pytest.mark.parametrize("command", ["evaluate", "check", "compare", "learn"])
def test_commands_have_an_option_for_each_argument(command):
    shown = CliRunner().invoke(app, [command, "--help"], terminal_width=200).output
    missing = [name for name in ARGUMENTS if f"--{name.replace('_', '-')}" not in shown]
    assert missing == []


def test_the_page_on_files_says_how_each_role_is_looked_for():
    page = (DOCS / "files.md").read_text(encoding="utf-8")
    looked_for = re.findall(r"^\| [^|]+ \| `(\w+)`", page, re.MULTILINE)
    assert set(ROLES) <= set(looked_for)
