"""The reference of configuration files, written from the models that check them.

`python -m seamark.config.reference > docs/reference/config.md`
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

from seamark.config.catalog import Catalog, Described
from seamark.config.json_schema import SchemaWriter
from seamark.config.pipeline import PipelineFile, StatefulIngestionOptions
from seamark.config.project import ProjectFile
from seamark.config.spark import SparkOptions
from seamark.config.stream_options import CursorOptions, PatternOptions, StreamOptions, StreamRules

_INTRODUCTION = """\
# Configuration

<!-- Written by `python -m seamark.config.reference`; edit the descriptions in src/seamark/config instead. -->

A project is a folder with an optional `seamark.yaml`; its pipelines are `pipelines/*.yaml`, or any file given on the
command line. Relative paths start at the project's root: the nearest folder upwards that has a `seamark.yaml`, else the
pipeline file's own folder.

`seamark schema` prints a JSON Schema of pipeline files with which editors complete and check them. The options of each
`type` are in [connectors.md](connectors.md).

## Values

| written | gives |
|---|---|
| `${VAR}` | the environment variable; an error when it is not set |
| `${VAR:-default}` | the same, or `default` when it is not set or empty |
| `${file:path}` | the file's text without its last line end, the path relative to the project's root |
| `$${` | a literal `${` |

- References are expanded in values, not in keys, and not in `pipeline`; what they give is text that is not read again.
- `true` and `false` are the words for yes and no; a bare `no`, `off` or `2026-01-31` is text, as in YAML 1.2.
- A key that stands twice, a tag (`!!python/…`) and a merge key (`<<`) are errors. Anchors and aliases work.
- Durations are a whole number and a unit: `500ms`, `30s`, `10m`, `2h`, `1d`.
- An unknown key is an error, and every mistake in a file is reported at once, with its line.
"""

_EXAMPLE = """\
```yaml
pipeline: shop
source:
  type: postgres
  url: ${SHOP_URL}
destination:
  type: delta
  path: ./lake
streams:
  - name: orders
    table: public.orders
    key: [id]
    cursor: {field: updated_at, lookback: 10m}
    mode: merge
  - public.customers               # one table, as it is
  - include: "log_*"               # every table that matches
    exclude: log_debug
    defaults: {cursor: logged_at}
```
"""

_STREAMS = """\
`streams: "*"` moves every table; any other text is a pattern or one table's name. A list holds mappings as below, names
and patterns. A table that a mapping or a name speaks of is not taken by a pattern as well.
"""

_PATTERNS = """\
A mapping with `include` stands for all tables that it finds. Each takes its key from what was discovered.
"""

_RULES = """\
What `defaults` may hold means the same as for one stream. `exclude` and `cast` are taken where a table has the column;
a `cursor`, `key` or `partition_by` that it does not have is an error.
"""

_CONNECTORS = """\
# Connectors

<!-- Written by `python -m seamark.registry`; edit the connectors' own descriptions instead. -->

What stands under `source`, `destination` and `state_store` (or `state_provider`): a `type`, and that type's options.
Packages bring more through the entry points `seamark.sources`, `seamark.destinations` and `seamark.state_stores`;
`seamark connectors` lists what is installed.
"""

_SECTIONS: tuple[tuple[str, str, type[BaseModel]], ...] = (
    ("## seamark.yaml", "", ProjectFile),
    ("### spark", "", SparkOptions),
    ("## Pipeline files", _EXAMPLE, PipelineFile),
    ("### streams", _STREAMS, StreamOptions),
    ("### cursor", "A column's name, or a mapping:\n", CursorOptions),
    ("### patterns", _PATTERNS, PatternOptions),
    ("### defaults", _RULES, StreamRules),
    ("### stateful_ingestion", "DataHub's names, so that recipes carry over.\n", StatefulIngestionOptions),
)

_SEE = {
    "SparkOptions": "[spark](#spark)",
    "CursorOptions": "[cursor](#cursor)",
    "StreamRules": "[defaults](#defaults)",
    "StatefulIngestionOptions": "[stateful_ingestion](#stateful_ingestion)",
}
_OPEN = {
    "source": "mapping with `type`",
    "destination": "mapping with `type`",
    "state_store": "mapping with `type`",
    "state_provider": "mapping with `type`",
    "streams": "text, mapping or list, see [streams](#streams) and [patterns](#patterns)",
}


def config_reference() -> str:
    """The page on project and pipeline files."""
    parts = [_INTRODUCTION]
    for heading, text, model in _SECTIONS:
        parts += [f"{heading}\n", *([text] if text else []), options_table(model)]
    return "\n".join(parts)


def connector_reference(catalog: Catalog) -> str:
    """The page on connectors: what each is, its options, what it can do."""
    parts = [_CONNECTORS]
    groups = (
        ("Sources", catalog.sources),
        ("Destinations", catalog.destinations),
        ("State stores", catalog.state_stores),
    )
    for heading, connectors in groups:
        parts.append(f"## {heading}\n")
        parts += [_connector_section(connector) for connector in connectors]
    return "\n".join(parts)


def _connector_section(connector: Described) -> str:
    summary = connector.summary.rstrip(".") + "."
    parts = [f"### `type: {connector.kind}`\n", f"{summary}\n", options_table(connector.options)]
    if connector.capabilities:
        rows = [f"| {name} | {_cell(value)} |" for name, value in connector.capabilities]
        parts.append("\n".join(["| property | |", "|---|---|", *rows]) + "\n")
    return "\n".join(parts)


def options_table(model: type[BaseModel]) -> str:
    """A model's keys: what each takes, its default, what it means."""
    schema = model.model_json_schema(schema_generator=SchemaWriter)
    definitions = schema.get("$defs", {})
    rows = [
        f"| `{key}` | {_cell(_takes(key, field, definitions))} | {_default(key, field, schema)} "
        f"| {_cell(field.get('description', ''))} |"
        for key, field in schema.get("properties", {}).items()
    ]
    return (
        "\n".join(["| key | takes | default | meaning |", "|---|---|---|---|", *rows]) + "\n"
        if rows
        else "No options.\n"
    )


def _takes(key: str, field: dict[str, Any], definitions: dict[str, Any]) -> str:
    if key in _OPEN:
        return _OPEN[key]
    return " or ".join(dict.fromkeys(_words(field, definitions)))


def _words(schema: dict[str, Any], definitions: dict[str, Any]) -> Iterator[str]:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        if name in _SEE:
            yield _SEE[name]
        else:
            yield from _words(definitions[name], definitions)
    elif "anyOf" in schema:
        for option in schema["anyOf"]:
            yield from (word for word in _words(option, definitions) if word != "nothing")
    elif "enum" in schema:
        yield from (f"`{choice}`" for choice in schema["enum"])
    elif schema.get("type") == "array":
        yield f"list of {' or '.join(_words(schema.get('items', {}), definitions))}"
    else:
        yield _scalar(schema)


def _scalar(schema: dict[str, Any]) -> str:
    if schema.get("format") == "password" or schema.get("writeOnly"):
        return "secret text"
    if str(schema.get("pattern", "")).endswith("(d|h|m|s|ms|us)$"):
        return "duration"
    names = {
        "string": "text",
        "integer": "whole number",
        "number": "number",
        "boolean": "`true` or `false`",
        "object": "mapping",
        "null": "nothing",
    }
    return names.get(str(schema.get("type")), "anything")


def _default(key: str, field: dict[str, Any], schema: dict[str, Any]) -> str:
    if key in schema.get("required", ()):
        return "required"
    value = field.get("default")
    if value is None or value in ("", []):
        return ""
    return f"`{value if isinstance(value, str) else json.dumps(value)}`"


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


if __name__ == "__main__":
    sys.stdout.write(config_reference())
