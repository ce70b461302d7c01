"""Pulls: how far rows move values by what reward models learn from them, against models fitted with a row less."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import softmax

import counterfold as cf
from counterfold.policies.given import as_target
from counterfold.selectors._model_pull import ModelPull

ROWS = 600


def draw_rows(model, counts=None, rows=ROWS):
    rng = np.random.default_rng(0)
    context = rng.normal(size=(rows, 2))
    scores = context @ rng.normal(size=(2, 3))
    logging, target = (softmax(bold * scores, axis=1) for bold in (0.5, 2.0))
    action = (logging.cumsum(axis=1) > rng.random((rows, 1))).argmax(axis=1)
    reward = scores[np.arange(rows), action] + rng.normal(size=rows)
    kept = None if counts is None else 1 / counts
    log = cf.Log(context=context, action=action, reward=reward, logging_probs=logging, actions=range(3), kept=kept)
    return cf.Rows.of(log, as_target(target, log), model)


@pytest.mark.parametrize("kept", [False, True], ids=["all rows", "some kept"])
@pytest.mark.parametrize("cap", [0.0, 1.0, np.inf])
def test_pulls_against_models_that_know_less_of_a_row(cap, kept):
    """A row that counts a little less moves the value by its pull, up to what it adds to its own prediction.

    With full weights the model and the residuals cancel but in rows of high leverage, and the correlation is lower.
    """
    counts = 1 + np.arange(ROWS) % 3.0 if kept else None
    rows = draw_rows(cf.CrossFitted(cf.SharedRidge(10.0, 1.0)), counts)
    estimator, tiny, known = cf.TruncatedSNDR(cap), 1e-4, np.ones(ROWS) if rows.counts is None else rows.counts
    moved = []
    for place in range(40):
        less = np.where(np.arange(ROWS) == place, 1 - tiny, 1.0) * known
        q = rows.model.predictions(replace(rows.examples, counts=less))
        moved.append((estimator.value(rows) - estimator.value(replace(rows, refit=lambda q=q: q))) / tiny)
    pulls = (ModelPull(cap).contributions(rows) * known / known.sum())[:40]
    assert np.corrcoef(moved, pulls)[0, 1] > (0.99 if cap <= 1 else 0.95)
    assert 0.95 < np.linalg.norm(pulls) / np.linalg.norm(moved) < 1.15


CAPS = [0.0, 1.0, np.inf]


@pytest.mark.parametrize("kept", [False, True], ids=["all rows", "some kept"])
def test_what_units_teach_gives_the_pulls_of_all_rows_in_sums(kept):
    """Sums over units of the scores of rows, times factors, against the pull of every row, summed over units."""
    rows = draw_rows(cf.CrossFitted(cf.SharedRidge(10.0, 1.0)), 1 + np.arange(ROWS) % 3.0 if kept else None)
    counts = np.ones(ROWS) if rows.counts is None else rows.counts
    unit = np.arange(ROWS) % 7
    parts = [slice(0, 200), slice(200, ROWS)]
    examples = [rows.examples.take(part) for part in parts]
    pairs = zip(examples, parts, strict=True)
    first, second = (rows.fitted.sum_lessons(some, rows.residuals[part], unit[part], 7) for some, part in pairs)
    found = rows.fitted.pull_values(rows.examples, CAPS, first + second) * counts.sum()
    for cap, line in zip(CAPS, found, strict=True):
        expected = np.bincount(unit, ModelPull(cap).contributions(rows) * counts)
        np.testing.assert_allclose(line, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize(("cap", "most"), [(0.0, 1.15), (1.0, 1.15), (np.inf, 1.3)])
def test_pulls_on_a_segment_against_models_that_know_less_of_a_row(cap, most):
    """Rows of all segments move the value of one, as models do that count one of them a little less.

    A pull goes by the error of models that never saw the row, which is larger by the row's leverage. With full weights
    little else is left: the model and the residuals cancel but in rows of high leverage. Over six other logs the
    correlations are 0.96 to 0.998.
    """
    rows = draw_rows(cf.CrossFitted(cf.SharedRidge(10.0, 1.0)))
    inside = np.flatnonzero(rows.examples.context[:, 0] > 0.3)
    estimator, tiny, moved = cf.TruncatedSNDR(cap), 1e-4, []
    for place in range(40):
        less = np.where(np.arange(ROWS) == place, 1 - tiny, 1.0)
        q = rows.model.predictions(replace(rows.examples, counts=less))
        before, after = (rows.take(inside, lambda q=one: q[inside]) for one in (rows.q, q))
        moved.append((estimator.value(before) - estimator.value(after)) / tiny)
    lessons = rows.fitted.sum_lessons(rows.examples, rows.residuals, np.arange(ROWS), ROWS)
    pulls = rows.fitted.pull_values(rows.examples.take(inside), [cap], lessons)[0, :40]
    assert np.corrcoef(moved, pulls)[0, 1] > 0.95
    assert 0.95 < np.linalg.norm(pulls) / np.linalg.norm(moved) < most


def test_pulls_tell_the_noise_of_dm():
    """Over 200 logs DM's standard deviation is what moves and pulls say, within 10 %."""
    rng = np.random.default_rng(1)
    context = rng.normal(size=(300, 2))
    scores = context @ rng.normal(size=(2, 3))
    logging, target = (softmax(bold * scores, axis=1) for bold in (0.5, 2.0))
    values, told = [], []
    for _ in range(200):
        action = (logging.cumsum(axis=1) > rng.random((300, 1))).argmax(axis=1)
        reward = scores[np.arange(300), action] + rng.normal(size=300)
        log = cf.Log(context=context, action=action, reward=reward, logging_probs=logging, actions=range(3))
        rows = cf.Rows.of(log, as_target(target, log), cf.CrossFitted())
        pulls = ModelPull(0.0).contributions(rows)
        values.append(cf.DM().value(rows))
        told.append(pulls.var() / 300)
    spread = np.std(values)  # the context is the same in all logs, so that nothing but what is learnt varies
    assert np.sqrt(np.mean(told)) == pytest.approx(spread, rel=0.1)


@pytest.mark.slow
@pytest.mark.statistical
def test_pulls_tell_the_noise_of_dm_in_a_segment():
    """Over 200 logs DM's standard deviation in a third of the rows is what pulls say, within 15 %.

    The standard deviation is known to 5 %: a right error fails with a chance of 0.3 %, and one that is a third too
    small passes with one below 0.1 %.
    """
    rng = np.random.default_rng(1)
    context = rng.normal(size=(900, 2))
    inside = np.flatnonzero(context[:, 0] > 0.4)
    scores = context @ rng.normal(size=(2, 3))
    logging, target = (softmax(bold * scores, axis=1) for bold in (0.5, 2.0))
    values, told = [], []
    for _ in range(200):
        action = (logging.cumsum(axis=1) > rng.random((900, 1))).argmax(axis=1)
        reward = scores[np.arange(900), action] + rng.normal(size=900)
        log = cf.Log(context=context, action=action, reward=reward, logging_probs=logging, actions=range(3))
        rows = cf.Rows.of(log, as_target(target, log), cf.CrossFitted())
        lessons = rows.fitted.sum_lessons(rows.examples, rows.residuals, np.arange(900), 900)
        moves = rows.fitted.pull_values(rows.examples.take(inside), [0.0], lessons)[0]
        values.append(rows.q_policy[inside].mean())
        told.append(np.square(moves).sum())
    spread = np.std(values)  # the context is the same in all logs, so that nothing but what is learnt varies
    assert np.sqrt(np.mean(told)) == pytest.approx(spread, rel=0.15)


def test_pulls_of_a_sample_are_those_of_all_rows():
    rows = draw_rows(cf.CrossFitted(cf.SharedRidge(10.0, 1.0)))
    whole = ModelPull(1.0).contributions(rows)
    part = replace(rows.take(slice(100, 200), lambda: rows.q[100:200]), whole=rows)
    np.testing.assert_allclose(ModelPull(1.0).contributions(part), whole[100:200], rtol=1e-12)


@pytest.mark.parametrize(
    ("model", "first"),
    [(cf.CrossFitted(), 0.0), (cf.CrossFitted(cf.RidgePerAction()), None), (cf.SharedRidge(), None), (None, None)],
    ids=["known", "of another model", "in sample", "no model"],
)
def test_a_ladder_starts_from_dm_only_if_the_noise_of_learning_is_known(model, first):
    rows = draw_rows(model)
    ladders = cf.Ladder().resolve(rows).ladders
    caps = [rung.max_weight for rung in ladders[-1]]
    assert (caps[0] == 0) == (first == 0)
    assert len(cf.Ladder().resolve(rows).pulls) == (len(caps) if first == 0 else 0)


def test_given_predictions_are_not_learnt_and_have_no_pulls():
    rows = draw_rows(cf.Given(np.zeros((ROWS, 3))))
    judge = cf.Ladder().resolve(rows)
    assert (judge.ladders[-1][0].max_weight, judge.pulls) == (0.0, {})
