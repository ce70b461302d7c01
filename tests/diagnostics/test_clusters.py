"""Villages and schools that nobody named as groups are found; cities, ages and codes without effect are not."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import counterfold as cf

ENGINES = ("memory", "local")
ROWS = 2000


def make_trial(seed, *, clusters=60, is_shared=False, spread=0.7, rows=ROWS):
    """Return a trial, and the cluster of each row: decisions may be made for a cluster, and rewards have its level."""
    rng = np.random.default_rng(seed)
    cluster = rng.integers(clusters, size=rows)
    is_new = (rng.random(clusters) < 0.5)[cluster] if is_shared else rng.random(rows) < 0.5
    x = rng.normal(size=rows)
    reward = x + 0.3 * is_new + spread * rng.normal(size=clusters)[cluster] + rng.normal(size=rows)
    columns = {"x": x, "action": np.where(is_new, "new", "old"), "reward": reward, "propensity": np.full(rows, 0.5)}
    return columns, cluster


def as_text(values):
    return [f"v{one}" for one in values]


def as_code(values):
    return np.random.default_rng(0).permutation(9000)[values]


def find(columns, target="new", **asked):
    found = cf.check(pa.table(columns), target, **asked)
    return found, [one for one in found.findings if one.name == "unnamed-groups"]


FOUND = {
    "whole villages": ("village", as_text, True, 0.7),
    "villages": ("village", as_text, False, 0.7),
    "whole schools": ("schoolid", as_code, True, 0.7),
    "schools": ("schoolid", as_code, False, 0.7),
    "whole cells of any name": ("cell", as_text, True, 0.7),
    "whole numbers of any name": ("cell", as_code, True, 0.7),
}


@pytest.mark.parametrize("case", FOUND)
def test_clusters_are_found(case):
    name, write, is_shared, spread = FOUND[case]
    for seed in range(8):
        columns, cluster = make_trial(seed, is_shared=is_shared, spread=spread)
        found, [finding] = find(columns | {name: write(cluster)})
        assert finding.severity == "caution"
        assert f"`{name}`" in finding.problem
        assert ("were decided together" in finding.problem) == is_shared
        assert f"--group {name}" in finding.remedy
        assert not {one.name for one in found.findings} & {"outcome-context", "propensities", "mean-weight"}
        assert found.design_effect > 1.25


@pytest.mark.parametrize("engine", ENGINES)
def test_it_says_by_how_much_a_group_makes_errors_larger(engine, tmp_path):
    columns, cluster = make_trial(1, is_shared=True)
    table = pa.table(columns | {"village": as_text(cluster)})
    pa.parquet.write_table(table, tmp_path / "log.parquet", row_group_size=170)
    asked = {"candidates": ["snips"], "reward_model": None, "progress": False, "engine": engine}
    alone = cf.evaluate(tmp_path / "log.parquet", "new", **asked)
    grouped = cf.evaluate(tmp_path / "log.parquet", "new", group="village", **asked)
    assert (grouped.stderr / alone.stderr) ** 2 == pytest.approx(alone.diagnostics.design_effect, rel=0.15)
    assert grouped.verdict == "good"


@pytest.mark.parametrize("name", ["village", "schoolid"])
def test_every_engine_finds_the_same(name, tmp_path):
    columns, cluster = make_trial(2, is_shared=True)
    columns[name] = as_text(cluster) if name == "village" else as_code(cluster)
    pa.parquet.write_table(pa.table(columns), tmp_path / "log.parquet", row_group_size=170)
    memory, local = (cf.check(tmp_path / "log.parquet", "new", engine=engine) for engine in ENGINES)
    assert memory.design_effect == pytest.approx(local.design_effect, rel=1e-9)
    assert [one.name for one in memory.findings] == [one.name for one in local.findings]
    problems = [[one.problem for one in found.findings if one.name == "unnamed-groups"] for found in (memory, local)]
    assert problems[0] == problems[1] != []


def add_harmless(seed, columns):
    """Return columns of context with effects on rewards, and columns that say nothing."""
    rng = np.random.default_rng([seed, 1])
    city = rng.integers(30, size=ROWS)
    age = rng.integers(18, 80, size=ROWS)
    hour = rng.integers(24, size=ROWS)
    effect = rng.normal(size=30)[city] + np.cos(age / 10) + np.sin(hour / 24 * 2 * np.pi)
    more = {"city": [f"city {one}" for one in city], "age": age, "hour": hour}
    more |= {"campaign": rng.integers(40, size=ROWS), "word": [f"word {one}" for one in rng.integers(40, size=ROWS)]}
    return columns | more | {"reward": columns["reward"] + 0.5 * effect}


def test_context_that_matters_is_no_cluster():
    alarms = 0
    for seed in range(40):
        columns, _ = make_trial(seed, spread=0.0)
        found, findings = find(add_harmless(seed, columns))
        alarms += bool(findings)
        assert found.verdict == "good"
    assert alarms == 0


@pytest.mark.parametrize("levels", [8, 19])
def test_codes_of_few_categories_with_an_effect_are_no_clusters(levels):
    for seed in range(4):
        columns, code = make_trial(seed, clusters=levels)
        columns["region_code"] = as_code(code)
        found = cf.evaluate(pa.table(columns), "new", progress=False).diagnostics
        assert not [one for one in found.findings if one.name == "unnamed-groups"]


def test_a_named_group_ends_the_search():
    columns, cluster = make_trial(3, is_shared=True)
    found, findings = find(columns | {"village": as_text(cluster)}, group="village")
    assert not findings
    assert found.verdict == "good"


def test_gaps_belong_to_no_cluster():
    columns, cluster = make_trial(4, is_shared=True)
    with_gaps = np.where(np.arange(ROWS) < 200, np.nan, as_code(cluster).astype(float))
    _, [finding] = find(columns | {"schoolid": with_gaps})
    assert "`schoolid`" in finding.problem


def test_only_some_columns_are_looked_at():
    columns, cluster = make_trial(5, is_shared=True)
    rng = np.random.default_rng(6)
    many = {f"code{place}": rng.integers(300, size=ROWS) for place in range(40)}
    log = cf.read_log(pa.table(columns | many | {"village": as_text(cluster)}))
    assert len(log.identifiers) == 12
    assert "village" in log.identifiers
