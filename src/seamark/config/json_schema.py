"""The JSON Schema of pipeline files, made from the models that check them, so that editors check as Seamark does."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema

from seamark.config.catalog import Catalog, Described
from seamark.config.duration import print_duration
from seamark.config.pipeline import PipelineFile, StatefulIngestionOptions
from seamark.config.stream_options import PatternOptions, StreamOptions

Schema = dict[str, Any]

DRAFT = "http://json-schema.org/draft-07/schema#"
"""The draft that editors' YAML support knows best."""

REFERENCE: Schema = {"type": "string", "pattern": r"\$\{[^{}]+\}"}
"""Where a number, a word or a URL is expected, `${VAR}` may stand instead."""

_ANNOTATIONS = ("description", "default")
_STRICT_TEXT = ("pattern", "enum", "const", "format")


class SchemaWriter(GenerateJsonSchema):
    """Writes defaults as a file would: durations in our words, not ISO's."""

    def encode_default(self, dft: Any) -> Any:
        return print_duration(dft) if isinstance(dft, timedelta) else super().encode_default(dft)


def pipeline_json_schema(catalog: Catalog) -> Schema:
    """The schema of pipeline files that use the connectors in `catalog`."""
    definitions: Schema = {}
    schema = _model(PipelineFile, "", definitions)
    name = schema["properties"]["pipeline"]
    schema = _with_references(schema)
    properties = schema["properties"]
    properties["pipeline"] = name
    properties["source"] |= _section("source", catalog.sources, definitions)
    properties["destination"] |= _section("destination", catalog.destinations, definitions)
    properties["streams"] |= _streams(definitions)
    stateful = definitions[StatefulIngestionOptions.__name__]["properties"]
    store = _section("state_provider", catalog.state_stores, definitions)
    stateful["state_provider"] = {"description": stateful["state_provider"]["description"], **store}
    return {"$schema": DRAFT, "title": "Seamark pipeline", **schema, "$defs": dict(sorted(definitions.items()))}


def _model(model: type[BaseModel], prefix: str, definitions: Schema) -> Schema:
    """The schema of one model; what it refers to goes to `definitions`, under names that no other model's can be."""
    schema: Schema = _without_titles(
        model.model_json_schema(ref_template=f"#/$defs/{prefix}{{model}}", schema_generator=SchemaWriter)
    )
    own = schema.pop("$defs", {})
    if "$ref" in schema:
        schema = dict(own[schema["$ref"].removeprefix(f"#/$defs/{prefix}")])
    for name, definition in own.items():
        definitions[prefix + name] = _with_references(definition)
    return schema


def _section(key: str, connectors: Sequence[Described], definitions: Schema) -> Schema:
    """A mapping whose keys depend on its `type`."""
    cases = []
    for connector in connectors:
        name = f"{key}.{connector.kind}"
        schema = _with_references(_model(connector.options, f"{name}.", definitions))
        schema["properties"] = {"type": _kind(connector), **schema.get("properties", {})}
        schema["required"] = ["type", *schema.get("required", ())]
        definitions[name] = schema | {"description": connector.summary}
        asks = {"properties": {"type": {"const": connector.kind}}, "required": ["type"]}
        cases.append({"if": asks, "then": {"$ref": f"#/$defs/{name}"}})
    kinds = [_kind(connector) for connector in connectors]
    kind = {"description": f"The kind of {key.replace('_', ' ')}.", "anyOf": [*kinds, REFERENCE]}
    section: Schema = {"type": "object", "properties": {"type": kind}, "required": ["type"]}
    return section | {"allOf": cases} if cases else section


def _kind(connector: Described) -> Schema:
    return {"const": connector.kind, "description": connector.summary}


def _streams(definitions: Schema) -> Schema:
    """A pattern, a list of streams, names and patterns, or one mapping."""
    for model in (StreamOptions, PatternOptions):
        definitions[model.__name__] = _with_references(_model(model, "", definitions))
    definitions[StreamOptions.__name__]["anyOf"] = [{"required": ["name"]}, {"required": ["table"]}]
    mapping = {
        "if": {"required": ["include"]},
        "then": {"$ref": f"#/$defs/{PatternOptions.__name__}"},
        "else": {"$ref": f"#/$defs/{StreamOptions.__name__}"},
    }
    text = {"type": "string", "pattern": r"\S"}
    item = {"type": ["string", "object"], "if": {"type": "object"}, "then": mapping, "else": text}
    return {
        "type": ["string", "array", "object"],
        "if": {"type": "array"},
        "then": {"items": item, "minItems": 1},
        "else": item,
    }


def _without_titles(schema: Any) -> Any:
    """Without the titles that pydantic makes of names: they only repeat the key."""
    if isinstance(schema, list):
        return [_without_titles(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {key: _without_titles(value) for key, value in schema.items() if key != "title" or isinstance(value, dict)}


def _with_references(schema: Any) -> Any:
    """`schema`, where whatever is not any text may also be a reference."""
    if isinstance(schema, list):
        return [_with_references(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if schema.get("type") in ("integer", "number", "boolean") or _is_strict_text(schema):
        rest = {key: value for key, value in schema.items() if key not in _ANNOTATIONS}
        return {key: schema[key] for key in _ANNOTATIONS if key in schema} | {"anyOf": [rest, REFERENCE]}
    return {key: value if key in _ANNOTATIONS else _with_references(value) for key, value in schema.items()}


def _is_strict_text(schema: Schema) -> bool:
    return schema.get("type") == "string" and any(isinstance(schema.get(key), (str, list)) for key in _STRICT_TEXT)
