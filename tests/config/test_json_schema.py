"""The schema and the loader agree: what editors accept loads, what they mark does not."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from pydantic import BaseModel, Field

from seamark.config.catalog import Catalog
from seamark.config.json_schema import pipeline_json_schema
from seamark.config.options import Options
from seamark.config.project import Project
from seamark.config.reader import read_text
from seamark.config.secret import Secret, SecretUrl
from seamark.config.tree import plain
from seamark.errors import ConfigError

ENVIRONMENT = {"NAME": "x", "PORT": "5432", "URL": "postgresql://u:p@h/d", "MODE": "merge", "FLAG": "true"}


class Tls(Options):
    verify: bool = Field(True, description="Whether to look at the certificate.")


class ServerOptions(Options):
    url: SecretUrl = Field(description="Where it is.")
    port: int = Field(5432, ge=1, description="The port.")
    password: Secret | None = Field(None, description="The password.")
    tls: Tls | None = Field(None, description="Encryption.")


class FileOptions(Options):
    path: str = Field(description="The file.")
    # A model of the same name as another connector's must not take its place in the schema.
    tls: Tls | None = Field(None, description="Encryption.")


class FolderOptions(Options):
    class Tls(Options):
        cipher: str = Field("", description="The cipher.")

    path: str = Field(".", description="The folder.")
    tls: Tls | None = Field(None, description="Encryption.")


@dataclass(frozen=True)
class Connector:
    kind: str
    summary: str
    options: type[BaseModel]
    capabilities: tuple[tuple[str, str], ...] = ()


CATALOG = Catalog(
    sources=[Connector("server", "A server.", ServerOptions), Connector("file", "A file.", FileOptions)],
    destinations=[Connector("folder", "A folder.", FolderOptions)],
    state_stores=[Connector("file", "A file of its own.", FileOptions)],
)
SCHEMA = pipeline_json_schema(CATALOG)
VALIDATOR = jsonschema.Draft7Validator(SCHEMA)


def the_file(
    source: str = "{type: file, path: x}", destination: str = "{type: folder}", streams: str = "a", rest: str = ""
) -> str:
    return f"pipeline: shop\nsource: {source}\ndestination: {destination}\nstreams: {streams}\n{textwrap.dedent(rest)}"


def loads(folder: Path, text: str) -> bool:
    path = folder / "shop.yaml"
    path.write_text(text, encoding="utf-8")
    try:
        config = Project.containing(path, ENVIRONMENT).load(path)
        for section, connectors in (
            (config.source, CATALOG.sources),
            (config.destination, CATALOG.destinations),
            (config.state_store, CATALOG.state_stores if config.has_own_store else ()),
        ):
            if connectors:
                section.validated({connector.kind: connector for connector in connectors}[section.kind].options)
    except (ConfigError, KeyError):
        return False
    return True


GOOD = [
    the_file(),
    the_file(streams='"*"'),
    the_file(streams="public.orders"),
    the_file(streams="[a, 'b*', {name: c}, {table: d.e}, {include: [f, 'g*'], exclude: h, defaults: {cursor: at}}]"),
    the_file(streams="{include: '*', exclude: ['a*']}"),
    the_file(streams="[{name: a, key: id, cursor: at, mode: merge}]"),
    the_file(
        streams="[{name: a, key: [id, no], cursor: {field: at, lookback: 10m, nulls: include, sorted: true, settle: 5s}}]"
    ),
    the_file(streams="[{name: a, key: id, cursor: {field: id, lookback: 1000}}]"),
    the_file(
        streams="[{name: a, cast: {b: 'decimal(12,2)'}, where: x > 1, exclude: [c], partition_by: d, columns: [d, b]}]"
    ),
    the_file(streams="[{name: a, key: id, mode: '${MODE}', cursor: {field: '${NAME}', sorted: '${FLAG}'}}]"),
    the_file(streams="'${NAME}'"),
    the_file(source="{type: server, url: 'postgresql://h/d', port: 1, password: p, tls: {verify: false}}"),
    the_file(
        source="{type: server, url: '${URL}', port: '${PORT}', password: '${file:secret}', tls: {verify: '${FLAG}'}}"
    ),
    the_file(destination="{type: folder, tls: {cipher: x}}"),
    the_file(
        rest="stateful_ingestion: {enabled: true, fail_safe_threshold: 10, state_provider: {type: file, path: x}}"
    ),
    the_file(rest="stateful_ingestion: {max_checkpoint_state_size: '${PORT}', lease_ttl: 1m}"),
    the_file(rest="spark: {master: 'local[2]', conf: {a: 1, b: true, c: x, d: 1.5}, memory: 4g, skip_below: 0}"),
    the_file(rest="spark:\nstateful_ingestion: {}"),
    the_file(streams="[{name: a, cursor: }]"),
]
BAD = [
    "{}",
    "pipeline: shop\n",
    the_file().replace("shop", "../shop"),
    the_file().replace("shop", "${NAME}"),
    the_file().replace("shop", "5"),
    the_file(source="file"),
    the_file(source="{path: x}"),
    the_file(source="{type: nosuch}"),
    the_file(source="{type: file}"),
    the_file(source="{type: file, path: 5}"),
    the_file(source="{type: file, path: x, pth: y}"),
    the_file(source="{type: server}"),
    the_file(source="{type: server, url: h}"),
    the_file(source="{type: server, url: 'a://b', port: many}"),
    the_file(source="{type: server, url: 'a://b', port: 0}"),
    the_file(source="{type: server, url: 'a://b', tls: {cipher: x}}"),
    the_file(destination="{type: folder, tls: {verify: true}}"),
    the_file(streams="5"),
    the_file(streams="[]"),
    the_file(streams=""),
    the_file(streams="[5]"),
    the_file(streams="['']"),
    the_file(streams="[{}]"),
    the_file(streams="[{key: id}]"),
    the_file(streams="[{name: ''}]"),
    the_file(streams="[{name: a, nam: b}]"),
    the_file(streams="[{name: a, key: {}}]"),
    the_file(streams="[{name: a, mode: mergee}]"),
    the_file(streams="[{name: a, cursor: {feild: at}}]"),
    the_file(streams="[{name: a, cursor: {field: at, lookback: 10x}}]"),
    the_file(streams="[{name: a, cursor: {field: at, lookback: -1}}]"),
    the_file(streams="[{name: a, cursor: {field: at, nulls: maybe}}]"),
    the_file(streams="[{include: 'a', name: b}]"),
    the_file(streams="[{include: 'a', defaults: {name: b}}]"),
    the_file(streams="[{include: []}]"),
    the_file(rest="steams: a"),
    the_file(rest="stateful_ingestion: {enable: true}"),
    the_file(rest="stateful_ingestion: {fail_safe_threshold: 101}"),
    the_file(rest="stateful_ingestion: {state_provider: {type: file}}"),
    the_file(rest="stateful_ingestion: {state_provider: file}"),
    the_file(rest="spark: {skip_below: -1}"),
    the_file(rest="spark: {memory: lots}"),
]


def content(text: str) -> Any:
    """As editors read it: by YAML 1.2, where `no` is a word."""
    return plain(read_text(text, "shop.yaml"))


def test_it_is_a_schema() -> None:
    jsonschema.Draft7Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("text", GOOD)
def test_what_loads_is_good(tmp_path: Path, text: str) -> None:
    (tmp_path / "secret").write_text("x")
    assert [error.message for error in VALIDATOR.iter_errors(content(text))] == []
    assert loads(tmp_path, text)


@pytest.mark.parametrize("text", BAD)
def test_what_does_not_load_is_bad(tmp_path: Path, text: str) -> None:
    assert not VALIDATOR.is_valid(content(text))
    assert not loads(tmp_path, text)


def test_every_key_is_described() -> None:
    bare = []

    def walk(schema: Any, path: str) -> None:
        if isinstance(schema, dict):
            properties = schema.get("properties", {})
            if "if" not in path.split("/"):
                bare.extend(f"{path}/{key}" for key, value in properties.items() if "description" not in value)
            for key, value in schema.items():
                walk(value, f"{path}/{key}")
        elif isinstance(schema, list):
            for index, value in enumerate(schema):
                walk(value, f"{path}/{index}")

    walk(SCHEMA, "")
    assert bare == []


def test_kinds_are_offered_with_what_they_are() -> None:
    kinds = SCHEMA["properties"]["source"]["properties"]["type"]["anyOf"]
    assert {"const": "server", "description": "A server."} in kinds


def test_durations_are_shown_as_files_write_them() -> None:
    assert SCHEMA["$defs"]["CursorOptions"]["properties"]["settle"]["default"] == "3s"


def test_a_schema_without_connectors_is_still_one() -> None:
    jsonschema.Draft7Validator.check_schema(pipeline_json_schema(Catalog()))
