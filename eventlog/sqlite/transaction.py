"""One transaction after another, in the thread of the writing connection.

Above this module: `writer`, which sends here what is to be done, as whole pieces: nothing can
come between the statements of one. Below it: `mark`, `sqlite3`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

from eventlog.sqlite.faults import unsynced
from eventlog.sqlite.mark import Mark

T = TypeVar("T")


class Statement(NamedTuple):
    """Something to execute; with *many*, once for each item of *parameters*, in one call."""

    sql: str
    parameters: Sequence[Any] = ()
    many: bool = False


class Transactions:
    """Executes what it is given, and nothing more once the disk has failed to sync (S-3).

    It is the thread that refuses: another transaction may stand in its queue by then.
    """

    def __init__(self, mark: Mark) -> None:
        self._mark = mark
        self._failed: sqlite3.Error | None = None

    def record(self, database: sqlite3.Connection, statements: Sequence[Statement]) -> None:
        """Record batches by *statements*, all or none, and return once they are durable."""
        if len(statements) == 1 and not statements[0].many:
            cursor = self.run(database, lambda one: one.execute(*statements[0][:2]))
            self._mark.note(cursor.lastrowid or 0)
        elif statements:
            last = self.run(database, lambda one: together(one, lambda: _execute(one, statements)))
            self._mark.note(last)

    def run(self, database: sqlite3.Connection, do: Callable[[sqlite3.Connection], T]) -> T:
        """Run *do* with the connection."""
        if self._failed is not None:
            raise self._failed
        try:
            return do(database)
        except sqlite3.Error as error:
            if unsynced(error):
                self._failed = error
            raise


def together(database: sqlite3.Connection, do: Callable[[], T]) -> T:
    """Run *do* as one transaction: all of it or nothing."""
    database.execute("begin immediate")
    try:
        result = do()
        database.execute("commit")
    except BaseException:
        if database.in_transaction:
            database.execute("rollback")
        raise
    return result


def _execute(database: sqlite3.Connection, statements: Sequence[Statement]) -> int:
    """Execute *statements* and return the id of the last batch there is."""
    for sql, parameters, many in statements:
        if many:
            database.executemany(sql, parameters)
        else:
            database.execute(sql, parameters)
    (last,) = database.execute("select seq from sqlite_sequence where name = 'batch'").fetchone()
    return int(last)
