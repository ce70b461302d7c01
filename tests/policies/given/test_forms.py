"""Every form of a target is the policy that it says it is: in memory, from a table and by each engine."""

import numpy as np
import pyarrow as pa
import pytest

import counterfold as cf
from counterfold.base import registry
from counterfold.io.schema.resolution import resolve_columns
from counterfold.policies.given import as_target
from scored_logs import LABELS, ROWS, be_greedy, be_soft, make_columns, make_table

EQUAL = np.full((ROWS, 3), 1 / 3)
ONE = np.tile([0.0, 0.0, 1.0], (ROWS, 1))

FORMS = {
    "uniform": (cf.Uniform(), lambda _: EQUAL),
    "logger": (cf.Logger(), lambda known: known["logging_probs"]),
    "always:big blue": (cf.Always("big blue"), lambda _: ONE),
    "greedy:score": (cf.Greedy("score"), lambda known: be_greedy(known["score"])),
    "softmax:score": (cf.Softmax("score"), lambda known: be_soft(known["score"], 1.0)),
    "softmax:score:temperature=0.3": (cf.Softmax("score", 0.3), lambda known: be_soft(known["score"], 0.3)),
    "actions:chosen": (cf.Actions("chosen"), lambda known: be_greedy(known["policy"])),
    "0.1*uniform + 0.9*greedy:score": (
        0.1 * cf.Uniform() + 0.9 * cf.Greedy("score"),
        lambda known: 0.1 * EQUAL + 0.9 * be_greedy(known["score"]),
    ),
    "0.25*logger + 0.75*policy": (
        cf.Mixture([(0.25, cf.Logger()), (0.75, "policy")]),
        lambda known: 0.25 * known["logging_probs"] + 0.75 * known["policy"],
    ),
    "0.5*big blue+.5*'policy'": (
        np.float64(0.5) * cf.Always("big blue") + 0.5 * cf.Mixture([(1, "policy")]),
        lambda known: 0.5 * ONE + 0.5 * known["policy"],
    ),
}


@pytest.mark.parametrize("text", FORMS)
def test_by_every_engine_it_is_the_matrix_worked_out_by_hand(text, columns, agree):
    form, by_hand = FORMS[text]
    for target in (text, form):
        agree(target, by_hand(columns))


@pytest.mark.parametrize("layout", ["struct", "maps", "lists", "spread"])
@pytest.mark.parametrize("form", [cf.Greedy, cf.Softmax])
def test_scores_may_be_laid_out_as_probabilities_are(form, layout, columns, read):
    table = make_table(columns, layout=layout)
    wanted = be_greedy(columns["score"]) if form is cf.Greedy else be_soft(columns["score"], 1.0)
    np.testing.assert_allclose(read(table, form("score"), actions=LABELS), wanted, rtol=1e-12)


def test_scores_may_be_listed_in_any_order_or_mapped(columns, read):
    table = make_table(columns, layout="spread")
    wanted = be_greedy(columns["score"])
    names = ["score_green", "score_red", "score_big blue"]
    for target in (cf.Greedy(names), f"greedy:{','.join(names)}", "greedy:score_green, score_red,'score_big blue'"):
        np.testing.assert_array_equal(read(table, target, actions=LABELS), wanted)
    others = table.rename_columns([name.replace("score_", "s.") for name in table.column_names])
    named = cf.Greedy({"big blue": "s.big blue", "red": "s.red", "green": "s.green"})
    np.testing.assert_array_equal(read(others, named, actions=LABELS), wanted)


def test_scores_may_be_numbers_or_a_function(columns, log):
    wanted = be_greedy(columns["score"])
    for scores in (columns["score"], columns["score"].tolist(), lambda _: columns["score"]):
        np.testing.assert_array_equal(as_target(cf.Greedy(scores), log).probs, wanted)
    by_name = pa.table({label: columns["score"][:, place] for place, label in reversed(list(enumerate(LABELS)))})
    np.testing.assert_array_equal(as_target(cf.Greedy(by_name), log).probs, wanted)


@pytest.fixture
def masked(columns):
    """Return a log in which some actions are not available, and have no score there."""
    rng = np.random.default_rng(3)
    code = np.array([LABELS.index(one) for one in columns["action"]])
    available = rng.random((ROWS, 3)) < 0.6
    available[np.arange(ROWS), code] = True
    columns = {name: values for name, values in columns.items() if name != "logging_probs"}
    scores = np.where(available, columns["score"], np.nan)
    return columns | {"available": available.astype(float), "score": scores}, available


def test_only_available_actions_are_chosen(masked, agree):
    columns, available = masked
    table, scores = make_table(columns), np.nan_to_num(columns["score"])
    agree("uniform", available / available.sum(axis=1, keepdims=True), table)
    agree("greedy:score", be_greedy(scores, available), table)
    agree("softmax:score:temperature=2", be_soft(scores, 2.0, available), table)


def test_maps_may_leave_out_what_is_not_available(masked, agree):
    columns, available = masked
    known = [
        [(label, score) for label, score in zip(LABELS, row, strict=True) if not np.isnan(score)]
        for row in columns["score"].tolist()
    ]
    table = make_table(columns).drop_columns(["score"])
    table = table.append_column("score", pa.array(known, pa.map_(pa.string(), pa.float64())))
    agree("greedy:score", be_greedy(np.nan_to_num(columns["score"]), available), table)


def test_missing_scores_are_refused_with_rows_and_actions(columns, save):
    scores = columns["score"].copy()
    scores[[17, 400], 2] = np.nan
    path = save(make_table(columns | {"score": scores}))
    for target in ("greedy:score", cf.Softmax("score"), "0.5*uniform + 0.5*greedy:score"):
        for engine, count in (("memory", "2 of 600 rows"), ("local", "1 of 150 rows|2 of 600")):
            message = (
                rf"must be scores of all actions that can be chosen, got nan in ({count}).*There is none for big blu"
            )
            with pytest.raises(cf.DataError, match=message):
                cf.evaluate(path, target, engine=engine)


def test_large_scores_and_low_temperatures_do_not_overflow(log):
    scores = np.tile([1e50, -1e50, 0.0], (ROWS, 1))
    for temperature in (1e-300, 1e-3, 1.0):
        probs = as_target(cf.Softmax(scores, temperature), log).probs
        np.testing.assert_array_equal(probs, np.tile([1.0, 0.0, 0.0], (ROWS, 1)))
    flat = as_target(cf.Softmax(scores / 1e50, 1e300), log).probs
    np.testing.assert_allclose(flat, EQUAL)


def test_a_log_with_propensities_alone_knows_its_own_policy_for_the_logged_actions(columns, save):
    path = save(make_table({name: one for name, one in columns.items() if name != "logging_probs"}))
    for engine in ("memory", "local"):
        alone = cf.evaluate(path, "logger", ["ips"], engine=engine, progress=False)
        assert alone.value == pytest.approx(columns["reward"].mean(), rel=1e-12)
        mixed = cf.evaluate(path, "0.5*logger + 0.5*policy", ["ips"], engine=engine, progress=False)
        half = cf.evaluate(path, "policy", ["ips"], engine=engine, progress=False)
        assert mixed.value == pytest.approx((alone.value + half.value) / 2, rel=1e-12)


def test_columns_of_scores_are_no_context(columns, save):
    path = save(make_table(columns, layout="spread"))
    for engine in ("memory", "local"):
        result = cf.evaluate(path, "greedy:score", ["ips"], engine=engine, progress=False)
        assert result.value
    table = make_table(columns, layout="spread")
    reader_columns = resolve_columns(cf.LogScan(table), table, ["score", "policy"]).context.names
    assert list(reader_columns) == ["age", "height", "city", "chosen"]
    with pytest.raises(cf.DataError, match="`context` must not hold column `score_red`, which is the target"):
        cf.evaluate(path, "greedy:score", context=["age", "score_red"])


@pytest.mark.parametrize("labels", [(0, 1, 2), ("0", "1", "2"), (10, 20, 30), (True, False, 2)][:3])
def test_actions_may_be_numbers_or_texts_of_them(labels, read):
    columns = make_columns(labels)
    spread = make_table(columns, labels, layout="spread")
    roles = {"actions": labels}
    wanted = be_greedy(columns["score"])
    np.testing.assert_array_equal(read(spread, "greedy:score", **roles), wanted)
    listed = ",".join(f"score_{label}" for label in labels)
    np.testing.assert_array_equal(read(spread, f"greedy:{listed}", **roles), wanted)
    np.testing.assert_array_equal(read(spread, f"always:{labels[2]}", **roles), ONE)


def test_several_targets_are_evaluated_at_once(columns, save):
    path, wanted = save(make_table(columns)), ["uniform", "greedy:score", "policy", "0.2*uniform+0.8*policy"]
    for engine in ("memory", "local"):
        found = cf.evaluate(path, {name: name for name in wanted}, ["ips"], engine=engine, progress=False)
        mixed = 0.2 * found["uniform"].value + 0.8 * found["policy"].value
        assert found["0.2*uniform+0.8*policy"].value == pytest.approx(mixed, rel=1e-12)


def test_every_form_is_public_and_says_how_it_is_written():
    for name in registry.names("targets"):
        form = registry.find("targets", name)
        assert getattr(cf, form.__name__) is form
        assert form.syntax
        assert form.__doc__
