"""The nine datasets of the paper, read from local files or fetched from OpenML, and checked by their content."""

import hashlib
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterfold import CounterfoldError, DataError, ParameterError
from counterfold.base import messages, registry
from counterfold.base.arrays import Floats

VERSION = 1
"""The paper takes the first version of each dataset in OpenML."""

CHECKSUMS = {
    "ecoli": "b0652032bfc072bb",
    "glass": "cce754961f075b68",
    "letter": "a8df7885e239818c",
    "optdigits": "0cc4553895890c37",
    "page-blocks": "70f9de8794eda02e",
    "pendigits": "b1023df016fc9b04",
    "satimage": "bcf0daf7d4ffe885",
    "vehicle": "a95bbd06d0200123",
    "yeast": "3f29469ff1f5847c",
}
"""The names of the datasets in OpenML, and what `checksum` returns for each."""

NAMES = tuple(CHECKSUMS)


@dataclass(frozen=True, eq=False)
class Dataset:
    """Features (n x d) and a label per row."""

    name: str
    features: Floats
    labels: NDArray[Any]


def load(name: str, folder: Path | None = None) -> Dataset:
    """Return a dataset from a file `NAME.parquet` (or another format) in a folder or, without a folder, from OpenML.

    In a file the label is the column `class`, or else the last one. Rows, columns and values must be those of OpenML.
    """
    if name not in NAMES:
        raise ParameterError(f"unknown dataset `{name}`.{messages.suggest(name, NAMES)} Known: {', '.join(NAMES)}.")
    dataset = Dataset(name, *(fetch(name) if folder is None else read(name, folder)))
    found = checksum(dataset)
    if found != CHECKSUMS[name]:
        shape = " x ".join(map(str, dataset.features.shape))
        raise DataError(
            f"`{name}` must be version {VERSION} of OpenML, with its rows in their order, got other data "
            f"({shape}, checksum {found} instead of {CHECKSUMS[name]})."
        )
    return dataset


load_once = cache(load)
"""Does the same, but a process loads a dataset only once."""


def require(names: Iterable[str], folder: Path | None, family: str) -> None:
    """Load the datasets of a family of problems, so that what is missing is reported now, not after hours."""
    try:
        for name in names:
            load_once(name, folder)
    except CounterfoldError as error:
        wanted = f"the family `{family}` needs its datasets from `--data`, or to be left out of `--families`"
        raise DataError(f"{wanted}: {error}") from None


def read(name: str, folder: Path) -> tuple[Floats, NDArray[Any]]:
    """Return features and labels from the file of that name in a folder."""
    from counterfold.io.schema.columns import read_numbers
    from counterfold.io.sources import read_table

    endings = [ending for reader in registry.names("readers") for ending in registry.find("readers", reader).suffixes]
    paths = [path for ending in endings if (path := folder / f"{name}{ending}").is_file()]
    if not paths:
        raise DataError(f"`{folder}` must hold a file `{name}.parquet` or the like, but there is none.")
    table = read_table(paths[0])
    label = "class" if "class" in table.column_names else table.column_names[-1]
    features = np.column_stack([read_numbers(table, column) for column in table.column_names if column != label])
    return features, np.array([str(one) for one in table.column(label).to_pylist()])


def fetch(name: str) -> tuple[Floats, NDArray[Any]]:
    """Return features and labels from OpenML, or from the cache that scikit-learn keeps of it."""
    from urllib.error import URLError

    from sklearn.datasets import fetch_openml

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about retries and a missing network; the error says the same
            found = fetch_openml(name=name, version=VERSION, as_frame=False, parser="liac-arff", n_retries=1)
    except (URLError, OSError, ValueError) as error:
        reason = " ".join(str(error).split()).rstrip(".")
        raise DataError(
            f"`{name}` could not be fetched from OpenML ({reason}); give a folder with a file of that name by `--data`."
        ) from None
    return np.asarray(found.data, dtype=np.float64), np.array([str(one) for one in found.target])


def checksum(dataset: Dataset) -> str:
    """Return 16 digits that are the same if values, labels and their order are, whatever file they came from.

    >>> checksum(Dataset("two rows", np.array([[1.0], [2.0]]), np.array(["a", "b"])))
    '0ebb64510c89bcf1'
    """
    values = np.ascontiguousarray(dataset.features, dtype="<f8").tobytes()
    return hashlib.sha256(values + "\n".join(dataset.labels.tolist()).encode()).hexdigest()[:16]
