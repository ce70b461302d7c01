"""Prices instead of a few actions: write a log of them to Parquet, read it back, and ask what others would earn."""

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from scipy.special import expit
from scipy.stats import norm

import counterfold as cf

rng = np.random.default_rng(0)
rows = 4000

income = rng.uniform(20, 80, size=rows)
usual = 8 + income / 20
price = rng.normal(usual, 2.0)
bought = rng.random(rows) < expit((income / 4 - price) / 2)
new_price = usual + 1

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "sales.parquet"
    table = {
        "income": income,
        "price": price,
        "revenue": price * bought,
        "propensity": norm.pdf(price, usual, 2.0),  # a density, as prices are numbers
        "new_price": new_price,
    }
    pq.write_table(pa.table(table), path)

    log = cf.read_log(path, dose="price", reward="revenue", ignore=["new_price"])
    result = cf.evaluate(log, cf.read_target(path, "new_price"))

truth = float((new_price * expit((income / 4 - new_price) / 2)).mean())
print(log)
print(result)
print(f"truth {truth:.4f}")
