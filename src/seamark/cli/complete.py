"""Names for shell completion, read straight from the pipeline files: a key press can't wait for more."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer


def pipeline_names(ctx: typer.Context, incomplete: str) -> list[str]:
    """Pipelines that haven't been typed yet."""
    typed = _typed(ctx)
    return [name for name, _ in _pipelines(ctx) if name.startswith(incomplete) and name not in typed]


def stream_names(ctx: typer.Context, incomplete: str) -> list[str]:
    """Streams of the pipelines typed so far; of all when none is."""
    typed = _typed(ctx)
    names = (stream for name, streams in _pipelines(ctx) if not typed or name in typed for stream in streams)
    return sorted({name for name in names if name.startswith(incomplete)})


def _typed(ctx: typer.Context) -> list[str]:
    named = ctx.params.get("pipelines") or ctx.params.get("pipeline") or []
    return [named] if isinstance(named, str) else list(named)


def _pipelines(ctx: typer.Context) -> Iterator[tuple[str, list[str]]]:
    import yaml

    for path in sorted((_root(ctx) / "pipelines").glob("*.y*ml")):
        try:
            facts = yaml.safe_load(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, yaml.YAMLError):
            continue
        if isinstance(facts, dict) and isinstance(facts.get("pipeline"), str):
            yield facts["pipeline"], list(_streams(facts.get("streams")))


def _streams(listed: Any) -> Iterator[str]:
    for stream in listed if isinstance(listed, list) else []:
        name = stream.get("name") if isinstance(stream, dict) else stream
        if isinstance(name, str):
            yield name


def _root(ctx: typer.Context) -> Path:
    given = ctx.find_root().params.get("project")
    start = Path(given) if given else Path.cwd()
    return next((folder for folder in (start, *start.parents) if (folder / "seamark.yaml").is_file()), start)
