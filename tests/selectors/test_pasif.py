"""PAS-IF: surrogate policies and scores against naive loops, odd logs, and what it refuses."""

import json
import subprocess
import sys

import numpy as np
import pytest
import torch

import counterfold as cf
import reference
from counterfold.base import registry
from counterfold.selectors.pasif import PASIF, surrogates
from problems import log_of, rows_of

POOL = cf.Pool(threads=1)
QUICK = PASIF(replicates=3, epochs=5, device="cpu")


def rng(seed=0):
    return np.random.default_rng(seed)


def test_same_seed_same_scores_whatever_the_threads_and_another_seed_others():
    rows = rows_of(reference.random_data(1, rows=120))
    before = torch.get_num_threads()
    one, two, other = (
        QUICK.scores(rows, [cf.IPS(), cf.DR()], rng(seed), cf.Pool(threads)).tolist()
        for seed, threads in ((3, 1), (3, 2), (4, 1))
    )
    assert one == two
    assert not set(one) & set(other)
    assert torch.get_num_threads() == before


# against naive loops


def test_surrogate_policies_against_naive_loop():
    data = reference.random_data(2)
    [replicate, *_] = QUICK.draw_replicates(rows_of(data), rng(), POOL)
    probs = data.logging[replicate.sample]
    logging, target = surrogates(probs, replicate.rho)
    for i, rho in enumerate(replicate.rho):
        share = sum(probs[i, action] * rho[action] for action in range(4))
        for action in range(4):
            assert target[i, action] == pytest.approx(probs[i, action] * rho[action] / share)
            assert logging[i, action] == pytest.approx(probs[i, action] * (1 - rho[action]) / (1 - share))
    for policy in (logging, target):
        np.testing.assert_allclose(policy.sum(axis=1), 1.0)


def test_losses_against_naive_loop():
    """Candidates with a reward model are among them: it is fitted anew on the rows of the surrogate logging policy."""
    data = reference.random_data(3, rows=90)
    rows = rows_of(data)
    expected = []
    for sample, rho, taken in QUICK.draw_replicates(rows, rng(), POOL):
        part = data.take(sample[~taken])
        part.logging, part.target = surrogates(part.logging, rho[~taken])
        truth = sum(data.r[sample[taken]]) / sum(taken)
        expected.append([(reference.value(part, *pair, 1e-3) - truth) ** 2 for pair in reference.OF_LABELS.values()])
    estimators = [registry.find("estimators", name)(**fields) for name, (_, fields) in reference.OF_LABELS.items()]
    losses = QUICK.losses(rows, estimators, rng(), POOL)
    np.testing.assert_allclose(losses, np.transpose(expected), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(QUICK.scores(rows, estimators, rng(), POOL), np.mean(expected, axis=0), rtol=1e-9)


def test_rows_go_to_the_targets_part_as_often_as_the_rule_says():
    rows = rows_of(reference.random_data(4, rows=2000))
    [replicate] = PASIF(replicates=1, ratio=0.35, epochs=5, device="cpu").draw_replicates(rows, rng(), POOL)
    chance = replicate.rho[np.arange(2000), rows.actions[replicate.sample]]
    noise = np.sqrt(np.sum(chance * (1 - chance)))
    assert abs(replicate.taken.sum() - chance.sum()) < 4 * noise


def test_other_policies_change_weights_and_probabilities_alone():
    data = reference.random_data(5)
    swapped = rows_of(data).with_policies(data.target, data.logging)
    np.testing.assert_allclose(swapped.weights, 1 / rows_of(data).weights)
    np.testing.assert_array_equal(swapped.q, rows_of(data).q)
    assert cf.DM().value(swapped) == pytest.approx(np.sum(data.logging * swapped.q) / 60)


# small and odd logs


@pytest.mark.parametrize("batch", [2, 1000])
def test_two_rows_are_enough(batch):
    rows = rows_of(reference.random_data(6)).take(np.array([0, 1]))
    scores = PASIF(replicates=20, ratio=0.5, epochs=5, batch=batch, device="cpu").scores(rows, [cf.IPS()], rng(), POOL)
    assert np.isfinite(scores).all()


def test_one_row_is_refused():
    rows = rows_of(reference.random_data(6)).take(np.array([0]))
    with pytest.raises(
        cf.ParameterError, match=r"^PASIF needs more rows: each of its splits of 1 left one part empty.$"
    ):
        QUICK.scores(rows, [cf.IPS()], rng(), POOL)


def test_a_log_without_context_is_fine():
    data = reference.random_data(7)
    log = cf.Log(action=data.a, reward=data.r, logging_probs=data.logging)
    assert cf.evaluate(log, data.target, "ips", QUICK, threads=1).selected == "IPS"


def test_groups_are_drawn_whole():
    data = reference.random_data(8)
    group = rng().integers(7, size=60)
    rows = rows_of(data, group=group)
    for one in QUICK.draw_replicates(rows, rng(), POOL):
        times = np.bincount(one.sample, minlength=60)
        for number in range(7):
            assert len(set(times[rows.groups == number])) == 1
        assert len(set(times)) > 1
    assert np.isfinite(QUICK.scores(rows, [cf.IPS(), cf.DR()], rng(), POOL)).all()
    assert np.isfinite(QUICK.scores(rows.take(np.flatnonzero(rows.groups > 2)), [cf.IPS()], rng(), POOL)).all()


def test_a_target_known_for_the_logged_actions_is_enough():
    data = reference.random_data(9)
    log = log_of(data)
    found = cf.evaluate(log, data.target[np.arange(60), data.a], ["ips", "snips"], QUICK, threads=1)
    whole = cf.evaluate(log, data.target, ["ips", "snips"], QUICK, threads=1)
    assert [line.score for line in found.table] == pytest.approx([line.score for line in whole.table])


# refusals


def test_propensities_alone_are_refused():
    data = reference.random_data(10)
    log = cf.Log(action=data.a, reward=data.r, propensity=data.logging[np.arange(60), data.a])
    with pytest.raises(
        cf.ParameterError, match=r"^the selector PASIF needs the logging policy's probabilities of all actions, but "
    ):
        cf.evaluate(log, data.target, "ips", QUICK)


def test_without_torch_one_sentence_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(cf.ParameterError, match=r"^PASIF needs torch: pip install 'counterfold\[torch\]'.$"):
        QUICK.scores(rows_of(reference.random_data(11)), [cf.IPS()], rng(), POOL)


def test_a_gpu_that_is_not_there_is_refused_and_one_that_is_there_is_taken(monkeypatch):
    rows = rows_of(reference.random_data(11))
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert QUICK.scores(rows, [cf.IPS()], rng(), POOL) == PASIF(replicates=3, epochs=5).scores(
        rows, [cf.IPS()], rng(), POOL
    )
    with pytest.raises(
        cf.ParameterError, match=r"^`device` must be 'cpu' or 'auto' where torch finds no GPU, got 'cuda'.$"
    ):
        PASIF(device="cuda").scores(rows, [cf.IPS()], rng(), POOL)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_a_gpu_gives_finite_and_repeatable_scores():
    rows = rows_of(reference.random_data(1, rows=300))
    one, two = (PASIF(device="cuda").scores(rows, [cf.IPS(), cf.DR()], rng(), POOL).tolist() for _ in range(2))
    assert one == two
    assert np.isfinite(one).all()


@pytest.mark.parametrize(
    "bad",
    [
        {"replicates": 0},
        {"ratio": 0.0},
        {"ratio": 1.0},
        {"tolerance": -0.1},
        {"epochs": 0},
        {"patience": 1.5},
        {"batch": 1},
        {"rate": 0.0},
        {"device": "tpu"},
    ],
)
def test_bad_parameters_are_refused(bad):
    with pytest.raises(cf.ParameterError, match=r"`\w+` must be .*, got "):
        PASIF(**bad)


# by name


def test_by_name_in_evaluate():
    data = reference.random_data(12)
    result = cf.evaluate(log_of(data), data.target, selector="pasif:replicates=2:epochs=3:device=cpu", threads=1)
    assert result.selector == PASIF(replicates=2, epochs=3, device="cpu")
    assert result.selected == min(result.table, key=lambda line: line.score).name
    assert cf.evaluate(log_of(data), data.target, "ips", selector="pasif").selected == "IPS"


def test_by_name_on_the_command_line(run, save):
    code, out, err = run("evaluate", save(), "--selector", "pasif", "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["evaluations"][0]["selector"].startswith("PASIF(replicates=10, ratio=0.2,")


def test_on_the_command_line_propensities_alone_are_one_sentence(run, save, columns):
    code = [["red", "green", "blue"].index(action) for action in columns["action"]]
    propensity = columns["logging_probs"][np.arange(120), code]
    path = save(logging_probs=None, propensity=propensity)
    code, out, err = run("evaluate", path, "--selector", "pasif")
    assert (code, out) == (2, "")
    assert "PASIF needs the logging policy's probabilities of all actions" in err


def test_torch_is_not_imported_before_it_is_needed():
    script = "import sys, counterfold.cli, counterfold as cf; cf.PASIF(); print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_units_of_the_context_do_not_matter_and_by_default_the_ratio_lands():
    data = reference.random_data(12, rows=400)
    scaled = rows_of(data, cf.Given(np.zeros((400, 4))))
    data.x = data.x * [1e6, 1e-6, 1.0] + [1e7, 0.0, 3.0]
    raw = rows_of(data, cf.Given(np.zeros((400, 4))))
    one, other = (PASIF(replicates=4, device="cpu").draw_replicates(rows, rng(), POOL) for rows in (scaled, raw))
    for mine, same in zip(one, other, strict=True):
        np.testing.assert_allclose(mine.rho, same.rho, atol=1e-3)
        share = (data.logging[mine.sample] * mine.rho).sum(axis=1).mean()
        assert abs(share - 0.2) < 0.03
