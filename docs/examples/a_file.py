"""Write a log to Parquet as a service would, read it back, and ask what a new policy would have earned."""

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import counterfold as cf

rng = np.random.default_rng(1)
rows, items = 5000, np.array(["news", "sports", "music"])

age = rng.uniform(18, 80, size=rows)
shown_probs = rng.dirichlet([4.0, 3.0, 2.0], size=rows)
shown = (shown_probs.cumsum(axis=1) > rng.random((rows, 1))).argmax(axis=1)
likes = np.column_stack([age / 100, 1 - age / 100, np.full(rows, 0.3)])
clicked = rng.random(rows) < likes[np.arange(rows), shown]
new_policy = np.where(age[:, None] > 50, [0.8, 0.1, 0.1], [0.1, 0.8, 0.1])

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "logs.parquet"
    table = {
        "age": age,
        "item": items[shown],
        "clicked": clicked,
        "logging_probs": [dict(zip(items.tolist(), row, strict=True)) for row in shown_probs.tolist()],
        "new_policy": [dict(zip(items.tolist(), row, strict=True)) for row in new_policy.tolist()],
    }
    pq.write_table(pa.table(table), path)

    log = cf.read_log(path, action="item", reward="clicked")
    result = cf.evaluate(log, cf.read_target(path, "new_policy"))

truth = float((new_policy * likes).sum(axis=1).mean())
print(log)
print(result)
print(f"truth {truth:.4f}")
