"""Trees in words: every split says what is true of the rows that go that way, and rules lead where policies go."""

import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import counterfold as cf
from counterfold.base.validation import WHOLE
from counterfold.log.encoding import encode_table
from counterfold.log.encoding.base import Split
from counterfold.policies.learned.features import Features
from counterfold.policies.learned.scorers import TreeScorer

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def draw_columns(gaps):
    """Return columns of every kind, with or without gaps, as pandas reads them."""
    rng, rows = np.random.default_rng(0), 400
    moments = pd.Timestamp("2024-01-30") + pd.to_timedelta(rng.integers(60 * 24 * 40, size=rows), unit="min")
    frame = pd.DataFrame({"age": rng.normal(40, 9, rows), "when": moments, "day": moments.normalize()})
    rare = rng.permutation([f"town {number}" for number in range(20)] * 20)
    frame["city"] = np.where(np.arange(rows) % 5 == 0, rare, rng.choice(["Rome", "Oslo", "New York"], rows))
    return frame.mask(rng.random(frame.shape) < 0.1) if gaps else frame


def tell_truth(words, row):
    """Return whether a sentence is true of a row, by a reader of its own."""
    name = words.split(" ", 1)[0].rstrip(":")
    value, said = row[name], words.removeprefix(name).strip()
    opposite = said.startswith("is not ")
    said = said.replace("is not ", "is ")
    if said == "is missing":
        found = pd.isna(value)
    elif said == "is a rare value":
        found = isinstance(value, str) and value.startswith("town")
    elif limit := re.fullmatch(r"(<=|>) (\S+)", said):
        found = (value <= float(limit[2])) == (limit[1] == "<=")
    elif moment := re.fullmatch(r"is (after )?(\d{4}-\d\d-\d\d( \d\d:\d\d)?)( or before)?", said):
        found = (value < pd.Timestamp(moment[2]) + pd.Timedelta("1min" if moment[3] else "1D")) == bool(moment[4])
    elif hour := re.fullmatch(r"is before (\d+):00", said):
        found = value.hour < int(hour[1])
    elif days := re.fullmatch(r"is on (\w+)( to (\w+))?", said):
        found = value.weekday() <= DAYS.index(days[3] or days[1])
    else:
        found = value == said.removeprefix("is ")
    return bool(found) != opposite


@pytest.mark.parametrize("gaps", [False, True])
def test_a_split_says_what_is_true_on_each_side(gaps):
    frame = draw_columns(gaps)
    context = encode_table(pa.Table.from_pandas(frame), WHOLE)
    features = Features.of(cf.Log(context=frame, action=[0, 1] * 200, reward=range(400), propensity=[0.5] * 400))
    assert features.columns == list(context.column_names)
    seen = set()
    for name, source, split, numbers in zip(
        features.columns, features.sources, features.splits, np.asarray(context).T, strict=True
    ):
        if gaps and ("weekday" in name or "hour" in name):
            assert split(2.5).words == f"{name} <= 2.5"
            continue
        whole = np.unique(numbers if name.endswith("missing") else numbers[frame[source].notna()])
        for threshold in (whole[:-1] + whole[1:])[:: max(1, len(whole) // 8)] / 2:
            told, below = split(threshold), numbers <= threshold
            for number, row in enumerate(frame.to_dict("records")):
                if pd.isna(row[source]) and not told.words.endswith(("missing", "value", "York", "Oslo", "Rome")):
                    continue  # gaps are filled in, so they go somewhere
                holds = below[number] == told.holds_below
                assert tell_truth(told.words, row) == holds, (told, row)
                assert tell_truth(told.otherwise, row) != holds, (told, row)
            seen.add(re.sub(r"\d", "", told.words))
    assert len(seen) >= 8


def make_tree():
    """Return a tree with one split that decides nothing and shares of rows, by hand."""
    values = np.array([[0, 0], [0, 0], [1, 0], [2, 0], [0, 1]], dtype=float)
    known = {"feature": [0, 1, -1, -1, -1], "left": [1, 2, -1, -1, -1], "right": [4, 3, -1, -1, -1]}
    arrays = {name: np.array(one) for name, one in known.items()}
    thresholds, rows = np.array([1.5, 0.5, 0, 0, 0]), np.array([10.0, 8.0, 5.0, 3.0, 2.0])
    return TreeScorer(**arrays, threshold=thresholds, values=values, gains=np.ones(2), rows=rows)


def say(words):
    return Split(words, f"no {words}")


def test_nodes_that_decide_the_same_are_one_with_all_their_rows():
    tree = make_tree()
    assert tree.describe(["x", "y"], ["a", "b"]) == "if x <= 1.5:\n  take a\nelse:\n  take b"
    found = tree.read_tree([lambda at: say(f"x{at:g}"), say], ["a", "b"])
    assert [(rule, leaf.words, leaf.share) for rule, leaf in found.list_rules()] == [
        (("x1.5",), "a", 0.8),
        (("no x1.5",), "b", 0.2),
    ]


def test_columns_of_a_matrix_are_called_columns():
    rng = np.random.default_rng(0)
    x, action = rng.normal(size=(200, 2)), rng.integers(2, size=200)
    log = cf.Log(context=x, action=action, reward=action * np.sign(x[:, 1]), propensity=[0.5] * 200)
    policy = cf.learn(log, ["policy-tree:depth=1"], shares=1, progress=False).policy
    assert re.match(r"if column 1 <= \S+:\n  take 0\nelse:\n  take 1$", policy.describe())
    linear = cf.learn(log, ["greedy-learner"], shares=1, progress=False).policy
    assert "* column 1" in linear.describe()
