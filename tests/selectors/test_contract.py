"""Every selector: repeatable whatever the threads, and what is refused."""

from dataclasses import fields

import numpy as np
import pytest

import counterfold as cf
import reference
from counterfold.base import registry
from problems import log_of, rows_of, several_loggers

POOL = cf.Pool(threads=1)
CANDIDATES = [(name, parameters) for name, (_, parameters) in reference.OF_LABELS.items()]


def estimators():
    return [registry.find("estimators", name)(**parameters) for name, parameters in CANDIDATES]


def rng():
    return np.random.default_rng(42)


@pytest.mark.parametrize("name", registry.names("selectors"))
def test_every_selector_is_repeatable_whatever_the_threads(name):
    data = reference.random_data(11, rows=150)
    rows = rows_of(data, **several_loggers(data))
    selector, grid = registry.find("selectors", name)(), cf.DRos.candidates(rows)[::5]
    one, again, two = (selector.scores(rows, grid, rng(), cf.Pool(threads=threads)).tolist() for threads in (1, 1, 2))
    assert one == again == two


@pytest.mark.parametrize("name", registry.names("selectors"))
def test_every_selector_refuses_a_validator_that_does_not_apply(name):
    data = reference.random_data(12)
    log = cf.Log(action=data.a, reward=data.r, logging_probs=data.logging)
    kind = registry.find("selectors", name)
    if "validator" in {field.name for field in fields(kind)}:
        with pytest.raises(cf.ParameterError, match="the validator DR needs the target's probabilities of all actions"):
            cf.evaluate(log, data.target[np.arange(60), data.a], "ips", kind(validator=cf.DR()))


@pytest.mark.parametrize(
    "make",
    [
        lambda: cf.OCV(splits=1),
        lambda: cf.OCV(splits=2.5),
        lambda: cf.OCV(split_ratio=1.0),
        lambda: cf.OCV(split_ratio="even"),
        lambda: cf.OCV(rule="median"),
        lambda: cf.OCV(ratio_step=-1.0),
        lambda: cf.KFoldCV(folds=1),
        lambda: cf.KFoldCV(rule="none"),
    ],
)
def test_bad_parameters_are_refused(make):
    with pytest.raises(cf.ParameterError, match=r"`\w+` must be .*, got "):
        make()


def test_more_folds_than_rows_are_refused():
    with pytest.raises(
        cf.ParameterError, match=r"`folds` must be at most the number of rows or groups \(60\), got 61."
    ):
        cf.KFoldCV(folds=61).losses(rows_of(reference.random_data(13)), estimators(), rng(), POOL)


SUMMED = [name for name in registry.names("selectors") if "all_rows" not in registry.find("selectors", name).needs]


@pytest.mark.parametrize("name", SUMMED)
@pytest.mark.parametrize(("rows", "groups"), [(2, None), (3, None), (12, None), (40, np.arange(40) % 2)])
def test_the_noise_of_choosing_is_told_of_logs_of_few_units(name, rows, groups):
    data = reference.random_data(3, rows=rows)
    kind = registry.find("selectors", name)
    folds = {"folds": 2 if rows != 12 else 10} if name == "kfold-cv" else {}
    result = cf.evaluate(log_of(data, group=groups), data.target, ["ips", "dm", "snips"], kind(**folds))
    assert np.isfinite([result.value, result.stderr, *result.interval]).all()
