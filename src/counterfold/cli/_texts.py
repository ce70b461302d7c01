"""What `--help` says of the options that commands share."""

from counterfold.base import registry

SOURCE = "A Parquet, CSV, JSON-lines or Arrow file, a folder of them, a pattern, or an address like s3://..."
SQL = "A query, or the .sql file of one, whose rows are the log, instead of LOG; DuckDB reads the files that it names."
DB = "The database to query: postgresql://..., sqlite:///FILE, duckdb:///FILE."
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
