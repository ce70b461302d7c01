"""Every realistic mistake ends in the right answer, a refusal, or a finding that names it; none is surely wrong."""

import pytest

from counterfold.base import registry
from places import ROOT
from traps import REFUSED, RIGHT, find_traps, spring

TRAPS = find_traps()
CASES = [(name, engine) for name, trap in TRAPS.items() for engine in trap.case().engines]


@pytest.mark.filterwarnings("ignore::counterfold.SupportWarning")
@pytest.mark.parametrize(("name", "engine"), CASES)
def test_it_ends_as_it_must(name, engine, tmp_path):
    trap = TRAPS[name]
    ending = spring(trap.case(), engine, tmp_path)
    assert trap.ends in ending.ends, ending


def test_the_docs_tell_how_every_mistake_ends():
    page = (ROOT / "docs" / "traps.md").read_text()
    for trap in TRAPS.values():
        ends = trap.ends if trap.ends in {RIGHT, REFUSED} else f"finding `{trap.ends}`"
        line = f"- {trap.mistake[6:]}\n" if trap.mistake.startswith("none: ") else f"| {trap.mistake} | {ends} |"
        assert line in page, "run `make traps`"


def test_every_ending_is_known():
    assert {trap.ends for trap in TRAPS.values()} <= {RIGHT, REFUSED, *registry.names("diagnostics")}
