"""Pages write their files into a folder of their own."""

import pytest


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Run the code of every page in an empty folder."""
    monkeypatch.chdir(tmp_path)
