"""Bars: what they say, and when there is none."""

import time

import pytest

from counterfold.base.progress import bar


@pytest.fixture
def terminal(monkeypatch):
    """Make rich take stderr for a terminal of 80 columns."""
    for name, value in {"FORCE_COLOR": "1", "TERM": "xterm", "COLUMNS": "80"}.items():
        monkeypatch.setenv(name, value)


@pytest.mark.usefixtures("terminal")
def test_a_bar_says_what_is_done_how_fast_and_how_long_it_takes(capsys):
    with bar("Pass 2 of 2: estimating", after=0, unit="rows") as progress:
        progress(1_500_000, 10_000_000)
        time.sleep(0.3)
    shown = capsys.readouterr().err
    assert "Pass 2 of 2: estimating" in shown
    assert "1.5M of 10M rows, " in shown
    assert " left" in shown
    assert shown.endswith("\x1b[2K")  # and it is gone


@pytest.mark.usefixtures("terminal")
def test_nothing_is_shown_of_what_takes_no_time(capsys):
    with bar("Writing") as progress:
        progress(1, 2)
    assert capsys.readouterr().err == ""


def test_nothing_is_shown_where_there_is_no_terminal(capsys):
    with bar("Writing", after=0) as progress:
        progress(1, 2)
        time.sleep(0.2)
    assert capsys.readouterr().err == ""


@pytest.mark.usefixtures("terminal")
def test_nothing_is_left_of_a_bar_before_an_error(capsys):
    with pytest.raises(RuntimeError), bar("Running figure1"):
        raise RuntimeError
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("has_widgets", [True, False])
def test_a_notebook_has_a_bar_only_where_it_can_show_one(monkeypatch, has_widgets):
    started = []

    def start(shown):
        started.append(shown)

    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    monkeypatch.setattr("counterfold.base.progress.find_spec", lambda _: has_widgets or None)
    monkeypatch.setattr("rich.progress.Progress.start", start)
    with bar("Writing", after=0):
        time.sleep(0.2)
    assert len(started) == has_widgets
