"""Targets: actions as labels, one label, shares of labels; what could be read in two ways; and the log's own rows."""

import numpy as np
import pyarrow as pa
import pytest

import counterfold as cf

ROWS = 40
LABELS = ("no ad", "banner", "mail")


@pytest.fixture
def codes():
    return np.random.default_rng(0).integers(3, size=(2, ROWS))


@pytest.fixture
def make_log(codes):
    def build(labels=LABELS, **changes):
        rng = np.random.default_rng(1)
        known = {"context": rng.normal(size=(ROWS, 2)), "action": np.array(labels)[codes[0]]}
        return cf.Log(**known | {"reward": rng.normal(size=ROWS), "propensity": np.full(ROWS, 1 / 3)} | changes)

    return build


def value(log, target):
    """Return what depends on every probability of the target."""
    return cf.estimate(log, target, cf.DR(), reward_model="shared-ridge").value


def one_hot(log, labels):
    return pa.table({label: (np.asarray(labels) == label).astype(float) for label in log.actions})


CONTAINERS = {
    "numpy": lambda labels: labels,
    "list": lambda labels: labels.tolist(),
    "objects": lambda labels: labels.astype(object),
    "arrow": pa.array,
    "dictionary": lambda labels: pa.array(labels).dictionary_encode(),
    "pandas": lambda labels: pytest.importorskip("pandas").Series(labels),
    "categorical": lambda labels: pytest.importorskip("pandas").Series(labels, dtype="category"),
    "polars": lambda labels: pytest.importorskip("polars").Series(labels.tolist()),
    "function": lambda labels: lambda _context: labels,
    "actions": cf.Actions,
    "function of actions": lambda labels: cf.Actions(lambda _context: labels),
}


@pytest.mark.parametrize("container", CONTAINERS.values(), ids=CONTAINERS)
def test_labels_are_a_policy(container, make_log, codes):
    log, chosen = make_log(), np.array(LABELS)[codes[1]]
    assert value(log, container(chosen)) == value(log, one_hot(log, chosen))


def test_a_label_is_a_policy_that_always_does_that(make_log):
    log = make_log()
    expected = value(log, one_hot(log, ["mail"] * ROWS))
    assert value(log, "mail") == value(log, cf.Actions("mail")) == value(log, {"mail": 1.0}) == expected
    numbered = make_log((1, 2, 3))
    assert value(numbered, 3) == value(numbered, cf.Actions("3")) == value(numbered, cf.Actions(3.0))


def test_shares_of_labels_are_one_target(make_log):
    log = make_log()
    q = pa.table({label: np.random.default_rng(place).normal(size=ROWS) for place, label in enumerate(LABELS)})
    mixed = cf.evaluate(log, {"mail": 0.25, "banner": 0.75}, ["dm"], reward_model=q)
    parts = [cf.evaluate(log, one, ["dm"], reward_model=q).value for one in ("mail", "banner")]
    assert mixed.value == pytest.approx(np.dot([0.25, 0.75], parts))
    several = cf.evaluate(log, {"always": "mail", "mixed": {"mail": 0.25, "banner": 0.75}}, ["dm"], reward_model=q)
    assert [one.value for one in several.values()] == [parts[0], mixed.value]


def test_categories_of_numbers_are_labels(make_log, codes):
    pd = pytest.importorskip("pandas")
    log, chosen = make_log((0, 1, 2)), pd.Series(codes[1]).astype("category")
    assert value(log, chosen) == value(log, cf.Actions(codes[1]))


def test_times_are_labels(make_log, codes):
    days = np.array(["2024-01-01", "2024-01-02", "2024-01-03"], dtype="M8[D]")
    log = make_log(days)
    assert value(log, days[codes[1]]) == value(log, one_hot(log, days[codes[1]].astype(str)))


# what could be read in two ways


AMBIGUOUS = {
    "whole numbers": ((0, 1, 2), int),
    "floats": ((0, 1, 2), float),
    "texts": (("0", "1", "2"), float),
    "float labels": ((0.0, 1.0, 2.0), int),
    "booleans": ((0, 1, 2), bool),
}


@pytest.mark.parametrize(("labels", "kind"), AMBIGUOUS.values(), ids=AMBIGUOUS)
def test_0_and_1_are_refused_where_actions_are_called_so(labels, kind, make_log, codes):
    log, numbers = make_log(labels), (codes[1] % 2).astype(kind)
    with pytest.raises(cf.DataError, match=r"got 0 and 1 alone, .* `cf\.Actions\(\.\.\.\)` .* `cf\.Probabilities\("):
        cf.evaluate(log, numbers)
    assert value(log, cf.Actions(numbers.astype(int))) != 0
    logged = cf.estimate(log, cf.Probabilities(numbers), cf.IPS()).value
    assert logged == pytest.approx(float((3 * numbers * log.reward).mean()))


def test_0_and_1_are_probabilities_where_they_can_be_nothing_else(make_log, codes):
    agrees = (codes[0] == codes[1]).astype(float)
    for labels in (LABELS, (1, 2, 3), (10, 11, 12)):
        log = make_log(labels)
        expected = float((3 * agrees * log.reward).mean())
        assert cf.estimate(log, agrees, cf.IPS()).value == pytest.approx(expected)
    probs = np.where(agrees == 1, 1.0, 0.25)
    assert cf.estimate(make_log((0, 1, 2)), probs, cf.IPS()).value != 0


# rows of pandas


@pytest.fixture
def frames(make_log, codes):
    pd = pytest.importorskip("pandas")
    log = make_log()
    names = [f"visit {row}" for row in range(ROWS)]
    data = pd.DataFrame({"reward": log.reward, "action": np.array(LABELS)[codes[0]], "p": log.propensity}, index=names)
    target = pd.DataFrame(np.random.default_rng(2).dirichlet([1, 1, 1], size=ROWS), columns=list(LABELS), index=names)
    context = pd.DataFrame(log.context, index=names)
    return data, context, target


def log_of(data, context, **changes):
    columns = {"reward": data["reward"], "action": data["action"], "propensity": data["p"], "context": context}
    return cf.Log(**columns | changes)


def test_rows_are_put_in_the_order_of_the_log(frames):
    data, context, target = frames
    turned = target.sample(frac=1, random_state=0)
    expected = value(log_of(data, context), target)
    assert value(log_of(data, context), turned) == expected
    assert value(log_of(data, context[::-1]), turned) == expected
    q = target * 2.0
    for predictions in (q, q[::-1]):
        assert cf.estimate(log_of(data, context), target, cf.DM(), reward_model=predictions).value == pytest.approx(
            float((target * q).to_numpy().sum(axis=1).mean())
        )


def test_the_log_keeps_the_order_of_the_actions(frames):
    data, context, _ = frames
    log = log_of(data, context, reward=data["reward"].sort_values())
    assert log.reward.tolist() == data["reward"].tolist()


def test_other_rows_are_refused_and_arrays_go_by_position(frames):
    data, context, target = frames
    log = log_of(data, context, actions=LABELS)
    other = target.rename(index={"visit 3": "visit 99"})
    with pytest.raises(
        cf.DataError, match=r"`target` must have the index of the log, got another one in 1 of 40 rows, "
    ):
        value(log, other)
    with pytest.raises(
        cf.DataError, match=r"`context` must have the index of the log, got another one in 40 of 40 row"
    ):
        log_of(data, context.reset_index(drop=True))
    assert value(log, target.to_numpy()) == value(log, target)


def test_repeated_labels_are_fine_in_the_same_order_alone(frames):
    data, context, target = frames
    names = [f"user {row // 2}" for row in range(ROWS)]
    data, context, target = (one.set_axis(names) for one in frames)
    log = log_of(data, context)
    assert value(log, target) == value(log, target)
    with pytest.raises(cf.DataError, match="must have the index of the log"):
        value(log, target[::-1])


def test_what_a_function_makes_of_the_context_is_in_the_order_of_the_log(frames):
    pd = pytest.importorskip("pandas")
    data, context, target = frames
    log = log_of(data, context)
    assert value(log, lambda _: pd.DataFrame(target.to_numpy(), columns=list(LABELS))) == value(log, target)


def test_a_frame_keeps_its_index_when_it_is_read(frames):
    data, _, target = frames
    data = data.rename(columns={"p": "propensity"})
    expected = cf.evaluate(data, target, ["ips"]).value
    assert cf.evaluate(data, target[::-1], ["ips"]).value == expected
    assert cf.evaluate(cf.read_log(data), target[::-1], ["ips"]).value == expected
