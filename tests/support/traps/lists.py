"""Lists with a number per action but without names, in an order that somebody must know."""

import json

import numpy as np
import pyarrow as pa

import counterfold as cf
from traps import REFUSED, RIGHT, Case, trap
from traps.bandits import make_bandit


def as_lists(bandit, **changes):
    """Return the bandit's table with lists for the target, in the order of `labels`."""
    spread = {f"target_{label}": None for label in bandit.labels}
    return bandit.table(**{"target": bandit.target.tolist()} | spread | changes)


def as_maps(matrix, names, turn=0):
    """Return a matrix as maps whose keys come in another order in every row."""
    order = [np.roll(np.arange(len(names)), row + turn) for row in range(len(matrix))]
    rows = [[(str(names[place]), matrix[row, place]) for place in places] for row, places in enumerate(order)]
    return pa.array(rows, pa.map_(pa.string(), pa.float64()))


@trap("lists without names for labels that are text; the order was not the alphabet's", REFUSED)
def lists_for_text_labels(rng):
    bandit = make_bandit(rng)
    return Case(as_lists(bandit), truth=bandit.truth)


@trap("none: the same with the order listed in `actions`", RIGHT)
def lists_with_listed_actions(rng):
    bandit = make_bandit(rng)
    return Case(as_lists(bandit), truth=bandit.truth, columns={"actions": bandit.labels})


@trap("none: lists follow an ordered categorical", RIGHT)
def lists_with_an_ordered_categorical(rng):
    bandit = make_bandit(rng)
    codes = pa.array(bandit.action.astype(np.int8))
    action = pa.DictionaryArray.from_arrays(codes, pa.array(bandit.labels), ordered=True)
    return Case(as_lists(bandit, action=action), truth=bandit.truth)


@trap("lists with a categorical whose order is that of the first rows", REFUSED)
def lists_with_an_unordered_categorical(rng):
    bandit = make_bandit(rng)
    action = pa.array([bandit.labels[code] for code in bandit.action]).dictionary_encode()
    return Case(as_lists(bandit, action=action), truth=bandit.truth)


@trap("none: lists follow the named columns of the logging policy", RIGHT)
def lists_beside_named_columns(rng):
    bandit = make_bandit(rng)
    named = {f"logging_probs_{label}": column for label, column in zip(bandit.labels, bandit.logging.T, strict=True)}
    return Case(as_lists(bandit, **named), truth=bandit.truth)


@trap("lists where the named columns and an ordered categorical say two different orders", REFUSED)
def lists_between_two_orders(rng):
    bandit = make_bandit(rng)
    names = bandit.labels
    named = {f"logging_probs_{names[place]}": bandit.logging[:, place] for place in (2, 0, 1)}
    codes = pa.array(bandit.action.astype(np.int8))
    action = pa.DictionaryArray.from_arrays(codes, pa.array(names), ordered=True)
    return Case(as_lists(bandit, action=action, **named), truth=bandit.truth)


@trap("lists beside maps of the logging policy, which have no order", REFUSED)
def lists_beside_maps(rng):
    bandit = make_bandit(rng)
    return Case(as_lists(bandit, logging_probs=as_maps(bandit.logging, bandit.labels)), truth=bandit.truth)


@trap("lists beside JSON objects of the logging policy, which have no order", REFUSED)
def lists_beside_json_objects(rng):
    bandit = make_bandit(rng)
    texts = [json.dumps(dict(zip(bandit.labels, row, strict=True))) for row in bandit.logging.tolist()]
    return Case(as_lists(bandit, logging_probs=texts), truth=bandit.truth)


@trap("lists beside structs of the logging policy, whose fields readers may have sorted", REFUSED)
def lists_beside_structs(rng):
    bandit = make_bandit(rng)
    rows = [dict(zip(bandit.labels, row, strict=True)) for row in bandit.logging.tolist()]
    return Case(as_lists(bandit, logging_probs=rows), truth=bandit.truth)


@trap("none: maps name every number, in another order in every row", RIGHT)
def maps_in_any_order(rng):
    bandit = make_bandit(rng)
    maps = {"target": as_maps(bandit.target, bandit.labels, turn=2)}
    maps |= {"logging_probs": as_maps(bandit.logging, bandit.labels)}
    return Case(as_lists(bandit, **maps), truth=bandit.truth)


@trap('none: lists for twelve actions that are numbers as text, "0" to "11"', RIGHT)
def lists_for_numbers_as_text(rng):
    bandit = make_bandit(rng, labels=[str(number) for number in range(12)], rows=4000)
    return Case(as_lists(bandit), truth=bandit.truth)


@trap("none: lists for actions that are numbered from 1 on", RIGHT)
def lists_for_labels_from_1_on(rng):
    bandit = make_bandit(rng, labels=(1, 2, 3, 4))
    return Case(as_lists(bandit), truth=bandit.truth)


@trap("lists for actions that are numbered from 1 on, of which the last was never logged", REFUSED)
def lists_for_labels_whose_last_is_missing(rng):
    bandit = make_bandit(rng, labels=(1, 2, 3, 4))
    bandit.logging = np.where([1, 1, 1, 0], bandit.logging, 0.0)
    bandit.logging /= bandit.logging.sum(axis=1, keepdims=True)
    bandit.action = (bandit.logging.cumsum(axis=1) > rng.random((len(bandit.logging), 1))).argmax(axis=1)
    bandit.reward = bandit.means[np.arange(len(bandit.action)), bandit.action] + rng.normal(size=len(bandit.action))
    return Case(as_lists(bandit, logging_probs=bandit.logging.tolist()), truth=bandit.truth)


@trap("lists for item numbers such as 17, 4 and 42", REFUSED)
def lists_for_item_numbers(rng):
    bandit = make_bandit(rng, labels=(17, 4, 42))
    return Case(as_lists(bandit), truth=bandit.truth)


@trap("a list of what was available, without names, for labels that are text", REFUSED)
def lists_of_availability(rng):
    bandit = make_bandit(rng)
    return Case(bandit.table(available=[[True, True, True]] * len(bandit.x)), truth=bandit.truth)


@trap("predictions as lists without names, for labels that are text", REFUSED)
def lists_of_predictions(rng):
    bandit = make_bandit(rng)
    return Case(bandit.table(q=bandit.means.tolist()), truth=bandit.truth, options={"reward_model": cf.Column("q")})


@trap("none: predictions as structs", RIGHT)
def structs_of_predictions(rng):
    bandit = make_bandit(rng)
    q = [dict(zip(bandit.labels, row, strict=True)) for row in bandit.means.tolist()]
    return Case(bandit.table(q=q), truth=bandit.truth, options={"reward_model": cf.Column("q")})


@trap("structs of predictions lack some", REFUSED)
def structs_of_predictions_with_nulls(rng):
    bandit = make_bandit(rng)
    rows = enumerate(bandit.means.tolist())
    q = [dict(zip(bandit.labels, [*row[:2], None if place % 7 == 0 else row[2]], strict=True)) for place, row in rows]
    return Case(bandit.table(q=q), truth=bandit.truth, options={"reward_model": cf.Column("q")})


@trap("maps of predictions lack some", REFUSED)
def maps_of_predictions_that_lack_some(rng):
    bandit = make_bandit(rng)
    rows = enumerate(bandit.means.tolist())
    q = [list(zip(bandit.labels, row, strict=True))[: 2 if place % 7 == 0 else 3] for place, row in rows]
    maps = pa.array(q, pa.map_(pa.string(), pa.float64()))
    return Case(bandit.table(q=maps), truth=bandit.truth, options={"reward_model": cf.Column("q")})
