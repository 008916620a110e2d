"""What happens in the demo's shop between two runs."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from seamark.cli.demo.shop import Maker, text_of

LATE = timedelta(minutes=20)
"""How long a till was offline: its order comes in with a time that lies before the last run's bookmark."""


@dataclass(frozen=True)
class Changed:
    """How many rows were touched, in words people count in."""

    new_orders: int = 0
    new_items: int = 0
    orders_moved_on: int = 0
    customers_moved: int = 0
    customers_deleted: int = 0
    late_orders: int = 0

    @property
    def rows(self) -> int:
        touched = self.new_orders + self.new_items + self.orders_moved_on + self.customers_moved
        return touched + self.customers_deleted


def a_day_passes(path: Path, clock: Callable[[], datetime], seed: int = 2) -> Changed:
    """Orders come in and move on, customers move away or leave, and a till reports an order late."""
    with closing(sqlite3.connect(path)) as shop, shop:
        moved_on = _move_orders_on(shop, text_of(clock()))
        moved = _move_customers(shop, Maker(seed), text_of(clock()))
        deleted = _delete_customers(shop, text_of(clock()))
        new, items = _sell(shop, Maker(seed + 1), _share(shop, "orders", 0.015), clock())
        late, late_items = _sell(shop, Maker(seed + 2), 1, clock() - LATE)
    return Changed(new + late, items + late_items, moved_on, moved, deleted, late)


def an_hour_passes(path: Path, clock: Callable[[], datetime], seed: int = 7) -> Changed:
    """Only new orders."""
    with closing(sqlite3.connect(path)) as shop, shop:
        new, items = _sell(shop, Maker(seed), _share(shop, "orders", 0.005), clock())
    return Changed(new_orders=new, new_items=items)


def _move_orders_on(shop: sqlite3.Connection, now: str) -> int:
    following = {"placed": "paid", "paid": "shipped", "shipped": "delivered"}
    open_orders = shop.execute("select id, status from orders where status in ('placed', 'paid', 'shipped')").fetchall()
    shop.executemany(
        "update orders set status = ?, updated_at = ? where id = ?",
        [(following[status], now, number) for number, status in open_orders],
    )
    return len(open_orders)


def _move_customers(shop: sqlite3.Connection, maker: Maker, now: str) -> int:
    people = maker.random.sample(range(1, _count(shop, "customers") + 1), _share(shop, "customers", 0.01))
    moves = [(*maker.city()[:2], now, number) for number in people]
    shop.executemany("update customers set city = ?, country = ?, updated_at = ? where id = ?", moves)
    return len(moves)


def _delete_customers(shop: sqlite3.Connection, now: str) -> int:
    """Marked, not removed: what a cursor can see. Those who were moved above are left alone."""
    done = shop.execute(
        "update customers set deleted = true, name = 'deleted', email = '', updated_at = ? "
        "where id % 400 = 3 and updated_at < ? and not deleted",
        (now, now),
    )
    return done.rowcount


def _sell(shop: sqlite3.Connection, maker: Maker, count: int, now: datetime) -> tuple[int, int]:
    """So many new orders, placed just before `now`."""
    order, item = _count(shop, "orders") + 1, _count(shop, "order_items") + 1
    customers = _count(shop, "customers")
    placed = sorted(now - timedelta(milliseconds=maker.random.randrange(500)) for _ in range(count))
    sold = 0
    for at, moment in enumerate(placed):
        lines = maker.items(item + sold, order + at)
        row = maker.order(order + at, 1 + maker.random.randrange(customers), lines, moment, now)
        shop.execute("insert into orders values (?, ?, ?, ?, ?, ?, ?)", row)
        shop.executemany("insert into order_items values (?, ?, ?, ?, ?)", lines)
        sold += len(lines)
    return count, sold


def _share(shop: sqlite3.Connection, table: str, share: float) -> int:
    return max(1, round(_count(shop, table) * share))


def _count(shop: sqlite3.Connection, table: str) -> int:
    (count,) = shop.execute(f"select count(*) from {table}").fetchone()
    return int(count)
