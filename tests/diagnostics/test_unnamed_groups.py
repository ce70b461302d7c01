"""Users that nobody named as groups: against a naive loop, seldom wrong, the same on every engine."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import counterfold as cf
from reference.diagnostics import design_effect
from reference.models import fold_of

ENGINES = ("memory", "local")


def shop(seed, rows, users, *, alike, click=0.2):
    """Return clicks of users, whose rates differ the more the larger `alike` is; actions are drawn anew every time."""
    rng = np.random.default_rng(seed)
    user, first = rng.integers(users, size=rows), rng.random(rows) < 0.5
    rates = rng.beta(click * (1 / alike - 1), (1 - click) * (1 / alike - 1), users) if alike else np.full(users, click)
    reward = (rng.random(rows) < rates[user]).astype(int)
    columns = {"user_id": user, "age": rng.normal(size=rows), "action": np.where(first, "a", "b")}
    return pd.DataFrame(columns | {"reward": reward, "propensity": 0.5, "target": np.where(first, 0.3, 0.7)})


def find(log, **asked):
    found = cf.check(log, **asked)
    return found, [one for one in found.findings if one.name == "unnamed-groups"]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("users", [40, 5000])
@pytest.mark.parametrize("gaps", [0, 30])
def test_against_naive_loop(users, gaps, engine):
    log = shop(0, 600, users, alike=0.2)
    log["user_id"] = log["user_id"].astype("Int64")
    log.loc[: gaps - 1, "user_id"] = pd.NA
    found, _ = find(log, engine=engine)
    buckets = [None if user is pd.NA else fold_of(int(user), 1024) for user in log["user_id"]]
    expected = design_effect(log["target"] / 0.5, log["reward"], buckets)
    assert (found.design_effect, found.design_effect_p) == pytest.approx(expected, rel=1e-9)


KINDS = {
    "whole numbers": lambda user: user,
    "text": lambda user: user.map("user {}".format),
    "categories": lambda user: user.map("user {}".format).astype("category"),
    "numbers with gaps": lambda user: user.where(user != 7),
    "text with gaps": lambda user: user.map("user {}".format).where(user != 7, None),
}


@pytest.mark.parametrize("kind", KINDS)
def test_users_may_be_written_in_any_way(kind, tmp_path):
    log = shop(1, 3000, 300, alike=0.3)
    log["user_id"] = KINDS[kind](log["user_id"])
    log.to_parquet(tmp_path / "log.parquet", row_group_size=170)
    several = [find(tmp_path / "log.parquet", engine=engine) for engine in ENGINES]
    (memory, [finding]), (local, [other]) = several
    assert memory.design_effect == pytest.approx(local.design_effect, rel=1e-9)
    assert memory.design_effect_p == pytest.approx(local.design_effect_p, rel=1e-6)
    assert finding == other
    assert finding.severity == "caution"
    assert memory.design_effect > 2


@pytest.mark.parametrize("name", ["user_id", "userId", "customer-id", "session_key", "uid", "visitor", "User"])
def test_to_name_the_column_as_group_makes_errors_larger_by_what_was_said(name):
    log = shop(2, 6000, 400, alike=0.3).rename(columns={"user_id": name})
    asked = {"candidates": ["snips"], "reward_model": None, "progress": False}
    alone, grouped = (cf.evaluate(log, group=group, **asked) for group in (None, name))
    [finding] = [one for one in alone.diagnostics.findings if one.name == "unnamed-groups"]
    assert finding.severity == alone.verdict == "caution"
    assert f"name it as `group` (--group {name})" in finding.remedy
    assert (grouped.verdict, grouped.diagnostics.design_effect) == ("good", None)
    assert (grouped.stderr / alone.stderr) ** 2 == pytest.approx(alone.diagnostics.design_effect, rel=0.1)
    assert "it is called like a user or session" in alone.contents.left_out[name]
    assert alone.contents.context == ("age",)


def test_a_user_that_is_not_a_number_is_nobody():
    log = shop(1, 3000, 300, alike=0.3)
    gaps = {**log, "user_id": np.where(log["user_id"] == 7, np.nan, log["user_id"])}
    log["user_id"] = log["user_id"].where(log["user_id"] != 7)
    assert find(gaps)[0].design_effect == pytest.approx(find(log)[0].design_effect)


def test_users_that_come_back_and_do_not_go_together_are_noted():
    found, [finding] = find(shop(3, 3000, 1000, alike=0))
    assert (found.verdict, finding.severity) == ("good", "note")
    assert finding.problem.startswith("values of `user_id` are in 3.")


def test_users_who_came_once_are_nothing():
    log = shop(4, 3000, 300, alike=0.3)
    log["user_id"] = np.random.default_rng(0).permutation(10**6)[:3000]
    for engine in ENGINES:
        found, findings = find(log, engine=engine)
        assert not findings
        assert found.design_effect == pytest.approx(1, abs=0.2)
    assert "user_id" in cf.read_log(log).left_out
    log["user_id"] = "the only one"
    found, findings = find(log)
    assert not findings


def test_requests_do_not_hide_users():
    log = shop(5, 3000, 1000, alike=0).assign(request_id=np.arange(3000))
    _, [finding] = find(log)
    assert "`user_id`" in finding.problem
    log = shop(5, 3000, 100, alike=0.3).assign(session_id=np.arange(3000) // 2)
    _, [finding] = find(log)
    assert (finding.severity, "`user_id`" in finding.problem) == ("caution", True)


@pytest.mark.parametrize(
    "column",
    [
        pytest.param({"user": ["new", "old", "guest"] * 1000}, id="kinds of users"),
        pytest.param({"device": ["phone", "desktop"] * 1500}, id="kinds of devices"),
        pytest.param({"user_age": np.arange(3000) % 60}, id="what is known of users"),
        pytest.param({"visit": np.arange(3000) % 60}, id="counts"),
        pytest.param({"user": np.random.default_rng(0).normal(size=3000)}, id="numbers with fractions"),
        pytest.param({"item_id": np.arange(3000) % 60}, id="items"),
    ],
)
def test_other_columns_stay_context(column):
    log = shop(6, 3000, 100, alike=0.3).drop(columns="user_id").assign(**column)
    found, findings = find(log)
    assert not findings
    assert set(cf.read_log(log).context_sources) == {"age", *column}
    assert found.design_effect is None


def test_users_that_are_named_or_ignored():
    log = shop(7, 3000, 100, alike=0.3)
    for asked in ({"context": ["age", "user_id"]}, {"ignore": ["user_id"]}, {"group": "user_id"}):
        found, findings = find(log, **asked)
        assert not findings
        assert found.design_effect is None
    found, [finding] = find(log, context=["age"])  # which says nothing of users
    assert finding.severity == "caution"


def test_rows_count_as_the_decisions_that_they_stand_for(tmp_path):
    log = shop(8, 4000, 300, alike=0.3)
    log["kept"] = np.where(log["reward"] == 1, 1.0, 0.25)
    log = log[np.random.default_rng(1).random(4000) < log["kept"]]
    log.to_parquet(tmp_path / "log.parquet", row_group_size=170)
    several = [find(tmp_path / "log.parquet", engine=engine, kept="kept") for engine in ENGINES]
    assert several[0][1] == several[1][1] != []


@pytest.mark.statistical
@pytest.mark.parametrize(("rows", "users"), [(300, 30), (1000, 400), (3000, 50_000)])
def test_it_is_seldom_wrong(rows, users):
    """Of 200 logs 3 with a false alarm would be as likely as 0.1 % if one in a thousand were allowed."""
    wrong = 0
    for seed in range(200):
        _, findings = find(shop(seed, rows, users, alike=0))
        wrong += any(one.severity == "caution" for one in findings)
    assert stats.binomtest(wrong, 200, 0.001, "greater").pvalue > 0.001


@pytest.mark.statistical
@pytest.mark.parametrize("alike", [0.2, 0.5])
def test_it_finds_users_whose_rates_differ(alike):
    """Of 40 logs at least 36 must be found."""
    found = 0
    for seed in range(40):
        _, findings = find(shop(seed, 5000, 500, alike=alike))
        found += [one.severity for one in findings] == ["caution"]
    assert found >= 36


LOOKS = {
    "addresses": "p{}@example.org".format,
    "hashes": lambda user: f"{user * 104_729:012x}"[::-1] if user % 7 else "0a" * 16,
    "UUIDs": "01234567-89ab-4cde-8f01-{:012d}".format,
}


@pytest.mark.parametrize("look", LOOKS)
def test_values_that_look_like_users_are_looked_at_under_any_name(look, tmp_path):
    log = shop(1, 3000, 300, alike=0.3)
    log["contact"] = log.pop("user_id").map(LOOKS[look])
    log.to_parquet(tmp_path / "log.parquet", row_group_size=170)
    several = [find(tmp_path / "log.parquet", engine=engine) for engine in ENGINES]
    (memory, [finding]), (local, [other]) = several
    assert memory.design_effect == pytest.approx(local.design_effect, rel=1e-9)
    assert finding == other
    assert finding.severity == "caution"
    assert "(--group contact)" in finding.remedy


@pytest.mark.parametrize(
    "values", ["town {}".format, "{}".format, lambda user: user, lambda user: f"p{user % 9}@a.org"]
)
def test_columns_of_other_values_are_not(values):
    log = shop(1, 3000, 300, alike=0.3)
    log["contact"] = log.pop("user_id").map(values)
    found, findings = find(log)
    assert (found.design_effect, findings) == (None, [])


def test_what_looks_like_users_may_be_context():
    log = shop(1, 3000, 25, alike=0.3)
    log["contact"] = log.pop("user_id").map(LOOKS["addresses"])
    assert "contact" in cf.evaluate(log, "a", progress=False).contents.context
    assert find(log, context=["contact"])[0].design_effect is None
