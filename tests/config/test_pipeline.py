from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from pydantic import Field

from seamark.config.options import Options
from seamark.config.pipeline import PipelineConfig, StatefulIngestionOptions
from seamark.config.project import Project
from seamark.config.secret import SecretUrl
from seamark.config.streams import StreamSpec, TablePattern
from seamark.errors import ConfigError
from tests.config.files import HEAD, load, refused, said, write

WHOLE = """
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
        cursor: updated_at
        mode: merge
    stateful_ingestion:
      enabled: true
      ignore_old_state: false
      ignore_new_state: false
      force_rerun: false
      max_checkpoint_state_size: 16777216
      remove_stale_metadata: true
      fail_safe_threshold: 75.0
      state_provider: {type: sqlite}
    spark:
      conf: {spark.sql.shuffle.partitions: 8, spark.ui.enabled: true}
"""


class PostgresOptions(Options):
    url: SecretUrl = Field(description="Where it is.")
    schema_: str = Field("public", alias="schema")


def whole(folder: Path, text: str = WHOLE) -> PipelineConfig:
    path = write(folder, "shop.yaml", text)
    return Project.containing(path, {}).load(path)


def test_the_file_of_the_documentation(tmp_path: Path) -> None:
    config = whole(tmp_path)
    assert (config.name, config.root, config.file) == ("shop", tmp_path, tmp_path / "shop.yaml")
    assert (config.source.kind, config.destination.kind, config.state_store.kind) == ("postgres", "delta", "sqlite")
    assert [item.name for item in config.streams] == ["orders"]
    assert config.stateful == StatefulIngestionOptions()
    assert config.spark.conf == {"spark.sql.shuffle.partitions": "8", "spark.ui.enabled": "true"}
    assert config.lease_ttl == timedelta(seconds=30)


def test_what_stateful_ingestion_is_by_default(tmp_path: Path) -> None:
    stateful = load(tmp_path, "streams: a").stateful
    assert stateful.model_dump(exclude={"lease_ttl", "state_provider"}) == {
        "enabled": True,
        "ignore_old_state": False,
        "ignore_new_state": False,
        "force_rerun": False,
        "max_checkpoint_state_size": 16_777_216,
        "remove_stale_metadata": True,
        "fail_safe_threshold": 75.0,
    }


def test_connector_options_wait_for_their_connector(tmp_path: Path) -> None:
    config = whole(tmp_path)  # SHOP_URL is not set, and nothing has asked for it yet
    with pytest.raises(ConfigError, match="the environment variable SHOP_URL is not set") as caught:
        config.source.validated(PostgresOptions)
    assert caught.value.where.endswith("shop.yaml:4")


def test_connector_options_are_checked_at_their_lines(tmp_path: Path) -> None:
    config = whole(tmp_path, WHOLE.replace("url: ${SHOP_URL}", "ulr: postgresql://u:hunter2@h/d\n      shema: x"))
    with pytest.raises(ConfigError) as caught:
        config.source.validated(PostgresOptions)
    assert said(caught.value, tmp_path) == [
        (2, "source: 'url' is required (Where it is.)"),
        (4, "source: unknown key 'ulr' (did you mean 'url'? known: url, schema)"),
        (5, "source: unknown key 'shema' (did you mean 'schema'? known: url, schema)"),
    ]
    assert "hunter2" not in str(caught.value)


def test_connector_options_become_their_model(tmp_path: Path) -> None:
    path = write(tmp_path, "shop.yaml", WHOLE)
    config = Project.containing(path, {"SHOP_URL": "postgresql://u:hunter2@h/d"}).load(path)
    options = config.source.validated(PostgresOptions)
    assert options.url.reveal() == "postgresql://u:hunter2@h/d"
    assert "hunter2" not in f"{options!r} {options} {options.model_dump_json()} {config!r}"


def test_a_literal_password_does_not_show_in_the_configs_repr(tmp_path: Path) -> None:
    assert "hunter2" not in repr(whole(tmp_path, WHOLE.replace("${SHOP_URL}", "postgresql://u:hunter2@h/d")))


def test_streams_are_specs_and_patterns(tmp_path: Path) -> None:
    config = load(tmp_path, 'streams:\n  - {name: a}\n  - b\n  - "c*"\n  - {include: [d, e]}\n')
    assert [(type(item), item.name) for item in config.streams] == [
        (StreamSpec, "a"),
        (TablePattern, "b"),
        (TablePattern, "c*"),
        (TablePattern, "d, e"),
    ]


def test_references_work_in_streams(tmp_path: Path) -> None:
    config = load(tmp_path, "streams:\n  - {name: a, cursor: '${C}', where: \"x = '$${y}'\"}\n", {"C": "at"})
    (spec,) = config.streams
    assert isinstance(spec, StreamSpec)
    assert spec.rules.cursor is not None
    assert (spec.rules.cursor.field, spec.rules.where) == ("at", "x = '${y}'")


@pytest.mark.parametrize(
    ("lines", "mistakes"),
    [
        ("streams: a\nsteams: b", [(5, "unknown key 'steams'")]),
        ("", [(1, "'streams' is required")]),
        ("streams: a\nstateful_ingestion:\n  enable: true", [(6, "stateful_ingestion: unknown key 'enable'")]),
        ("streams: a\nstateful_ingestion: yes", [(5, "stateful_ingestion: expected a mapping, found 'yes'")]),
        (
            "streams: a\nstateful_ingestion:\n  fail_safe_threshold: 101",
            [(6, "stateful_ingestion.fail_safe_threshold: input should be less than or equal to 100")],
        ),
        (
            "streams: a\nstateful_ingestion:\n  max_checkpoint_state_size: 16MB",
            [(6, "stateful_ingestion.max_checkpoint_state_size: expected a whole number, found '16MB'")],
        ),
        (
            "streams: a\nstateful_ingestion:\n  lease_ttl: 5ms",
            [(6, "stateful_ingestion.lease_ttl: shorter than 1s: no run could keep its lease")],
        ),
        (
            "streams: a\nstateful_ingestion:\n  state_provider: sqlite",
            [(6, "stateful_ingestion.state_provider: expected a mapping, found text")],
        ),
        (
            "streams: a\nstateful_ingestion:\n  state_provider: {path: x}",
            [(6, "stateful_ingestion.state_provider: 'type' is required")],
        ),
        ("streams: a\nspark:\n  skip_below: -1", [(6, "spark.skip_below: input should be greater than or equal to 0")]),
        ("streams: a\nspark:\n  memory: lots", [(6, "spark.memory: string should match pattern '^[0-9]+[kKmMgGtT]$'")]),
        ("streams: '${NOWHERE}'", [(4, "the environment variable NOWHERE is not set")]),
        ("streams: a\nspark: {master: '${NOWHERE}'}", [(5, "the environment variable NOWHERE is not set")]),
        (
            "streams: a\nstateful_ingestion:\n  enabled: ${NOWHERE}\n  enable: x",
            [(6, "the environment variable NOWHERE is not set"), (7, "stateful_ingestion: unknown key 'enable'")],
        ),
    ],
)
def test_each_mistake_has_its_line(tmp_path: Path, lines: str, mistakes: list[tuple[int, str]]) -> None:
    found = [(line, message.split(" (")[0]) for line, message in said(refused(tmp_path, lines), tmp_path)]
    assert found == mistakes


@pytest.mark.parametrize(
    ("old", "new", "mistakes"),
    [
        ("source: {type: sqlite, path: shop.db}", "source: sqlite", [(2, "source: expected a mapping, found text")]),
        ("source: {type: sqlite, path: shop.db}", "source:", [(2, "source: expected a mapping, found nothing")]),
        ("source: {type: sqlite, path: shop.db}", "source: {path: x}", [(2, "source: 'type' is required")]),
        ("source: {type: sqlite, path: shop.db}", "source: {type: 5}", [(2, "source.type: expected a kind")]),
        ("source: {type: sqlite, path: shop.db}\n", "", [(1, "'source' is required")]),
        ("source: {type: sqlite, path: shop.db}", "sorce: {type: x}", [(1, "'source' is required"), (2, "unknown key 'sorce'")]),
        ("pipeline: shop\n", "", [(1, "'pipeline' is required")]),
        ("pipeline: shop", "pipeline: 2026", [(1, "pipeline: expected text, found a number")]),
        ("pipeline: shop", "pipeline: ${NAME}", [(1, "pipeline: '${NAME}' can't name a pipeline")]),
    ],
)  # fmt: skip
def test_each_mistake_at_the_top_has_its_line(
    tmp_path: Path, old: str, new: str, mistakes: list[tuple[int, str]]
) -> None:
    path = write(tmp_path, "shop.yaml", HEAD.replace(old, new) + "streams: a\n")
    with pytest.raises(ConfigError) as caught:
        Project.containing(path, {}).load(path)
    assert [
        (line, message.split(" (")[0].split(": 1 to")[0]) for line, message in said(caught.value, tmp_path)
    ] == mistakes


@pytest.mark.parametrize("name", ["a", "a.b-c_D9", "_", "9", "x" * 100])
def test_names_that_a_pipeline_can_have(tmp_path: Path, name: str) -> None:
    path = write(tmp_path, "p.yaml", HEAD.replace("shop\n", f'"{name}"\n', 1) + "streams: a\n")
    assert Project.containing(path, {}).load(path).name == name


@pytest.mark.parametrize(
    "name", ["", ".", "..", "../x", "a/b", "/a", "a b", "ä", "-a", ".a", "x" * 101, "a\\n", "a\\0"]
)
def test_names_that_a_pipeline_can_not_have(tmp_path: Path, name: str) -> None:
    path = write(tmp_path, "p.yaml", HEAD.replace("shop\n", f'"{name}"\n', 1).replace("\\\\", "\\") + "streams: a\n")
    with pytest.raises(ConfigError, match=r"p\.yaml:1: pipeline: .* can't name a pipeline"):
        Project.containing(path, {}).load(path)


def test_a_broken_file_is_a_configuration_error(tmp_path: Path) -> None:
    path = write(tmp_path, "p.yaml", "pipeline: [\n")
    with pytest.raises(ConfigError, match="not valid YAML") as caught:
        Project.containing(path, {}).load(path)
    assert caught.value.exit_status == 2


def test_a_pipelines_spark_goes_over_the_projects(tmp_path: Path) -> None:
    write(tmp_path, "seamark.yaml", "spark: {master: 'local[2]', memory: 4g, conf: {a: 1, b: 2}}\n")
    spark = load(tmp_path, "streams: a\nspark: {memory: 8g, conf: {b: 3}}").spark
    assert (spark.master, spark.memory, spark.conf) == ("local[2]", "8g", {"a": "1", "b": "3"})


def test_the_state_store_is_the_pipelines_else_the_projects_else_sqlite(tmp_path: Path) -> None:
    config = load(tmp_path, "streams: a")
    assert (config.state_store.kind, config.has_own_store) == ("sqlite", False)
    write(tmp_path, "seamark.yaml", "state_store: {type: postgres, url: '${NOWHERE}'}\n")
    config = load(tmp_path, "streams: a")
    assert (config.state_store.kind, config.has_own_store) == ("postgres", False)
    config = load(tmp_path, "streams: a\nstateful_ingestion: {state_provider: {type: other}}")
    assert (config.state_store.kind, config.has_own_store) == ("other", True)
