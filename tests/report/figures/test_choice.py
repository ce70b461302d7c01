"""Tables of how the answer was chosen: the ladder, the losses of candidates and their settings."""

import itertools

import pytest

import counterfold as cf
from exhibited import FOUND, LOG, TARGET


def test_ladder_adds_up_to_the_answer():
    lines = FOUND.exhibits["ladder"].lines
    assert sum(line["share"] for line in lines) == pytest.approx(1)
    assert sum(line["share"] * line["value"] for line in lines) == pytest.approx(FOUND.value)
    for ladder in ("TruncatedSNIPS", "TruncatedSNDR"):
        mine = [line for line in lines if line["ladder"] == ladder]
        total, taken = sum(line["share"] for line in mine), [1.0, *(line["taken"] for line in mine[1:])]
        assert mine[0]["taken"] is None
        assert mine[-1]["cap"] is None
        steps = [after["value"] - before["value"] for before, after in itertools.pairwise(mine)]
        climbed = mine[0]["value"] + sum(part * step for part, step in zip(taken[1:], steps, strict=True))
        assert climbed * total == pytest.approx(sum(line["share"] * line["value"] for line in mine))


def test_losses_and_settings_are_those_of_the_candidates():
    found = cf.evaluate(LOG, TARGET, candidates=["cab", "dr", "ips"], selector=cf.OCV(splits=5))
    by_name = {line.name: line for line in found.table}
    lines = found.exhibits["losses"].lines
    assert {line["name"]: line["score"] for line in lines} == {name: one.score for name, one in by_name.items()}
    assert [line["loss"] + line["stderr"] for line in lines] == pytest.approx([line["score"] for line in lines])
    settings = found.exhibits["tuning"].lines
    assert {line["family"] for line in settings} == {"CAB"}
    assert sorted(line["value"] for line in settings) == sorted(one.value for one in found.table if "CAB" in one.name)
    assert "ladder" not in found.exhibits
