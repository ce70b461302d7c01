"""Clean logs whose answers are known from plain loops, in every format; attacks spoil copies of them."""

import csv
import io
import json
from dataclasses import dataclass
from functools import cache
from statistics import fmean, stdev

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

ROWS = 240
LABELS = ("red", "green", "blue")
LOGGED = {"red": 0.5, "green": 0.25, "blue": 0.25}
WANTED = {"red": 0.25, "green": 0.5, "blue": 0.25}


@dataclass(frozen=True)
class Answer:
    """What is known of a log: the target's value by IPS, its standard error, the rows, and the possible context.

    Fields that are None are not compared.
    """

    value: float | None = None
    stderr: float | None = None
    rows: int | None = None
    context: tuple[str, ...] | None = None

    def find_difference(self, other: "Answer") -> str:
        """Return in what another answer differs, or nothing; errors are known roughly, values to rounding errors."""
        if is_far(self.value, other.value, 1e-6):
            return f"value {other.value:.6g} instead of {self.value:.6g}"
        if is_far(self.stderr, other.stderr, 0.5):
            return f"standard error {other.stderr:.3g} instead of {self.stderr:.3g}"
        if None not in (self.rows, other.rows) and self.rows != other.rows:
            return f"{other.rows} rows instead of {self.rows}"
        if None not in (self.context, other.context) and not {*self.context} <= {*other.context}:
            return f"context {', '.join(other.context) or 'nothing'} instead of {', '.join(self.context)}"
        return ""


def is_far(known, found, share):
    """Say whether a number differs from the known one by more than a share of it."""
    return None not in (known, found) and not abs(found - known) <= (share * abs(known) or 1e-12)


@cache
def make_rows(rows=ROWS, seed=0):
    """Return a clean log as a list of rows, with numbers that every text format holds exactly."""
    rng = np.random.default_rng(seed)
    labels = rng.choice(LABELS, p=list(LOGGED.values()), size=rows).tolist()
    numbers = rng.normal(size=(rows, 3)).round(3).tolist()
    return [
        {
            "x0": x0,
            "x1": x1,
            "action": label,
            "reward": round(1.0 + LABELS.index(label) + noise, 3),
            "propensity": LOGGED[label],
            "target": WANTED[label],
        }
        for label, (x0, x1, noise) in zip(labels, numbers, strict=True)
    ]


def make_table(rows=ROWS, **changes):
    """Return the clean log as a table with other or more columns; None leaves one out."""
    columns = {name: [row[name] for row in make_rows(rows)] for name in make_rows(rows)[0]} | changes
    return pa.table({name: column for name, column in columns.items() if column is not None})


def know_answer(rows=None, context=("x0", "x1"), group=None):
    """Return the answer on rows of the clean log, by plain loops; `group` names the column of groups."""
    rows = make_rows() if rows is None else rows
    terms = [row["target"] / row["propensity"] * row["reward"] for row in rows]
    value = fmean(terms)
    if group is None:
        return Answer(value, stdev(terms) / len(terms) ** 0.5, len(terms), tuple(context))
    sums = {}
    for row, term in zip(rows, terms, strict=True):
        sums[row[group]] = sums.get(row[group], 0.0) + term - value
    error = sum(one**2 for one in sums.values()) ** 0.5 / len(terms) * (len(sums) / (len(sums) - 1)) ** 0.5
    return Answer(value, error, len(terms), tuple(context))


def write_csv(rows=None, delimiter=",", newline="\n"):
    """Return rows as CSV."""
    rows = make_rows() if rows is None else rows
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]), delimiter=delimiter, lineterminator=newline)
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def write_json(rows=None):
    """Return rows as JSON lines."""
    return "".join(json.dumps(row) + "\n" for row in (make_rows() if rows is None else rows))


def write_parquet(table=None, **settings):
    """Return a table as the bytes of a Parquet file."""
    sink = pa.BufferOutputStream()
    pq.write_table(make_table() if table is None else table, sink, **{"row_group_size": 100} | settings)
    return sink.getvalue().to_pybytes()


def write_arrow(table=None, kind="file", batch=50, **settings):
    """Return a table as the bytes of an Arrow file or stream."""
    table = make_table() if table is None else table
    sink = pa.BufferOutputStream()
    new_writer = pa.ipc.new_file if kind == "file" else pa.ipc.new_stream
    with new_writer(sink, table.schema, options=pa.ipc.IpcWriteOptions(**settings)) as out:
        out.write_table(table, max_chunksize=batch)
    return sink.getvalue().to_pybytes()


def make_event(row):
    """Return a row as an event of Vowpal Wabbit's dsjson; its target is a feature."""
    labels = sorted(LABELS, key=lambda label: label != row["action"])
    return {
        "_label_cost": -row["reward"],
        "_label_probability": row["propensity"],
        "_label_Action": LABELS.index(row["action"]) + 1,
        "_labelIndex": LABELS.index(row["action"]),
        "a": [LABELS.index(label) + 1 for label in labels],
        "p": [LOGGED[label] for label in labels],
        "c": {
            **{name: row[name] for name in ("x0", "x1", "target")},
            "_multi": [{"_tag": label} for label in LABELS],
        },
    }


def write_vw(rows=None):
    """Return rows as text of Vowpal Wabbit."""
    lines = []
    for row in make_rows() if rows is None else rows:
        label = f"{LABELS.index(row['action']) + 1}:{-row['reward']}:{row['propensity']}"
        lines.append(f"{label} | x0:{row['x0']} x1:{row['x1']} target:{row['target']}\n")
    return "".join(lines)
