"""The command paper: the same files whatever the jobs, and what it refuses."""

import json
from pathlib import Path

import pytest

from places import DATASETS


@pytest.mark.skipif(not DATASETS.is_dir(), reason="the datasets are not at hand; set COUNTERFOLD_DATASETS")
def test_on_the_command_line_with_two_jobs(run):
    options = "figure1", "--data", DATASETS, "--datasets", "ecoli", "--runs", "2"
    code, out, _ = run("paper", *options, "--jobs", "2", "--out", "two")
    assert code == 0
    assert "Intervals overlap in" in out
    code, out, _ = run("paper", *options, "--jobs", "1", "--out", "one", "--json")
    assert code == 0
    assert {line["method"] for line in json.loads(out)["lines"]} > {"IPS", "DM", "DR", "OCV_IPS", "OCV_DR", "SLOPE"}
    for name in ("figure1.parquet", "figure1.csv", "figure1.png", "figure1.svg"):
        assert Path("one", name).read_bytes() == Path("two", name).read_bytes()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["figure9"], "unknown figure `figure9`. Did you mean `figure"),
        (["figure1", "--runs", "0"], "`runs` must be a whole number of at least 1, got 0."),
        (["figure1", "--jobs", "0"], "`jobs` must be a whole number of at least 1, got 0."),
        (["figure1", "--datasets", "ecoly"], "`datasets` must be "),
        (["figure5", "--datasets", "ecoli"], "`datasets` must hold one of vehicle, got ecoli."),
        (["figure1", "--policies", "greedy"], "`policies` must be "),
        (["figure1", "--add", "nowhere:Part"], "`add` must be MODULE:CLASS, got `nowhere:Part`"),
        (["figure1", "--add", "additions:NoPart"], "`add` must name an estimator or a selector class, got"),
        (
            ["figure1", "--data", "missing"],
            "`missing` must hold a file `ecoli.parquet` or the like, but there is none.",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_options_are_one_sentence(run, options, message):
    code, out, err = run("paper", *options, "--out", "here", *([] if "--jobs" in options else ["--jobs", "1"]))
    assert (code, out) == (2, "")
    assert message in err
    assert not Path("here", "figure1.parquet").exists()
