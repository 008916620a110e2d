"""`seamark init`: a project's first files."""

from __future__ import annotations

import re
from pathlib import Path

from seamark.cli.output import heading, json_document, say
from seamark.cli.schemas import SCHEMA_FILE, write_schema
from seamark.errors import UsageError

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,62}")

_PROJECT = """\
# A Seamark project: its pipelines are pipelines/*.yaml. Everything here is optional.

# Where state lives. The default is a SQLite file, .seamark/state.db; a team shares one on Postgres:
# state_store:
#   type: postgres
#   url: ${SEAMARK_STATE_URL}

# How Spark is started; the default uses all cores of this machine.
# spark:
#   master: local[4]
#   memory: 4g
"""

_PIPELINE = """\
# yaml-language-server: $schema=../{schema}
# State is tied to this name: keep it.
pipeline: {name}

{source}
destination:
  type: delta
  # One folder per table: ./lake/orders
  path: ./lake

streams:
  # What to move. `seamark discover {name}` lists the source's tables; `--yaml` writes this section.
  - name: orders
    table: {table}
    # Rows with the same key are merged: the newest wins.
    key: [id]
    # The column that grows when a row is added or changed; only rows beyond the last run's mark are read.
    cursor: updated_at
    # merge (the default with a key), append (rows are only ever added) or replace (the whole table, every time)
    mode: merge
"""

_SOURCES = {
    "sqlite": """\
source:
  type: sqlite
  path: ./{name}.db
""",
    "postgres": """\
source:
  type: postgres
  # postgresql://user:password@host:5432/database, from the environment: it holds a password.
  url: ${{{variable}}}
""",
}
_TABLES = {"sqlite": "orders", "postgres": "public.orders"}


def init_project(folder: Path, name: str | None, source: str, *, force: bool, as_json: bool) -> int:
    root = folder.resolve()
    name = name or _name_of(root)
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} is no name for a pipeline", "take letters, digits, - and _, a letter first: --name shop"
        )
    pipeline = root / "pipelines" / f"{name}.yaml"
    if pipeline.exists() and not force:
        raise UsageError(
            f"{_short(pipeline)} is there already", "--force writes over it; --name NAME adds another pipeline"
        )
    try:
        written = [*_write_project(root), _write(pipeline, pipeline_text(name, source)), write_schema(root)]
    except OSError as error:
        raise UsageError(f"{error.filename} can't be written: {error.strerror}", "name another folder") from None
    if as_json:
        json_document({"pipeline": name, "root": str(root), "files": [str(path.relative_to(root)) for path in written]})
    else:
        _say_what_next(root, name, source, written)
    return 0


def pipeline_text(name: str, source: str) -> str:
    filled = _SOURCES[source].format(name=name, variable=variable_of(name))
    return _PIPELINE.format(schema=SCHEMA_FILE.as_posix(), name=name, source=filled, table=_TABLES[source])


def variable_of(name: str) -> str:
    """The environment variable that a pipeline's URL comes from."""
    return re.sub(r"\W", "_", name).upper() + "_URL"


def _name_of(root: Path) -> str:
    """The folder's name, as far as it can be a pipeline's."""
    return re.sub(r"^[^A-Za-z]+|[^A-Za-z0-9_-]+", "-", root.name).strip("-")[:63] or "shop"


def _write_project(root: Path) -> list[Path]:
    written = []
    root.mkdir(parents=True, exist_ok=True)
    if not (root / "seamark.yaml").exists():
        written.append(_write(root / "seamark.yaml", _PROJECT))
    ignored = root / ".gitignore"
    before = ignored.read_text(encoding="utf-8") if ignored.exists() else ""
    if ".seamark/" not in before.split():
        gap = "" if before.endswith("\n") or not before else "\n"
        written.append(_write(ignored, f"{before}{gap}.seamark/\n"))
    return written


def _write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def _say_what_next(root: Path, name: str, source: str, written: list[Path]) -> None:
    heading(f"wrote pipeline {name!r}")
    for path in written:
        say(f"  {_short(path)}")
    say()
    say("What next:")
    if root != Path.cwd():
        say(f"  cd {_short(root)}")
    if source == "postgres":
        say(f"  export {variable_of(name)}=postgresql://user:password@host:5432/database")
    say(f"  edit pipelines/{name}.yaml".ljust(40) + "# say where rows come from, and which")
    say(f"  seamark check {name}".ljust(40) + "# is it fit to run?")
    say(f"  seamark plan {name}".ljust(40) + "# what would it do?")
    say(f"  seamark run {name}".ljust(40) + "# do it")


def _short(path: Path) -> str:
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)
