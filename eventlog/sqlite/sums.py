"""Checksums of the rows that no batch's checksum covers, kept by the database itself (S-6).

Above this module: `schema`, which has them made, and `verification`, which compares. Below it:
`sqlite3`.

A batch, a base and a checkpoint carry a checksum, a large string its hash. The rest is short and
seldom written: a trigger sums each row as it changes. A session's row holds its own sum (`own`)
and the totals of its aliases (`names`) and its references (`refs`), so that a row which is gone is
missed, too. `meta` holds its own total, and that of the schema.
"""

from __future__ import annotations

import sqlite3
import zlib
from typing import Any, Final

_SESSION: Final = """row_sum({0}id, cast({0}key as blob), {0}created, {0}floor, {0}deleted,
    cast({0}title as blob), {0}meta, {0}last_ts, {0}last_batch)"""
ALIAS: Final = "row_sum(cast({0}scope as blob), cast({0}alias as blob))"
"""The sum of a row in alias; in a trigger, of `new.` or `old.`."""
_REF: Final = "row_sum({0}hash, {0}last)"
_COLUMNS: Final = "id, key, created, floor, deleted, title, meta, last_ts, last_batch"
_NOT_SUMMED: Final = "('room', 'sum')"
_META: Final = f"""
    select coalesce(sum(row_sum(cast(key as blob), typeof(value), cast(value as blob))), 0)
    from meta where key not in {_NOT_SUMMED}
"""  # noqa: S608 - constants
_SCHEMA: Final = """
    select sum(row_sum(type, name, tbl_name, cast(sql as blob)))
        + (select user_version from pragma_user_version)
    from sqlite_schema
"""

ALIASES: Final = f"select session, sum({ALIAS.format('')}) as total from alias group by session"  # noqa: S608
REFS: Final = f"select session, sum({_REF.format('')}) as total from blob_ref group by session"  # noqa: S608
SESSIONS: Final = f"""
    select id, ifnull(cast(key as blob), x''), ifnull(cast(floor as integer), 0), deleted, own = {_SESSION.format("")}, names, refs
    from session order by id
"""  # noqa: S608
META_INTACT: Final = f"select value = ({_META}) from meta where key = 'sum'"  # noqa: S608
SCHEMA_INTACT: Final = f"select value = ({_SCHEMA}) from meta where key = 'schema'"  # noqa: S608
"""What compares. A row that should be there and is not gives no row."""


def _trigger(name: str, when: str, change: str) -> str:
    return f"create trigger {name} after {when} begin {change}; end"


def _session(name: str, when: str) -> str:
    sum_ = f"update session set own = {_SESSION.format('new.')} where id = new.id"  # noqa: S608
    return _trigger(f"session_{name}", f"{when} on session", sum_)


def _total(column: str, table: str, term: str) -> tuple[str, ...]:
    """Return triggers that keep the total of a session's rows in *table*."""
    plus, minus = f"+ {term.format('new.')}", f"- {term.format('old.')}"
    change = f"update session set {column} = {column}"  # noqa: S608
    return (
        _trigger(f"{table}_made", f"insert on {table}", f"{change} {plus} where id = new.session"),
        _trigger(
            f"{table}_changed",
            f"update on {table}",
            f"{change} {minus} {plus} where id = new.session",
        ),
        _trigger(f"{table}_gone", f"delete on {table}", f"{change} {minus} where id = old.session"),
    )


def _meta(event: str, row: str) -> str:
    when = f"{event} on meta when {row}.key not in {_NOT_SUMMED}"
    return _trigger(f"meta_{event}", when, f"update meta set value = ({_META}) where key = 'sum'")  # noqa: S608


TRIGGERS: Final = (
    _session("made", "insert"),
    _session("changed", f"update of {_COLUMNS}"),
    *_total("names", "alias", ALIAS),
    *_total("refs", "blob_ref", _REF),
    _meta("insert", "new"),
    _meta("update", "new"),
    _meta("delete", "old"),
)
"""What keeps the sums."""

FIRST: Final = (
    f"update session set own = {_SESSION.format('')}",  # noqa: S608
    f"update session set names = total from ({ALIASES}) as found where found.session = id",  # noqa: S608
    f"update session set refs = total from ({REFS}) as found where found.session = id",  # noqa: S608
)
"""What sums the rows of a log that has no sums yet."""

SEAL: Final = (
    "insert or replace into meta values ('sum', 0)",
    "insert or replace into meta values ('schema', 0)",  # so that its place is there
    f"insert or replace into meta values ('schema', ({_SCHEMA}))",  # noqa: S608
)
"""What notes, last of all, how the schema was made."""


def install(database: sqlite3.Connection) -> None:
    """Let *database* sum rows: whoever writes to a log needs it, and whoever verifies one."""
    database.create_function("row_sum", -1, row_sum, deterministic=True)


def row_sum(*values: Any) -> int:
    """Return the checksum of a row's values: integers, text, bytes, nothing."""
    found = 0
    for value in values:
        text = value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")
        kind = b"b" if isinstance(value, bytes) else b"-" if value is None else b"v"
        found = zlib.crc32(b"%b%d:%b" % (kind, len(text), text), found)
    return found
