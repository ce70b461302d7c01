"""The page of the docs on JSON: the generated schema as tables (`make json`)."""

import counterfold as cf

HEAD = """# JSON

Every command prints JSON with `--json`, and `result.to_json()` returns the same of an answer in Python. It is standard
JSON in ASCII: a number that is not finite is `null`, and texts from data are as they were in the data.

```sh
counterfold evaluate logs.parquet --target new_policy --json | jq '.evaluations[0] | {value, verdict, next_step}'
```

`"version": 1` at the top is the version of the schema. `cf.json_schema()` returns the schema (JSON Schema 2020-12),
which is generated from the types of the results. Each kind of answer is one of its definitions, with all of its fields:

```python
>>> import counterfold as cf
>>> schema = cf.json_schema()
>>> schema["$defs"]["evaluate"]["description"]
'What `counterfold evaluate --json` prints; with several rewards, all but the version is under `rewards`.'

```

To check an answer with the package `jsonschema`:
`jsonschema.validate(answer, {"$ref": "#/$defs/evaluate", "$defs": schema["$defs"]})`.

## What may change

- Within a version, fields keep their names, types and meanings, and none is removed. A removed or renamed field, or one
  with another meaning, raises the version.
- Fields are added without a new version: read what you know, and ignore the rest. So are checks, and with them their
  numbers among the diagnostics and their names among the findings. The schema knows all fields of its own release and
  no others: validate an answer with the schema of the release that wrote it.
- Sentences (`problem`, `remedy`, `reasons`, `sentence`, reasons in `left_out`) and the texts of estimators and
  selectors are for people, and change at any time. Go by `verdict`, `answerable`, `action`, `severity` and a finding's
  `name`.
- Where `answerable` is false the numbers are there, but are not to be relied on.

This page is made from the schema by `make json`.
"""

PARTS = {
    "Commands": (
        "evaluate",
        "compare",
        "check",
        "learn",
        "demo",
        "methods",
        "synth",
        "figure",
        "costs",
        "selection",
        "learning",
    ),
    "In Python": ("evaluation", "comparison", "reward_evaluations", "learned"),
    "An answer": (
        "answer",
        "interval",
        "difference",
        "named_difference",
        "decision",
        "standing",
        "guarded",
        "guard_line",
        "next_step",
        "robustness",
        "carrier",
        "candidate",
    ),
    "A policy": ("policy", "contender", "simpler", "limit"),
    "Checks": ("diagnostics", "finding", "over_time", "period", "difference_over_time", "period_difference"),
    "Segments": ("segments", "segment"),
    "The log": ("log", "ends", "encoding", "fitted_propensities", "bin"),
    "Experiments": ("method", "figure_line", "cost", "score", "coverage", "alarm", "check_alarm", "gain", "holding"),
}


def write_page():
    """Return the page."""
    defs = cf.json_schema()["$defs"]
    lines = [HEAD]
    for title, names in PARTS.items():
        lines += [f"## {title}\n"]
        for name in names:
            lines += [f"### `{name}`\n", f"{defs[name]['description']}\n", *write_table(defs[name]), ""]
    return "\n".join(lines).rstrip() + "\n"


def write_table(definition):
    """Yield the lines of a table of fields; what a definition is based on is named first."""
    fields = dict(definition.get("properties", {}))
    for one in definition.get("anyOf", ()):
        fields |= one["properties"]
    yield from ("| field | type | meaning |", "| --- | --- | --- |")
    for base in definition.get("allOf", ()):
        yield f"| ... | | all fields of {link(base['$ref'])} |"
    for name, field in fields.items():
        yield f"| `{name}` | {describe_type(field)} | {field.get('description', '')} |"


def describe_type(field):
    """Return the type of a field, with links to other definitions."""
    if "$ref" in field:
        return link(field["$ref"])
    if "anyOf" in field:
        return " or ".join(describe_type(one) for one in field["anyOf"])
    if "enum" in field:
        return ", ".join(f"`{one}`" for one in field["enum"])
    if "const" in field:
        return f"`{field['const']}`"
    kinds = field["type"] if isinstance(field["type"], list) else [field["type"]]
    of = field.get("items") or field.get("additionalProperties")
    inner = f" of {describe_type(of)}" if isinstance(of, dict) else ""
    return " or ".join(f"{kind}{inner if kind in {'array', 'object'} else ''}" for kind in kinds)


def link(ref):
    """Return a link to a definition, or to the one that it only closes or names."""
    name = ref.rpartition("/")[2]
    for start in ("closed_", "named_"):
        name = name.removeprefix(start) if name != "named_difference" else name
    for command in ("evaluate", "compare", "check"):
        name = command if name == f"{command}_of_reward" else name
    name = "answer" if name == "answer_of_reward" else name
    return f"[`{name}`](#{name})"


if __name__ == "__main__":
    print(write_page(), end="")  # noqa: T201
