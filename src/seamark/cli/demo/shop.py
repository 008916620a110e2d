"""The demo's shop: a SQLite database that looks like a real one, the same for the same day and size."""

from __future__ import annotations

import bisect
import itertools
import random
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from seamark.cli.demo.words import CITIES, FIRST, HOURS, LAST, MONTHS, PRODUCTS, WEEKDAYS

DAYS = 540
"""How far back the shop's orders go."""
BATCH = 10_000

TABLES = """
create table customers (
  id integer primary key,
  name text not null,
  email text not null,
  city text not null,
  country text not null,
  deleted boolean not null default false,
  joined_at timestamp not null,
  updated_at timestamp not null
);
create table orders (
  id integer primary key,
  customer_id integer not null references customers (id),
  status text not null,
  total decimal(10, 2) not null,
  note text,
  placed_at timestamp not null,
  updated_at timestamp not null
);
create table order_items (
  id integer primary key,
  order_id integer not null references orders (id),
  product text not null,
  quantity integer not null,
  price decimal(10, 2) not null
);
create index customers_updated_at on customers (updated_at);
create index orders_updated_at on orders (updated_at);
"""

Row = tuple[Any, ...]
Told = Callable[[str, int, int], None]
"""Told (table, rows so far, rows in all) while the shop is built."""


@dataclass(frozen=True)
class Sizes:
    customers: int
    orders: int

    @staticmethod
    def of(rows: int) -> Sizes:
        """Customers and orders that make about so many rows together with the orders' items."""
        orders = max(4, round(rows * 0.32))
        return Sizes(customers=max(4, round(rows * 0.06)), orders=orders)


class Maker:
    """Makes rows. All chance comes from one seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)  # noqa: S311 - made-up customers are no secret
        self._city_weights = list(itertools.accumulate(weight for _, _, weight in CITIES))
        self._product_weights = list(itertools.accumulate(weight for _, _, weight in PRODUCTS))

    def customer(self, number: int, joined: datetime) -> Row:
        first, last = self.random.choice(FIRST), self.random.choice(LAST)
        city, country, _ = self.city()
        email = f"{first}.{last}{number}@example.com".lower().replace("'", "")
        return (number, f"{first} {last}", email, city, country, False, text_of(joined), text_of(joined))

    def city(self) -> tuple[str, str, int]:
        return self.random.choices(CITIES, cum_weights=self._city_weights)[0]

    def items(self, first_id: int, order: int) -> list[Row]:
        """An order's lines; most orders have one or two."""
        lines = min(int(self.random.expovariate(0.72)) + 1, 9)
        bought = self.random.choices(PRODUCTS, cum_weights=self._product_weights, k=lines)
        return [
            (first_id + at, order, name, 1 if cents > 5000 else self.random.choice((1, 1, 1, 2, 2, 3, 4)), cents / 100)
            for at, (name, cents, _) in enumerate(bought)
        ]

    def order(self, number: int, customer: int, items: Sequence[Row], placed: datetime, now: datetime) -> Row:
        total = sum(round(100 * item[4]) * item[3] for item in items) / 100
        age = (now - placed).total_seconds() / 86_400
        status, lasted = self._fate(age)
        updated = min(placed + timedelta(seconds=round(lasted * 86_400)), now)
        note = "please leave it at the door" if self.random.random() < 0.04 else None
        return (number, customer, status, total, note, text_of(placed), text_of(updated))

    def _fate(self, age: float) -> tuple[str, float]:
        """What became of an order that is so many days old, and after how many days."""
        chance = self.random.random()
        if age < 0.5:
            return "placed", 0.0
        if age < 3:
            return ("paid", self.random.random() * 0.2) if chance < 0.6 else ("shipped", self.random.random() * age)
        if chance < 0.03:
            return "cancelled", self.random.random() * 2
        if chance < 0.06 and age > 20:
            return "returned", 6 + self.random.random() * 12
        return "delivered", 1 + self.random.random() * 4

    def moments(self, count: int, now: datetime) -> list[datetime]:
        """When orders come in, in order: more in winter, on Fridays, after dinner, and more every year."""
        first = (now - timedelta(days=DAYS)).replace(hour=0, minute=0, second=0, microsecond=0)
        days = [first + timedelta(days=day) for day in range(DAYS)]
        weights = itertools.accumulate(
            MONTHS[day.month - 1] * WEEKDAYS[day.weekday()] * (1 + at / DAYS) for at, day in enumerate(days)
        )
        chosen = self.random.choices(days, cum_weights=list(weights), k=count)
        hours = self.random.choices(range(24), weights=HOURS, k=count)
        seconds = self.random.choices(range(3_600_000), k=count)
        return sorted(
            day + timedelta(hours=hour, milliseconds=part)
            for day, hour, part in zip(chosen, hours, seconds, strict=True)
        )


def text_of(moment: datetime) -> str:
    """A timestamp as the shop writes it: UTC, text that sorts as time does."""
    return moment.isoformat(sep=" ", timespec="milliseconds")


def build(path: Path, rows: int, now: datetime, told: Told, seed: int = 1) -> dict[str, int]:
    """Make the database with about so many rows; how many each table got. `now` is UTC without a zone."""
    sizes, maker = Sizes.of(rows), Maker(seed)
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path, isolation_level=None)) as shop:
        shop.execute("pragma synchronous = off")
        shop.executescript(TABLES)
        shop.execute("begin")
        moments = maker.moments(sizes.orders, now)
        joined = _joined(maker, sizes.customers, moments)
        customers = (maker.customer(at, moment) for at, moment in enumerate(joined, 1))
        made = {"customers": _insert(shop, "customers", customers, sizes.customers, told)}
        orders, items = _bought(maker, moments, joined, now)
        made["orders"] = _insert(shop, "orders", iter(orders), len(orders), told)
        made["order_items"] = _insert(shop, "order_items", iter(items), len(items), told)
        shop.execute("commit")
        shop.execute("pragma journal_mode = wal")
    return made


def _joined(maker: Maker, count: int, moments: Sequence[datetime]) -> list[datetime]:
    """When customers came: each some time before an order, a few before the first one."""
    early = [moments[0] - timedelta(days=1, hours=hour) for hour in range(max(1, count // 10))]
    return sorted(early + [moment - timedelta(minutes=9) for moment in maker.random.choices(moments, k=count)])[:count]


def _bought(
    maker: Maker, moments: Sequence[datetime], joined: Sequence[datetime], now: datetime
) -> tuple[list[Row], list[Row]]:
    orders: list[Row] = []
    items: list[Row] = []
    for number, placed in enumerate(moments, 1):
        lines = maker.items(len(items) + 1, number)
        known = bisect.bisect_right(joined, placed)
        # Some customers buy far more than others: the square of a chance favours early ones.
        customer = 1 + int(known * maker.random.random() ** 2)
        orders.append(maker.order(number, customer, lines, placed, now))
        items += lines
    return orders, items


def _insert(shop: sqlite3.Connection, table: str, rows: Iterator[Row], total: int, told: Told) -> int:
    done = 0
    while batch := list(itertools.islice(rows, BATCH)):
        places = ", ".join("?" * len(batch[0]))
        shop.executemany(f"insert into {table} values ({places})", batch)
        done += len(batch)
        told(table, done, total)
    return done
