"""Every estimator: one finite contribution per row, whatever their order; a value; bad parameters by name."""

import pickle
from dataclasses import dataclass, fields

import numpy as np
import pytest

import counterfold as cf
import reference
from counterfold.base import registry
from problems import close, dose_rows, rows_for, rows_of

NAMES = registry.names("estimators")


def test_every_estimator_has_a_reference():
    assert set(NAMES) == set(reference.FORMULAS)


def test_one_finite_contribution_per_row(kind):
    rows = rows_for(kind, 0)
    for candidate in [kind(), *kind.candidates(rows)]:
        result = candidate.contributions(rows)
        assert result.shape == (len(rows),)
        assert np.isfinite(result).all()


def test_order_of_rows_does_not_matter(kind):
    rows = rows_for(kind, 1)
    order = np.random.default_rng(0).permutation(len(rows))
    close(kind().contributions(rows.take(order)), kind().contributions(rows)[order])


def test_affine_terms_are_constants_plus_predictions_times_factors(kind):
    if not kind.is_affine:
        with pytest.raises(NotImplementedError, match="is not affine"):
            kind().factor_terms(rows_for(kind, 1))
        return
    rows = rows_for(kind, 1)
    constants, factors = kind().factor_terms(rows)
    close(kind().terms(rows), constants + (factors * rows.q).sum(axis=2))


def test_pickles_compares_and_hashes_by_value(kind):
    assert pickle.loads(pickle.dumps(kind())) == kind()  # noqa: S301 (our own bytes)
    assert hash(kind()) == hash(kind())


def test_bad_parameters_are_refused_by_name(kind):
    for field in fields(kind):
        for bad in (-1.0, float("nan"), "many", None, True):
            with pytest.raises(cf.ParameterError, match=rf"`{field.name}` must be .*, got "):
                kind(**{field.name: bad})


def test_rows_are_left_as_they_were(kind):
    rows = rows_for(kind, 2)
    before = [part.copy() for part in (rows.weights, rows.rewards, rows.q, rows.q_logged, rows.q_policy)]
    kind().contributions(rows)
    after = rows.weights, rows.rewards, rows.q, rows.q_logged, rows.q_policy
    for old, new in zip(before, after, strict=True):
        np.testing.assert_array_equal(old, new)


def test_without_any_weight_nothing_breaks(kind):
    data, doses = reference.random_data(3), reference.random_doses(3)
    data.target = np.zeros_like(data.target)
    data.target[np.arange(60), (data.a + 1) % 4] = 1.0
    doses.target = doses.target + 20.0
    rows = rows_of(data) if "labels" in kind.kinds else dose_rows(doses)
    assert not rows.weights.any()
    for candidate in [kind(), *kind.candidates(rows)]:
        assert np.isfinite(candidate.contributions(rows)).all()


# formulas of users


@dataclass(frozen=True)
class Capped(cf.DR):
    """DR with another formula, whose parent says how its own follows from predictions."""

    def contributions(self, rows):
        return rows.q_policy + np.minimum(rows.weights, 1.0) * rows.residuals


@dataclass(frozen=True)
class Tilted(cf.Estimator):
    """An estimator that looks at the context and at predictions."""

    needs = ("target_probs", "model")

    def contributions(self, rows):
        return rows.q_policy + rows.examples.context[:, 0]


@dataclass(frozen=True)
class TiltedMean(Tilted):
    """The same, but not row by row."""

    rowwise = False


def test_another_formula_is_not_affine_because_its_parent_is():
    rows = rows_of(reference.random_data(3))
    assert (cf.DR.is_affine, Capped.is_affine) == (True, False)
    order = np.random.default_rng(0).permutation(60)
    part = rows.take(order[:40])
    close(Capped().refit_values(rows, order, [40]), [Capped().value(part)])


@pytest.mark.parametrize("kind", [Tilted, TiltedMean])
@pytest.mark.parametrize("selector", ["ocv", "ocv:refit=False", "kfold-cv", "ladder"])
def test_a_users_formula_may_look_at_the_context(kind, selector):
    data = reference.random_data(4)
    log = cf.Log(context=data.x, action=data.a, reward=data.r, logging_probs=data.logging)
    found = cf.evaluate(log, data.target, candidates=[kind(), cf.DR()], selector=selector, progress=False)
    rows = rows_of(data, cf.CrossFitted())
    assert {one.name: one.value for one in found.table}[kind().name] == pytest.approx(kind().value(rows))
