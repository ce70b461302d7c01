"""The table of all arguments that say where a log's data are: in Python, on the command line and in the docs.

`LogScan` and `Columns` (`scan.py`) have a field for each line, with the same names in the same order, so that type
checkers know them. A role is an argument of `Log` as well. Tests compare all of them with this table.
"""

from typing import NamedTuple

from counterfold.base import registry


class ColumnArgument(NamedTuple):
    """One argument that says where data of a log are, or what is done with them.

    - `help`: what it is for, in `--help`.
    - `metavar`: what is given, in `--help`.
    - `default`: what is used if it is not given, in `--help`, unless the default value says so itself.
    - `kind`: the kind of values of a column that has a role in a log, a key of `READERS` in `columns.py`. Without a
      kind the argument names no column, or one that has no role in a log.
    - `beside`: the role beside which the column is looked for under the role's own name, if the user names none.
    """

    help: str
    metavar: str = "COLUMN"
    default: str = ""
    kind: str = ""
    beside: str | None = None


ARGUMENTS: dict[str, ColumnArgument] = {
    "action": ColumnArgument(
        "Column of the logged action.",
        default="action",
        kind="labels",
    ),
    "dose": ColumnArgument(
        "Column of the logged dose, such as a price, instead of actions.",
        default="dose, if no action",
        kind="numbers",
    ),
    "reward": ColumnArgument(
        "Column of the reward, or an expression like 'score - 0.2 * cost'; repeat for several.",
        kind="numbers",
    ),
    "missing_reward": ColumnArgument(
        "error, drop or zero: what is done about rows without a reward.",
        metavar="WAY",
    ),
    "reward_time": ColumnArgument(
        "Column of the time of the reward.",
        default="reward_time, if there with --horizon",
    ),
    "horizon": ColumnArgument(
        "How long rewards are waited for, as 7d: younger decisions are left out.",
        metavar="LENGTH",
    ),
    "until": ColumnArgument(
        "When the log ended, for --horizon.",
        metavar="TIME",
        default="its last time",
    ),
    "propensity": ColumnArgument(
        "Column of the logged action's probability, or dose's density; 'exp(logprob)', 0.5, or fit if there is none.",
        default="propensity, if there",
        kind="numbers",
        beside="reward",
    ),
    "logging_probs": ColumnArgument(
        "Column of the probabilities of all actions.",
        default="logging_probs, if there",
        kind="matrix",
        beside="action",
    ),
    "logger_probs": ColumnArgument(
        "Columns of the probabilities of each of several policies.",
        default="logger_probs, if there",
        kind="matrices",
        beside="action",
    ),
    "logger": ColumnArgument(
        "Column of which of several policies decided.",
        default="logger, if there with logger_probs",
        kind="labels",
        beside="logger_probs",  # alone it may be any column of that name
    ),
    "logger_weights": ColumnArgument(
        "balanced or own: by whose probabilities rows of several policies are weighed.",
        metavar="NAME",
    ),
    "propensity_precision": ColumnArgument(
        "'1000 draws', '3 digits' or float16, if probabilities are counted or rounded.",
        metavar="TEXT",
    ),
    "context": ColumnArgument(
        "Columns of the context.",
        default="other numbers and categories, but for outcomes and indices",
    ),
    "group": ColumnArgument(
        "Column of the user or session, kept together.",
        default="group, if there",
        kind="labels",
        beside="reward",
    ),
    "available": ColumnArgument(
        "Column of the actions that could be taken.",
        default="available, if there",
        kind="matrix",
        beside="action",
    ),
    "kept": ColumnArgument(
        "Column of the probability with which each row was kept, if not all were.",
        default="kept, if there",
        kind="numbers",
        beside="reward",
    ),
    "time": ColumnArgument(
        "Column of when decisions were made.",
        default="time, if it is of dates",
        kind="times",
        beside="reward",  # and only if it holds dates
    ),
    "by": ColumnArgument(
        "Column whose values are segments, answered each; age:5 cuts numbers in five; repeatable.",
    ),
    "actions": ColumnArgument(
        "All actions in the order of the probabilities, with commas.",
        metavar="LABELS",
    ),
    "action_features": ColumnArgument(
        "A file with each action's label, and numbers or categories that describe it.",
        metavar="FILE",
    ),
    "ignore": ColumnArgument(
        "Columns that are no context, such as what is known only afterwards; repeat for several.",
    ),
    "format": ColumnArgument(
        f"{', '.join(registry.names('readers'))}. A name may carry settings.",
        metavar="NAME",
        default="by the name's ending",
    ),
}
"""Every argument by its name, in the order of `LogScan`."""

ROLES: dict[str, ColumnArgument] = {name: argument for name, argument in ARGUMENTS.items() if argument.kind}
"""The arguments that name the column of a role."""
