"""Models in files of skops and ONNX; these tests need the extras of these names."""

import pickle
import sys

import numpy as np
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC

import counterfold as cf
from counterfold.policies.from_tables import TargetReader
from counterfold.policies.given import as_target
from scored_logs import LABELS, ROWS, make_table

FORMS = {"skops": cf.Skops, "onnx": cf.ONNX}


@pytest.fixture
def matrix(columns):
    return np.column_stack([columns["age"], columns["height"]])


@pytest.fixture
def model(columns, matrix):
    return make_pipeline(StandardScaler(), LogisticRegression()).fit(matrix, columns["chosen"])


@pytest.fixture
def probs(model, matrix):
    found = model.predict_proba(matrix)
    return found[:, [list(model.classes_).index(label) for label in LABELS]]


@pytest.fixture
def in_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def shift(matrix):
    return matrix + 1


class TestSkops:
    @pytest.fixture(autouse=True)
    def io(self):
        self.io = pytest.importorskip("skops.io", reason="needs the extra `skops`")

    def test_it_is_the_model_that_was_saved(self, model, probs, in_folder, agree):
        self.io.dump(model, in_folder / "policy.skops")
        agree("skops:policy.skops", probs)
        agree(cf.Skops(in_folder / "policy.skops", columns=["age", "height"]), probs, context=["height"])
        agree("0.5*uniform + 0.5*skops:policy.skops:columns=age,height", 0.5 / 3 + 0.5 * probs, context=["height"])

    def test_a_model_fitted_on_a_frame_gets_its_columns(self, columns, in_folder, agree):
        pd = pytest.importorskip("pandas")
        frame = pd.DataFrame({"height": columns["height"]})
        model = LogisticRegression().fit(frame, columns["chosen"])
        self.io.dump(model, in_folder / "policy.skops")
        wanted = model.predict_proba(frame)[:, [list(model.classes_).index(label) for label in LABELS]]
        agree("skops:policy.skops", wanted, context=["age"])

    def test_types_that_skops_does_not_know_are_refused_unless_trusted(self, columns, matrix, in_folder, log):
        model = make_pipeline(FunctionTransformer(shift), LogisticRegression()).fit(matrix, columns["chosen"])
        self.io.dump(model, in_folder / "policy.skops")
        name = f"{shift.__module__}.shift"
        message = (
            rf"`policy\.skops` must hold types that are known to be safe, got {name}\. .* \(skops:FILE:trusted={name}"
        )
        for target in ("skops:policy.skops", "skops:policy.skops:trusted=other.type"):
            with pytest.raises(cf.DataError, match=message):
                cf.evaluate(log, target)
        found = as_target(f"skops:policy.skops:trusted={name}", log).probs
        np.testing.assert_allclose(found.sum(axis=1), np.ones(ROWS))

    def test_what_is_no_model_is_refused(self, in_folder, log):
        self.io.dump({"a": 1}, in_folder / "policy.skops")
        with pytest.raises(cf.DataError, match=r"`policy\.skops` must hold a fitted model with `predict`, got dict"):
            cf.evaluate(log, "skops:policy.skops")


class TestONNX:
    @pytest.fixture(autouse=True)
    def tools(self):
        pytest.importorskip("onnxruntime", reason="needs the extra `onnx`")
        self.skl2onnx = pytest.importorskip("skl2onnx", reason="needs skl2onnx to make a model")

    def save(self, model, path, **settings):
        kind = self.skl2onnx.common.data_types.FloatTensorType([None, 2])
        made = self.skl2onnx.to_onnx(model, initial_types=[("seen", kind)], **settings)
        path.write_bytes(made.SerializeToString())

    def check(self, target, probs, log, exact=1e-5):
        np.testing.assert_allclose(as_target(target, log).probs, probs, atol=exact)

    @pytest.mark.parametrize("options", [{}, {"options": {"zipmap": False}}], ids=["maps", "matrix"])
    def test_it_is_the_model_that_was_saved(self, options, model, probs, columns, in_folder, log, agree):
        import onnxruntime

        self.save(model, in_folder / "policy.onnx", **options)
        if options:  # columns without names go by the order of the actions, which is that of the classes here
            order = list(model.classes_)
            known = {"action": columns["action"], "reward": columns["reward"], "propensity": columns["propensity"]}
            named = cf.Log(context=log.context, actions=order, **known)
            self.check("onnx:policy.onnx", model.predict_proba(log.context), named)
            return
        self.check("onnx:policy.onnx", probs, log)
        session = onnxruntime.InferenceSession(in_folder / "policy.onnx")
        maps = session.run(["output_probability"], {"seen": log.context.astype(np.float32)})[0]
        exact = np.array([[float(one[label]) for label in LABELS] for one in maps])
        agree("onnx:policy.onnx", exact)
        agree("onnx:policy.onnx:columns=age,height", exact, context=["height"])
        agree(0.5 * cf.Uniform() + 0.5 * cf.ONNX("policy.onnx"), 0.5 / 3 + 0.5 * exact)

    def test_inputs_are_found_by_their_names(self, columns, in_folder):
        kinds = self.skl2onnx.common.data_types
        pd = pytest.importorskip("pandas")
        frame = pd.DataFrame({"city": columns["city"], "height": columns["height"]})
        encode = make_column_transformer((OneHotEncoder(), ["city"]), ("passthrough", ["height"]))
        model = make_pipeline(encode, LogisticRegression()).fit(frame, columns["chosen"])
        inputs = [("city", kinds.StringTensorType([None, 1])), ("height", kinds.FloatTensorType([None, 1]))]
        made = self.skl2onnx.to_onnx(model, initial_types=inputs)
        (in_folder / "policy.onnx").write_bytes(made.SerializeToString())
        wanted = model.predict_proba(frame)[:, [list(model.classes_).index(label) for label in LABELS]]
        table = make_table(columns)
        reader = TargetReader.of("onnx:policy.onnx", table)
        assert reader.features == ["city", "height"]
        found = reader.read(cf.LogScan(table, actions=LABELS).read(), table).probs
        np.testing.assert_allclose(found, wanted, atol=1e-5)

    def test_labels_alone_are_what_it_does(self, columns, matrix, in_folder, log):
        model = LinearSVC().fit(matrix, columns["chosen"])
        kind = self.skl2onnx.common.data_types.FloatTensorType([None, 2])
        made = self.skl2onnx.to_onnx(model, initial_types=[("seen", kind)], final_types=None)
        for output in list(made.graph.output)[1:]:
            made.graph.output.remove(output)
        (in_folder / "policy.onnx").write_bytes(made.SerializeToString())
        wanted = model.predict(matrix)[:, None] == np.array(LABELS)
        np.testing.assert_array_equal(as_target("onnx:policy.onnx", log).probs, wanted)

    def test_a_context_of_another_width_is_refused(self, model, in_folder, columns, save):
        self.save(model, in_folder / "policy.onnx")
        path = save(make_table(columns))
        for engine in ("memory", "local"):
            with pytest.raises(
                cf.DataError, match="`target` takes 2 columns, and the context must be these, got 1: age"
            ):
                cf.evaluate(path, "onnx:policy.onnx", context=["age"], engine=engine, progress=False)

    def test_it_travels_to_other_processes(self, model, probs, in_folder, log):
        self.save(model, in_folder / "policy.onnx")
        form = cf.ONNX("policy.onnx")
        sent = pickle.dumps(form)
        (in_folder / "policy.onnx").unlink()
        self.check(pickle.loads(sent), probs, log)  # noqa: S301 (our own bytes)


@pytest.mark.parametrize("kind", FORMS)
def test_files_that_cannot_be_read_are_one_sentence(kind, in_folder, log):
    needed = {"skops": "skops", "onnx": "onnxruntime"}[kind]
    pytest.importorskip(needed, reason=f"needs the extra `{kind}`")
    (in_folder / "junk").write_bytes(b"junk")
    (in_folder / "empty").write_bytes(b"")
    (in_folder / "folder").mkdir()
    for name, message in {
        "missing": "file `missing` of `target` must be there, got none",
        "folder": "file `folder` of `target` must be there, got a folder",
        "junk": "`junk` must be a file .*, but reading it failed with ",
        "empty": "file `empty` of `target` must hold a model, got an empty file",
    }.items():
        for target in (f"{kind}:{name}", FORMS[kind](name)):
            with pytest.raises(cf.DataError, match=message):
                cf.evaluate(log, target)


@pytest.mark.parametrize("kind", FORMS)
def test_an_extra_that_is_not_installed_is_named(kind, in_folder, log, monkeypatch):
    monkeypatch.setitem(sys.modules, {"skops": "skops", "onnx": "onnxruntime"}[kind], None)
    (in_folder / "policy").write_bytes(b"junk")
    with pytest.raises(cf.ParameterError, match=rf"pip install 'counterfold\[{kind}\]'"):
        cf.evaluate(log, f"{kind}:policy")
