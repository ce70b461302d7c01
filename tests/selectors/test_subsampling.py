"""Subsampling rules: those that can be known are found, odd rows are survived, and replicates do not leak."""

from functools import partial

import numpy as np
import pytest
import torch

import reference
from counterfold.selectors import _subsampling
from counterfold.selectors._subsampling import (
    Batches,
    Networks,
    TrainingRows,
    draw_parameters,
    objective,
    rules,
    train,
)
from counterfold.selectors._subsampling import Training as AllSettings
from counterfold.selectors.pasif import PASIF
from problems import rows_of


def rng(seed=0):
    return np.random.default_rng(seed)


def configure(**given):
    """Return the settings of PASIF, some of them changed."""
    selector = PASIF(**given)
    return AllSettings(**{name: getattr(selector, name) for name in AllSettings._fields})


def fitted(logged, training, replicates=2, *, alone=False):
    """Return the samples, and the rules of all replicates trained at once or each alone."""
    streams = [rng(seed) for seed in range(replicates)]
    samples = [stream.integers(len(logged.weights), size=len(logged.weights)) for stream in streams]
    if alone:
        each = zip(samples, streams, strict=True)
        return samples, [rules(logged, [sample], [stream], training)[0] for sample, stream in each]
    return samples, rules(logged, samples, streams, training)


def known(rho, context, ratio):
    """Return rows with weights from a rule that is scaled to take the same share of every row, and all weights."""
    draw = rng(1)
    probs = np.tile([0.4, 0.3, 0.2, 0.1], (len(context), 1))
    rho = ratio * rho / (probs * rho).sum(axis=1, keepdims=True)
    assert rho.max() < 0.9
    actions = (probs.cumsum(axis=1) > draw.random((len(context), 1))).argmax(axis=1)
    weights = rho / (1 - rho) * (1 - ratio) / ratio
    return TrainingRows(context, actions, weights[np.arange(len(context)), actions], probs), weights


def surrogate_weights(logged, sample, rho):
    share = (logged.probs[sample] * rho).sum(axis=1, keepdims=True)
    return rho / (1 - rho) * (1 - share) / share, share.mean()


# rules that can be known


@pytest.mark.parametrize("ratio", [0.2, 0.4])
def test_a_target_that_is_the_logging_policy_gives_weights_of_one(ratio):
    """Exact: any constant rule fits. Within 8 %, because dropout keeps the network moving around it."""
    logged, _ = known(np.ones((400, 4)), rng().normal(size=(400, 3)), ratio)
    np.testing.assert_allclose(logged.weights, 1.0)
    for sample, rho in zip(*fitted(logged, configure(ratio=ratio, patience=50, batch=100, epochs=300)), strict=True):
        weights, share = surrogate_weights(logged, sample, rho)
        assert np.sqrt(np.mean((weights - 1) ** 2)) < 0.08
        assert abs(share - ratio) < 0.03


RULES = {"context-free": [[0.7, 1.0, 1.3, 1.6]] * 2, "by context": [[0.7, 1.0, 1.3, 1.6], [1.4, 1.1, 0.8, 0.6]]}


@pytest.mark.parametrize(
    ("kind", "ratio"),
    [
        ("context-free", 0.2),
        ("by context", 0.4),
        pytest.param("context-free", 0.4, marks=pytest.mark.slow),
        pytest.param("by context", 0.2, marks=pytest.mark.slow),
    ],
)
def test_weights_from_a_known_rule_are_reproduced(kind, ratio):
    """The rule is found within 10 % (root mean square over all actions), and not by a constant, which is off by more.

    The rest is dropout: the network is trained with it and answers without it. The ratio may end anywhere within the
    tolerance of 0.02, and a little beyond for the same reason.
    """
    side = rng().integers(2, size=600)
    logged, wanted = known(np.array(RULES[kind])[side], 2.0 * side[:, None] - 1, ratio)
    for sample, rho in zip(*fitted(logged, configure(ratio=ratio, patience=50, batch=100, epochs=400)), strict=True):
        weights, share = surrogate_weights(logged, sample, rho)
        assert np.sqrt(np.mean((weights / wanted[sample] - 1) ** 2)) < 0.1 < np.std(wanted[sample]) / 2
        assert abs(share - ratio) < 0.03


def test_without_context_the_rule_depends_on_the_action_alone():
    logged, wanted = known(np.tile([0.7, 1.0, 1.3, 1.6], (400, 1)), np.empty((400, 0)), 0.3)
    training = configure(ratio=0.3, patience=50, batch=100, rate=0.01, epochs=150)
    for sample, rho in zip(*fitted(logged, training), strict=True):
        assert np.ptp(rho, axis=0).max() < 1e-12
        np.testing.assert_allclose(surrogate_weights(logged, sample, rho)[0], wanted[sample], rtol=0.1)


def test_huge_weights_constant_columns_and_many_actions_stay_finite():
    draw = rng()
    probs = draw.dirichlet(np.full(300, 0.05), size=50)
    actions = probs.argmax(axis=1)
    context = np.column_stack([np.zeros(50), draw.normal(size=50)])
    for weights in (np.full(50, 1e30), np.zeros(50), np.geomspace(1e-30, 1e30, 50)):
        for rho in fitted(TrainingRows(context, actions, weights, probs), configure(epochs=30))[1]:
            assert ((rho > 0) & (rho < 1)).all()


# streams


@pytest.mark.parametrize("batch", [1000, 30])
def test_replicates_learn_the_same_alone_and_in_company(batch):
    rows = rows_of(reference.random_data(0, rows=100))
    logged = TrainingRows(rows.examples.context, rows.actions, rows.weights, rows.logging_probs)
    training = configure(epochs=15, patience=2, batch=batch)
    together, alone = (fitted(logged, training, 5, alone=alone)[1] for alone in (False, True))
    for one, other in zip(together, alone, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)
    assert np.abs(together[0] - together[1]).max() > 0.01


def test_adam_against_torch():
    start = torch.tensor(rng().normal(size=(2, 5)))
    networks, theirs = Networks(start.clone()), start.clone().requires_grad_()
    adam = torch.optim.Adam([theirs], lr=0.1)
    for _ in range(20):
        theirs.grad = 4 * theirs.detach() ** 3
        adam.step()
        networks.step(4 * networks.flat**3, 0.1)
    np.testing.assert_allclose(networks.flat, theirs.detach(), rtol=1e-12)


def test_training_stops_when_patience_ends_and_keeps_the_best():
    networks = Networks(torch.zeros(3, 1))
    losses = [[3.0, 1.0, 1.0], [2.0, 1.0, 0.9995], [1.0, 2.0, 0.998], [float("nan"), 3.0, 1.0]]
    for epoch, loss in enumerate(losses):
        networks.flat = torch.full((3, 1), float(epoch))
        stale = networks.judge(torch.tensor(loss))
    assert stale.tolist() == [1, 3, 1]
    assert networks.best[:, 0].tolist() == [2, 0, 2]


def test_the_objective_against_naive_loop():
    draw = rng(5)
    logit, probs = draw.normal(size=(2, 6, 3)), draw.dirichlet(np.ones(3), size=(2, 6))
    actions, weights = draw.integers(3, size=(2, 6)), draw.gamma(1.0, size=(2, 6))
    batch = TrainingRows(torch.empty(2, 6, 0), *(torch.tensor(part) for part in (actions, weights, probs)))
    for ratio, tolerance in [(0.2, 0.02), (0.5, 1.0)]:
        found = objective(torch.tensor(logit), batch, configure(ratio=ratio, tolerance=tolerance))
        for k in range(2):
            misfit, shares = 0.0, []
            for i in range(6):
                rho = [1 / (1 + np.exp(-z)) for z in logit[k, i]]
                share = sum(p * r for p, r in zip(probs[k, i], rho, strict=True))
                mine = rho[actions[k, i]]
                misfit += (mine / (1 - mine) * (1 - share) / share - weights[k, i]) ** 2 / 6
                shares.append(share)
            off = sum((share - ratio) ** 2 for share in shares) / 6
            expected = misfit + (1000 if abs(sum(shares) / 6 - ratio) > tolerance else 100) * off
            assert found[k].item() == pytest.approx(expected, rel=1e-9)


def test_weights_are_clipped_and_epochs_that_run_out_leave_the_best():
    logged, _ = known(np.ones((60, 4)), rng().normal(size=(60, 2)), 0.2)
    sample = [np.arange(60)]
    huge = Batches(logged._replace(weights=np.full(60, 1e9)), sample, [rng()], 1000, "cpu")
    assert huge.rows.weights.max() == 1e7
    networks = Networks(torch.tensor(draw_parameters(2, 4, 0.2, rng())[None], dtype=torch.float32))
    batches = Batches(logged, sample, [rng()], 1000, "cpu")
    seen = []
    judge = networks.judge
    networks.judge = lambda losses: (seen.append((losses.item(), networks.flat.detach().clone())), judge(losses))[1]
    found = train(networks, batches, configure(epochs=40, patience=40, rate=0.5))
    best = min(seen, key=lambda pair: pair[0])
    assert best[0] < seen[-1][0] - 1e-3
    np.testing.assert_array_equal(found, best[1])


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("rows", [200, 2500])
def test_recorded_steps_learn_what_single_ones_do(rows, monkeypatch):
    """With one batch for all rows and with several, until each of the networks has stopped."""
    logged, _ = known(np.exp(rng().normal(size=(rows, 4)) / 4), rng(2).normal(size=(rows, 3)), ratio=0.2)
    training, samples = configure(), [rng(seed).integers(rows, size=rows) for seed in range(3)]

    def learn():
        return rules(logged, samples, [rng(seed) for seed in range(3)], training, "cuda")

    recorded = learn()
    monkeypatch.setattr(_subsampling, "choose_step", lambda *given: partial(_subsampling.take_one_step, *given))
    np.testing.assert_array_equal(recorded, learn())
