"""Whether an answer as JSON is what the schema says."""

import jsonschema

import counterfold as cf

SCHEMA = cf.json_schema()


def validate(answer, kind):
    """Require that an answer is of a kind."""
    jsonschema.Draft202012Validator({"$ref": f"#/$defs/{kind}", "$defs": SCHEMA["$defs"]}).validate(answer)
