"""Texts that say what a target does: what they mean, what comes first, and errors that suggest."""

import numpy as np
import pytest

import counterfold as cf
from counterfold.policies.given import as_target
from scored_logs import LABELS, ROWS, make_columns, make_table

BAD = {
    "unifrom": r"column `unifrom` must be there, or be an action .* Did you mean `uniform`\?",
    "random": r"column `random` must be there, .* Did you mean `uniform`\?",
    "epsilon:0.1": r"got `epsilon:0\.1`\. Did you mean `0\.1\*uniform \+ 0\.9\*TARGET`\?",
    "10%*uniform + 90%*red": r"every part of a mixture must have one share, as in .*, got `10%\*un",
    "greedy": r"`target` must be `greedy:COLUMNS`, got `greedy`\.",
    "greedy:": r"`target` must be `greedy:COLUMNS`, got `greedy:`\.",
    "gredy:score": r"got `gredy:score`\. There is no module `gredy`\. Did you mean `greedy`\?",
    "greedy:scor": r"column `scor` must be there\. Did you mean `score`\?",
    "greedy:age": r"column `age` must be lists of numbers, got double",
    "greedy:age,height": r"the name of column `age` of scores must end with the label of an action, as in `score_LA",
    "uniform:score": r"`target` must be `uniform`, got `uniform:score`",
    "softmax:score:temperature=0": r"`temperature` must be a finite number above 0, got 0\.0",
    "softmax:score:temperature=-1": r"`temperature` must be a finite number above 0, got -1\.0",
    "softmax:score:temperature=inf": r"`temperature` must be a finite number above 0, got inf",
    "softmax:score:temperature=nan": r"`temperature` must be a finite number above 0, got nan",
    "softmax:score:temperature=warm": r"`temperature` must be a number, got .warm.",
    "softmax:score:temprature=1": r"takes `temperature`, each once, got `temprature=1`\. Did you mean `temperature`\?",
    "softmax:score:0.5": r"takes `temperature`, each once, got `0.5`\. Write what holds a colon in quotes",
    "softmax:score:temperature=1:temperature=2": r"each once, got `temperature=2`",
    "greedy:score:temperature=1": r"`greedy:COLUMNS` takes no settings, got `temperature=1`",
    "0.1*uniform + greedy:score": r"every part of a mixture must have one share, .* got `greedy:score` in",
    "0.1*uniform + 0.8*greedy:score": r"the shares of a mixture must sum to 1, got 0\.9",
    "1.1*uniform": r"`share` must be in \[0, 1\], got 1\.1",
    "0.5*uniform + 0.5*nothing": r"column `nothing` must be there, or be an action",
    "0.5*uniform + 0.5*": r"every part of a mixture must have one share",
    "0.5*0.5*uniform": r"every part of a mixture must have one share",
    "always:pink": r"must be one of the 3 known actions \(big blue, green, red\), got pink in",
    "always:Red": r"got Red in .* Did you mean 'red'\?",
    "always:'red": r"must close every quote",
    "probabilities:chosen": r"must be numbers, got '(red|green|big blue)'",
    "probabilities:nothing": r"column `nothing` must be there\.",
    "nowhere.to.be:found": r"got `nowhere\.to\.be:found`\. There is no module `nowhere\.to\.be`",
    "math:nothing": r"`target` must be MODULE:OBJECT, got `math:nothing` \(AttributeError: ",
    "math:pi": r"`math:pi` must be a function of the context, a fitted model or a target, got 3\.14",
    "fractions:Fraction": r"must be a function of the context, a fitted model or a target, got <class",
    "math:floor": r"the function `floor` of `target`, on a context of shape .* failed with TypeError",
    "model.onnx": r"must say what file it is, got `model\.onnx`\. Did you mean `onnx:model\.onnx`\?",
    "model.pkl": r"`target` must be no pickle, which can run any code, got `model\.pkl`\. Save the model by `skops",
}


@pytest.mark.parametrize(("text", "message"), BAD.items(), ids=BAD)
def test_what_is_wrong_is_said_by_every_engine(text, message, columns, save):
    path = save(make_table(columns))
    for engine in ("memory", "local"):
        with pytest.raises(cf.CounterfoldError, match=message) as caught:
            cf.evaluate(path, text, engine=engine, progress=False)
        assert "\n" not in str(caught.value)


SPREAD = {
    "policy_red": r"column `policy_red` must hold the target's probability .* Name `policy` for all of them",
    "0.5*uniform + 0.5*policy_red": r"column `policy_red` must hold the target's probability of the logged action",
    "policy_*": r"Did you mean `policy`\?",
    "policy_": r"Did you mean `policy`\?",
}


@pytest.mark.parametrize(("text", "message"), SPREAD.items(), ids=SPREAD)
def test_one_of_several_columns_is_not_taken_for_all(text, message, columns, save):
    path = save(make_table(columns, layout="spread"))
    for engine in ("memory", "local"):
        with pytest.raises(cf.DataError, match=message):
            cf.evaluate(path, text, engine=engine, progress=False)
    assert cf.evaluate(path, "probabilities:policy_red", ["ips"], progress=False).value  # who says so is believed


def test_columns_come_first_then_labels_then_the_grammar(columns, read):
    table = make_table(columns)
    taken = table.append_column("uniform", table.column("policy"))
    np.testing.assert_array_equal(read(taken, "uniform", actions=LABELS), columns["policy"])
    labels = ("uniform", "a:b", "math:pi")
    renamed = make_columns(labels)
    table = make_table(renamed, labels)
    for place, label in enumerate(labels):
        always = np.tile(np.eye(3)[place], (ROWS, 1))
        np.testing.assert_array_equal(read(table, label, actions=labels), always)
        np.testing.assert_array_equal(read(table, f"always:'{label}'", actions=labels), always)
        np.testing.assert_array_equal(read(table, f'1*"{label}"', actions=labels), always)


def test_a_label_may_be_a_columns_name(read):
    labels = ("age", "b", "c")
    table = make_table(make_columns(labels), labels)
    np.testing.assert_array_equal(read(table, "always:age", actions=labels)[:, 0], np.ones(ROWS))


def test_quotes_hold_what_would_be_read_otherwise(read):
    labels = ("a+b", "5 o'clock", "0.5*c")
    table = make_table(make_columns(labels), labels)
    mixed = read(table, "0.25*'a+b' + 0.25*always:5 o'clock + 0.5*always:\"0.5*c\"", actions=labels)
    np.testing.assert_array_equal(mixed, np.tile([0.25, 0.25, 0.5], (ROWS, 1)))


def test_a_log_in_memory_takes_texts(log, columns):
    np.testing.assert_allclose(as_target("uniform", log).probs, 1 / 3)
    np.testing.assert_allclose(
        as_target("0.5*logger + 0.5*red", log).probs, columns["logging_probs"] / 2 + np.array([0.5, 0, 0])
    )
    with pytest.raises(cf.ParameterError, match="`target` must find column `score` in a table, got a `Log`"):
        cf.evaluate(log, "greedy:score")
    with pytest.raises(cf.DataError, match=r"got 'rad'\. Did you mean `red`\? A `Log` holds no .* Actions: red, green"):
        cf.evaluate(log, "rad")


def test_mixtures_are_checked():
    for parts in ([], "uniform", [(0.5,)], [0.5], None):
        with pytest.raises(cf.ParameterError, match="`parts` must be a list of pairs"):
            cf.Mixture(parts)
    with pytest.raises(cf.ParameterError, match="`share` must be in"):
        2 * cf.Uniform()
    with pytest.raises(TypeError):
        cf.Uniform() + 1


def test_doses_are_not_chosen_among(columns):
    table = make_table({"dose": columns["age"], "reward": columns["reward"], "propensity": np.full(ROWS, 0.5)})
    for target in ("uniform", cf.Logger(), "always:1", cf.Greedy([[1]])):
        with pytest.raises(
            cf.ParameterError, match=r"must be doses on a log of doses: .*, which chooses among actions"
        ):
            cf.evaluate(table, target)


def test_parts_of_a_mixture_are_columns_first_then_labels(columns, read):
    table = make_table(columns)
    taken = table.append_column("uniform", table.column("policy"))
    np.testing.assert_allclose(read(taken, "0.5*uniform + 0.5*'uniform'", actions=LABELS), columns["policy"])
    labels = ("uniform", "b", "c")
    other = make_table(make_columns(labels), labels)
    np.testing.assert_array_equal(read(other, "0.5*uniform + 0.5*b", actions=labels)[0], [0.5, 0.5, 0])


def test_shares_may_be_fractions(columns, read):
    thirds = read(make_table(columns), "1/3*red + 1 / 3 * green + 1/3*big blue", actions=LABELS)
    np.testing.assert_allclose(thirds, np.full((ROWS, 3), 1 / 3))
    with pytest.raises(cf.ParameterError, match="`share` must be in"):
        read(make_table(columns), "1/0*red", actions=LABELS)


def test_two_columns_for_one_action_are_refused(columns, read):
    table = make_table(columns, layout="spread")
    with pytest.raises(
        cf.DataError, match="scores must be one column for each action, got `score_red` and `policy_red`"
    ):
        read(table, "greedy:score_red,policy_red,score_green", actions=LABELS)


@pytest.mark.parametrize("form", [lambda names: cf.Function(len, names), lambda names: cf.ONNX("file", names)])
def test_names_of_columns_are_checked(form):
    assert form("age").columns == form(("age",)).columns == ["age"]
    assert form(None).columns is None
    for junk in ([], "", [1], 5, {"age": 1}, [""]):
        with pytest.raises(cf.ParameterError, match="`columns` must be names, as a list of texts, got"):
            form(junk)
    for kind in (cf.ONNX, cf.Skops):
        with pytest.raises(cf.ParameterError, match="`path` must be the path of a file, got 5"):
            kind(5)
