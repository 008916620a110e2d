"""Bad input, as a person meets it: the real command line, its exit status, one line that says what and one what to do."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import pytest

from tests.projects import Finished, Project

ORDERS = [{"name": "orders", "key": ["id"], "cursor": "id"}]


@pytest.fixture
def shop(project: Project) -> Project:
    """Two rows in SQLite; appends and replaces need no JVM."""
    with closing(sqlite3.connect(project.folder / "shop.db")) as db, db:
        db.execute("create table orders (id integer primary key, label text, code text, place blob)")
        db.executemany("insert into orders values (?, ?, ?, null)", [(1, "one", "a"), (2, "two", "a")])
    project.write("seamark.yaml", "spark: {skip_below: 1000000}\n")
    return project


def run(project: Project, streams: Any = ORDERS, **rest: Any) -> Finished:
    project.pipeline("shop", {"type": "sqlite", "path": "./shop.db"}, streams, **rest)
    return project.run("run", "shop")


def refused(finished: Finished, status: int, *said: str) -> None:
    """It ended so, saying all of this in an error and a hint, with no traceback and no output for programs."""
    assert finished.status == status, repr(finished)
    errors = [line for line in finished.err.splitlines() if line.startswith("error: ")]
    hints = [line for line in finished.err.splitlines() if line.startswith("hint: ")]
    assert len(errors) == 1, repr(finished)
    assert len(hints) == 1, repr(finished)
    assert "Traceback" not in finished.err
    for words in said:
        assert words in finished.err, repr(finished)


def nothing_moved(project: Project) -> None:
    assert not list(project.folder.glob("lake/*/staged/*/*.parquet")), "files were left behind"


def test_an_unknown_key_is_named_with_its_line_and_the_nearest_known_one(shop: Project) -> None:
    refused(run(shop, [{"name": "orders", "keys": ["id"]}]), 2, "pipelines/shop.yaml:", "keys", "did you mean 'key'")


def test_a_missing_variable_is_named_with_its_line(shop: Project) -> None:
    shop.pipeline("shop", {"type": "sqlite", "path": "${SHOP_FILE_THAT_NOBODY_SET}"}, ORDERS)
    refused(shop.run("run", "shop"), 2, "pipelines/shop.yaml:", "SHOP_FILE_THAT_NOBODY_SET")


def test_a_missing_table_names_the_nearest(shop: Project) -> None:
    refused(run(shop, [{"name": "ordres", "key": ["id"], "cursor": "id"}]), 1, "ordres", "orders")
    nothing_moved(shop)


def test_a_missing_column_names_the_nearest(shop: Project) -> None:
    refused(run(shop, [{"name": "orders", "key": ["id"], "cursor": "ids"}]), 1, "ids", "'id'")


def test_a_cursor_that_can_not_be_ordered_is_refused(shop: Project) -> None:
    with closing(sqlite3.connect(shop.folder / "shop.db")) as db, db:
        db.execute("create table flags (id integer primary key, up boolean)")
    refused(run(shop, [{"name": "flags", "key": ["id"], "cursor": "up"}]), 1, "up", "boolean")


def test_a_merge_without_a_key_is_refused(shop: Project) -> None:
    refused(run(shop, [{"name": "orders", "mode": "merge", "cursor": "id"}]), 2, "pipelines/shop.yaml:", "key")


def test_different_rows_of_one_key_are_refused_with_an_example(shop: Project) -> None:
    refused(run(shop, [{"name": "orders", "key": ["code"], "mode": "merge"}]), 1, "orders", "code = 'a'")
    assert shop.run("state", "show", "shop", "--json").ok().json["streams"].get("orders", {}).get("rows_total", 0) == 0


def test_a_null_in_a_key_is_refused_before_anything_is_published(shop: Project) -> None:
    refused(run(shop, [{"name": "orders", "key": ["place"], "cursor": "id"}]), 1, "orders", "'place' is NULL")


def test_a_missing_database_file_is_named_and_not_made(shop: Project) -> None:
    shop.pipeline("shop", {"type": "sqlite", "path": "./nowhere.db"}, ORDERS)
    refused(shop.run("run", "shop"), 1, "nowhere.db")
    assert not (shop.folder / "nowhere.db").exists()


def test_an_unreachable_server_is_named_without_its_password(project: Project) -> None:
    url = "postgresql://someone:s3cretword@127.0.0.1:9/shop"
    project.pipeline("shop", {"type": "postgres", "url": url}, ORDERS)
    finished = project.run("run", "shop")
    refused(finished, 1, "127.0.0.1")
    assert "s3cretword" not in finished.err + finished.out


def test_a_wrong_password_is_not_printed(project: Project, postgres_db: str) -> None:
    parts = urlsplit(postgres_db)
    wrong = urlunsplit(parts._replace(netloc=f"{parts.username}:wr0ngword@{parts.hostname}:{parts.port}"))
    project.pipeline("shop", {"type": "postgres", "url": wrong}, ORDERS)
    for command in (["run", "shop"], ["run", "shop", "--debug"], ["plan", "shop"], ["check", "shop"]):
        finished = project.run(*command)
        assert finished.status != 0
        assert "wr0ngword" not in finished.err + finished.out
    refused(project.run("run", "shop"), 1, "password")
    assert not [path for path in (project.folder / ".seamark").rglob("*") if path.is_file() and _holds(path)]


def _holds(path: Path) -> bool:
    return b"wr0ngword" in path.read_bytes()


def test_a_destination_that_can_not_be_written_is_named(shop: Project) -> None:
    shop.write("occupied", "a file where a folder should be")
    refused(run(shop, destination={"type": "delta", "path": "./occupied/lake"}), 1, "occupied")


def test_a_delta_table_that_seamark_did_not_make_is_left_alone(shop: Project) -> None:
    import pyarrow as pa
    from deltalake import DeltaTable, write_deltalake

    table = str(shop.folder / "lake" / "orders")
    write_deltalake(table, pa.table({"id": [7]}))
    refused(run(shop), 1, "not made by Seamark")
    assert DeltaTable(table).to_pyarrow_table()["id"].to_pylist() == [7]


def test_a_renamed_pipeline_does_not_take_over_the_tables_of_the_old_one(shop: Project) -> None:
    run(shop).ok()
    shop.pipeline("shop", {"type": "sqlite", "path": "./shop.db"}, ORDERS, pipeline="market")
    refused(shop.run("run", "market"), 1, "'shop'", "'market'")


def test_a_state_store_of_a_newer_version_is_left_alone(shop: Project) -> None:
    run(shop).ok()
    state = shop.folder / ".seamark" / "state.db"
    with closing(sqlite3.connect(state)) as db, db:
        db.execute("update store set schema_version = 9999, seamark_version = '99.0'")
    refused(shop.run("run", "shop"), 2, "99.0")
    with closing(sqlite3.connect(state)) as db:
        assert db.execute("select schema_version from store").fetchone() == (9999,)


def test_a_damaged_bookmark_is_reported_and_not_used(shop: Project) -> None:
    run(shop).ok()
    with closing(sqlite3.connect(shop.folder / ".seamark" / "state.db")) as db, db:
        changed = db.execute("update bookmarks set value = '1'").rowcount
    assert changed == 1
    refused(shop.run("run", "shop"), 1, "orders")


def test_a_table_deleted_behind_our_back_is_noticed(shop: Project) -> None:
    run(shop).ok()
    shutil.rmtree(shop.folder / "lake" / "orders")
    with closing(sqlite3.connect(shop.folder / "shop.db")) as db, db:
        db.execute("insert into orders values (3, 'three', 'b', null)")
    refused(shop.run("run", "shop"), 1, "is gone", "--full-refresh")
    shop.run("run", "shop", "--full-refresh").ok()
