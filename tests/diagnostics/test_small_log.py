"""When a sound log is too small for its question: undecided, on every engine and in every comparison."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import counterfold as cf
from counterfold.diagnostics.small_log import SmallLog

ENGINES = ("memory", "local")


def make_table(rows, rate, times, seed):
    """Return impressions of two items with the same chance; the new one has so many times the clicks of the log."""
    rng = np.random.default_rng([rows, seed])
    new = rng.random(rows) < 0.5
    click = rng.random(rows) < np.where(new, times * rate, (2 - times) * rate)
    item = np.where(new, "new", "old")
    return {"action": item, "reward": click.astype(float), "propensity": np.full(rows, 0.5), "x": rng.normal(size=rows)}


def make_gap(low, high):
    """Return a difference with this normal interval."""
    noise = np.tile([-1.0, 1.0], 50)
    stderr = (high - low) / 2 / 1.959964
    return cf.Estimate("gap", (low + high) / 2 + stderr * np.sqrt(99) * noise)


@pytest.mark.parametrize(
    ("low", "high", "is_small"),
    [
        (-0.3, 0.3, True),
        (-0.26, 0.9, True),
        (-0.2, 0.9, False),
        (-0.9, 0.2, False),
        (-0.02, 0.02, False),
        (0.3, 0.9, False),
        (-0.9, -0.3, False),
    ],
)
@pytest.mark.parametrize("level", [1.0, 0.01])
def test_it_speaks_where_a_large_loss_and_a_large_gain_are_possible(low, high, is_small, level):
    found = SmallLog().compare(make_gap(low * level, high * level), level, "the log")
    assert [one.severity for one in found.findings] == ["undecided"] * is_small
    assert found.values["possible_gain"] == pytest.approx(max(high, 0.0) * level, rel=1e-4)
    assert found.values["possible_loss"] == pytest.approx(max(-low, 0.0) * level, rel=1e-4)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_difference_that_is_small_is_no_small_log(engine, tmp_path):
    table = make_table(20_000, 0.1, 1.0, seed=0)
    pa.parquet.write_table(pa.table(table), tmp_path / "log.parquet")
    result = cf.evaluate(tmp_path / "log.parquet", "new", engine=engine, progress=False)
    low, high = result.uplift().interval()
    assert low < 0 < high
    assert result.verdict == "good"


@pytest.mark.parametrize("engine", ENGINES)
def test_few_clicks_are_undecided_in_every_output(engine, tmp_path):
    table = make_table(1500, 0.01, 1.44, seed=1)
    table["reward"][:] = 0.0
    table["reward"][np.flatnonzero(table["action"] == "new")[::100]] = 1.0
    table["reward"][np.flatnonzero(table["action"] == "old")[::120]] = 1.0
    pa.parquet.write_table(pa.table(table), tmp_path / "log.parquet")
    result = cf.evaluate(tmp_path / "log.parquet", "new", engine=engine, progress=False)
    low, high = result.uplift().interval()
    level = table["reward"].mean()
    assert low <= -level / 4 < level / 4 <= high
    assert (result.verdict, result.answerable) == ("undecided", True)
    assert result.diagnostics.reward_level == pytest.approx(level)
    assert result.to_dict()["verdict"] == result.to_dict()["diagnostics"]["findings"][0]["severity"] == "undecided"
    assert ">undecided</span>" in result._repr_html_()
    assert result.next_step.action == "A/B test"
    assert "This log has too few rows to tell" in result.next_step.sentence
    page = tmp_path / "report.html"
    result.to_html(page)
    text = page.read_text(encoding="utf-8")
    assert '<span class="badge">undecided</span>' in text
    assert cf.check(tmp_path / "log.parquet", "new", engine=engine).verdict == "good"


def test_in_a_comparison_the_difference_to_the_baseline_decides():
    """A target whose difference to the log is not known well may differ from another target by little."""
    table = make_table(1500, 0.01, 1.0, seed=5)
    targets = {"new": {"new": 1.0, "old": 0.0}, "nearly": {"new": 0.98, "old": 0.02}}
    to_log = cf.compare(table, targets, progress=False)
    assert to_log.table[0].verdict == "undecided"
    to_nearly = cf.compare(table, targets, baseline="nearly", progress=False)
    assert to_nearly["new"].diagnostics.possible_gain < 0.2 * to_log["new"].diagnostics.possible_gain
    assert [line.verdict for line in to_nearly.table] == ["good"]


def test_segments_of_an_undecided_log_keep_their_own_verdict():
    table = make_table(1500, 0.01, 1.0, seed=5)
    table["part"] = np.arange(1500) % 2
    result = cf.evaluate(table, "new", by="part", progress=False)
    assert result.verdict == "undecided"
    assert {line.verdict for line in result.segments} == {"good"}


@pytest.mark.parametrize("engine", ENGINES)
def test_no_small_log_says_that_no_test_would_show_a_better_policy(engine, tmp_path):
    """The policy is truly 44 % better: whatever the estimate, the step is a test, a check, a longer log or to ship it.

    On 12 logs for each size. Before, the step was to keep the log's policy in about a quarter of them, because no test
    of a reasonable size would show what was estimated.
    """
    for rows in (1000, 2000):
        for seed in range(12):
            table = make_table(rows, 0.01, 1.44, seed)
            pa.parquet.write_table(pa.table(table), tmp_path / "log.parquet")
            result = cf.evaluate(tmp_path / "log.parquet", "new", engine=engine, progress=False)
            step = result.next_step
            assert step.action in {"A/B test", "check first", "log more", "ship"}, step
            if step.action == "A/B test":
                assert step.per_arm <= 1_000_000
                assert step.effect > 0
