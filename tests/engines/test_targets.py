"""Targets that are actions: the same answers by memory and by local, from columns, labels, shares and functions."""

import numpy as np
import pytest

import counterfold as cf
from large_logs import ROWS, both, made, refused, same, with_column


@pytest.fixture
def chosen():
    return np.random.default_rng(5).integers(4, size=ROWS)


def choose_by_context(context):
    return np.where(context[:, 0] > 0, 3, 1)


TARGETS = {
    "numbers": cf.Actions("chosen"),
    "texts": "text",
    "categories": "category",
    "a label": "2",
    "a number": cf.Actions(2),
    "shares": {"0": 0.25, 3: 0.75},
    "a function": cf.Actions(choose_by_context),
}


@pytest.mark.parametrize("known", ["logging_probs", "propensity"])
@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
def test_local_gives_the_answer_of_memory(target, known, table, chosen, save_table):
    import pyarrow as pa

    texts = pa.array(chosen.astype(str))
    more = {"chosen": pa.array(chosen), "text": texts, "category": texts.dictionary_encode()}
    for name, column in more.items():
        table = table.append_column(name, column)
    table = table if known == "logging_probs" else table.drop_columns(["logging_probs"])
    scan = cf.LogScan(save_table(table), context=["x0", "x1", "x2"])
    same(*both(scan, target))


def test_probabilities_of_logged_actions_may_be_0_and_1(table, chosen, save_table):
    agrees = (table.column("action").to_numpy() == chosen).astype(float)
    path = save_table(table.append_column("agrees", [agrees]))
    refused(path, "`target` .column `agrees`. must be numbers that can only be probabilities", target="agrees")
    same(*both(path, cf.Probabilities("agrees"), ["ips", "snips"]))


def test_a_later_batch_of_0_and_1_is_no_mistake(save_table):
    lone = made(ROWS, logged_only=True, targets=1, context=0)
    values = lone.column("target").to_numpy().copy()
    values[-100:] = np.arange(100) % 2
    same(*both(save_table(with_column(lone, "target", values), row_group_size=100), candidates=["ips", "snips"]))


def test_labels_that_only_later_rows_hold_are_known(table, save_table):
    names = np.array(["a", "b", "c", "d"])
    order = np.argsort(table.column("action").to_numpy(), kind="stable")
    named = with_column(table, "action", names[table.column("action").to_numpy()]).drop_columns(["logging_probs"])
    path = save_table(named.take(order), row_group_size=100)
    same(*both(path, "d"))
    refused(path, "column `e` must be there, or be an action", target="e")


def test_many_actions_are_spread_over_few_rows_at_a_time(table, chosen, save_table, monkeypatch):
    path = save_table(table.append_column("chosen", [chosen]), row_group_size=ROWS)
    scan = cf.LogScan(path, context=["x0"])
    whole = both(scan, cf.Actions("chosen"))
    monkeypatch.setattr("counterfold.base.capacity.NUMBERS", 1 << 9)
    same(whole[0], both(scan, cf.Actions("chosen"))[1])


def test_a_reward_that_is_the_propensity_is_refused(table, save_table):
    path = save_table(with_column(table, "reward", table.column("propensity")))
    refused(path, "`reward` and `propensity` must be two different things, got the same number in all 3000 rows")


def test_arrays_are_refused_where_the_log_is_not_in_memory(chosen, table, save_table):
    with pytest.raises(cf.ParameterError, match="`target` must be the name of a column, a label, or a function of the"):
        cf.evaluate(save_table(table), cf.Actions(chosen), engine="local")
