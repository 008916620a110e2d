from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import datetime
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from seamark.cli.demo.agreement import compare
from seamark.cli.demo.shop import build

COLUMNS = {
    "id": pa.int64(),
    "customer_id": pa.int64(),
    "status": pa.string(),
    "total": pa.decimal128(10, 2),
    "note": pa.string(),
    "placed_at": pa.timestamp("us"),
    "updated_at": pa.timestamp("us"),
}


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    path = tmp_path / "shop.db"
    build(path, 2000, datetime(2026, 3, 1, 12), lambda table, done, total: None)
    return path


def lake(shop: Path, change: object = None) -> Path:
    """The orders as Delta, after `change` was made to the shop's own."""
    with closing(sqlite3.connect(shop)) as connection:
        rows = connection.execute("select * from orders order by id desc").fetchall()
    typed = [
        (i, c, s, Decimal(repr(t)).quantize(Decimal("0.01")), n, datetime.fromisoformat(p), datetime.fromisoformat(u))
        for i, c, s, t, n, p, u in rows
    ]
    if callable(change):
        typed = change(typed)
    arrays = [pa.array(values, kind) for values, kind in zip(zip(*typed, strict=True), COLUMNS.values(), strict=True)]
    write_deltalake(shop.parent / "lake" / "orders", pa.table(dict(zip(COLUMNS, arrays, strict=True))))
    return shop.parent / "lake"


def test_the_same_rows_in_another_order_agree(shop: Path) -> None:
    found = compare(shop, lake(shop), "orders")
    assert found.holds
    assert found.source_rows == found.destination_rows > 600


def test_one_value_that_differs_is_found_and_shown(shop: Path) -> None:
    found = compare(shop, lake(shop, lambda rows: [(*rows[0][:2], "lost", *rows[0][3:]), *rows[1:]]), "orders")
    assert (found.holds, found.differing) == (False, 1)
    assert "status: lost" in found.example


def test_a_missing_row_is_found(shop: Path) -> None:
    found = compare(shop, lake(shop, lambda rows: rows[1:]), "orders")
    assert (found.holds, found.differing) == (False, 1)
    assert "nothing in the lake" in found.example


def test_a_row_that_came_twice_is_found(shop: Path) -> None:
    found = compare(shop, lake(shop, lambda rows: [rows[0], *rows]), "orders")
    assert not found.holds
    assert found.destination_rows == found.source_rows + 1


def test_a_cent_is_a_difference(shop: Path) -> None:
    def dearer(rows: list[tuple[object, ...]]) -> list[tuple[object, ...]]:
        return [(*rows[0][:3], rows[0][3] + Decimal("0.01"), *rows[0][4:]), *rows[1:]]  # type: ignore[operator]

    assert not compare(shop, lake(shop, dearer), "orders").holds
