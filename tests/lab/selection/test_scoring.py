"""Scores of the benchmark of selection against naive loops."""

from statistics import geometric_mean, mean, median

import numpy as np
import pytest
from scipy.stats import binomtest

from counterfold_lab.selection import results
from counterfold_lab.selection.results import ALL


def made(seed=0):
    """Return rows of three families, one of them with three conditions of each problem."""
    rng = np.random.default_rng(seed)
    kinds = {"A": "fixed", "B": "theory", "C": "selector", "default": "default", "oracle": "oracle"}
    rows = []
    for family, count, conditions in (("one", 9, 1), ("two", 12, 1), ("paper", 4, 3)):
        for number, condition in ((n, c) for n in range(count) for c in range(conditions)):
            truth, scale = rng.normal(), rng.uniform(0.5, 2)
            size, verdict = int(rng.choice([100, 1000])), str(rng.choice(["good", "caution", "not answerable"]))
            where = {"family": family, "problem": number, "condition": str(condition), "truth": truth, "scale": scale}
            where |= {"rows": size, "verdict": verdict, "effective_rows": 10.0}
            for method, kind in kinds.items():
                value = truth + (0.01 if kind == "oracle" else 0.3) * scale * rng.normal()
                ends = {"low": value - 0.3, "high": value + 0.3} if kind == "default" else {"low": None, "high": None}
                rows.append(where | {"method": method, "kind": kind, "value": value} | ends)
    return rows


def naive_mean(rows, family, method):
    by_number = {}
    for row in rows:
        if (row["family"], row["method"]) == (family, method):
            by_number.setdefault(row["problem"], []).append(((row["value"] - row["truth"]) / row["scale"]) ** 2)
    return mean(mean(errors) for errors in by_number.values())


def test_scores_against_naive_loops():
    rows = made()
    scores = {(score.family, score.method): score for score in results.scores(rows)}
    families = ("one", "two", "paper")
    assert len(scores) == 4 * 5
    means = {
        (family, m): naive_mean(rows, family, m) for family in families for m in ("A", "B", "C", "default", "oracle")
    }
    for (family, method), expected in means.items():
        score = scores[family, method]
        assert score.mean == pytest.approx(expected)
        assert score.low < score.mean < score.high
        assert score.regret == pytest.approx(expected - means[family, "oracle"])
        assert score.ratio == pytest.approx(expected / min(means[family, "A"], means[family, "B"]))
        errors = [
            (r["value"] - r["truth"]) / r["scale"] for r in rows if (r["family"], r["method"]) == (family, method)
        ]
        assert score.median == pytest.approx(median(error**2 for error in errors))
        assert score.problems == len(errors)
    for method in ("A", "B", "C", "default", "oracle"):
        score = scores[ALL, method]
        assert score.mean == pytest.approx(mean(means[family, method] for family in families))
        assert score.ratio == pytest.approx(geometric_mean(scores[family, method].ratio for family in families))
        assert score.problems == 9 + 12 + 12


def test_the_worst_of_its_rivals_against_a_naive_loop():
    rows = made(1)
    scores = {(score.family, score.method): score.worst for score in results.scores(rows)}
    counts = dict.fromkeys(("A", "C", "default"), 0)
    mine = [row for row in rows if row["family"] == "two"]
    for number in range(12):
        errors = {r["method"]: abs(r["value"] - r["truth"]) for r in mine if r["problem"] == number}
        counts[max(counts, key=lambda method, errors=errors: errors[method])] += 1
    for method, count in counts.items():
        assert scores["two", method] == pytest.approx(count / 12)
    assert scores["two", "B"] is scores["two", "oracle"] is scores[ALL, "oracle"] is None


def test_coverage_against_a_naive_loop():
    rows = made(2)
    lines = {(line.family, line.answers_of): line for line in results.coverage(rows)}
    own = [row for row in rows if row["method"] == "default"]
    good = [row for row in own if row["rows"] >= 500 and row["verdict"] == "good"]
    covered = sum(row["low"] <= row["truth"] <= row["high"] for row in good)
    line = lines[ALL, "good"]
    assert (line.answers, line.covered) == (len(good), covered)
    assert line.p_value == pytest.approx(binomtest(covered, len(good), 0.95).pvalue)
    assert line.width == pytest.approx(mean(0.6 / row["scale"] for row in good))
    assert sum(line.answers for (family, _), line in lines.items() if family == ALL) == len(own)
    open_ended = [row | {"low": None, "high": None} for row in good]
    (line, *_) = results.coverage(open_ended)
    assert (line.share, line.width) == (1.0, None)


def test_verdicts_against_a_naive_loop():
    rows = made(3)
    lines = {(line.family, line.verdict): line for line in results.verdicts(rows)}
    own = [row for row in rows if row["method"] == "default"]
    large = [row for row in own if abs(row["value"] - row["truth"]) > 0.25 * row["scale"]]
    warned = [row for row in own if row["verdict"] != "good"]
    line = lines[ALL, "not good"]
    both = [row for row in large if row["verdict"] != "good"]
    assert (line.answers, line.large) == (len(warned), len(both))
    assert line.precision == pytest.approx(len(both) / len(warned))
    assert line.recall == pytest.approx(len(both) / len(large))
    assert sum(lines[ALL, verdict].answers for verdict in ("good", "caution", "not answerable")) == len(own)
    right = [row | {"value": row["truth"]} for row in own]
    assert {line.recall for line in results.verdicts(right)} == {None}


def test_checks_against_a_naive_loop():
    spoke = {"a": ["", "effective-rows", "effective-rows largest-weight"], "b": ["largest-weight", ""]}
    rows = [{"family": name, "kind": "default", "alarms": one} for name, several in spoke.items() for one in several]
    lines = {(line.family, line.check): line for line in results.checks(rows)}
    for check in ("effective-rows", "largest-weight", "mean-weight"):
        for family, several in [*spoke.items(), ("all families", spoke["a"] + spoke["b"])]:
            line, count = lines[family, check], sum(check in one.split() for one in several)
            assert (line.answers, line.alarms, line.share) == (len(several), count, count / len(several))
