"""Sets the stage for the demo and takes its outcome."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from seamark.app import App
from seamark.cli import failure
from seamark.cli.demo.folder import claim
from seamark.cli.demo.narrator import Narrator
from seamark.cli.demo.story import Story, failed, tell
from seamark.cli.output import json_document
from seamark.cli.schemas import write_schema
from seamark.cli.session import project_in
from seamark.cli.stop import Stop, stopping
from seamark.errors import SeamarkError


def perform(wanted: Path | None, keep: bool, rows: int, as_json: bool) -> int:
    """The demo, to its exit status."""
    folder = claim(wanted, keep)
    folder.write_project()
    write_schema(folder.root)
    stop = Stop()
    error = None
    with stopping(stop), closing(App(project_in(folder.root))) as app:
        story = Story(app, folder, Narrator(silent=as_json), stop)
        try:
            tell(story, rows)
        except SeamarkError as caught:
            error = caught
    if as_json:
        json_document(story.to_json() | ({"error": error.message} if error else {}))
    if error is not None:
        failure.report(*failed(error, story))
    return 0 if story.agrees and error is None else 1
