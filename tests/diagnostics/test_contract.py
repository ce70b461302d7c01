"""Every diagnostic: against its naive loop, the same on every engine, and speaking where it must and only there."""

import json
import pickle
from dataclasses import fields, is_dataclass

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import counterfold as cf
import reference
from counterfold.base import registry
from counterfold.diagnostics import Diagnostics, build_all
from counterfold.diagnostics.base import Largest, Measurement
from counterfold.diagnostics.effective_rows import EffectiveRows
from counterfold.diagnostics.largest_weight import LargestWeight
from counterfold.engines.memory import RowEvidence
from counterfold.evaluation.assembly import check_targets
from counterfold.log.contents import Contents
from places import ROOT
from problems import diagnose, log_of, rows_of
from provoked import ANSWERS, ONLY_NOTES, PROVOKED, clean_data
from reference.diagnostics import MEASURES

NAMES = registry.names("diagnostics")
ENGINES = ("memory", "local")

FITTED = {"candidates": ["dr"], "reward_model": "ridge-per-action"}
"""An answer by a reward model that is fitted in sample, on every engine."""


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


def find(name):
    return registry.find("diagnostics", name)()


def answer(log, target, name, **more):
    asked = {"candidates": ["ips"], "selector": "slope", "reward_model": None, "progress": False}
    return cf.evaluate(log, target, **asked | ANSWERS.get(name, {}) | more)


def learn_from(columns):
    """Return a policy that was learnt from a third of the rows of a log."""
    rows = pa.table(columns).drop_columns("target").slice(0, 270)
    return cf.learn(rows, "greedy-learner", shares=1, progress=False).attempted


def test_every_diagnostic_has_a_reference_and_a_log_on_which_it_speaks():
    assert set(NAMES) == set(MEASURES) == set(PROVOKED)


@pytest.mark.filterwarnings("ignore::counterfold.SupportWarning")
@pytest.mark.parametrize("groups", [None, 60])
def test_against_naive_loop(name, groups):
    data = reference.random_data(3, rows=240)
    data.logging[:80, 3] = 0.0
    data.logging /= data.logging.sum(axis=1, keepdims=True)
    data.a[:80] %= 3
    if name == "disagreement":  # which is left out where support is missing
        data = reference.random_data(3, rows=240)
    labels = None if groups is None else (np.arange(240) * 7 % groups).tolist()
    found = answer(log_of(data, group=labels), data.target, name).diagnostics
    units = labels
    if name == "model-shift" and labels is None:  # whose folds follow what rows hold
        units = log_of(data).row_units.tolist()
    for number, expected in MEASURES[name](data, units).items():
        assert getattr(found, number) == (None if expected is None else pytest.approx(expected, rel=1e-9)), number


def test_every_engine_measures_the_same(name, tmp_path):  # noqa: C901 (a branch for each special log)
    data = clean_data(800)
    columns = {"x": data.x[:, 0], "action": data.a, "reward": data.r, "group": np.arange(800) % 70}
    columns |= {"logging_probs": data.logging.tolist(), "target": data.target.tolist()}
    asked = FITTED if name == "model-shift" else {}
    if name == "fitted-propensities":
        asked = {"propensity": "fit"}
        del columns["logging_probs"]
    if name == "clipped-propensities":
        del columns["logging_probs"]
        columns["propensity"] = np.maximum(data.logging[np.arange(800), data.a], 0.2)
    if name == "rough-propensities":
        asked = {"propensity_precision": "20 draws"}
    if name == "missing-rewards":
        asked = {"missing_reward": "drop"}
        columns["reward"] = np.where(np.arange(800) % 7 == 0, np.nan, data.r)
    if name == "several-loggers":
        several = {
            "logger_probs.old": columns.pop("logging_probs"),
            "logger": ["old", "new", "old"] * 266 + ["new"] * 2,
        }
        columns |= several | {"logger_probs.new": data.target.tolist()}
        del columns["group"]  # of which the sample would tell
    if name == "unnamed-groups":
        columns["user_id"] = columns.pop("group")
    if name in {"harmed-segment", "outcome-segments"}:
        asked = {"by": "half"}
        columns["half"] = np.arange(800) // 7 % 2
    if name == "known-rows":
        asked = {"target": learn_from(columns)}
    if name == "drift":
        columns["time"] = np.datetime64("2024-03-01") + np.arange(800) * 7 % 800 // 60
    pa.parquet.write_table(pa.table(columns), tmp_path / "log.parquet", row_group_size=90)
    asked = {"target": "target"} | asked
    several = [answer(tmp_path / "log.parquet", name="", engine=engine, **asked) for engine in ENGINES]
    memory, local = (one.diagnostics for one in several)
    for number in find(name).measures:
        left, right = getattr(memory, number), getattr(local, number)
        assert left == (None if right is None else pytest.approx(right, rel=1e-9)), number
        assert left is not None


OBSERVING = [name for name in NAMES if find(name).observe(rows_of(clean_data(300))) is not None]


def test_some_diagnostics_observe_rows():
    assert set(OBSERVING) >= {"largest-weight"}


@pytest.mark.parametrize("name", OBSERVING)
def test_what_is_observed_adds_up(name):
    rows, one = rows_of(clean_data(300)), find(name)
    whole = one.observe(rows)
    several = [one.observe(rows.take(slice(start, start + 70))) for start in range(0, 300, 70)]
    total = several[0]
    for more in several[1:]:
        total = total + more
    assert flatten(total) == pytest.approx(flatten(whole), nan_ok=True)


def flatten(observed):
    """Return all numbers of what was observed, however it is nested, in ascending order within arrays and tuples."""
    if is_dataclass(observed):
        return [number for one in fields(observed) for number in flatten(getattr(observed, one.name))]
    if isinstance(observed, tuple):
        return sorted(number for one in observed for number in flatten(one))
    return np.sort(np.ravel(np.asarray(observed, dtype=np.float64))).tolist()


def test_it_is_silent_on_a_clean_log(name):
    data = clean_data()
    asked = FITTED if name == "model-shift" else {}
    found = answer(log_of(data, group=np.arange(2000) % 500), data.target, "", **asked).diagnostics
    assert (found.verdict, found.findings) == ("good", ())


@pytest.mark.filterwarnings("ignore::counterfold.SupportWarning")
def test_it_speaks_where_it_must(name):
    make, asked = PROVOKED[name]
    found = answer(*make(), "", **asked).diagnostics
    [finding] = [one for one in found.findings if one.name == name]
    if name in ONLY_NOTES:
        assert (finding.severity, found.verdict) == ("note", "good")
    else:
        assert finding.severity in {"undecided", "caution", "not answerable"}
        assert found.verdict in {"undecided", "caution", "not answerable"}
        assert finding.problem in found.reasons
    for sentence in (finding.problem, finding.remedy):
        assert len(sentence) > 15
        assert sentence[0].islower() or sentence[0] in "0123456789S"  # SNIPS
        assert not sentence.endswith(".")
    assert finding.remedy not in finding.problem
    assert vars(finding) in json.loads(json.dumps(found.to_dict()))["findings"]


def test_the_worst_finding_is_the_verdict_and_comes_first():
    data = clean_data(200)
    log = log_of(data, group=np.arange(200) % 5)
    found = diagnose(log, np.eye(4)[(data.a + 1) % 4])
    assert [one.name for one in found.findings] == ["effective-rows", "few-groups"]
    assert [one.severity for one in found.findings] == [found.verdict, "caution"] == ["not answerable", "caution"]


def test_those_that_need_an_answer_wait_for_one(name):
    data, one = clean_data(300), find(name)
    found = diagnose(log_of(data), data.target)
    if one.needs_answer:
        assert {getattr(found, number) for number in one.measures} == {None}
        assert one.label not in found.texts
    else:
        assert all(number in found.to_dict() for number in one.measures)


def test_it_pickles_and_hashes_and_has_a_name_and_a_line_in_the_docs(name):
    one = find(name)
    assert pickle.loads(pickle.dumps(one)) == one  # noqa: S301 (our own bytes)
    assert hash(one) == hash(find(name))
    assert one.name == name
    assert one.label
    assert f"| [`{name}`](findings/{name}.md) |" in (ROOT / "docs" / "diagnostics.md").read_text()


@pytest.mark.parametrize("name", [one.name for one in build_all() if one.examines_log])
def test_what_examines_the_log_alone_finds_the_same_for_every_target(name):
    """On the log on which it speaks; the targets of one log share what is measured for the first of them."""
    make, asked = PROVOKED[name]
    log, target = make()
    other = "uniform"
    alone = answer(log, other, "", **asked).diagnostics
    together = answer(log, {"first": target, "second": other}, "", **asked)["second"].diagnostics
    assert name in {finding.name for finding in alone.findings}
    assert together == alone


def test_a_few_diagnostics_are_enough_for_a_verdict_and_its_reasons():
    data = clean_data(300)
    rows = rows_of(data)
    evidence = RowEvidence.of(rows, Contents.of(log_of(data)))
    found = Diagnostics.of(evidence, [find("few-groups")])
    assert (found.verdict, found.reasons) == ("good", ("nothing speaks against it",))


def test_a_diagnostic_may_observe_only_some_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(LargestWeight, "observe", lambda _, rows: Largest(7.0) if rows.row_numbers[0] == 0 else None)
    data = clean_data(800)
    columns = {
        "action": data.a,
        "reward": data.r,
        "logging_probs": data.logging.tolist(),
        "target": data.target.tolist(),
    }
    pa.parquet.write_table(pa.table(columns), tmp_path / "log.parquet", row_group_size=90)
    scan = cf.LogScan(tmp_path / "log.parquet")
    found = [check_targets(scan, {"t": "target"}, engine=one)["reward"].targets["t"] for one in ENGINES]
    assert [one.largest_weight for one in found] == [7.0, 7.0]


def test_a_diagnostic_may_ask_for_an_estimate_without_an_answer(tmp_path, monkeypatch):
    monkeypatch.setattr(EffectiveRows, "witnesses", lambda _self, _rows: [cf.IPS()])
    monkeypatch.setattr(EffectiveRows, "measure", lambda _self, evidence, _answer: ask_ips(evidence))
    data = clean_data(800)
    columns = {"action": data.a, "reward": data.r, "logging_probs": data.logging.tolist()}
    pa.parquet.write_table(pa.table(columns | {"target": data.target.tolist()}), tmp_path / "log.parquet")
    scan = cf.LogScan(tmp_path / "log.parquet")
    found = [check_targets(scan, {"t": "target"}, engine=one)["reward"].targets["t"] for one in ENGINES]
    memory, local = (one.effective_rows for one in found)
    assert memory == pytest.approx(local)


def ask_ips(evidence):
    value = evidence.estimate("IPS", cf.IPS()).value
    return Measurement({"effective_rows": value}, str(value))


def test_labels_and_numbers_are_different():
    every = build_all()
    assert len({one.label for one in every}) == len(every)
    numbers = [number for one in every for number in one.measures]
    assert len(set(numbers)) == len(numbers)


def test_diagnostics_are_plain_values():
    data = clean_data(300)
    found = diagnose(log_of(data), data.target)
    assert pickle.loads(pickle.dumps(found)) == found  # noqa: S301 (our own bytes)
    assert found.effective_rows == found.measures["effective_rows"]
    assert "effective_rows" in dir(found)
    assert hash(found) == hash(pickle.loads(pickle.dumps(found)))  # noqa: S301 (our own bytes)
    with pytest.raises(AttributeError, match="'Diagnostics' has no attribute 'verdikt'"):
        found.verdikt  # noqa: B018
