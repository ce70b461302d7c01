"""Targets that are actions, or look like it: labels, 0/1 columns, mis-cased names, columns of another role."""

import unicodedata

import numpy as np
import pyarrow as pa

import counterfold as cf
from traps import REFUSED, RIGHT, Case, trap
from traps.bandits import make_bandit


def choose(bandit):
    """Return the codes of the best actions, and what always taking them is worth."""
    best = bandit.means.argmax(axis=1)
    return best, float(bandit.means.max(axis=1).mean())


def without_probabilities(bandit):
    """Return changes that leave out the columns of the target's probabilities."""
    return {f"target_{label}": None for label in bandit.labels}


def in_classes(rng, labels):
    """Return a bandit of two actions, of which the better one earns 0.9 and the other 0.1, by coin flips."""
    bandit = make_bandit(rng, labels=labels)
    bandit.logging = np.full_like(bandit.logging, 0.5)
    best = (bandit.x[:, 0] > 0).astype(int)
    bandit.action = rng.integers(2, size=len(best))
    bandit.means = np.where(np.eye(2)[best] == 1, 0.9, 0.1)
    bandit.reward = (rng.random(len(best)) < bandit.means[np.arange(len(best)), bandit.action]).astype(float)
    bandit.target = np.eye(2)[best]
    return bandit, best


@trap("the target is a 0/1 column of the actions it would take, where the actions are called 0 and 1", REFUSED)
def chosen_actions_as_0_and_1(rng):
    bandit, best = in_classes(rng, [0, 1])
    return Case(bandit.table(target=best, **without_probabilities(bandit)), truth=0.9)


@trap("the same with numbers that have a decimal point", REFUSED)
def chosen_actions_as_floats(rng):
    bandit, best = in_classes(rng, ["0", "1"])
    return Case(bandit.table(target=best.astype(float), **without_probabilities(bandit)), truth=0.9)


@trap("the same with a boolean column, where the actions are true and false", REFUSED)
def chosen_actions_as_booleans(rng):
    bandit, best = in_classes(rng, [False, True])
    return Case(bandit.table(target=best.astype(bool), **without_probabilities(bandit)), truth=0.9)


@trap("none: the 0/1 column is said to hold actions", RIGHT)
def chosen_actions_that_are_said_to_be(rng):
    bandit, best = in_classes(rng, [0, 1])
    return Case(bandit.table(chosen=best, **without_probabilities(bandit)), cf.Actions("chosen"), truth=0.9)


@trap("none: the 0/1 column is said to hold the target's probabilities of the logged actions", RIGHT)
def deterministic_probabilities_that_are_said_to_be(rng):
    bandit, best = in_classes(rng, [0, 1])
    agrees = (bandit.action == best).astype(float)
    table = bandit.table(agrees=agrees, **without_probabilities(bandit))
    return Case(table, cf.Probabilities("agrees"), truth=0.9)


@trap("none: a 0/1 column says whether the target agrees with the log, whose actions have other names", RIGHT)
def agreement_with_named_actions(rng):
    bandit, best = in_classes(rng, ["ad", "no ad"])
    agrees = (bandit.action == best).astype(float)
    return Case(bandit.table(target=agrees, **without_probabilities(bandit)), truth=0.9)


@trap("the target is a column of numbered actions, 0 to 2", REFUSED)
def chosen_actions_as_numbers(rng):
    bandit = make_bandit(rng, labels=(0, 1, 2))
    best, truth = choose(bandit)
    return Case(bandit.table(target=best, **without_probabilities(bandit)), truth=truth)


@trap("none: the target is a column of labels", RIGHT)
def chosen_actions_as_text(rng):
    bandit = make_bandit(rng)
    best, truth = choose(bandit)
    names = [bandit.labels[code] for code in best]
    return Case(bandit.table(target=names, **without_probabilities(bandit)), truth=truth)


@trap("none: the target is a categorical column of labels", RIGHT)
def chosen_actions_as_categories(rng):
    bandit = make_bandit(rng)
    best, truth = choose(bandit)
    names = pa.array([bandit.labels[code] for code in best]).dictionary_encode()
    return Case(bandit.table(target=names, **without_probabilities(bandit)), truth=truth)


@trap("none: the target always takes one action", RIGHT)
def one_label_as_target(rng):
    bandit = make_bandit(rng)
    return Case(bandit.table(), "green", truth=float(bandit.means[:, 1].mean()))


@trap("none: the target draws from the same probabilities in every row", RIGHT)
def shares_of_labels_as_target(rng):
    bandit = make_bandit(rng)
    truth = float((bandit.means @ [0.2, 0.3, 0.5]).mean())
    return Case(bandit.table(), {"red": 0.2, "green": 0.3, "blue": 0.5}, truth=truth)


@trap("shares of labels that do not sum to 1, as percentages", REFUSED)
def shares_of_labels_in_percent(rng):
    return Case(make_bandit(rng).table(), {"red": 20, "green": 30, "blue": 50})


@trap("chosen labels are written in another case", REFUSED)
def chosen_labels_mis_cased(rng):
    bandit = make_bandit(rng)
    best, truth = choose(bandit)
    names = [bandit.labels[code].title() for code in best]
    return Case(bandit.table(target=names, **without_probabilities(bandit)), truth=truth)


@trap("a struct of the target's probabilities names an action in another case", REFUSED)
def named_target_mis_cased(rng):
    bandit = make_bandit(rng)
    rows = [dict(zip(("red", "Green", "blue"), row, strict=True)) for row in bandit.target.tolist()]
    return Case(bandit.table(target=rows, **without_probabilities(bandit)), truth=bandit.truth)


@trap("maps of the target's probabilities name numbered actions with `.0`", RIGHT)
def named_target_with_decimal_points(rng):
    bandit = make_bandit(rng, labels=(1, 2, 3))
    rows = [list(zip(("1.0", "2.0", "3.0"), row, strict=True)) for row in bandit.target.tolist()]
    maps = pa.array(rows, pa.map_(pa.string(), pa.float64()))
    return Case(bandit.table(target=maps, **without_probabilities(bandit)), truth=bandit.truth)


@trap("some of the log's labels are in another case, or have a space behind", REFUSED)
def logged_labels_that_look_alike(rng):
    bandit = make_bandit(rng)
    names = [bandit.labels[code] for code in bandit.action]
    names = [f"{name.title()} " if row % 3 == 0 else name for row, name in enumerate(names)]
    return Case(bandit.table(action=names), truth=bandit.truth)


@trap("some of the log's labels are written in another Unicode form, as other programs write them", REFUSED)
def logged_labels_in_two_unicode_forms(rng):
    bandit = make_bandit(rng, labels=("caf\u00e9", "green", "blue"))
    names = [bandit.labels[code] for code in bandit.action]
    names = [unicodedata.normalize("NFD", name) if row % 3 == 0 else name for row, name in enumerate(names)]
    return Case(bandit.table(action=names, **without_probabilities(bandit)), cf.Uniform())


@trap("some of the log's labels hold a character that is not drawn (U+200B)", REFUSED)
def logged_labels_with_invisible_characters(rng):
    bandit = make_bandit(rng)
    names = [bandit.labels[code] for code in bandit.action]
    names = [f"{name}\u200b" if row % 3 == 0 else name for row, name in enumerate(names)]
    return Case(bandit.table(action=names, **without_probabilities(bandit)), cf.Uniform())


@trap("the actions that the target would take are in full-width letters", REFUSED)
def chosen_actions_in_full_width_letters(rng):
    bandit = make_bandit(rng)
    best, _ = choose(bandit)
    wide = {name: "".join(chr(ord(letter) + 0xFEE0) for letter in name) for name in bandit.labels}
    names = [wide[bandit.labels[code]] for code in best]
    return Case(bandit.table(target=names, **without_probabilities(bandit)))


@trap("the target is a 0/1 column of the context, such as the sex of a user", REFUSED)
def target_is_a_fact_of_the_context(rng):
    bandit = make_bandit(rng)
    mens = (bandit.x[:, 0] > 0).astype(int)
    return Case(bandit.table(mens=mens, **without_probabilities(bandit)), "mens")


@trap("none: a 0/1 column of another name is said to hold probabilities of the logged actions", RIGHT)
def deterministic_probabilities_under_another_name(rng):
    bandit = make_bandit(rng)
    best, truth = choose(bandit)
    table = bandit.table(agrees=(best == bandit.action).astype(int), **without_probabilities(bandit))
    return Case(table, cf.Probabilities("agrees"), truth=truth)


@trap("none: the file holds the probabilities of another policy, too, which is no context", RIGHT)
def probabilities_of_another_policy(rng):
    bandit = make_bandit(rng)
    scores = np.exp(3 * bandit.x[:, :1] * np.array([1.0, 0.0, -1.0]))
    shares = scores / scores.sum(axis=1, keepdims=True)
    others = {f"second_{label}": shares[:, place] for place, label in enumerate(bandit.labels)}
    return Case(bandit.table(**others), truth=bandit.truth)


@trap("the target is a copy of the logged action under another name", "mean-weight")
def target_is_a_copy_of_the_action(rng):
    bandit = make_bandit(rng)
    names = [bandit.labels[code] for code in bandit.action]
    return Case(bandit.table(target=names, **without_probabilities(bandit)))


@trap("a typo in the target's name", REFUSED)
def target_mistyped(rng):
    return Case(make_bandit(rng).table(), "taregt")


@trap("the probabilities of the target hold NaN in a struct", REFUSED)
def nan_in_a_struct_of_probabilities(rng):
    bandit = make_bandit(rng)
    probs = bandit.target.copy()
    probs[::10] = [0.5, 0.5, np.nan]
    rows = [dict(zip(bandit.labels, row, strict=True)) for row in probs.tolist()]
    return Case(bandit.table(target=rows, **without_probabilities(bandit)))


@trap("none: a struct has no value for actions that the target never takes there", RIGHT)
def nulls_in_a_struct_of_probabilities(rng):
    bandit = make_bandit(rng)
    best, truth = choose(bandit)
    rows = [{name: 1.0 if place == code else None for place, name in enumerate(bandit.labels)} for code in best]
    return Case(bandit.table(target=rows, **without_probabilities(bandit)), truth=truth)


@trap("a target in percent", REFUSED)
def target_in_percent(rng):
    bandit = make_bandit(rng)
    spread = {f"target_{label}": 100 * column for label, column in zip(bandit.labels, bandit.target.T, strict=True)}
    return Case(bandit.table(**spread))


@trap("none: a function that tells the actions knows the columns by their places, an index among them", RIGHT)
def actions_by_a_function_of_all_columns(rng):
    bandit = make_bandit(rng, labels=(0, 1))
    bandit.target = np.eye(2)[(bandit.x[:, 1] > 0).astype(int)]
    kept = {name: column for name, column in bandit.columns().items() if not name.startswith("target")}
    table = pa.table({"idx": np.arange(len(bandit.action)), **kept})
    return Case(table, cf.Actions(lambda context: (context[:, 2] > 0).astype(int)), truth=bandit.truth)


@trap("none: the target always takes an action that is called like the beginning of two columns", RIGHT)
def a_label_that_columns_begin_with(rng):
    bandit = make_bandit(rng, labels=("user", "item"))
    bandit.target = np.tile([1.0, 0.0], (len(bandit.action), 1))
    columns = {name: column for name, column in bandit.columns().items() if not name.startswith("target")}
    columns |= {"user_age": bandit.x[:, 0] + 40, "user_income": bandit.x[:, 1] + 9}
    return Case(pa.table(columns), cf.Actions("user"), truth=bandit.truth)


def add_scores(bandit, rows=None):
    """Return a log with a score for each action, which is its expected reward, as structs."""
    scores = bandit.means.tolist() if rows is None else rows
    named = [dict(zip(bandit.labels, row, strict=True)) for row in scores]
    return bandit.table(score=named, **without_probabilities(bandit))


@trap("none: the target takes the action with the largest score", RIGHT)
def largest_score_as_target(rng):
    bandit = make_bandit(rng)
    return Case(add_scores(bandit), "greedy:score", truth=choose(bandit)[1])


@trap("none: a tenth of the target's decisions are drawn at random", RIGHT)
def largest_score_with_exploration(rng):
    bandit = make_bandit(rng)
    truth = 0.1 * float(bandit.means.mean()) + 0.9 * choose(bandit)[1]
    return Case(add_scores(bandit), "0.1*uniform + 0.9*greedy:score", truth=truth)


@trap("scores are missing in some rows", REFUSED)
def missing_scores(rng):
    bandit = make_bandit(rng)
    rows = bandit.means.tolist()
    rows[len(rows) // 2][0] = None
    return Case(add_scores(bandit, rows), "greedy:score")


@trap("shares of a mixture do not sum to 1", REFUSED)
def shares_of_a_mixture(rng):
    return Case(add_scores(make_bandit(rng)), "0.1*uniform + greedy:score")


@trap("a policy looks at the reward, which is known only after the decision", REFUSED)
def policy_of_the_reward(rng):
    bandit = make_bandit(rng)
    target = cf.Function(lambda seen: np.where(seen["reward"] > 0.5, "red", "green"), columns=["reward"])
    return Case(bandit.table(), target)


@trap("the target is one column of several, each of which is about one action", REFUSED)
def one_of_several_columns(rng):
    bandit = make_bandit(rng)
    return Case(bandit.table(), f"target_{bandit.labels[0]}", truth=bandit.truth)


@trap("a policy is valued by the log that it was learnt from", "known-rows")
def policy_on_its_own_log(rng):
    bandit = make_bandit(rng)
    table = bandit.table(**without_probabilities(bandit))
    return Case(table, cf.learn(table, "greedy-learner", shares=1, progress=False).attempted)


@trap("a policy is valued by a quarter of a year, of which it was learnt from one month", "known-rows")
def policy_on_a_log_with_its_own_month(rng):
    bandit = make_bandit(rng)
    table = bandit.table(**without_probabilities(bandit))
    return Case(table, cf.learn(table.slice(0, 600), "greedy-learner", shares=1, progress=False).attempted)


@trap("none: a policy is valued by rows that came after those that it was learnt from", RIGHT)
def policy_on_later_rows(rng):
    bandit = make_bandit(rng)
    table = bandit.table(**without_probabilities(bandit))
    policy = cf.learn(table.slice(0, 1000), "greedy-learner", shares=1, progress=False).attempted
    bandit.target = policy.predict_proba(table)[:, [policy.labels.index(label) for label in bandit.labels]]
    later = slice(1000, None)
    return Case(table.slice(1000), policy, truth=float((bandit.target * bandit.means)[later].sum(axis=1).mean()))
