"""Drawings of figures in the report: they are true for any data, and a sentence stands where a chart says nothing."""

import math
from itertools import pairwise

import numpy as np
import pytest

import counterfold as cf
from counterfold.report.figures import _charts as charts
from counterfold.report.figures import candidates, ladder
from counterfold.report.figures.action_calibration import ActionCalibration
from counterfold.report.figures.calibration import Calibration
from counterfold.report.figures.concentration import Concentration
from counterfold.report.figures.influence import Influence
from counterfold.report.figures.ladder import Ladder
from counterfold.report.figures.over_time import OverTime
from counterfold.report.figures.sample_size import SampleSize
from counterfold.report.figures.sensitivity import Sensitivity
from counterfold.report.figures.support import Support
from counterfold.report.figures.tuning import Tuning
from counterfold.report.figures.weights import Weights
from counterfold.report.html import formats
from counterfold.report.html.blocks import tabulate
from counterfold.report.plotting import list_groups
from shown_results import make


@pytest.fixture(scope="module")
def case():
    return find_case(make("ladder"))


def find_case(result):
    [[found]] = list_groups(result).values()
    return found


def list_values(panel):
    """Return the data of all layers of a chart."""
    return read_layer(panel.spec)


def read_layer(layer):
    nested = [values for one in layer.get("layer", []) for values in read_layer(one)]
    return [layer["data"]["values"], *nested] if "data" in layer else nested


def log_clicks(rewards=None, propensity=0.5):
    """Return a log of two actions, one of which is always taken by the target."""
    action = np.arange(200) % 2
    reward = action + np.arange(200) % 7 if rewards is None else rewards
    return cf.Log(action=action, reward=reward, propensity=np.full(200, propensity))


def test_bars_of_weights_stand_beside_each_other_and_end_at_the_largest_weight(case):
    figure = Weights().draw_case(case)
    [bars] = list_values(figure.panels[0])
    spans = sorted((bar["left"], bar["right"]) for bar in bars)
    assert all(before[1] < after[0] for before, after in pairwise(spans))
    assert max(bar["high"] for bar in bars) == pytest.approx(case.exhibits["weights"].facts["largest_weight"], 1e-5)
    for share in ("row_share", "weight_share"):
        whole = sum(line[share] for line in case.exhibits["weights"].lines)
        assert sum(bar["part"] for bar in bars if bar["part"] == bar[share]) == pytest.approx(whole, 1e-4)


def test_equal_weights_are_a_sentence():
    found = find_case(cf.evaluate(log_clicks(), 1))
    figure = Weights().draw_on_page(found)
    assert figure.panels == []
    assert figure.reading == (
        "All rows that count, count the same: 2 times. 100 of 200 rows have weight 0, as the new policy never does "
        "what was done in them."
    )
    assert Concentration().draw_on_page(found) is None
    assert Weights().draw_case(found).panels
    assert Concentration().draw_case(found).panels


def test_the_climb_says_what_is_true_here(case):
    noisy = find_case(make("noisy"))
    assert Ladder().draw_steps(noisy) is not None
    assert "Every step" not in Ladder().draw_case(noisy).reading
    full = [line | {"taken": 1.0} for line in case.exhibits["ladder"].lines]
    assert ladder.is_full(full)
    assert not ladder.is_full([*full, full[-1] | {"taken": 0.5}])
    left, right = ({"at": place, "stderr": 1.0} for place in (0, 1))
    assert "about the same" in ladder.compare_noise([left, right])
    assert "less on the right" in ladder.compare_noise([left | {"stderr": 2.0}, right])


def test_settings_that_are_rungs_are_shown_once(case):
    assert Tuning().draw_on_page(case) is None
    assert Tuning().draw_case(case).panels
    assert Tuning().draw_on_page(find_case(make("many"))).panels


def test_candidates_that_say_the_same_are_shown_once():
    shown = candidates.merge(
        [
            {"name": name, "value": value, "stderr": 0.1, "who": candidates.FEW}
            for name, value in (
                ("TruncatedSNIPS(max_weight=4.0)", 1.0),
                ("DR", 1.0),
                ("TruncatedSNIPS(max_weight=5.0)", 1.0),
                ("TruncatedSNIPS(max_weight=2.0)", 1.0 + 1e-9),
                ("TruncatedSNIPS(max_weight=1.0)", 1.1),
            )
        ]
    )
    assert [line["name"] for line in shown] == ["SNIPS, cap 4 and 2 more", "DR", "SNIPS, cap 1"]


def test_an_interval_that_leaves_the_picture_ends_in_an_arrow():
    lines = [
        {"name": str(one), "who": "under 1 %", "value": one, "low": one - 1.0, "high": one + 1.0} for one in (1, 2)
    ]
    answer = {"name": "the answer", "who": "the answer", "value": 1.5, "low": 1.0, "high": 90.0}
    layers = candidates.draw_forest(answer, lines).to_dict(validate=False)
    domain = layers["layer"][1]["layer"][0]["encoding"]["x"]["scale"]["domain"]
    assert (domain[0] < 0, 3 < domain[1] < 4) == (True, True)
    arrows = charts.draw_arrows([answer, *lines], domain, charts.colour_by(["under 1 %"], ["red"]))
    assert [one.to_dict(validate=False)["mark"]["shape"] for one in arrows] == ["triangle-right"]


def test_what_is_left_without_rows_is_told_beside_what_today_earns():
    rewards = np.where(np.arange(200) == 1, 60.0, 1.0)
    figure = Influence().draw_case(find_case(cf.evaluate(log_clicks(rewards), 1)))
    today, lines, *_ = list_values(figure.panels[0])
    assert (today[0]["at"], lines[0]["without"], lines[1]["without"]) == pytest.approx((1.295, 1.59, 1.0))
    assert figure.reading.startswith("With all rows 1.6, without 1 row 1.0, without 10 rows 1.0; today earns 1.3.")


def test_wrong_propensities_matter_only_where_there_is_a_conclusion(case):
    assert not case.exhibits["sensitivity"].facts["is_told"]
    assert Sensitivity().draw_on_page(case).panels == []
    assert Sensitivity().draw_case(case).panels
    found = find_case(cf.evaluate(log_clicks(np.arange(200) % 2 * 2.5 + np.arange(200) % 7), 1))
    figure = Sensitivity().draw_on_page(found)
    factor = found.exhibits["sensitivity"].facts["factor"]
    assert f"From a factor of {formats.factor(factor)} on it may be 0." in figure.reading
    assert [{"at": pytest.approx(factor, 1e-5)}] in list_values(figure.panels[0])


def test_the_table_of_sample_sizes_doubles(case):
    times = [float(row[1].key) for row in SampleSize().draw_case(case).table.rows]
    assert times == [0.5, 1, 2, 4, 8, 16, 32, 64]


def test_axes_of_calibration_end_at_the_data(case):
    predicted = [line["predicted"] for line in case.exhibits["calibration"].lines]
    same = list_values(Calibration().draw_case(case).panels[0])[0]
    low, high = (one["at"] for one in same)
    span = max(predicted) - min(predicted)
    assert min(predicted) - low == pytest.approx(0.04 * span, rel=0.01)
    assert high - max(predicted) == pytest.approx(0.04 * span, rel=0.01)
    assert "diamond" in str(ActionCalibration().draw_case(case).panels[0].spec)


def test_the_log_is_today_and_the_target_has_its_name(case):
    for figure in (OverTime().draw_case(case), Support().draw_case(case)):
        names = {line["who"] for values in list_values(figure.panels[0]) for line in values if "who" in line}
        assert names == {"today", "new policy"}
    lines = list_values(OverTime().draw_case(case).panels[0])[0]
    logged = [line for line in lines if line["who"] == "today"]
    assert all(math.isfinite(line["low"]) and line["low"] < line["high"] for line in logged)


def test_long_tables_are_cut_and_say_so():
    table = tabulate("Actions", [{"rows": number} for number in range(800)], {"rows": ("Rows", formats.count)})
    assert (len(table.rows), table.caption) == (250, "Actions: 250 of 800")
