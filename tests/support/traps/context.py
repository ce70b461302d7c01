"""Columns that are no context: outcomes, copies of the reward, indices, what follows from the action."""

import numpy as np
import pyarrow as pa

from traps import RIGHT, Case, trap
from traps.bandits import draw, make_bandit, softmax

EMAILS = ("no e-mail", "men's", "women's")


def make_mailing(rng, rows, **more):
    """Return a trial of e-mails like Hillstrom's: who visits may buy, and who buys spends; and its truth."""
    recency, newbie = rng.integers(1, 13, rows), rng.random(rows) < 0.5
    history = np.exp(rng.normal(5.0, 1.0, rows))
    mens = rng.random(rows) < 0.55
    womens = ~mens | (rng.random(rows) < 0.2)
    interest = np.column_stack([np.zeros(rows), 0.5 + 0.4 * mens, 0.2 + 0.6 * womens])
    visits = 1 / (1 + np.exp(2.2 + 0.06 * (recency[:, None] - 6) - interest))
    action = rng.integers(3, size=rows)
    visit = rng.random(rows) < visits[np.arange(rows), action]
    conversion = visit & (rng.random(rows) < 0.08)
    spend = np.where(conversion, rng.lognormal(4.6, 0.5, rows), 0.0)
    target = softmax(4.0 * interest)
    columns = {"recency": recency, "history": history, "mens": mens, "womens": womens, "newbie": newbie}
    columns |= {"visit": visit.astype(int), "conversion": conversion.astype(int), "spend": spend}
    columns |= {"segment": np.array(EMAILS)[action], "propensity": np.full(rows, 1 / 3)}
    columns |= {f"target_{label}": column for label, column in zip(EMAILS, target.T, strict=True)}
    columns |= {name: make(visit, action) for name, make in more.items()}
    truth = float((target * visits).sum(axis=1).mean()) * 0.08 * float(np.exp(4.6 + 0.5**2 / 2))
    return {key: column for key, column in columns.items() if column is not None}, truth


def mailing(columns, truth, **more):
    named = {"action": "segment", "reward": "spend"}
    return Case(pa.table(columns), truth=truth, columns=named | more)


@trap("visits and purchases beside what was spent (64,000 customers, as in Hillstrom's trial)", RIGHT)
def outcomes_beside_the_reward(rng):
    return mailing(*make_mailing(rng, 64_000))


@trap("visits and purchases beside what was spent (5,000 customers)", RIGHT)
def outcomes_beside_the_reward_of_few_customers(rng):
    return mailing(*make_mailing(rng, 5_000))


@trap("visits and purchases beside what was spent, all probabilities logged", RIGHT)
def outcomes_beside_the_reward_and_all_probabilities(rng):
    columns, truth = make_mailing(rng, 20_000, propensity=lambda *_: None)
    columns |= {f"logging_probs_{label}": np.full(20_000, 1 / 3) for label in EMAILS}
    return mailing(columns, truth)


@trap("the pages that a customer looked at after the e-mail, not named as an outcome", "outcome-context")
def outcome_that_nothing_gives_away(rng):
    columns, truth = make_mailing(rng, 20_000, pages=lambda visit, _: 1 + visit * rng.poisson(3, len(visit)))
    return mailing(columns, truth)


@trap("visits named as context of what was spent", "outcome-context")
def outcome_named_as_context(rng):
    return mailing(*make_mailing(rng, 20_000), context=["recency", "history", "visit"])


@trap("the pages that a customer looked at after the e-mail, in `ignore`", RIGHT)
def outcome_that_is_ignored(rng):
    columns, truth = make_mailing(rng, 20_000, pages=lambda visit, _: 1 + visit * rng.poisson(3, len(visit)))
    return mailing(columns, truth, ignore=["target", "pages"])


def make_items(rng, rows, items, sharpness):
    """Return clicks on items like those of the Open Bandit data, in a log with an unnamed index; and its truth."""
    users = rng.normal(size=(rows, 4))
    taste, liked = rng.normal(size=(2, 4, items)) * 0.3
    clicks = 1 / (1 + np.exp(5.0 - users @ taste - np.linspace(-0.7, 0.7, items)))
    logging = 0.8 * softmax(sharpness * (users @ liked + np.linspace(-1.0, 1.0, items))) + 0.2 / items
    target = softmax(np.tile(np.linspace(-0.8, 0.8, items), (rows, 1)))
    action = draw(logging, rng)
    columns = {"": rng.permutation(rows), "timestamp": 1.5e9 + np.sort(rng.uniform(0, 6e5, rows))}
    columns |= {"item_id": action, "position": rng.integers(1, 4, rows)}
    columns |= {"click": (rng.random(rows) < clicks[np.arange(rows), action]).astype(int)}
    columns |= {"propensity_score": logging[np.arange(rows), action], "target": target[np.arange(rows), action]}
    columns |= {f"user_feature_{place}": column for place, column in enumerate(users.T)}
    roles = {"action": "item_id", "reward": "click", "propensity": "propensity_score"}
    return Case(pa.table(columns), truth=float((target * clicks).sum(axis=1).mean()), columns=roles)


@trap("an unnamed index, timestamps and positions beside clicks (34 items shown at random, as in Open Bandit)", RIGHT)
def items_shown_at_random(rng):
    return make_items(rng, 10_000, 34, 0.0)


@trap("an unnamed index, timestamps and positions beside clicks (80 items, some shown more often)", RIGHT)
def items_shown_by_a_policy(rng):
    return make_items(rng, 10_000, 80, 1.0)


COPIES = {
    "copy_of_the_reward": ("a copy of the reward", lambda reward, _: reward),
    "reward_in_another_unit": ("the reward in another unit", lambda reward, _: 3.0 - 1.1 * reward),
    "numbers_of_rows": ("a column that numbers the rows", lambda reward, _: np.arange(len(reward))),
}


def spoil(name, mistake, make):
    def build(rng):
        bandit = make_bandit(rng)
        return Case(bandit.table(extra=make(bandit.reward, rng)), truth=bandit.truth)

    build.__name__ = name
    trap(mistake, RIGHT)(build)


for name, (mistake, make) in COPIES.items():
    spoil(name, mistake, make)


@trap("a copy of the reward, named as context", "outcome-context")
def copy_of_the_reward_named_as_context(rng):
    bandit = make_bandit(rng)
    columns = {"context": ["x0", "x1", "revenue"]}
    return Case(bandit.table(revenue=2 * bandit.reward), truth=bandit.truth, columns=columns)


def make_stay(rng, **roles):
    """Return clicks on a log of 3,000 rows, and how long the visitor stayed, which is long after a click."""
    bandit = make_bandit(rng, rows=3000)
    chance = np.clip(0.1 + 0.2 * bandit.means, 0.0, 1.0)
    click = (rng.random(3000) < chance[np.arange(3000), bandit.action]).astype(int)
    bandit.means = chance
    stay = 20 + 30 * click + 8 * rng.normal(size=3000)
    return Case(bandit.table(reward=click, stay=stay), truth=bandit.truth, columns=roles)


@trap("how long the visitor stayed, beside the click that made them stay", RIGHT)
def stay_after_a_click(rng):
    return make_stay(rng)


@trap("how long the visitor stayed, named as context of the click that made them stay", "outcome-context")
def stay_after_a_click_named_as_context(rng):
    return make_stay(rng, context=["x0", "x1", "stay"])


@trap("whether there was any reward, as a column", RIGHT)
def whether_there_was_a_reward(rng):
    bandit = make_bandit(rng, noise=0.1)
    bandit.means = 1 / (1 + np.exp(-bandit.means))  # above 0, and nowhere cut off
    bought = rng.random(2000) < 0.75
    reward = bandit.means[np.arange(2000), bandit.action] * bought / 0.75
    return Case(bandit.table(reward=reward, bought=bought), truth=bandit.truth)


@trap("the index that pandas wrote into a CSV", RIGHT)
def index_that_pandas_wrote(rng):
    bandit = make_bandit(rng)
    table = bandit.table().add_column(0, "", [rng.permutation(2000)])
    rows = [",".join(map(str, row.values())) for row in table.to_pylist()]
    return Case("\n".join([",".join(table.column_names), *rows]), truth=bandit.truth)


@trap("numbers of users, each of whom came once", RIGHT)
def identifiers_of_users(rng):
    bandit = make_bandit(rng)
    return Case(bandit.table(user_id=rng.permutation(10**6)[:2000]), truth=bandit.truth)


@trap("the number of the action, beside its label", "outcome-context")
def code_of_the_action(rng):
    bandit = make_bandit(rng)
    return Case(bandit.table(item=bandit.action), truth=bandit.truth)


@trap("another policy's probability of the logged action", RIGHT)
def probability_by_another_policy(rng):
    bandit = make_bandit(rng)
    other = softmax(2.0 - bandit.means)[np.arange(2000), bandit.action]
    return Case(bandit.table(policy_v2=other), truth=bandit.truth)


@trap("another policy's probability of the logged action, called like anything else", "outcome-context")
def probability_by_another_name(rng):
    bandit = make_bandit(rng)
    other = softmax(2.0 - bandit.means)[np.arange(2000), bandit.action]
    return Case(bandit.table(v2=other), truth=bandit.truth)


@trap("none: who may buy at all was known before", RIGHT)
def clean_eligibility(rng):
    bandit = make_bandit(rng)
    bandit.means = np.abs(bandit.means) * (rng.random((2000, 1)) < 0.3)
    reward = bandit.means[np.arange(2000), bandit.action] * rng.uniform(0.5, 1.5, 2000)
    return Case(bandit.table(reward=reward, eligible=bandit.means[:, 0] > 0), truth=bandit.truth)


@trap("none: forty more columns that say nothing", RIGHT)
def clean_log_of_many_columns(rng):
    bandit = make_bandit(rng)
    return Case(bandit.table(**{f"noise{place}": rng.normal(size=2000) for place in range(40)}), truth=bandit.truth)


@trap("none: only some may buy at all, which was known before and is named as context", RIGHT)
def eligible_named_as_context(rng):
    bandit = make_bandit(rng)
    eligible = (rng.random(2000) < 0.4).astype(float)
    bandit.means, bandit.reward = bandit.means * eligible[:, None], bandit.reward * eligible
    named = {"columns": {"context": ["x0", "x1", "x2", "eligible"]}}
    return Case(bandit.table(reward=bandit.reward, eligible=eligible), truth=bandit.truth, **named)
