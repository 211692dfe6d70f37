"""One session of a damaged log: what is left of it, in order, with gaps for what is not.

Above this module: `salvage`. Below it: `remains`, `batch`, `listing`.

It keeps its id, numbers, times and bytes. What is lost between two events, or is known to have
followed the last, is one `log.gap`, for good.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, Final

from eventlog import codec
from eventlog.batch import GAP, LINES, Batch, Sealer
from eventlog.blobs import MARK, hash_of, referred
from eventlog.checksum import Checksum
from eventlog.event import SessionId, event_of, seq_of
from eventlog.listing import Listing, listing
from eventlog.sqlite.damage import Damage
from eventlog.sqlite.keeping import BASE, intact
from eventlog.sqlite.remains import Remains, Row, read
from eventlog.sqlite.transaction import together

_SESSION: Final = """
    insert into session(id, key, created, floor, deleted, title, meta, last_ts, last_batch)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_BATCH: Final = """
    insert into batch(id, session, first, last, ts, codec, crc, body)
    values ((select ? where not exists (select 1 from batch where id = ?)), ?, ?, ?, ?, ?, ?, ?)
"""
_BASE: Final = "insert into base(session, seq, version, crc, body) values (?, ?, ?, ?, ?)"
_REF: Final = "insert or replace into blob_ref(session, hash, last) values (?, ?, ?)"
_BLOB: Final = "insert or ignore into blob(hash, size, body) values (?, ?, ?)"
_ALIAS: Final = "insert or ignore into alias(scope, alias, session) values (?, ?, ?)"
_LIST: Final = "update session set created = ?, title = nullif(?, ''), meta = ? where id = ?"

_AT_ONCE: Final = 64
"""Batches in one transaction."""
_CREDIBLE: Final = 1 << 20
"""Events that a batch which cannot be read may have had."""


class Past:
    """A session, of which some may be lost."""

    def __init__(self, remains: Remains, number: int, key: str) -> None:
        self._remains = remains
        self._number = number
        self._key = SessionId(key)
        self._sealer = Sealer(key, Checksum(remains.algorithm))
        self._row: Row | None = remains.rows.get(number)
        bases = [
            row for row in remains.bases[number] if intact(row, self._sealer.checksum, key, BASE)
        ]
        self._base = max(bases, default=None, key=lambda row: row[0])
        self._floor = self._start()
        self._refs: dict[str, int] = {}
        self._listing = Listing()
        self._created: int | None = None

    def survey(self) -> list[Damage]:
        """Return what is lost."""
        return [*self._told(), *self._damages(self._batches()), *self._store_blobs(None)]

    def write(
        self, database: sqlite3.Connection, aliases: Sequence[tuple[str, str, int]]
    ) -> list[Damage]:
        """Write what is left, and return what is lost."""
        together(database, lambda: self._begin(database))
        damages = self._told()
        batches = self._batches()
        while some := list(islice(batches, _AT_ONCE)):
            together(database, lambda some=some: self._insert(database, some))  # type: ignore[misc]
            damages += self._damages(iter(some))
        together(database, lambda: damages.extend(self._finish(database, aliases)))
        return damages

    def _start(self) -> int:
        """Return the floor: what was pruned is there as its base, or lost."""
        if self._base is not None and (self._row is None or self._base[0] >= self._row.floor):
            return int(self._base[0])
        return self._row.floor if self._row and self._row.deleted else 0

    def _told(self) -> list[Damage]:
        if self._row is None:
            why = "its row in the list of sessions is damaged; its events say what was in it"
            return [Damage(why, self._key)]
        return []

    def _batches(self) -> Iterator[tuple[int | None, Batch]]:
        """Yield every batch with its id, and gaps without one."""
        due, ts = self._floor + 1, self._row.created if self._row else 0
        places = self._remains.batches[self._number]
        for place in sorted(places, key=lambda one: (one.first, -one.last)):
            if place.last < due or (batch := read(place, self._sealer)) is None:
                continue
            if batch.first > due:
                yield None, self._sealer.seal_loss(due, batch.first - 1, batch.ts, "damaged")
            yield place.id, batch if batch.first >= due else self._rest(batch, due)
            due, ts = batch.last + 1, batch.ts
        last = self._remains.begins[self._number]
        for place in places:
            if place.first == last and place.last - place.first < _CREDIBLE:
                last = place.last
        if last >= due:
            yield None, self._sealer.seal_loss(due, last, ts, "damaged")

    def _rest(self, batch: Batch, due: int) -> Batch:
        """Return what of a batch is not there yet: two states of a log may have cut it otherwise."""
        lines = (self._sealer.text(batch) or b"").split(b"\n")
        if batch.codec == GAP:
            return self._sealer.seal_loss(due, batch.last, batch.ts, "damaged")
        body = b"\n".join(lines[due - batch.first :])
        crc = self._sealer.crc(due, batch.last, batch.ts, LINES, body)
        return Batch(due, batch.last, batch.ts, LINES, crc, body)

    def _damages(self, batches: Iterator[tuple[int | None, Batch]]) -> list[Damage]:
        damages = []
        for id_, batch in batches:
            if id_ is None:
                damages.append(Damage("damaged", self._key, batch.first, batch.last))
            else:
                self._note(batch)
        return damages

    def _note(self, batch: Batch) -> None:
        """Note what a batch refers to, and what it says of the session."""
        if batch.codec == GAP:
            return
        text = self._sealer.text(batch) or b""
        if self._created is None:
            self._created, _ = event_of(text.split(b"\n", 1)[0])
        if MARK in text:
            for line in text.split(b"\n"):
                self._refs |= dict.fromkeys(referred(line), seq_of(line))
        if b'"type":"session.' in text or b'"session_info_update"' in text:
            self._list(listing(event_of(line)[1] for line in text.split(b"\n")))

    def _list(self, found: Listing | None) -> None:
        if found is not None:
            self._listing.aliases += found.aliases
            if found.title is not None:
                self._listing.title = found.title
            if self._listing.opened is None:
                self._listing.opened = found.opened

    def _begin(self, database: sqlite3.Connection) -> None:
        row = self._row or Row(self._key, 0, 0, 0, None, None, 0, 0)
        values = row._replace(floor=self._floor)[:8]
        database.execute(_SESSION, (self._number, *values))
        if self._base is not None and self._base[0] == self._floor:
            database.execute(_BASE, (self._number, *self._base))

    def _insert(
        self, database: sqlite3.Connection, some: Sequence[tuple[int | None, Batch]]
    ) -> None:
        database.executemany(_BATCH, [(id_, id_, self._number, *batch) for id_, batch in some])

    def _finish(
        self, database: sqlite3.Connection, aliases: Sequence[tuple[str, str, int]]
    ) -> list[Damage]:
        damages = self._store_blobs(database)
        known = [(scope, alias) for scope, alias, _ in aliases]
        total = sum(sum_ for *_, sum_ in aliases)
        whole = self._row is not None and self._row.names in {None, total}
        names = known if whole else self._listing.aliases
        database.executemany(_ALIAS, [(*name, self._number) for name in names])
        if not whole and self._floor and self._row is not None:
            damages.append(
                Damage("names that it was given before it was pruned are lost", self._key)
            )
        if self._row is None:
            opened = self._listing.opened
            meta = None if opened is None else codec.dumps(opened)
            values: Sequence[Any] = (self._created or 0, self._listing.title or "", meta)
            database.execute(_LIST, (*values, self._number))
        return damages

    def _store_blobs(self, database: sqlite3.Connection | None) -> list[Damage]:
        """Store what the events refer to, and what that refers to; return what is not to be had."""
        damages = []
        waiting, done = dict(self._refs), set[str]()
        while waiting:
            ref, seq = waiting.popitem()
            done.add(ref)
            hash_ = hash_of(ref)
            body = None if hash_ is None else self._remains.blob(ref, hash_)
            if body is None:
                why = f"incomplete: {ref} is damaged or missing"
                damages.append(Damage(why, self._key, seq, seq))
                continue
            for inner in referred(body):
                if inner not in done:
                    waiting[inner] = max(seq, waiting.get(inner, 0))
            if database is not None:
                database.execute(_BLOB, (hash_, len(body), body))
                database.execute(_REF, (self._number, hash_, seq))
        return damages
