"""Where the project's files are, and the paper's datasets, if they are at hand."""

import os
from pathlib import Path

ROOT = Path(__file__).parents[2]
DATASETS = Path(os.environ.get("COUNTERFOLD_DATASETS", ROOT.parent / "shared" / "datasets"))
