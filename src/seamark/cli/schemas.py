"""The JSON Schema of pipeline files, printed or put beside them."""

from __future__ import annotations

import json
from pathlib import Path

import typer

from seamark.cli.output import note, say
from seamark.cli.session import opened

SCHEMA_FILE = Path(".seamark") / "pipeline.schema.json"


def print_schema(ctx: typer.Context, write: bool) -> int:
    if not write:
        say(schema_text())
        return 0
    with opened(ctx) as app:
        note(f"wrote {write_schema(app.project.root)}")
    return 0


def write_schema(root: Path) -> Path:
    path = root / SCHEMA_FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(schema_text() + "\n", encoding="utf-8")
    return path


def schema_text() -> str:
    from seamark.registry import pipeline_json_schema

    return json.dumps(pipeline_json_schema(), indent=2, ensure_ascii=False)
