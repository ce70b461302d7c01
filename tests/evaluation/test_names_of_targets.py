"""Several targets: errors say which one is wrong, names are readable, and arguments are those of `compare`."""

import numpy as np
import pytest

import counterfold as cf

EVEN = np.full((60, 2), 0.5)


def make_log():
    rng = np.random.default_rng(0)
    log = {"action": rng.choice(["a", "b"], 60), "reward": rng.random(60), "propensity": np.full(60, 0.5)}
    return log | {"latency": rng.random(60), "age": rng.integers(18, 80, 60)}


def compare(targets, **given):
    return cf.compare(make_log(), targets, actions=["a", "b"], progress=False, **given)


@pytest.mark.parametrize("engine", ["memory", "local"])
@pytest.mark.parametrize("wrong", [lambda rows: [1.1] * len(rows), lambda rows: np.ones((len(rows), 5))])
def test_errors_name_the_target_among_several(engine, wrong):
    given = {"age": lambda rows: np.full((len(rows), 2), 0.5), "bad one": wrong}
    with pytest.raises(cf.DataError, match=r"^`target` \(`bad one`\) must"):
        compare(given, engine=engine)
    with pytest.raises(cf.DataError, match=r"^`target` must"):
        cf.evaluate(make_log(), wrong, actions=["a", "b"], progress=False, engine=engine)


def test_errors_name_matrices_among_several():
    with pytest.raises(cf.DataError, match=r"^`target` \(`bad one`\) must be rows of probabilities"):
        compare({"fine": EVEN, "bad one": 1.01 * EVEN})


@pytest.mark.parametrize("name", [None, "", " ", "Log", "log "])
def test_names_can_be_told_from_each_other(name):
    with pytest.raises(cf.ParameterError, match="`targets` must have names that people can tell from each other"):
        compare({"fine": EVEN, name: "a"})


def test_an_unknown_argument_is_one_of_compare():
    with pytest.raises(cf.ParameterError, match=r"^`compare` has no argument `guard`. Did you mean `guards`\?$"):
        compare({"fine": EVEN, "other": "a"}, guard=["latency <= 1"])


@pytest.mark.parametrize("role", ["by", "context", "ignore"])
def test_names_of_columns_are_no_mapping(role):
    with pytest.raises(cf.ParameterError, match=f"`{role}` must be names of columns, as a list of texts"):
        compare({"fine": EVEN, "other": "a"}, **{role: {"age": 3}})


def test_next_steps_in_json_are_those_of_the_comparison():
    found = compare({"old": EVEN, "new": "a", "other": "b"}, baseline="old", guards=["latency <= 0"]).to_dict()
    own = {one["target"]: one["next_step"] for one in found["evaluations"]}
    assert own == {"old": None} | {one["target"]: one["next_step"] for one in found["differences"]}
    assert own["new"]["action"] != "ship"
