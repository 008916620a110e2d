"""What the catalog says of tables: one statement, one round trip, however many tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from seamark.errors import SourceError
from seamark.model.nearest import or_nearest
from seamark.sources.names import name_part, name_parts
from seamark.sources.postgres.connection import Session
from seamark.sources.query import quoted

KINDS = {"r": "table", "p": "partitioned table", "v": "view", "m": "materialized view", "f": "foreign table"}


@dataclass(frozen=True)
class PgType:
    """A row of pg_type, as far as mapping needs it."""

    oid: int
    name: str
    schema: str
    kind: str
    """typtype: b base, c composite, d domain, e enum, r range, m multirange, p pseudo."""
    category: str
    element: int
    """The element's oid of a true array, else 0."""
    base: int
    base_typmod: int


@dataclass(frozen=True)
class SequenceFacts:
    """The sequence that numbers a column."""

    oid: int
    name: str
    cache: int
    increment: int
    cycles: bool


@dataclass(frozen=True)
class PgColumn:
    name: str
    number: int
    type: int
    typmod: int
    type_text: str
    not_null: bool
    comment: str
    default: str
    identity: str
    """a: generated always, d: by default, "" neither."""
    readable: bool
    sequence: SequenceFacts | None


@dataclass(frozen=True)
class PgIndex:
    columns: tuple[str, ...]
    """Its key columns; "" stands for an expression."""
    unique: bool
    primary: bool
    partial: bool
    ordered: bool
    """A valid btree: usable for ranges and the greatest value."""
    c_collated: bool
    """Whether its first column sorts by bytes."""


@dataclass(frozen=True)
class Leaf:
    """A part of the relation that holds rows of its own: itself, a partition or an inheriting table."""

    kind: str
    heap: bool
    rows: float
    blocks: int
    """Blocks when it was last analyzed; `rows` are from then (-1: never)."""
    bytes: int


@dataclass(frozen=True)
class Relation:
    oid: int
    schema: str
    name: str
    kind: str
    comment: str
    selectable: bool
    row_security: bool
    subscribed: bool
    """Whether logical replication feeds it, or a part of it."""
    columns: tuple[PgColumn, ...]
    indexes: tuple[PgIndex, ...]
    leaves: tuple[Leaf, ...]
    types: dict[int, PgType]

    @property
    def sql(self) -> str:
        return f"{quoted(self.schema)}.{quoted(self.name)}"

    @property
    def label(self) -> str:
        """As a pipeline file names it."""
        return f"{name_part(self.schema)}.{name_part(self.name)}"

    @property
    def column_names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    @property
    def has_rows_elsewhere(self) -> bool:
        """Whether rows also stand in inheriting tables, which the relation's own indexes don't cover."""
        return self.kind == "r" and len(self.leaves) > 1

    @property
    def bytes(self) -> int:
        return sum(leaf.bytes for leaf in self.leaves)

    @property
    def rows(self) -> int | None:
        """About how many rows, by the last ANALYZE and the size now; None when that was never, or for a view."""
        if not self.leaves or any(leaf.rows < 0 and leaf.bytes for leaf in self.leaves):
            return None
        return round(sum(_rows(leaf) for leaf in self.leaves))

    def column(self, name: str) -> PgColumn | None:
        return next((column for column in self.columns if column.name == name), None)

    def index_on(self, name: str, c_collated: bool = False) -> PgIndex | None:
        """An index that finds ranges and the greatest value of the column."""
        if self.has_rows_elsewhere:
            return None
        fitting = (index for index in self.indexes if index.ordered and not index.partial and index.columns[0] == name)
        return next((index for index in fitting if index.c_collated or not c_collated), None)


BLOCK = 8192


def _rows(leaf: Leaf) -> float:
    if leaf.rows <= 0 or not leaf.blocks:
        return max(leaf.rows, 0.0)
    return leaf.rows / leaf.blocks * (leaf.bytes / BLOCK)


class Catalog:
    """Finds relations by the name a pipeline file gives."""

    def __init__(self, session: Session, schemas: Sequence[str]) -> None:
        self._session = session
        self._schemas = tuple(schemas)

    def find(self, table: str) -> Relation:
        """The relation; SourceError with the nearest name when there is none."""
        schemas, names = zip(*self._readings(table), strict=True)
        rows = self._session.rows(
            _RELATIONS.format(
                wanted="JOIN unnest(%s::text[], %s::text[]) WITH ORDINALITY AS wanted(schema, name, rank) "
                "ON (n.nspname, c.relname) = (wanted.schema, wanted.name)",
                where="true",
                order="wanted.rank LIMIT 1",
            ),
            [list(schemas), list(names)],
            f"looking up table {table}",
        )
        if not rows:
            raise self._missing(table)
        return _relation(rows[0])

    def all(self) -> list[Relation]:
        """Every relation outside the system's own schemas, in order of name."""
        where = "NOT c.relispartition AND n.nspname <> 'information_schema'"
        if self._schemas:
            where = "NOT c.relispartition AND n.nspname = ANY(%s::text[])"
        query = _RELATIONS.format(wanted="", where=where, order="n.nspname, c.relname")
        parameters = [list(self._schemas)] if self._schemas else []
        relations = map(_relation, self._session.rows(query, parameters, "listing tables"))
        return sorted(relations, key=lambda relation: relation.label)

    def _readings(self, table: str) -> list[tuple[str, str]]:
        """What `table` may mean, the likeliest first: a dot mostly parts schema and name, but names may hold dots."""
        parts = name_parts(table)
        defaults = self._schemas or ("public",)
        readings = [(parts[0], parts[1])] if len(parts) == 2 else []
        if len(parts) == 1:
            readings += [(schema, parts[0]) for schema in defaults]
        return readings + [(schema, table) for schema in defaults]

    def _missing(self, table: str) -> SourceError:
        rows = self._session.rows(_NAMES, doing="listing tables")
        known = [f"{name_part(schema)}.{name_part(name)}" for schema, name in rows]
        wanted = table if len(name_parts(table)) > 1 else f"{(self._schemas or ('public',))[0]}.{table}"
        return SourceError(
            f"there is no table {table!r} in the database, or the user may not see its "
            f"schema{or_nearest(wanted, known)}",
            "`seamark discover` lists the tables; names are taken as they are, capitals included",
        )


_VISIBLE = """c.relkind IN ('r', 'p', 'v', 'm', 'f') AND c.relpersistence <> 't'
  AND n.nspname NOT IN ('pg_catalog', 'pg_toast') AND has_schema_privilege(n.oid, 'USAGE')"""

_NAMES = f"""
SELECT n.nspname::text, c.relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE {_VISIBLE} AND n.nspname <> 'information_schema' AND NOT c.relispartition ORDER BY 1, 2"""

_RELATIONS = f"""
SELECT c.oid::int8, n.nspname::text, c.relname::text, c.relkind::text, obj_description(c.oid, 'pg_class'),
       has_table_privilege(c.oid, 'SELECT'), row_security_active(c.oid),
       columns.list, indexes.list, leaves.list, leaves.subscribed, types.list
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace {{wanted}}
CROSS JOIN LATERAL (
  SELECT json_agg(json_build_array(a.attname, a.attnum, a.atttypid::int8, a.atttypmod,
           format_type(a.atttypid, a.atttypmod), a.attnotnull, col_description(c.oid, a.attnum),
           pg_get_expr(d.adbin, d.adrelid), a.attidentity,
           has_column_privilege(c.oid, a.attnum, 'SELECT'), s.facts) ORDER BY a.attnum) AS list
  FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum AND a.attgenerated = ''
  LEFT JOIN LATERAL (
    SELECT json_build_array(sc.oid::int8, sc.relname, sq.seqcache, sq.seqincrement, sq.seqcycle) AS facts
    FROM pg_depend p JOIN pg_sequence sq
      ON sq.seqrelid = CASE WHEN p.classid = 'pg_class'::regclass THEN p.objid ELSE p.refobjid END
    JOIN pg_class sc ON sc.oid = sq.seqrelid
    WHERE (p.classid = 'pg_class'::regclass AND p.deptype IN ('a', 'i')
           AND p.refclassid = 'pg_class'::regclass AND p.refobjid = a.attrelid AND p.refobjsubid = a.attnum)
       OR (p.classid = 'pg_attrdef'::regclass AND p.objid = d.oid AND p.refclassid = 'pg_class'::regclass)
    ORDER BY p.classid DESC LIMIT 1) s ON a.attidentity <> '' OR d.oid IS NOT NULL
  WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped) columns
CROSS JOIN LATERAL (
  SELECT json_agg(json_build_array(
           (SELECT json_agg(coalesce(a.attname, '') ORDER BY k.rank)
            FROM unnest(i.indkey[0:i.indnkeyatts - 1]) WITH ORDINALITY AS k(number, rank)
            LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.number AND k.number <> 0),
           i.indisunique AND i.indimmediate, i.indisprimary, i.indpred IS NOT NULL,
           m.amname = 'btree' AND i.indisvalid, coalesce(l.collname IN ('C', 'POSIX'), false))
           ORDER BY i.indisprimary DESC, x.relname) AS list
  FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid JOIN pg_am m ON m.oid = x.relam
  LEFT JOIN pg_collation l ON l.oid = i.indcollation[0]
  WHERE i.indrelid = c.oid AND i.indisready) indexes
CROSS JOIN LATERAL (
  WITH RECURSIVE tree(oid) AS (
    SELECT c.oid UNION SELECT h.inhrelid FROM tree JOIN pg_inherits h ON h.inhparent = tree.oid)
  SELECT json_agg(json_build_array(t.relkind, coalesce(am.amname = 'heap', false), t.reltuples, t.relpages,
           CASE WHEN t.relkind IN ('r', 'm') THEN coalesce(pg_relation_size(t.oid), 0) ELSE 0 END))
           FILTER (WHERE t.relkind IN ('r', 'm', 'f')) AS list,
         bool_or(EXISTS (SELECT FROM pg_subscription_rel u WHERE u.srrelid = t.oid)) AS subscribed
  FROM tree JOIN pg_class t ON t.oid = tree.oid LEFT JOIN pg_am am ON am.oid = t.relam) leaves
CROSS JOIN LATERAL (
  WITH RECURSIVE needed(oid) AS (
    SELECT a.atttypid FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    UNION SELECT v.oid FROM needed JOIN pg_type t ON t.oid = needed.oid
      CROSS JOIN LATERAL (VALUES (t.typbasetype), (t.typelem)) v(oid) WHERE v.oid <> 0)
  SELECT json_agg(json_build_array(t.oid::int8, t.typname, tn.nspname, t.typtype, t.typcategory,
           CASE WHEN (SELECT e.typarray FROM pg_type e WHERE e.oid = t.typelem) = t.oid THEN t.typelem::int8 ELSE 0 END,
           t.typbasetype::int8, t.typtypmod)) AS list
  FROM needed JOIN pg_type t ON t.oid = needed.oid JOIN pg_namespace tn ON tn.oid = t.typnamespace) types
WHERE {_VISIBLE} AND {{where}} ORDER BY {{order}}"""


def _relation(row: tuple[Any, ...]) -> Relation:
    oid, schema, name, kind, comment, selectable, row_security, columns, indexes, leaves, subscribed, types = row
    return Relation(
        oid=oid,
        schema=schema,
        name=name,
        kind=kind,
        comment=comment or "",
        selectable=selectable,
        row_security=row_security,
        subscribed=bool(subscribed),
        columns=tuple(_column(facts) for facts in columns or ()),
        indexes=tuple(PgIndex(tuple(facts[0]), *facts[1:]) for facts in indexes or ()),
        leaves=tuple(Leaf(*facts) for facts in leaves or ()),
        types={facts[0]: PgType(*facts) for facts in types or ()},
    )


def _column(facts: Sequence[Any]) -> PgColumn:
    name, number, kind, typmod, text, not_null, comment, default, identity, readable, sequence = facts
    return PgColumn(
        name=name,
        number=number,
        type=kind,
        typmod=typmod,
        type_text=text,
        not_null=not_null,
        comment=comment or "",
        default=default or "",
        identity=identity,
        readable=readable,
        sequence=SequenceFacts(*sequence) if sequence else None,
    )
