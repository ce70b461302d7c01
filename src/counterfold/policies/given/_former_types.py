"""Files of policies that were saved when the modules of the package had other names."""

import io
import json
import zipfile
from typing import Any

FORMER_MODULES = {
    "counterfold.policies.policy": "counterfold.policies.learned.policy",
    "counterfold.policies.features": "counterfold.policies.learned.features",
    "counterfold.policies.scorers": "counterfold.policies.learned.scorers",
    "counterfold.policies.boosted": "counterfold.policies.learned.boosted",
    "counterfold.learnt_rows.remembered": "counterfold.policies.training_rows",
    "counterfold.policies.training_rows.remembered": "counterfold.policies.training_rows",
    "counterfold.learners.model_learner": "counterfold.learning.learners.model_learner",
    "counterfold.encoding.numbers": "counterfold.log.encoding.numbers",
    "counterfold.encoding.levels": "counterfold.log.encoding.levels",
    "counterfold.encoding.dates": "counterfold.log.encoding.dates",
}
"""Where the classes of a saved policy are now. A file names the module of each class that it holds."""

SCHEMA = "schema.json"
"""The part of a file of skops that names the classes."""


def rename_former_types(content: bytes) -> bytes:
    """Return a file of skops in which all classes have the names of their modules today."""
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        parts = {name: file.read(name) for name in file.namelist()}
    schema = parts.get(SCHEMA, b"")
    if not any(former.encode() in schema for former in FORMER_MODULES):
        return content
    parts[SCHEMA] = json.dumps(_rename(json.loads(schema))).encode()
    renamed = io.BytesIO()
    with zipfile.ZipFile(renamed, "w") as file:
        for name, part in parts.items():
            file.writestr(name, part)
    return renamed.getvalue()


def _rename(value: Any) -> Any:
    """Return a part of the schema with the names of modules today."""
    if isinstance(value, list):
        return [_rename(item) for item in value]
    if not isinstance(value, dict):
        return value
    renamed = {name: _rename(item) for name, item in value.items()}
    module = renamed.get("__module__")
    if isinstance(module, str):
        renamed["__module__"] = FORMER_MODULES.get(module, module)
    return renamed
