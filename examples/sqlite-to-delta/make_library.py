"""Makes library.db; with the word `more`, lets a week pass in it."""

import random
import sqlite3
import sys
from datetime import UTC, datetime, timedelta

TABLES = """
create table branches (id integer primary key, name text not null, city text not null);
create table members (
  id integer primary key,
  name text not null,
  branch_id integer not null references branches (id),
  active boolean not null default true,
  updated_at timestamp not null
);
create table loans (
  id integer primary key,
  member_id integer not null references members (id),
  title text not null,
  due date not null
);
create index members_updated_at on members (updated_at);
"""
BRANCHES = [(1, "Central", "Leipzig"), (2, "Harbour", "Hamburg"), (3, "Old Mill", "Graz")]
TITLES = ["The Left Hand of Darkness", "Middlemarch", "Die Verwandlung", "Cien años de soledad", "Solaris", "雪国"]


def now() -> str:
    return datetime.now(UTC).replace(tzinfo=None).isoformat(" ", "milliseconds")


def add_members(library: sqlite3.Connection, count: int) -> None:
    rows = [(f"Member {random.randrange(10**6):06}", random.choice(BRANCHES)[0], now()) for _ in range(count)]
    library.executemany("insert into members (name, branch_id, updated_at) values (?, ?, ?)", rows)


def add_loans(library: sqlite3.Connection, count: int) -> None:
    (members,) = library.execute("select max(id) from members").fetchone()
    due = (datetime.now(UTC) + timedelta(days=28)).date().isoformat()
    rows = [(random.randint(1, members), random.choice(TITLES), due) for _ in range(count)]
    library.executemany("insert into loans (member_id, title, due) values (?, ?, ?)", rows)


def main() -> None:
    library = sqlite3.connect("library.db")
    with library:
        if sys.argv[1:] == ["more"]:
            library.execute("update members set active = false, updated_at = ? where id % 50 = 0", (now(),))
            add_members(library, 20)
            add_loans(library, 300)
        else:
            library.executescript(TABLES)
            library.executemany("insert into branches values (?, ?, ?)", BRANCHES)
            add_members(library, 1_000)
            add_loans(library, 10_000)
    library.close()


if __name__ == "__main__":
    main()
