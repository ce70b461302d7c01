"""The JSON schema of records, which pydantic derives from their types and docstrings.

This module imports pydantic, which takes a while: import it only where somebody asks for the schema.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ConfigDict, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode
from typing_extensions import is_typeddict

from counterfold.base.records import Answer, Records

Definition = dict[str, Any]

CONFIG = ConfigDict(extra="forbid", use_attribute_docstrings=True)

MODE: JsonSchemaMode = "serialization"
"""The schema is of what is written, not of what could be read."""

PYDANTIC = "record:"
"""What comes before the name of a class in the references that pydantic writes."""

NUMBER = {"type": ["number", "null"]}
"""JSON has no NaN and no infinity: a number that is not finite is null."""


QUESTIONS = {
    "description": "Questions that no check can answer, for the people who know how the log was made.",
    "type": "array",
    "items": {"type": "string"},
}


class RecordSchema(GenerateJsonSchema):
    """The schema of one record, with numbers as answers write them."""

    def float_schema(self, schema: Any) -> Definition:
        """Return the schema of a number."""
        return {**super().float_schema(schema), **NUMBER}

    def int_schema(self, schema: Any) -> Definition:
        """Return the schema of a whole number. In answers, all of these are counts."""
        return {**super().int_schema(schema), "minimum": 0}

    def nullable_schema(self, schema: Any) -> Definition:
        """Return the schema of something that may be missing; a number may be null anyway."""
        inner = self.generate_inner(schema["schema"])
        return inner if inner == NUMBER else super().nullable_schema(schema)

    def default_schema(self, schema: Any) -> Definition:
        """Return the schema of a field that has a default in Python: JSON always has the field."""
        return self.generate_inner(schema["schema"])

    def field_is_required(self, field: Any, total: bool) -> bool:  # noqa: FBT001 (pydantic calls it so)
        """Say whether JSON always has a field: all fields of a dataclass, also those that have a default in Python."""
        return field["type"] == "dataclass-field" or super().field_is_required(field, total)

    def field_title_should_be_set(self, schema: Any) -> bool:
        """Leave out titles, which would repeat the names of the fields."""
        return False


def generate_schema(records: Records, version: int) -> dict[str, Any]:
    """Return the JSON schema of all answers, with a definition of each answer and of each named part."""
    kinds = [*records.parts.values(), *(kind for answer in records.answers.values() for kind in answer.records)]
    found = Described.of(records.parts, kinds)
    definitions = {name: found.define(kind) for name, kind in records.parts.items()}
    for kind in kinds:
        base = find_base(kind)
        if base is not None and base.__name__ in found.names:
            # What extends a definition has more fields than it, so it must not refuse any. What extends it does.
            definitions[found.names[base.__name__]].pop("additionalProperties", None)
    for name, numbers in records.numbers.items():
        add_numbers(definitions[name], numbers)
    for name, answer in records.answers.items():
        variants = [add_envelope(found.define(kind), answer, version) for kind in answer.records]
        definition = variants[0] if len(variants) == 1 else {"anyOf": variants}
        definitions[name] = {**definition, "description": answer.description}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "What counterfold writes as JSON",
        "description": "Each command and each `to_json` has a definition. Numbers that are not finite are null.",
        "anyOf": [{"$ref": f"#/$defs/{name}"} for name in records.answers],
        "$defs": {name: found.resolve(definition) for name, definition in definitions.items()},
    }


@dataclass(frozen=True)
class Described:
    """Records as pydantic describes them: `definitions` by the names of classes, and the `names` that some have."""

    names: Mapping[str, str]
    definitions: Mapping[str, Definition]

    @classmethod
    def of(cls, parts: Mapping[str, type], kinds: Iterable[type]) -> "Described":
        """Return the descriptions of records and of all that they hold; `parts` are those that have names."""
        every = list(dict.fromkeys(one for kind in kinds for one in list_line(kind)))
        # pydantic takes a configuration for a list of records, but not for a record itself.
        adapters = [(kind, MODE, TypeAdapter(list[kind], config=CONFIG)) for kind in every]  # type: ignore[valid-type]
        _, schema = TypeAdapter.json_schemas(
            adapters, schema_generator=RecordSchema, ref_template=f"{PYDANTIC}{{model}}"
        )
        return cls({kind.__name__: name for name, kind in parts.items()}, schema["$defs"])

    def define(self, kind: type) -> Definition:
        """Return the definition of a record; of one that extends a definition, its own fields and a reference."""
        definition = self.definitions[kind.__name__]
        description = join_lines(definition["description"].partition("\n\n")[0])
        base = find_base(kind)
        # pydantic reads the docstrings of fields where these are declared, and not where they are inherited.
        inherited = {} if base is None else self.define(base)["properties"]
        own = {}
        for name, field in definition["properties"].items():
            if name not in inherited:
                own[name] = {**field, "description": join_lines(field.get("description", ""))}
        if base is None or base.__name__ not in self.names:
            return {
                "description": description,
                "type": "object",
                "properties": {**inherited, **own},
                "required": definition["required"],
                "additionalProperties": False,
            }
        return {
            "description": description,
            "type": "object",
            "allOf": [{"$ref": f"#/$defs/{self.names[base.__name__]}"}],
            "properties": own,
            "required": [name for name in definition["required"] if name in own],
            "unevaluatedProperties": False,
        }

    def resolve(self, schema: Any) -> Any:
        """Return a schema with references to definitions; a record that has no name is described in place."""
        if isinstance(schema, list):
            return [self.resolve(one) for one in schema]
        if not isinstance(schema, dict):
            return schema
        reference = schema.get("$ref")
        if not isinstance(reference, str) or not reference.startswith(PYDANTIC):
            return {name: self.resolve(one) for name, one in schema.items()}
        kind = reference.removeprefix(PYDANTIC)
        if kind in self.names:
            return {**schema, "$ref": f"#/$defs/{self.names[kind]}"}
        in_place = {name: one for name, one in self.definitions[kind].items() if name != "title"}
        return self.resolve({**in_place, "description": schema["description"]})


def join_lines(docstring: str) -> str:
    """Return a docstring in one line."""
    return " ".join(docstring.split())


def find_base(kind: type) -> type | None:
    """Return the record that another one extends, if it extends one."""
    bases: tuple[Any, ...] = getattr(kind, "__orig_bases__", ())
    return next((base for base in bases if is_typeddict(base)), None)


def list_line(kind: type) -> list[type]:
    """Return a record, the one that it extends, and so on."""
    base = find_base(kind)
    return [kind] if base is None else [kind, *list_line(base)]


def add_numbers(definition: Definition, numbers: Mapping[str, str]) -> None:
    """Add numbers to a definition, before its other fields, by their names and descriptions."""
    described = {name: {"description": text, **NUMBER} for name, text in numbers.items()}
    definition["properties"] = {**described, **definition["properties"]}
    definition["required"] = [*described, *definition["required"]]


def add_envelope(definition: Definition, answer: Answer, version: int) -> Definition:
    """Return a definition with the fields that `standard_json` writes around an answer."""
    first = {"version": {"description": "The version of this schema.", "const": version}}
    last = {"questions": QUESTIONS} if answer.has_questions else {}
    return {
        **definition,
        "properties": {**first, **definition["properties"], **last},
        "required": [*first, *definition["required"], *last],
    }
