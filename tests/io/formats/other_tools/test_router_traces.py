"""Traces of routers of language models: prices and scores as rewards, and what is refused."""

import json

import pytest

import counterfold as cf
from other_tools import (
    make_trace,
    nest_pairs,
    value_by_ips,
    write_traces,
)
from tool_logs import (
    NAMED,
    ROWS,
    SETTINGS,
    TRACES,
    list_notes,
    refuse,
)


def test_several_prices_make_several_rewards(save):
    path = save(write_traces(ROWS), "traces.jsonl")
    for price in (0, 0.5, 8):
        result = cf.evaluate(path, NAMED, format="router-traces", reward=f"score - {price} * cost", **SETTINGS)
        known = {line.name: line.value for line in result.table}["IPS"]
        priced = [row | {"reward": row["reward"] - price * make_trace(row)["cost"]} for row in ROWS]
        assert known == pytest.approx(value_by_ips(priced), rel=1e-12)
        assert set(result.contents.context) == {"User.age", "hour"}
        assert "cost" in result.contents.left_out


def test_score_and_cost_are_rewards_of_their_own(save):
    path = save(write_traces(ROWS), "traces.jsonl")
    result = cf.evaluate(path, NAMED, reward="cost", **TRACES, **SETTINGS)
    costs = [row | {"reward": make_trace(row)["cost"]} for row in ROWS]
    assert {line.name: line.value for line in result.table}["IPS"] == pytest.approx(value_by_ips(costs), rel=1e-12)
    assert set(result.contents.context) == {"User.age", "hour"}


def test_embeddings_are_context_where_they_are_named(save):
    traces = [make_trace(row) | {"embedding": [row["age"] / 8, row["hour"]]} for row in ROWS]
    path = save("".join(f"{json.dumps(one)}\n" for one in traces), "traces.jsonl")
    assert cf.read_log(path, context=["embedding"], **TRACES).context_names == ("embedding.0", "embedding.1")
    assert cf.evaluate(path, NAMED, **TRACES, **SETTINGS).contents.context == ("User.age", "hour")


def test_other_spans_and_requests_without_a_score_are_skipped_and_counted(save):
    lines = write_traces(ROWS, nest_pairs).splitlines()
    lines[5:5] = ['{"name": "retrieve", "attributes": {"db.system": "x"}}', '{"attributes": {"router.model": "tiny"}}']
    result = cf.evaluate(save("\n".join(lines), "traces.jsonl"), NAMED, **TRACES, **SETTINGS)
    assert result.contents.rewards.count == len(ROWS)
    said = " ".join(list_notes(result))
    assert "1 lines name no model" in said
    assert "1 requests have no score" in said


@pytest.mark.parametrize(
    ("changes", "parts"),
    [
        ({"models": {"tiny": 0.5, "small": 0.6, "large": 0.2}}, ["logging_probs", "row 7"]),
        ({"models": ["tiny", "small"], "probabilities": [1.0]}, ["line 8", "as many `probabilities`"]),
        ({"models": ["tiny", "tiny"], "probabilities": [0.5, 0.5]}, ["line 8", "must be different"]),
        ({"models": 3}, ["line 8", "`models` must be an object"]),
        ({"probability": "high"}, ["line 8", "`probability` must be a number, got 'high'"]),
        ({"probability": 0.0, "models": None}, ["row 7"]),
        ({"score": "good"}, ["line 8", "`score` must be a number"]),
        ({"embedding": 1}, ["line 8", "`embedding` must be a list"]),
        ({"features": [1]}, ["line 8", "`features` must be an object"]),
        ({"attributes": 3}, ["line 8", "`attributes` must be"]),
        ({"attributes": [3]}, ["line 8", "`attributes` must be"]),
    ],
)
def test_a_bad_trace_is_refused(changes, parts, save):
    traces = [make_trace(row) for row in ROWS]
    traces[7] |= changes
    path = save("".join(f"{json.dumps(one)}\n" for one in traces), "traces.jsonl")
    refuse(path, *parts, format="router-traces")


def test_a_score_may_be_true_or_false(save):
    known = {"probability": 0.5, "cost": 0.1}
    lines = [json.dumps({"model": "ab"[place % 2], "score": place % 3 == 0, **known}) for place in range(9)]
    log = cf.read_log(save("\n".join(lines), "log.jsonl"), format="router-traces")
    assert log.reward.tolist() == [1.0, 0.0, 0.0] * 3
