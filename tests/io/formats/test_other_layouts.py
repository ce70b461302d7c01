"""Texts as other programs write them: they are read by another name of their format, or refused with what to do."""

import json

import numpy as np
import pandas as pd
import pytest

import counterfold as cf
from counterfold.io.formats import build_reader, list_readers

ROWS = 200
ENGINES = ("memory", "local")


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    columns = {"x": rng.normal(size=ROWS), "action": rng.choice(["a", "b"], ROWS), "reward": rng.integers(2, size=ROWS)}
    return pd.DataFrame(columns | {"propensity": 0.5})


def ask(path, engine, **named):
    return cf.evaluate(path, "a", engine=engine, candidates=["ips"], progress=False, **named)


# names of formats


@pytest.mark.parametrize("ending", list_readers())
def test_endings_name_their_format(ending):
    for name in (ending, ending.removeprefix("."), ending.upper()):
        assert build_reader(name) == list_readers()[ending]


def test_a_format_by_its_ending_may_have_settings():
    assert build_reader("dsjson:actions=place").actions == "place"


@pytest.mark.parametrize("engine", ENGINES)
def test_a_file_of_another_name(engine, frame, tmp_path):
    frame.to_json(tmp_path / "log.log", orient="records", lines=True)
    assert ask(tmp_path / "log.log", engine, format="jsonl").value == pytest.approx(ask(frame, engine).value)
    with pytest.raises(cf.ParameterError, match=r"got 'jsonlines'\. Did you mean `json-lines`\?"):
        ask(tmp_path / "log.log", engine, format="jsonlines")


# layouts

LINES = r"; write one object per line, as `to_json\(path, orient=\"records\", lines=True\)` of pandas does\.$"
ALL = "every line must be one row, but it is one object that holds all rows"
ORIENTS = {"records": r"but one starts with '\['", "columns": ALL, "index": ALL}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("orient", ORIENTS)
def test_json_of_whole_columns_is_one_short_sentence(orient, engine, frame, tmp_path):
    frame.to_json(tmp_path / "log.json", orient=orient)
    with pytest.raises(cf.DataError, match=ORIENTS[orient] + LINES) as caught:
        ask(tmp_path / "log.json", engine)
    assert len(str(caught.value)) < 350


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("start", ["sep=;\n", "\ufeffSEP=,\r\n", '"sep=|"\n'])
def test_a_remark_for_excel_is_named(start, engine, frame, tmp_path):
    (tmp_path / "log.csv").write_text(start + frame.to_csv(index=False), encoding="utf-8")
    with pytest.raises(
        cf.DataError, match=r"as Csv: its first line `sep=\.\.\.` is a remark for Excel .* take that line"
    ):
        ask(tmp_path / "log.csv", engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_spaces_behind_commas_are_named(engine, frame, tmp_path):
    (tmp_path / "log.csv").write_text(frame.to_csv(index=False).replace(",", ", "))
    sentence = r"column `action` must be there\. Did you mean ` action`, with spaces around it\? In CSV, write none"
    with pytest.raises(cf.DataError, match=sentence):
        ask(tmp_path / "log.csv", engine)


TRACES = {
    "models": {"model": "a", "models": {"a": 0.5, "b": 0.5}, "score": 1.0},
    "no probability": {"model": "a", "score": 1.0, "cost": 0.1},
    "spans": {"name": "chat", "attributes": [{"key": "router.model", "value": {"stringValue": "a"}}]},
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", TRACES)
def test_traces_of_routers_are_known_by_their_columns(kind, engine, tmp_path):
    (tmp_path / "log.jsonl").write_text(f"{json.dumps(TRACES[kind])}\n" * 5)
    with pytest.raises(
        cf.DataError, match=r"`action` must be there\. Its columns .* `format='router-traces'` \(--format"
    ):
        ask(tmp_path / "log.jsonl", engine)
