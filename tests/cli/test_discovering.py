from __future__ import annotations

import yaml

from seamark.cli.discovering import propose, streams_yaml
from seamark.model.bookmark import BookmarkType
from seamark.model.schema import Schema
from seamark.model.stream import CursorCandidate, TableInfo

UPDATED = CursorCandidate("updated_at", BookmarkType.TIMESTAMPTZ, "a timestamp")
SERIAL = CursorCandidate("id", BookmarkType.INTEGER, "a serial key")


def table(*cursors: CursorCandidate, key: tuple[str, ...] = ("id",)) -> TableInfo:
    return TableInfo("public.orders", Schema(), key, cursors)


def test_what_changes_is_merged() -> None:
    assert propose(table(UPDATED, SERIAL)) == {
        "name": "orders",
        "table": "public.orders",
        "key": ["id"],
        "cursor": "updated_at",
        "mode": "merge",
    }


def test_where_only_the_key_grows_rows_are_appended_and_the_file_says_what_that_means() -> None:
    assert propose(table(SERIAL))["mode"] == "append"
    text = streams_yaml([table(SERIAL), table(UPDATED)])
    assert text.count("# Only new rows are seen.") == 1
    assert [stream["mode"] for stream in yaml.safe_load(text)["streams"]] == ["append", "merge"]


def test_without_a_cursor_the_table_is_replaced() -> None:
    assert propose(table()) == {"name": "orders", "table": "public.orders", "mode": "replace"}


def test_without_a_key_rows_are_appended() -> None:
    assert propose(table(UPDATED, key=()))["mode"] == "append"
