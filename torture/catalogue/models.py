"""Models of the user: ones that raise, return another shape or no numbers, or are classes instead of objects."""

import numpy as np

import counterfold as cf
from torture.cases import CallCase, LogCase
from torture.catalogue import EITHER, ENGINES, REFUSED, entry
from torture.logs import make_table, write_parquet

OPTIONS = {"candidates": ["dm"], "progress": False}


class Model:
    """A model in the manner of scikit-learn, whose parts an entry replaces."""

    def __init__(self, fit=None, predict=None):
        self.fit_function, self.predict_function = fit, predict

    def get_params(self, deep=True):  # noqa: FBT002 as scikit-learn calls it
        """Return the parameters, as scikit-learn asks."""
        del deep
        return {"fit": self.fit_function, "predict": self.predict_function}

    def set_params(self, **_):
        """Do nothing."""
        return self

    def fit(self, x, y):
        """Fit by the function that was given."""
        if self.fit_function:
            self.fit_function(x, y)
        return self

    def predict(self, x):
        """Predict by the function that was given."""
        return np.zeros(len(x)) if self.predict_function is None else self.predict_function(x)


def fail(*_):
    """Raise what no library of ours raises."""
    raise ZeroDivisionError("a mistake in the user's model")


PREDICTIONS = {
    "raises when it predicts": fail,
    "predicts None": lambda _: None,
    "predicts a number": lambda _: 1.0,
    "predicts too few": lambda x: np.zeros(max(len(x) - 1, 0)),
    "predicts too many": lambda x: np.zeros(len(x) + 1),
    "predicts two columns": lambda x: np.zeros((len(x), 2)),
    "predicts three dimensions": lambda x: np.zeros((len(x), 1, 1)),
    "predicts NaN": lambda x: np.full(len(x), np.nan),
    "predicts infinity": lambda x: np.full(len(x), np.inf),
    "predicts texts": lambda x: np.array(["a"] * len(x)),
    "predicts objects": lambda x: np.array([object()] * len(x)),
    "predicts complex numbers": lambda x: np.zeros(len(x), complex),
    "predicts a dictionary": lambda _: {},
}
MODELS = {
    "raises when it is fitted": Model(fail),
    "has no methods": object(),
    "is a text": "junk",
    "is a number": 5,
    "is the class": Model,
    "is a function": lambda x: x,
    "has no fit": type("NoFit", (), {"predict": lambda self, x: x})(),
    "has no predict": type("NoPredict", (), {"fit": lambda self, x, y: self})(),
    **{name: Model(predict=function) for name, function in PREDICTIONS.items()},
}
ARRAYS = {
    "predictions of another shape": np.zeros((240, 7)),
    "predictions of other rows": np.zeros((7, 3)),
    "predictions of one dimension": np.zeros(240),
    "predictions of NaN": np.full((240, 3), np.nan),
    "predictions of texts": np.array([["a", "b", "c"]] * 240),
    "predictions of objects": np.array([[object()] * 3] * 240),
    "predictions of complex numbers": np.zeros((240, 3), complex),
}


def add(name, model, ways=ENGINES):
    """Register a reward model; DM rests on it alone."""

    @entry(name, REFUSED, ways)
    def make(folder):
        (folder / "log.parquet").write_bytes(write_parquet(add_lists(make_table())))
        return LogCase(folder / "log.parquet", None, options=OPTIONS | {"reward_model": model})


def add_lists(table):
    """Return the table with the probabilities of all actions, which DM needs."""
    structs = [{"red": 0.25, "green": 0.5, "blue": 0.25}] * table.num_rows
    return table.drop_columns(["target"]).append_column("target", [structs])


for name, model in MODELS.items():
    add(f"a model that {name}", model)
    if isinstance(model, Model):
        add(f"a model per action that {name}", cf.PerAction(model))
for name, array in ARRAYS.items():
    add(name, array, ("memory",))


@entry("an estimator without a class", EITHER, ("python",))
def own_estimator(_folder):
    """Evaluate by the abstract class itself."""
    return CallCase(lambda: cf.evaluate(make_table(), "target", [cf.Estimator], "default", None, progress=False))
