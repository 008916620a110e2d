from __future__ import annotations

import json
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from seamark.model.bookmark import Bookmark
from seamark.model.checkpoint import (
    Checkpoint,
    Draft,
    StagedFile,
    TableChange,
    Write,
    dump_draft,
    dump_schema,
    load_draft,
    load_schema,
)
from seamark.model.schema import Schema
from tests.model.examples import drafts, schemas, table_changes

FILE = StagedFile("staged/a.parquet", rows=2, bytes=30, digest="d1")
CHANGE = TableChange("orders", "lake/orders", Write.APPEND, (FILE, replace(FILE, path="staged/b.parquet")), Schema())


@given(drafts)
def test_a_draft_and_its_text_are_inverses(draft: Draft) -> None:
    assert load_draft(dump_draft(draft)) == draft


@given(drafts)
def test_a_draft_has_one_text_that_any_store_can_hold(draft: Draft) -> None:
    text = dump_draft(draft)
    assert dump_draft(load_draft(text)) == text
    assert text.isascii()
    assert "\x00" not in text


def test_a_draft_of_before_a_field_was_added_still_loads() -> None:
    draft = Draft((CHANGE,), (), actor="me")
    facts = json.loads(dump_draft(draft))
    del facts["actor"], facts["tables"][0]["cursor"], facts["tables"][0]["unique_key"]
    assert load_draft(json.dumps(facts)) == replace(draft, actor="")


@given(schemas())
def test_a_schema_survives_json(schema: Schema) -> None:
    assert load_schema(json.loads(json.dumps(dump_schema(schema)))) == schema


def test_rows_and_bytes_are_those_of_the_files() -> None:
    assert (CHANGE.rows, CHANGE.bytes) == (4, 60)
    empty = replace(CHANGE, files=())
    assert (empty.rows, empty.bytes) == (0, 0)


def test_the_digest_names_the_exact_files_and_what_is_done_with_them() -> None:
    first, second = CHANGE.files
    others = [
        replace(CHANGE, stream="customers"),
        replace(CHANGE, table="lake/elsewhere"),
        replace(CHANGE, write=Write.MERGE),
        replace(CHANGE, files=(first,)),
        replace(CHANGE, files=(second, first)),
        *(
            replace(CHANGE, files=(replace(first, **other), second))
            for other in ({"path": "x"}, {"rows": 3}, {"bytes": 31})
        ),
        replace(CHANGE, files=(replace(first, digest="d2"), second)),
    ]
    assert len({change.digest for change in (CHANGE, *others)}) == len(others) + 1


@given(table_changes)
def test_the_digest_is_the_same_after_recovery(change: TableChange) -> None:
    (loaded,) = load_draft(dump_draft(Draft((change,), ()))).tables
    assert loaded.digest == change.digest


@given(st.integers(1, 2**40))
def test_numbers_of_two_checkpoints_never_meet(seq: int) -> None:
    assert _checkpoint(seq).number < _checkpoint(seq).tombstone < _checkpoint(seq + 1).number


def test_a_bookmark_change_keeps_its_types() -> None:
    text = dump_draft(load_draft('{"tables": [], "bookmarks": [{"stream": "s", "before": null, "after": {"type": "integer", "text": "7"}, "partition": "{}"}], "kind": "load", "whole": false, "reason": ""}'))  # fmt: skip
    (change,) = load_draft(text).bookmarks
    assert change.before is None
    assert change.after == Bookmark.of("integer", 7)


def _checkpoint(seq: int) -> Checkpoint:
    return Checkpoint("shop", "uuid", "incarnation", 1, seq, "run", Draft((), ()))
