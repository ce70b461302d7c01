"""A short form of every other kind of attack ends well, and the page of the docs tells of all kinds."""

import pytest

from places import ROOT
from torture.catalogue import AGREED, EITHER, REFUSED, RIGHT, Entry
from torture.kinds import Limits, find_kinds
from torture.outcomes import FAILURES, Result, find_unclear, judge
from torture.report import write_page
from torture.workers import Worker

KINDS = find_kinds()
SHORT = [name for name in KINDS if name not in {"catalogue", "versions"}]
"""The catalogue has a test for each entry; making environments takes minutes."""
CASES = [pytest.param(name, marks=[pytest.mark.slow] if name == "kills" else []) for name in SHORT]
"""The command line has tests of kills, too."""


@pytest.mark.parametrize("name", CASES)
def test_a_short_form_ends_well(name):
    bad = [one for one in KINDS[name].attack(Limits(is_quick=True)) if one.outcome in FAILURES]
    assert not bad, "\n".join(f"{one.outcome}: {one.name}: {one.text[:300]}" for one in bad[:20])


def test_a_worker_that_dies_or_hangs_is_seen_and_replaced():
    with Worker() as worker:
        worker.start()
        worker.process.kill()
        worker.process.wait()
        assert worker.ask("csv/clean", "memory", 20)["end"] == "crashed"
        assert worker.ask("csv/clean", "memory", 20)["end"] == "answered"
        assert worker.ask("csv/clean", "memory", 0)["end"] == "hung"


def ends(**texts):
    known = {"answered": {"answer": {"value": 1.0}}, "other": {"answer": {"value": 2.0}}}
    return {
        way: {"end": end.replace("other", "answered"), "text": "ok"} | known.get(end, {}) for way, end in texts.items()
    }


@pytest.mark.parametrize(
    ("allowed", "ways", "outcome"),
    [
        (REFUSED, {"memory": "refused", "local": "refused"}, "refused"),
        (REFUSED, {"memory": "answered", "local": "answered"}, "silent"),
        (RIGHT, {"memory": "refused"}, "unclear"),
        (EITHER, {"memory": "answered", "local": "refused"}, "silent"),
        (EITHER, {"memory": "answered", "local": "other"}, "silent"),
        (EITHER, {"memory": "wrong", "local": "refused"}, "silent"),
        (AGREED, {"memory": "wrong", "local": "wrong"}, "right"),
        (AGREED, {"memory": "refused", "local": "crashed"}, "crashed"),
        (AGREED, {"memory": "hung", "local": "refused"}, "hung"),
    ],
)
def test_the_worst_way_decides(allowed, ways, outcome):
    assert judge(Entry("name", allowed, tuple(ways), None), ends(**ways)).outcome == outcome


@pytest.mark.parametrize("message", ["", "a\nb", "\x1b[31m", "x" * 1001, "Traceback (most recent call last)", "\ud800"])
def test_a_refusal_is_one_sentence(message):
    assert find_unclear(message)
    assert not find_unclear("`reward` must be numbers, got 'grün'.")


def test_the_page_tells_of_every_kind():
    page = (ROOT / "docs" / "torture.md").read_text()
    for name in KINDS:
        assert f"\n## {name}\n" in page, "run `make torture`"
    made = write_page({"soak": [Result("soak/x", "silent", "", {"KiB": "1"})]}, KINDS)
    assert "| [soak](#soak) | 1 | 0 | 0 | 0 | 0 | 0 | 1 |" in made
