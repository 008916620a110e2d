"""The documentation is tested: what it says exists, and what it says is done is done."""

from __future__ import annotations

import configparser
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from seamark.config.project import Project as Configured
from seamark.config.project import ProjectFile
from seamark.registry import catalog, check_options, pipeline_json_schema
from tests.docs.commands import command_lines, problem
from tests.docs.messages import fits, literals, messages
from tests.docs.pages import (
    REPOSITORY,
    Block,
    anchors,
    blocks,
    code,
    links,
    pages,
    prose,
    section,
    shown,
    written_pages,
)
from tests.docs.types import SECTIONS, table

ENVIRONMENT = {
    "SHOP_URL": "postgresql://ann:secret@localhost/shop",
    "SEAMARK_STATE_URL": "postgresql://ann:secret@localhost/state",
}
YAML = [block for page in written_pages() for block in blocks(page) if block.language == "yaml"]
PIPELINES = [block for block in YAML if re.search(r"^pipeline:", block.text, re.MULTILINE)]
PROJECTS = [block for block in YAML if block.text.startswith("# seamark.yaml")]
RUNNABLE = [page for page in written_pages() if any(block.mark == "runs" for block in blocks(page))]
TROUBLE = REPOSITORY / "docs" / "troubleshooting.md"
MANIFEST = REPOSITORY / "deploy" / "kubernetes" / "cronjob.yaml"


@pytest.mark.parametrize("page", pages(), ids=shown)
def test_links_and_anchors_resolve(page: Path) -> None:
    for link in links(page):
        if re.match(r"[a-z]+://", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{link} leads nowhere"
        if anchor:
            assert anchor in anchors(target), f"{link}: {shown(target)} has the anchors {sorted(anchors(target))}"


def test_every_page_is_in_the_index() -> None:
    index = REPOSITORY / "docs" / "README.md"
    listed = {(index.parent / link.partition("#")[0]).resolve() for link in links(index)}
    for page in (REPOSITORY / "docs").rglob("*.md"):
        assert page == index or page in listed or page.parent in listed, f"{shown(page)} is not in docs/README.md"


def test_decisions_are_numbered_without_gaps() -> None:
    names = sorted(page.name for page in (REPOSITORY / "docs" / "adr").glob("*.md"))
    assert [int(name[:4]) for name in names] == list(range(1, len(names) + 1))
    for name in names:
        heading = (REPOSITORY / "docs" / "adr" / name).read_text(encoding="utf-8").splitlines()[0]
        assert heading.startswith(f"# {int(name[:4])}. ")


@pytest.mark.parametrize("block", PIPELINES, ids=str)
def test_a_pipeline_on_a_page_can_be_loaded(block: Block, tmp_path: Path) -> None:
    file = _write(tmp_path, "pipelines/shown.yaml", block.text)
    jsonschema.validate(yaml.safe_load(block.text), SCHEMA)
    check_options(Configured.find(tmp_path, ENVIRONMENT).load(file))


@pytest.mark.parametrize("block", PROJECTS, ids=str)
def test_a_project_on_a_page_can_be_loaded(block: Block, tmp_path: Path) -> None:
    _write(tmp_path, "seamark.yaml", block.text)
    assert Configured.find(tmp_path, ENVIRONMENT).file is not None


def test_every_yaml_block_is_a_pipeline_or_a_project() -> None:
    assert [str(block) for block in YAML if block not in PIPELINES and block not in PROJECTS] == []
    assert len(PIPELINES) >= 6


@pytest.mark.parametrize("page", written_pages(), ids=shown)
def test_command_lines_exist(page: Path) -> None:
    assert [
        f"{where}: seamark {line}: {wrong}" for where, line in command_lines(page) if (wrong := problem(line))
    ] == []


def test_command_lines_that_do_not_exist_are_found() -> None:
    assert problem("serve")
    assert problem("run shop --retries 3")
    assert problem("state rewind")
    assert problem("status --json shop") == problem("run shop --follow --interval 30s") == ""


@pytest.mark.parametrize("page", written_pages(), ids=shown)
def test_options_that_are_mentioned_exist(page: Path) -> None:
    mentioned = {
        match[1] for text in code(page) if (match := re.fullmatch(r"(?!pg_|test_)([a-z]+(?:_[a-z]+)+)(:.*)?", text))
    }
    assert mentioned - OPTIONS - NO_OPTIONS == set()


@pytest.mark.parametrize("kind", ["postgres", "sqlite"])
def test_every_option_of_a_source_is_explained(kind: str) -> None:
    (source,) = [found for found in catalog().sources if found.kind == kind]
    text = (REPOSITORY / "docs" / "sources.md").read_text(encoding="utf-8")
    for name in source.options.model_fields:
        assert f"| `{name}` |" in text


@pytest.mark.parametrize("name", SECTIONS)
def test_the_tables_of_types_agree_with_the_code(name: str) -> None:
    assert section(REPOSITORY / SECTIONS[name], name) == table(name), "write them anew: python -m tests.docs.types"


def test_every_message_that_is_explained_exists() -> None:
    known = [*(text for _, text in messages()), *literals()]
    for row in ROWS:
        assert any(fits(row, text) for text in known), f"nothing in the code says {row!r}"


def test_every_message_is_explained() -> None:
    missing = [f"{where}: {text}" for where, text in messages() if not any(fits(row, text) for row in ROWS)]
    assert missing == []


@pytest.mark.parametrize("page", RUNNABLE, ids=shown)
def test_what_is_marked_as_runnable_runs(page: Path, tmp_path: Path) -> None:
    """All marked blocks of a page in turn, in one project. They stage in the driver, so no JVM is started."""
    lines = ["set -eu"]
    if page.name != "getting-started.md":
        lines += list(_getting_started())
    lines += list(_runnable(page, tmp_path))
    done = _shell("\n".join(lines), tmp_path)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert not list(tmp_path.rglob("spark-*.log"))
    if page.name == "getting-started.md":
        result = next(json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"pipeline"'))
        assert {stream["name"]: stream["rows"] for stream in result["streams"]} == {"orders": 0, "events": 1}


def test_kubernetes_manifest_parses_and_its_pipeline_loads(tmp_path: Path) -> None:
    config, job = yaml.safe_load_all(MANIFEST.read_text(encoding="utf-8"))
    (container,) = job["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"]
    assert {variable["name"] for variable in container["env"]} == set(ENVIRONMENT)
    for mount in container["volumeMounts"]:
        if "subPath" in mount:
            _write(tmp_path, mount["mountPath"].removeprefix("/project/"), config["data"][mount["subPath"]])
    loaded = Configured.find(tmp_path, ENVIRONMENT).load("shop")
    check_options(loaded)
    assert loaded.state_store.kind == "postgres"
    assert loaded.destination.options.get("path") is not None


def test_systemd_units_hold_together() -> None:
    folder = REPOSITORY / "deploy" / "systemd"
    service, timer = (_unit(folder / name) for name in ("seamark.service", "seamark.timer"))
    assert problem(service["Service"]["ExecStart"].partition("seamark ")[2]) == ""
    assert service["Service"]["SuccessExitStatus"] == "3"
    assert timer["Install"]["WantedBy"] == "timers.target"


def test_other_deployment_files_call_commands_that_exist() -> None:
    cron = (REPOSITORY / "deploy" / "seamark.cron").read_text(encoding="utf-8").splitlines()[-1]
    assert problem(cron.partition("bin/seamark ")[2]) == ""
    image = (REPOSITORY / "deploy" / "Dockerfile").read_text(encoding="utf-8")
    assert problem(" ".join(json.loads(re.findall(r"^CMD (.*)$", image, re.MULTILINE)[0]))) == ""
    for copied in re.findall(r"^COPY (.*) \S+$", image, re.MULTILINE):
        for name in copied.split():
            assert (REPOSITORY / name).exists()


def _write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def _getting_started() -> Iterator[str]:
    """What other pages suppose: a project in which something was run."""
    yield "python -c \"import sqlite3; sqlite3.connect('shop.db').execute('CREATE TABLE t (id INTEGER PRIMARY KEY)')\""
    yield "seamark init . --name shop && seamark status"


def _runnable(page: Path, folder: Path) -> Iterator[str]:
    """The page as a script: files are written where the page shows them."""
    for number, block in enumerate(blocks(page)):
        if block.mark.startswith("file: "):
            kept = _write(folder, f".pages/{number}", block.text)
            name = block.mark.removeprefix("file: ")
            yield f'mkdir -p "$(dirname {name})" && cp "{kept}" {name}'
        elif block.mark == "runs":
            yield block.text


def _shell(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-c", script], cwd=folder, env=os.environ | {"PATH": path}, capture_output=True, text=True, timeout=120
    )


def _unit(path: Path) -> configparser.ConfigParser:
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment]
    unit.read_string(path.read_text(encoding="utf-8"))
    return unit


def _names_in(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        yield from schema.get("properties", {})
        for value in schema.values():
            yield from _names_in(value)
    elif isinstance(schema, list):
        yield from chain.from_iterable(map(_names_in, schema))


SCHEMA = pipeline_json_schema()
OPTIONS = {*_names_in(SCHEMA), *ProjectFile.model_fields}
NO_OPTIONS = {
    "application_name", "default_transaction_read_only", "delta_scan", "last_run", "postgres_db", "spark_started",
    "synchronous_commit", "text_pattern_ops", "timestamp_ntz", "to_pandas", "to_pyarrow_table", "txid_snapshot", "updated_at",
}  # fmt: skip
"""Names of others in the same spelling: of Postgres, Delta, Python, and of our own documents."""
ROWS = [
    row.strip("` ")
    for line in prose(TROUBLE).splitlines()
    if line.startswith("| `")
    for row in [line.split(" | ")[0].removeprefix("| ")]
]
