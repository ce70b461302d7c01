"""Every realistic mistake ends in the right answer, a refusal, or a finding that names it; none is surely wrong."""

import pytest

from counterfold import registry
from traps import REFUSED, RIGHT, find_traps, spring

TRAPS = find_traps()
CASES = [(name, engine) for name, trap in TRAPS.items() for engine in trap.case().engines]


@pytest.mark.filterwarnings("ignore::counterfold.SupportWarning")
@pytest.mark.parametrize(("name", "engine"), CASES)
def test_it_ends_as_it_must(name, engine, tmp_path):
    trap = TRAPS[name]
    ending = spring(trap.case(), engine, tmp_path)
    assert trap.ends in ending.ends, ending


def test_every_ending_is_known():
    assert {trap.ends for trap in TRAPS.values()} <= {RIGHT, REFUSED, *registry.names("diagnostics")}
