"""The checkpoint: staged files and the bookmarks they justify, prepared, published and committed as one."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from seamark.model.bookmark import Bookmark, BookmarkType
from seamark.model.schema import Column, DataType, Schema


class Write(StrEnum):
    """What publishing does to a table."""

    APPEND = "append"
    MERGE = "merge"
    REPLACE = "replace"
    NOTHING = "nothing"
    """Only the number is recorded: the bookmark moves over a window that held no rows."""


@dataclass(frozen=True)
class StagedFile:
    """A file fact. `path` is relative to the table's root; `stats` are min, max and null counts as Delta words them."""

    path: str
    rows: int
    bytes: int
    digest: str
    partition: tuple[tuple[str, str | None], ...] = ()
    stats: str = "{}"
    cursor_max: str | None = None


@dataclass(frozen=True)
class TableChange:
    """What one checkpoint does to one stream's table."""

    stream: str
    table: str
    write: Write
    files: tuple[StagedFile, ...]
    schema: Schema
    key: tuple[str, ...] = ()
    partition_by: tuple[str, ...] = ()
    cursor: str = ""
    """The field that orders rows of one key: of several in one merge the last by cursor wins; "": nothing orders
    them."""
    mode: str = ""
    """The stream's mode when this was prepared; stands in the state beside the cursor."""
    unique_key: bool = True
    """Whether the source enforces the key, so that no two staged rows of one merge share it."""

    @property
    def rows(self) -> int:
        return sum(file.rows for file in self.files)

    @property
    def bytes(self) -> int:
        return sum(file.bytes for file in self.files)

    @property
    def digest(self) -> str:
        """Names this change: the write and the exact files, in order."""
        facts = [self.stream, self.table, self.write.value, [[f.path, f.rows, f.bytes, f.digest] for f in self.files]]
        return hashlib.sha256(json.dumps(facts).encode()).hexdigest()


@dataclass(frozen=True)
class BookmarkChange:
    """A bookmark before and after; None before: there was none, None after: it is removed."""

    stream: str
    before: Bookmark | None
    after: Bookmark | None
    partition: str = "{}"
    """Canonical JSON of the partition's context."""


@dataclass(frozen=True)
class Draft:
    """A checkpoint before it has a number. `whole` ones are all or nothing across their tables."""

    tables: tuple[TableChange, ...]
    bookmarks: tuple[BookmarkChange, ...]
    kind: str = "load"
    whole: bool = False
    reason: str = ""
    actor: str = ""
    """Who asked for it; stands in the history beside the reason."""


@dataclass(frozen=True)
class Checkpoint:
    """A prepared checkpoint: the write-ahead record that any holder of the lease can finish."""

    pipeline: str
    pipeline_uuid: str
    incarnation: str
    token: int
    seq: int
    run_id: str
    draft: Draft

    @property
    def number(self) -> int:
        """What a table records when it holds the rows."""
        return 2 * self.seq

    @property
    def tombstone(self) -> int:
        """What a table records when it must never take the rows."""
        return 2 * self.seq + 1


def dump_draft(draft: Draft) -> str:
    return json.dumps(asdict(draft), separators=(",", ":"), sort_keys=True)


def load_draft(text: str) -> Draft:
    facts = json.loads(text)
    return Draft(
        tables=tuple(_load_change(table) for table in facts["tables"]),
        bookmarks=tuple(
            BookmarkChange(b["stream"], _load_bookmark(b["before"]), _load_bookmark(b["after"]), b["partition"])
            for b in facts["bookmarks"]
        ),
        kind=facts["kind"],
        whole=facts["whole"],
        reason=facts["reason"],
        actor=facts.get("actor", ""),
    )


def dump_schema(schema: Schema) -> list[dict[str, Any]]:
    return [asdict(column) | {"type": str(column.type)} for column in schema]


def load_schema(columns: list[dict[str, Any]]) -> Schema:
    return Schema(tuple(Column(**(column | {"type": DataType.parse(column["type"])})) for column in columns))


def _load_bookmark(facts: dict[str, str] | None) -> Bookmark | None:
    return Bookmark(BookmarkType(facts["type"]), facts["text"]) if facts else None


def _load_change(facts: dict[str, Any]) -> TableChange:
    return TableChange(
        stream=facts["stream"],
        table=facts["table"],
        write=Write(facts["write"]),
        files=tuple(
            StagedFile(**(f | {"partition": tuple((name, value) for name, value in f["partition"])}))
            for f in facts["files"]
        ),
        schema=Schema(tuple(Column(**(c | {"type": _load_type(c["type"])})) for c in facts["schema"]["columns"])),
        key=tuple(facts["key"]),
        partition_by=tuple(facts["partition_by"]),
        cursor=facts.get("cursor", ""),
        mode=facts.get("mode", ""),
        unique_key=facts.get("unique_key", True),
    )


def _load_type(facts: dict[str, Any]) -> DataType:
    return DataType(
        facts["kind"],
        facts["precision"],
        facts["scale"],
        _load_type(facts["item"]) if facts["item"] else None,
        tuple((name, _load_type(kind)) for name, kind in facts["fields"]),
    )
