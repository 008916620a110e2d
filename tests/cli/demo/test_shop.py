from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from seamark.cli.demo.changes import LATE, a_day_passes, an_hour_passes
from seamark.cli.demo.shop import Sizes, build

NOW = datetime(2026, 3, 1, 12, 0)


def quiet(table: str, done: int, total: int) -> None:
    return None


def rows(path: Path, query: str) -> list[Any]:
    with closing(sqlite3.connect(path)) as shop:
        return shop.execute(query).fetchall()


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    path = tmp_path / "shop.db"
    build(path, 3000, NOW, quiet)
    return path


def test_the_same_day_and_size_make_the_same_shop(shop: Path, tmp_path: Path) -> None:
    again = tmp_path / "again.db"
    build(again, 3000, NOW, quiet)
    for table in ("customers", "orders", "order_items"):
        assert rows(shop, f"select * from {table}") == rows(again, f"select * from {table}")


def test_the_shop_has_about_as_many_rows_as_asked_for(tmp_path: Path) -> None:
    told: dict[str, tuple[int, int]] = {}
    made = build(tmp_path / "shop.db", 20_000, NOW, lambda table, done, total: told.__setitem__(table, (done, total)))
    assert 18_000 < sum(made.values()) < 22_000
    assert told == {table: (count, count) for table, count in made.items()}


def test_rows_belong_together(shop: Path) -> None:
    assert rows(shop, "pragma foreign_key_check") == []
    assert rows(shop, "select count(*) from orders where id not in (select order_id from order_items)") == [(0,)]
    wrong_totals = """
        select count(*) from orders
        where abs(total - (select sum(price * quantity) from order_items where order_id = orders.id)) > 0.001
    """
    assert rows(shop, wrong_totals) == [(0,)]
    assert rows(
        shop, "select count(*) from orders o join customers c on c.id = customer_id where placed_at < joined_at"
    ) == [(0,)]


def test_nothing_happens_before_it_began_or_after_now(shop: Path) -> None:
    now = NOW.isoformat(" ")
    assert rows(shop, f"select count(*) from orders where updated_at < placed_at or updated_at > '{now}.001'") == [(0,)]


def test_orders_come_in_by_season_and_hour(shop: Path) -> None:
    by_hour = dict(rows(shop, "select strftime('%H', placed_at), count(*) from orders group by 1"))
    assert by_hour["20"] > 3 * by_hour.get("04", 0)


def test_a_day_brings_new_changed_deleted_and_late_rows(shop: Path) -> None:
    before = {table: {row[0]: row for row in rows(shop, f"select * from {table}")} for table in ("orders", "customers")}
    later = NOW + timedelta(hours=1)
    changed = a_day_passes(shop, lambda: later)
    orders = {row[0]: row for row in rows(shop, "select * from orders")}
    assert changed.new_orders == len(orders) - len(before["orders"])
    assert changed.orders_moved_on == sum(orders[number] != row for number, row in before["orders"].items()) > 0
    assert changed.customers_deleted == rows(shop, "select count(*) from customers where deleted")[0][0] > 0
    late = rows(
        shop,
        f"select count(*) from orders where updated_at <= '{(later - LATE).isoformat(' ')}.000' and id > {len(before['orders'])}",
    )
    assert late == [(changed.late_orders,)] == [(1,)]
    assert rows(shop, "pragma foreign_key_check") == []


def test_an_hour_brings_only_new_orders(shop: Path) -> None:
    before = rows(shop, "select * from orders")
    changed = an_hour_passes(shop, lambda: NOW)
    after = rows(shop, "select * from orders")
    assert after[: len(before)] == before
    assert len(after) - len(before) == changed.new_orders > 0


def test_a_tiny_shop_is_still_a_shop() -> None:
    assert Sizes.of(100).orders >= 4
