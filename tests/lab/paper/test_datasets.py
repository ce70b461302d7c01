"""The paper's datasets: local files, OpenML, and what is said when neither gives them."""

from types import SimpleNamespace
from urllib.error import URLError

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sklearn.datasets

import counterfold as cf
from counterfold_lab.paper import datasets
from counterfold_lab.paper.classification import Classification
from places import DATASETS

at_hand = pytest.mark.skipif(not DATASETS.is_dir(), reason="the datasets are not at hand; set COUNTERFOLD_DATASETS")


@pytest.fixture
def tiny(monkeypatch):
    """Make ecoli a dataset of three rows."""
    dataset = datasets.Dataset("ecoli", np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.5]]), np.array(["cp", "im", "cp"]))
    monkeypatch.setitem(datasets.CHECKSUMS, "ecoli", datasets.checksum(dataset))
    return dataset


@at_hand
@pytest.mark.parametrize("name", ["ecoli", "glass", "yeast"])
def test_the_files_at_hand_are_those_of_the_paper(name):
    dataset = datasets.load(name, DATASETS)
    assert dataset.features.shape == {"ecoli": (336, 7), "glass": (214, 9), "yeast": (1484, 8)}[name]


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_a_file_in_a_folder(tiny, tmp_path, ending):
    table = pa.table({"a": tiny.features[:, 0], "b": tiny.features[:, 1], "class": tiny.labels})
    if ending == "csv":
        (tmp_path / "ecoli.csv").write_text("a,b,class\n1,2,cp\n3,4,im\n5,6.5,cp\n")
    else:
        pq.write_table(table, tmp_path / "ecoli.parquet")
    found = datasets.load("ecoli", tmp_path)
    np.testing.assert_array_equal(found.features, tiny.features)
    assert found.labels.tolist() == tiny.labels.tolist()


def test_other_data_are_refused(tiny, tmp_path):
    pq.write_table(
        pa.table({"a": [1.0, 3.0, 5.0], "b": [2.0, 4.0, 6.0], "class": tiny.labels}), tmp_path / "ecoli.parquet"
    )
    message = r"`ecoli` must be version 1 of OpenML, with its rows in their order, got other data \(3 x 2, checksum "
    with pytest.raises(cf.DataError, match=message):
        datasets.load("ecoli", tmp_path)


def test_openml_by_name_and_version(tiny, monkeypatch):
    def fetch(name, version, **_):
        assert (name, version) == ("ecoli", 1)
        return SimpleNamespace(data=tiny.features, target=tiny.labels.astype(object))

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
    np.testing.assert_array_equal(datasets.load("ecoli").features, tiny.features)


def test_without_a_network_one_sentence_says_what_to_do(monkeypatch):
    def fetch(**_):
        raise URLError("no such host")

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
    message = (
        r"^`yeast` could not be fetched from OpenML \(.*no such host.*\); give a folder with a file of that name by"
    )
    with pytest.raises(cf.DataError, match=message):
        datasets.load("yeast")


def test_unknown_names_and_missing_files(tmp_path):
    with pytest.raises(cf.ParameterError, match=r"unknown dataset `ecoly`. Did you mean `ecoli`\?"):
        datasets.load("ecoly")
    with pytest.raises(cf.DataError, match=r"must hold a file `ecoli.parquet` or the like, but there is none."):
        datasets.load("ecoli", tmp_path)


def test_two_classes_make_two_actions():
    rng = np.random.default_rng(0)
    labels = rng.integers(2, size=200)
    features = labels[:, None] + 0.5 * rng.normal(size=(200, 1))
    for policies in ("probabilities", "logits"):
        problem = Classification(policies=policies).draw_problem(features, labels, np.random.default_rng(1))
        assert problem.target.shape == (100, 2)
        assert problem.truth > 0.7
