"""What `--help` says of the options that commands share."""

from counterfold.base import registry

SOURCE = "A Parquet, CSV, JSON-lines or Arrow file, a folder of them, a pattern, or an address like s3://..."
SQL = "A query, or the .sql file of one, whose rows are the log, instead of LOG; DuckDB reads the files that it names."
DB = "The database to query: postgresql://..., sqlite:///FILE, duckdb:///FILE."
LOG_TEXTS = {
    "action": ("COLUMN", "Column of the logged action.", "action"),
    "dose": ("COLUMN", "Column of the logged dose, such as a price, instead of actions.", "dose, if no action"),
    "reward": ("COLUMN", "Column of the reward, or an expression like 'score - 0.2 * cost'; repeat for several.", ""),
    "missing_reward": ("WAY", "error, drop or zero: what is done about rows without a reward.", ""),
    "reward_time": ("COLUMN", "Column of the time of the reward.", "reward_time, if there with --horizon"),
    "horizon": ("LENGTH", "How long rewards are waited for, as 7d: younger decisions are left out.", ""),
    "until": ("TIME", "When the log ended, for --horizon.", "its last time"),
    "propensity": (
        "COLUMN",
        "Column of the logged action's probability, or dose's density; 'exp(logprob)', 0.5, or fit if there is none.",
        "propensity, if there",
    ),
    "logging_probs": ("COLUMN", "Column of the probabilities of all actions.", "logging_probs, if there"),
    "logger_probs": ("COLUMN", "Columns of the probabilities of each of several policies.", "logger_probs, if there"),
    "logger": ("COLUMN", "Column of which of several policies decided.", "logger, if there with logger_probs"),
    "logger_weights": ("NAME", "balanced or own: by whose probabilities rows of several policies are weighed.", ""),
    "propensity_precision": (
        "TEXT",
        "'1000 draws', '3 digits' or float16, if probabilities are counted or rounded.",
        "",
    ),
    "context": ("COLUMN", "Columns of the context.", "other numbers and categories, but for outcomes and indices"),
    "ignore": ("COLUMN", "Columns that are no context, such as what is known only afterwards; repeat for several.", ""),
    "group": ("COLUMN", "Column of the user or session, kept together.", "group, if there"),
    "time": ("COLUMN", "Column of when decisions were made.", "time, if it is of dates"),
    "available": ("COLUMN", "Column of the actions that could be taken.", "available, if there"),
    "kept": ("COLUMN", "Column of the probability with which each row was kept, if not all were.", "kept, if there"),
    "by": ("COLUMN", "Column whose values are segments, answered each; age:5 cuts numbers in five; repeatable.", ""),
    "actions": ("LABELS", "All actions in the order of the probabilities, with commas.", ""),
    "format": ("NAME", f"{', '.join(registry.names('readers'))}. A name may carry settings.", "by the name's ending"),
    "action_features": ("FILE", "A file with each action's label, and numbers or categories that describe it.", ""),
}
"""What `--help` says of the fields of `LogScan`: what is given, what for, and what is used otherwise.

A new role need not be here: it is then called by its name.
"""

NAMES = {
    folder: ", ".join(registry.names(folder))
    for folder in ("estimators", "selectors", "models", "intervals", "learners")
}
TARGETS = (
    "Column of the target's probabilities, labels as text, or doses, a label, or a policy such as uniform, "
    "greedy:SCORES, 0.1*uniform + 0.9*TARGET or MODULE:FUNCTION; repeat for several."
)
CHOSEN = "Column of the actions that a target would take, whatever their kind; repeat for several."
LOGGED = "Column of a target's probabilities of the logged actions, if they could be labels; repeat for several."
RANGE = "The least and the largest possible reward; the answer lies between them."
SPEC = "A name may carry settings, NAME:FIELD=VALUE."
PREDICTIONS = "Column of predicted rewards of all actions, instead of a model."
CANDIDATES = f"default, plain, paper or estimators, with commas: {NAMES['estimators']}. {SPEC}"
MODELS = f"best (a stack of several, slower), {NAMES['models']} or none. {SPEC}"
USUAL_SELECTOR, USUAL_MODEL = "ladder; ocv for doses, or with --validator or --splits", "cross-fitted, or ridge-on-dose"

LEARNERS = f"default or learners, with commas: {NAMES['learners']}. {SPEC}"
PERIODS = ("hour", "day", "week", "month", "quarter", "year")
PERIOD = f"{', '.join(PERIODS)}: what each line of the table over time is; the log must have a time."
REQUIRE = "good, undecided or caution: exit with 3 if the verdict on a target is worse."
