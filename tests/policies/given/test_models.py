"""Models of a user's own as targets: what they are given, whose labels they speak of, and what they may not return."""

import sys

import numpy as np
import pyarrow as pa
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import counterfold as cf
from counterfold.policies.given import as_target
from scored_logs import LABELS, ROWS, be_greedy, make_columns, make_table

pd = pytest.importorskip("pandas", reason="models fitted on data frames need pandas")


@pytest.fixture
def matrix(columns):
    return np.column_stack([columns["age"], columns["height"]])


@pytest.fixture
def frame(columns):
    return pd.DataFrame({name: columns[name] for name in ("height", "city")})


def by_label(model, probs, labels=LABELS):
    """Return probabilities in the order of the labels, 0 for those that are no class."""
    place = {str(label): number for number, label in enumerate(model.classes_)}
    return np.column_stack([probs[:, place[str(one)]] if str(one) in place else np.zeros(len(probs)) for one in labels])


MODELS = {
    "logistic": LogisticRegression(),
    "pipeline": make_pipeline(StandardScaler(), LogisticRegression()),
    "forest": RandomForestClassifier(5, max_depth=2, random_state=0),
}


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_a_classifier_fitted_on_arrays_sees_the_context(model, columns, matrix, agree):
    model.fit(matrix, columns["chosen"])
    wanted = by_label(model, model.predict_proba(matrix))
    agree(model, wanted)
    agree(cf.Classifier(model, columns=["age", "height"]), wanted, context=["height"])
    agree(0.2 * cf.Uniform() + 0.8 * cf.Classifier(model), 0.2 / 3 + 0.8 * wanted)


def test_a_classifier_fitted_on_a_frame_gets_its_columns_by_name(columns, frame, agree):
    encode = make_column_transformer((OneHotEncoder(), ["city"]), remainder="passthrough")
    model = make_pipeline(encode, LogisticRegression()).fit(frame, columns["chosen"])
    agree(model, by_label(model, model.predict_proba(frame)), context=["age"])


def test_a_classifier_fitted_on_a_frame_finds_the_context_of_a_log_in_memory(columns, log):
    known = pd.DataFrame({name: columns[name] for name in ("height", "age")})
    model = LogisticRegression().fit(known, columns["chosen"])
    wanted = by_label(model, model.predict_proba(known))
    np.testing.assert_allclose(as_target(model, log).probs, wanted, rtol=1e-12)
    strange = LogisticRegression().fit(known.rename(columns={"age": "years"}), columns["chosen"])
    message = "the context must have column `years`, which `target` looks at. Found: age, height. Name the columns of"
    with pytest.raises(cf.DataError, match=message):
        cf.evaluate(log, strange)


def test_a_column_that_a_model_looks_at_must_be_there_and_known_before_the_decision(columns, frame, save):
    path = save(make_table(columns))
    for names, message in (
        ({"city": "town"}, r"column `town` must be there, as the target looks at it\. .*Found: age, "),
        ({"height": "reward"}, "`target` must not look at column `reward`, which is the reward"),
        ({"height": "propensity"}, "`target` must not look at column `propensity`, which is the propensity"),
    ):
        seen = frame.rename(columns=names)
        encode = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), list(seen.columns)))
        model = make_pipeline(encode, LogisticRegression()).fit(seen, columns["chosen"])
        for engine in ("memory", "local"):
            with pytest.raises(cf.DataError, match=message):
                cf.evaluate(path, model, engine=engine, progress=False)


def test_context_that_is_left_out_by_itself_is_still_seen_by_a_model(columns, agree):
    outcome = columns["reward"] + np.random.default_rng(0).normal(scale=0.01, size=ROWS)
    table = make_table(columns | {"revenue": outcome})
    model = LogisticRegression().fit(pd.DataFrame({"revenue": outcome}), columns["chosen"])
    wanted = by_label(model, model.predict_proba(pd.DataFrame({"revenue": outcome})))
    agree(model, wanted, table, context=None, ignore=["policy", "score", "by_hand"])


def test_classes_are_matched_by_label(matrix, log):
    two = LogisticRegression().fit(matrix, np.where(matrix[:, 0] > 0, "red", "big blue"))
    probs = as_target(two, log).probs
    np.testing.assert_array_equal(probs[:, 1], np.zeros(ROWS))
    np.testing.assert_allclose(probs[:, [2, 0]], two.predict_proba(matrix), rtol=1e-12)
    strange = LogisticRegression().fit(matrix, np.where(matrix[:, 0] > 0, "red", "Green"))
    with pytest.raises(cf.DataError, match=r"must be named after the actions, got Green for .* Did you mean 'green'\?"):
        cf.evaluate(log, strange)


@pytest.mark.parametrize("classes", [(0, 1, 2), ("0", "1", "2"), (0.0, 1.0, 2.0)])
@pytest.mark.parametrize("labels", [(0, 1, 2), ("0", "1", "2")])
def test_numbers_and_texts_of_numbers_are_the_same_label(labels, classes, matrix):
    columns = make_columns(labels)
    log = cf.Log(context=matrix, action=columns["action"], reward=columns["reward"], propensity=columns["propensity"])
    code = be_greedy(columns["policy"]).argmax(axis=1)
    for kind in (LogisticRegression, RidgeClassifier):
        model = kind().fit(matrix, np.array(classes)[code])
        wanted = (
            model.predict_proba(matrix)
            if kind is LogisticRegression
            else np.eye(3)[np.searchsorted(model.classes_, model.predict(matrix))]
        )
        np.testing.assert_allclose(as_target(model, log).probs, wanted, rtol=1e-12)


def test_a_model_with_predict_alone_takes_what_it_predicts(columns, matrix, agree):
    model = RidgeClassifier().fit(matrix, columns["chosen"])
    agree(model, np.array(model.predict(matrix))[:, None] == np.array(LABELS))
    with pytest.raises(cf.DataError, match=r"must be one of the 3 known actions .*, got -?[0-9.]+ in"):
        agree(LinearRegression().fit(matrix, columns["reward"]), np.full((ROWS, 3), 1 / 3))


def test_a_regression_predicts_doses(columns, matrix):
    dose = columns["age"] + 5
    table = make_table(
        {"dose": dose, "height": matrix[:, 1], "reward": columns["reward"], "propensity": np.full(ROWS, 0.5)}
    )
    model = LinearRegression().fit(matrix[:, [1]], dose)
    given = table.append_column("by_hand", pa.array(model.predict(matrix[:, [1]])))
    mine, wanted = (cf.evaluate(given, one, context=["height"]) for one in (model, "by_hand"))
    assert mine.value == wanted.value


class Returns:
    """A model of nobody's, which returns what it was told to."""

    def __init__(self, found, **known):
        self.found = found
        vars(self).update(known)

    def predict_proba(self, seen):
        return self.found(len(seen)) if callable(self.found) else self.found


WRONG = {
    "one column": (Returns(np.ones), r"must be a matrix with one row per row of the log, got shape"),
    "a list of matrices": (Returns(lambda rows: [np.ones((rows, 2))] * 3), r"got shape \(3, 600, 2\)"),
    "too few rows": (Returns(np.full((5, 3), 1 / 3)), r"must have one entry per row \(600\), got 5"),
    "too few columns": (Returns(lambda rows: np.full((rows, 2), 0.5)), r"one column per action \(3: .*\), got 2"),
    "not the classes": (
        Returns(lambda rows: np.full((rows, 2), 0.5), classes_=LABELS),
        r"by `predict_proba` of `Returns` must have a column for each of 3 classes, got 2",
    ),
    "NaN": (
        Returns(lambda rows: np.full((rows, 3), np.nan)),
        r"must be finite, got nan in 600 of 600 rows, first at row 0",
    ),
    "logits": (Returns(lambda rows: np.full((rows, 3), -1.0)), r"must be in \[0, 1\], got -1\.0 in 600 of 600 rows"),
    "sums": (Returns(lambda rows: np.full((rows, 3), 0.4)), r"rows of probabilities that sum to 1, got 1\.2\d* in 600"),
    "texts": (Returns(lambda rows: [["a", "b", "c"]] * rows), r"must be numbers, got 'a'"),
    "nothing": (Returns(lambda _: None), r"must be a matrix with one row per row of the log"),
    "an error": (
        Returns(lambda _: 1 / 0),
        r"the method `predict_proba` of `Returns`, which is the target, failed with Zero",
    ),
    "other columns": (
        LogisticRegression().fit(np.eye(3), [0, 1, 2]),
        r"`target` was fitted on 3 columns, and the context must be these, got 2: age, height\. Name them",
    ),
}


@pytest.mark.parametrize(("model", "message"), WRONG.values(), ids=WRONG)
def test_what_a_model_may_not_return_is_one_sentence(model, message, log):
    with pytest.raises(cf.CounterfoldError, match=message):
        cf.evaluate(log, model)


def test_single_precision_is_fine(log):
    probs = np.random.default_rng(0).dirichlet([1, 1, 1], size=ROWS).astype(np.float32)
    np.testing.assert_array_equal(as_target(Returns(probs), log).probs, probs.astype(float))


def test_what_is_no_model_is_refused():
    for value in (LogisticRegression, 5, "model", None):
        with pytest.raises(cf.ParameterError, match="`model` must be a fitted model with `predict_proba` or `predict`"):
            cf.Classifier(value)
    with pytest.raises(cf.ParameterError, match="`function` must be a function of the context, got 'f'"):
        cf.Function("f")


MODULE = """
import numpy as np
import counterfold as cf

class Model:
    classes_ = ["big blue", "red"]
    def predict_proba(self, seen):
        share = 1 / (1 + np.exp(-np.asarray(seen, dtype=float)[:, 0]))
        return np.column_stack([share, 1 - share])

model = Model()
mixed = 0.5 * cf.Uniform() + 0.5 * cf.Classifier(model)

def by_age(context):
    return np.where(context[:, 0] > 0, "red", "green")

def by_city(seen):
    return np.where(seen["city"] == "Rome", "red", "green")
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    (tmp_path / "policies_of_mine.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield "policies_of_mine"
    sys.modules.pop("policies_of_mine", None)


def test_code_is_named_by_its_module(module, columns, agree):
    def one_hot(labels):
        return np.asarray(labels)[:, None] == np.array(LABELS)

    share = 1 / (1 + np.exp(-columns["age"]))
    model = np.column_stack([1 - share, np.zeros(ROWS), share])
    agree(f"{module}:by_age", one_hot(np.where(columns["age"] > 0, "red", "green")))
    agree(f"{module}:by_city:columns=city", one_hot(np.where(columns["city"] == "Rome", "red", "green")))
    agree(f"{module}:model", model)
    agree(f"{module}:model:columns=age", model, context=["height"])
    agree(f"0.4*{module}:model + 0.6*logger", 0.4 * model + 0.6 * columns["logging_probs"])
    agree(f"{module}:mixed", 0.5 * model + 0.5 / 3)


def test_a_function_gets_columns_that_are_no_context(columns, log, agree):
    target = cf.Function(lambda seen: np.where(seen["city"] == "Rome", "red", "green"), columns=["city"])
    agree(target, np.where(columns["city"] == "Rome", "red", "green")[:, None] == np.array(LABELS))
    by_age = cf.Function(lambda seen: np.where(seen["age"] > 0, "red", "green"), columns=["age"])
    assert as_target(by_age, log).probs[:, 0].tolist() == (columns["age"] > 0).tolist()
    with pytest.raises(cf.DataError, match="the context must have column `city`, which `target` looks at"):
        cf.evaluate(log, target)


def test_a_script_that_exits_when_it_is_imported_is_one_sentence(tmp_path, monkeypatch, log):
    (tmp_path / "a_script_of_mine.py").write_text("import sys\nsys.exit(2)\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(
        cf.ParameterError, match=r"must be MODULE:OBJECT, got `a_script_of_mine:policy` \(SystemExit: 2\)"
    ):
        cf.evaluate(log, "a_script_of_mine:policy")
