"""Charts of Altair: one for each picture, as the report has them, with colours and a width of their own."""

import json
import sys

import pytest

import counterfold as cf
from counterfold.base import registry
from counterfold.report import charts, plots
from shown_results import UGLY, make

SHOWN_BY = {"losses": "ocv", "reliability": "fitted", "compare": "comparison", "segments": "segments"}
SHOWN_BY |= {"contenders": "learned", "importance": "policy", "tree": "policy"}
NAMES = registry.names("report.plots")


def test_every_picture_is_a_chart_and_every_chart_a_picture():
    assert set(charts.list_drawers()) == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_chart_is_complete_without_a_page(name):
    chart = make(SHOWN_BY.get(name, "ladder")).chart(name)
    spec = chart.to_dict()
    assert all(panel["width"] == charts.WIDTH and panel["title"]["text"] for panel in spec["vconcat"])
    assert not [word for word in ("var(--", '"container"', "autosize") if word in json.dumps(spec)]


def test_several_rewards_have_a_panel_each():
    spec = make("rewards").chart().to_dict()
    assert [panel["title"]["text"][:20] for panel in spec["vconcat"]] == ["click", UGLY[:20], "balance"]


def test_what_is_drawn_is_what_the_exhibit_says():
    result = make("ladder")
    spec = result.chart("sample-size").to_dict()
    drawn = [line["rows"] for line in spec["vconcat"][0]["layer"][0]["data"]["values"]]
    assert drawn == [line["rows"] for line in result.exhibits["sample-size"].lines]


def test_what_is_withheld_is_no_chart_either():
    result = make("rare")
    with pytest.raises(cf.ParameterError, match=r"`answer` cannot be drawn: the log cannot answer, because"):
        result.chart()
    with pytest.raises(cf.ParameterError, match=r"`influence` cannot be a chart of this result; `plot` draws it"):
        result.chart("influence")
    for name in ("weights", "support", "concentration"):
        assert result.chart(name).to_dict()["vconcat"]
    assert plots.find_picture(make("check"), None).name == "weights"


def test_a_missing_altair_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(cf.ParameterError, match=r"charts need altair: pip install 'counterfold\[report\]'"):
        make("ladder").chart()
