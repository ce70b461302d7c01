"""Propensities that are fitted, on the command line."""

import json


def test_they_are_fitted_where_none_were_logged(run, save):
    path = save(logging_probs=None)
    code, out, err = run("evaluate", path)
    assert (code, out) == (2, "")
    assert "--propensity fit" in err
    code, out, err = run("evaluate", path, "--propensity", "fit")
    assert (code, err) == (0, "")
    assert "fitted by logistic" in out
    code, out, _ = run("evaluate", path, "--propensity", "fit:forest", "--json", "--require", "good")
    assert code == 3
    found = json.loads(out)
    assert found["log"]["fitted_propensities"]["classifier"] == "forest"
    findings = found["evaluations"][0]["diagnostics"]["findings"]
    [problem] = [one["problem"] for one in findings if one["name"] == "fitted-propensities"]
    assert problem.endswith("as if the old policy had looked at age, height alone")


def test_an_unknown_classifier(run, save):
    code, out, err = run("check", save(logging_probs=None), "--propensity", "fit:forrest")
    assert (code, out) == (2, "")
    assert err.endswith("got 'fit:forrest'. Did you mean `fit:forest`?\n")
