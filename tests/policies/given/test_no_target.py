"""No target, or the name of a column that a log in memory does not hold: what to give instead is said."""

import numpy as np
import pandas as pd
import pytest

import counterfold as cf

ROWS = 300
rng = np.random.default_rng(0)
LOG = pd.DataFrame({"age": rng.normal(size=ROWS), "action": rng.choice(["news", "sport"], ROWS), "propensity": 0.5})
LOG["reward"], LOG["new"] = rng.integers(2, size=ROWS), rng.choice(["news", "sport"], ROWS)
GIVE = r"Name the policy to evaluate, as `target=...` \(--target TARGET\): a column of its actions or probabilities, an"


@pytest.mark.parametrize("engine", ["memory", "local"])
@pytest.mark.parametrize("ask", [cf.evaluate, cf.check])
def test_no_target_at_all(ask, engine):
    with pytest.raises(cf.DataError, match=rf"^column `target` must be there, or be .* takes\. {GIVE}") as caught:
        ask(LOG, engine=engine)
    assert "Did you mean" not in str(caught.value)
    with pytest.raises(cf.ParameterError, match=r"^`target` must be the policy to evaluate: .*, got None\.$"):
        ask(LOG, None, engine=engine)


@pytest.mark.parametrize("name", ["new_policy", "Target"])
def test_a_column_that_is_called_like_one_is_suggested(name):
    with pytest.raises(
        cf.DataError, match=rf"Did you mean `{name}`\? Then name it: `target='{name}'` \(--target {name}\)"
    ):
        cf.evaluate(LOG.rename(columns={"new": name}))


@pytest.mark.parametrize("command", ["evaluate", "check", "compare"])
def test_commands_without_a_target(command, tmp_path, capsys, monkeypatch):
    from counterfold.cli import main

    LOG.to_csv(tmp_path / "log.csv", index=False)
    monkeypatch.setattr("sys.argv", ["counterfold", command, str(tmp_path / "log.csv")])
    with pytest.raises(SystemExit, match="2"):
        main()
    assert "(--target TARGET): a column of its actions or probabilities" in capsys.readouterr().err


NO_COLUMNS = (
    r"A `Log` holds no columns of targets: give the file or the data frame itself to `cf\.evaluate`, or the column as"
)


@pytest.mark.parametrize("name", ["new", "age"])
def test_a_log_in_memory_has_no_columns_of_targets(name):
    log = cf.read_log(LOG, ignore=["new"])
    for ask in (cf.evaluate, cf.check, lambda one, target: cf.estimate(one, target, "ips")):
        with pytest.raises(
            cf.DataError, match=rf"got '{name}'\..* {NO_COLUMNS} `cf\.read_target\(source, '{name}'\)`\."
        ):
            ask(log, name)
    assert cf.evaluate(log, cf.read_target(LOG, "new")).value == cf.evaluate(LOG, "new").value
