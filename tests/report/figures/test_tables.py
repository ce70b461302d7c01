"""Tables of figures (`result.exhibits`), against naive loops, and the same on every engine."""

import math

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import counterfold as cf
from counterfold.base import registry, standard_json
from counterfold.evaluation.robustness import Robustness
from counterfold.evidence.figure_tables import FigureTable, Shown, build_figures
from counterfold.report.figures import groups
from counterfold.report.figures.base import Figure
from exhibited import FOUND, LABELS, LOG, ROWS, TARGET, WEIGHTS, draw_log
from reference.exhibits import (
    bin_weights,
    explore_actions,
    leave_out_each,
    leave_out_movers,
    support_actions,
)

ELSEWHERE = {"losses", "days", "groups", "worst-support"}
"""The figures with a table that does not apply to this evaluation."""


def test_every_file_is_a_figure_with_a_table_or_a_chart():
    figures = build_figures()
    assert [figure.name for figure in figures] == list(registry.names("figures"))
    with_table = {figure.name for figure in figures if type(figure).show is not FigureTable.show}
    with_chart = {figure.name for figure in figures if isinstance(figure, Figure)}
    assert with_table | with_chart == set(registry.names("figures"))
    assert with_table - with_chart == {"days", "exploration", "groups", "worst-support"}
    assert set(FOUND.exhibits) == with_table - ELSEWHERE


def test_tables_have_lines_of_plain_numbers():
    for shown in FOUND.exhibits.values():
        assert shown.lines
        assert len({tuple(line) for line in shown.lines}) == 1
        standard_json.write({"lines": list(shown.lines), "facts": dict(shown.facts)})


def test_weights_against_loop():
    shown, expected = FOUND.exhibits["weights"], bin_weights(WEIGHTS.tolist())
    for line in shown.lines:
        rows, weight = expected.get(round(math.log10(line["low"]) * 10), (0, 0.0))
        assert line["rows"] == rows
        assert line["weight_share"] == pytest.approx(weight / WEIGHTS.sum())
    assert sum(line["rows"] for line in shown.lines) + shown.facts["zero_rows"] == ROWS
    assert shown.lines[0]["weight_above"] == pytest.approx(1)
    assert shown.facts["effective_rows"] == pytest.approx(WEIGHTS.sum() ** 2 / (WEIGHTS**2).sum())


def test_support_against_loop():
    expected = support_actions(LOG.action, LOG.reward, LOG.propensity, TARGET, LABELS)
    lines = FOUND.exhibits["support"].lines
    assert {line["action"] for line in lines} == set(LABELS)
    for line in lines:
        assert [*line.values()][1:] == pytest.approx(expected[line["action"]])


def test_influence_against_loop():
    lines = FOUND.exhibits["influence"].lines
    rows, without = leave_out_movers(WEIGHTS.tolist(), LOG.reward.tolist(), 10)
    assert [line["row"] for line in lines] == rows
    assert [line["without"] for line in lines] == pytest.approx(without)


def test_exploration_against_loop():
    shown = FOUND.exhibits["exploration"]
    expected = explore_actions(LOG.action.tolist(), WEIGHTS.tolist(), LOG.reward.tolist(), LOG.propensity.tolist(), 0.1)
    assert shown.facts == {"explored": 0.1}
    assert {line["action"] for line in shown.lines} == {LABELS[code] for code in expected}
    for line in shown.lines:
        found = line["variance_share"], line["width"]
        assert found == pytest.approx(expected[LABELS.index(line["action"])])
    assert sum(line["variance_share"] for line in shown.lines) == pytest.approx(1)
    assert [line["width"] for line in shown.lines] == sorted(line["width"] for line in shown.lines)


def test_a_log_that_explored_the_action_is_as_much_narrower():
    """What is promised for an action comes true on logs that did explore it, within 4 standard errors of 40 logs."""
    share, rows = 0.1, 4000
    plain, new = np.array([0.9, 0.1]), (1 - share) * np.array([0.9, 0.1]) + share * np.array([0.0, 1.0])
    promised, found = [], []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        errors = []
        for policy in (plain, new):
            action = rng.choice(2, size=rows, p=policy)
            log = cf.Log(action=action, reward=action + rng.normal(size=rows), propensity=policy[action])
            errors.append(cf.estimate(log, np.array([0.2, 0.8])[action], "snips").stderr)
            if policy is plain:
                shown = cf.check(log, cf.Probabilities(np.array([0.2, 0.8])[action])).exhibits["exploration"]
                promised += [line["width"] for line in shown.lines if line["action"] == "1"]
        found.append(errors[1] / errors[0])
    apart = np.array(promised) - np.array(found)
    assert abs(apart.mean()) < 4 * apart.std(ddof=1) / np.sqrt(len(apart))
    assert np.mean(promised) < 0.8


def test_days_against_loop():
    rng = np.random.default_rng(7)
    days = rng.integers(5, size=ROWS)
    log, target = draw_log(time=np.datetime64("2024-02-27") + days)
    shown = cf.evaluate(log, target)
    lines, robust = shown.exhibits["days"].lines, shown.robustness
    expected = leave_out_each(days.tolist(), WEIGHTS, LOG.reward, np.ones(ROWS))
    assert len(lines) == 5
    for line in lines:
        day = int((np.datetime64(line["day"]) - np.datetime64("2024-02-27")).astype(int))
        assert (line["rows"], line["without"], line["difference"]) == pytest.approx(expected[day])
    assert sum(line["weight_share"] for line in lines) == pytest.approx(1)
    everything = (WEIGHTS @ LOG.reward) / WEIGHTS.sum()
    apart = [abs(line["difference"] - everything + LOG.reward.mean()) for line in lines]
    assert apart == sorted(apart, reverse=True)
    assert robust.without_day == pytest.approx(lines[0]["without"])
    assert robust.without_row == pytest.approx(shown.exhibits["influence"].lines[0]["without"])
    assert robust.snips == pytest.approx(everything)


@pytest.mark.parametrize("engine", ["memory", "local"])
def test_groups_against_loop(tmp_path, engine):
    """Each group is known by a row of its own, on every engine, though it is in many batches."""
    rng = np.random.default_rng(9)
    users, kept = rng.integers(40, size=ROWS), rng.choice([0.5, 1.0], size=ROWS)
    columns = {"action": LOG.action, "reward": LOG.reward, "propensity": LOG.propensity, "kept": kept}
    columns |= {"user": [f"u{one}" for one in users], "new": TARGET[np.arange(ROWS), LOG.action]}
    pa.parquet.write_table(pa.table(columns), tmp_path / "log.parquet", row_group_size=70)
    found = cf.evaluate(tmp_path / "log.parquet", "new", group="user", kept="kept", engine=engine)
    expected, shown = leave_out_each(users.tolist(), WEIGHTS, LOG.reward, 1 / kept), found.exhibits["groups"]
    everything = WEIGHTS @ (LOG.reward / kept) / (WEIGHTS @ (1 / kept))
    gap = everything - np.average(LOG.reward, weights=1 / kept)
    ranked = sorted(expected, key=lambda user: -abs(expected[user][2] - gap))
    assert [users[line["row"]] for line in shown.lines] == ranked[:10]
    for line in shown.lines:
        assert (line["rows"], line["without"], line["difference"]) == pytest.approx(expected[users[line["row"]]])
    ends = [shown.facts[name]["difference"] for name in ("lowest", "highest")]
    assert ends == pytest.approx([min(one[2] for one in expected.values()), max(one[2] for one in expected.values())])
    assert (shown.facts["count"], shown.facts["is_exact"]) == (40, True)
    assert found.robustness.without_group == pytest.approx(expected[ranked[0]][1])


def test_more_groups_than_are_told_apart_share_their_sums(monkeypatch, tmp_path):
    monkeypatch.setattr(groups, "MOST_GROUPS", 8)
    columns = {"action": LOG.action, "reward": LOG.reward, "propensity": LOG.propensity}
    columns |= {"user": np.arange(ROWS) % 50, "new": TARGET[np.arange(ROWS), LOG.action]}
    several = []
    for size in (9, 70, ROWS):  # some batches have fewer groups than are told apart
        pa.parquet.write_table(pa.table(columns), tmp_path / "log.parquet", row_group_size=size)
        shown = cf.check(tmp_path / "log.parquet", "new", group="user", engine="local").exhibits["groups"]
        assert (shown.facts["count"], shown.facts["is_exact"]) == (8, False)
        assert sum(line["rows"] for line in shown.lines) == ROWS
        several.append(flatten(shown))
    assert several[0] == pytest.approx(several[1])
    assert several[0] == pytest.approx(several[2])


def test_a_conclusion_may_hang_on_one_group_or_day():
    """One user of 60 always takes what the target prefers; without it the rest tells nothing, unless it is longer."""
    rng = np.random.default_rng(2)
    for users, hangs in ((60, ["group", "day"]), (600, [])):
        user = np.arange(users * 20) // 20
        action = rng.integers(2, size=len(user))
        reward = (rng.random(len(user)) < 0.3 + 0.09 * action).astype(float)
        reward = np.where(user == 7, action, reward)
        day = np.datetime64("2024-02-01") + user % 20
        log = cf.Log(action=action, reward=reward, propensity=np.full(len(user), 0.5), group=user, time=day)
        found = cf.evaluate(log, cf.Probabilities(0.5 + 0.4 * (action - 0.5)), candidates=[cf.SNIPS()])
        low, _ = found.uplift().interval()
        assert low > 0
        assert [one.part for one in found.robustness.hangs_on] == hangs
        for one in found.robustness.hangs_on:
            shown = found.exhibits[f"{one.part}s"].facts
            assert low + one.difference - shown["difference"] <= 0
            assert shown["lowest"]["difference"] == one.difference
        assert not hangs or found.exhibits["groups"].lines[0]["row"] // 20 == 7


@pytest.mark.parametrize(
    ("ends", "differences", "hangs"),
    [
        ((0.2, 0.6), (0.1, 0.9), True),
        ((0.2, 0.6), (0.3, 0.9), False),
        ((-0.6, -0.2), (0.1, 0.5), False),
        ((-0.6, -0.2), (0.1, 0.7), True),
        ((-0.1, 0.6), (0.0, 0.9), False),
        ((0.2, 0.6), (None, None), True),
    ],
)
def test_what_a_conclusion_hangs_on_is_told_by_its_end_that_is_nearer_to_0(ends, differences, hangs):
    lowest, highest = ({"day": str(one), "rows": 3, "without": one, "difference": one} for one in differences)
    facts = {"difference": 0.4, "lowest": lowest, "highest": highest, "is_exact": True}
    found = Robustness.of({"days": Shown([lowest], facts)}, cf.Bounds(*ends)).hangs_on
    assert bool(found) is hangs
    assert [one.difference for one in found] == [differences[ends[0] < 0]][: len(found)]


def test_what_was_never_tried_at_its_worst():
    """Two in a hundred decisions go to an action that the log could not take."""
    never = 0.98 * np.tile([0.0, 0.0, 1.0, 0.0], (ROWS, 1)) + 0.02 * np.eye(4)[3]
    with pytest.warns(cf.SupportWarning):
        found = cf.evaluate(LOG, never)
    shown, (low, high) = found.exhibits["worst-support"], found.uplift().interval()
    assert shown.facts["mass"] == pytest.approx(0.02)
    last = shown.lines[-1]
    assert last["low"] == pytest.approx(low - 0.02 * found.value)  # rewards are 0 and 1
    assert last["high"] == pytest.approx(high + 0.02 * (1 - found.value))
    assert low > 0
    share = low / (0.02 * found.value)
    assert shown.facts["share"] == (pytest.approx(share) if share <= 1 else None)
    assert found.robustness.unsupported_share == shown.facts["share"]
    assert "worst-support" not in FOUND.exhibits


def test_sample_size_shrinks_with_the_root_of_the_rows():
    shown = FOUND.exhibits["sample-size"]
    four = next(line for line in shown.lines if line["times"] == pytest.approx(4))
    assert four["width"] == pytest.approx(shown.facts["width"] / 2)


@pytest.mark.parametrize("names", [LABELS, (3, 1, 2, 0)])
def test_engines_show_the_same(tmp_path, names):
    columns = {"action": np.array(names)[LOG.action], "reward": LOG.reward, "propensity": LOG.propensity}
    columns |= {"x": LOG.context[:, 0], "new": TARGET[np.arange(ROWS), LOG.action]}
    columns["time"] = np.datetime64("2024-02-27") + np.arange(ROWS) // 50
    pa.parquet.write_table(pa.table(columns), tmp_path / "log.parquet", row_group_size=170)
    one, other = (cf.evaluate(tmp_path / "log.parquet", "new", engine=engine) for engine in ("memory", "local"))
    assert one.exhibits["support"].facts["is_weighted"]
    for name in ("weights", "support", "influence", "exploration", "days"):
        assert flatten(one.exhibits[name]) == pytest.approx(flatten(other.exhibits[name]), rel=1e-9)
    assert set(one.exhibits) == set(other.exhibits)
    checked = [cf.check(tmp_path / "log.parquet", "new", engine=engine).exhibits for engine in ("memory", "local")]
    assert [set(shown) for shown in checked] == [{"weights", "support", "influence", "exploration", "days"}] * 2


def flatten(shown):
    texts = [value for line in shown.lines for value in line.values()]
    return [hash(one) if isinstance(one, str) else one for one in texts]


def test_half_of_the_weight_is_where_the_curve_says():
    weights = np.sort(WEIGHTS)[::-1]
    exact = np.searchsorted(weights.cumsum(), weights.sum() / 2) / ROWS
    assert FOUND.exhibits["weights"].facts["rows_with_half"] == pytest.approx(exact, abs=0.02)


def test_what_needs_no_answer_is_with_the_diagnostics_too():
    assert set(FOUND.diagnostics.exhibits) == {"weights", "support", "influence", "exploration"}
