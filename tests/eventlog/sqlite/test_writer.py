"""Group commit: what goes to the disk together, and in which order."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import anyio
import pytest

from eventlog import (
    Event,
    SessionId,
    Span,
    SqliteStore,
    WrongExpectedVersion,
)
from eventlog.batch import MAX_BYTES, MAX_EVENTS, Sealer
from eventlog.checksum import Checksum
from tests.eventlog.sqlite.gate import A, B, C, Gate, busy, event, known

pytestmark = pytest.mark.anyio


def rows(path: Path) -> list[tuple[str, int, int]]:
    """Return the batches in the order of commit: session, first, last."""
    with closing(sqlite3.connect(path / "events.db")) as database:
        return database.execute(
            "select key, first, last from batch join session on session.id = batch.session"
            " order by batch.id"
        ).fetchall()


async def test_what_arrives_during_a_sync_is_committed_together(tmp_path: Path) -> None:
    """Whatever arrived while the disk was busy is one call to the database: one commit (S-1)."""
    async with SqliteStore.open(tmp_path) as store:
        await known(store, A, B, C)
        async with anyio.create_task_group() as tasks, busy(store) as gate:
            for number in range(64):
                tasks.start_soon(store.append, (A, B)[number % 2], [event()])

    assert gate.pieces == [["insert"], ["insert"]]
    assert rows(tmp_path)[3:] == [("c", 2, 2), ("a", 2, 33), ("b", 2, 33)]


async def test_who_was_answered_comes_into_the_next_commit(tmp_path: Path) -> None:
    """Who appends again when answered goes to the disk with those who waited already (S-1)."""
    async with SqliteStore.open(tmp_path) as store:
        await known(store, A)

        async def appender() -> None:
            for _ in range(20):
                await store.append(A, [event()])

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(appender)
            await store.append(A, [event()])  # one is under way, and the others wait behind it
            for _ in range(31):
                tasks.start_soon(appender)

    sizes = [last - first + 1 for _, first, last in rows(tmp_path)]
    assert sizes.count(32) >= 17


async def test_a_lone_append_waits_for_nobody(tmp_path: Path) -> None:
    """There is no timer: an append to a known session is one call, at once (S-1)."""
    async with SqliteStore.open(tmp_path) as store:
        await known(store, A)
        gate = Gate(store)
        gate.open.set()
        await store.append(A, [event()])
        await store.append(A, [event()])

    assert gate.pieces == [["insert"], ["insert"]]


@pytest.mark.parametrize("count", [1, MAX_EVENTS, MAX_EVENTS + 1, 3 * MAX_EVENTS - 1])
async def test_a_batch_holds_so_many_events(count: int, tmp_path: Path) -> None:
    """At most 256 events stand in one row, however many were appended at once (S-1)."""
    async with SqliteStore.open(tmp_path) as store:
        await store.append(A, [event()] * count)

    found = rows(tmp_path)
    assert [last - first + 1 for _, first, last in found[:-1]] == [MAX_EVENTS] * (len(found) - 1)
    assert found[-1][2] == count


async def test_a_batch_holds_so_many_bytes() -> None:
    """At most 256 KiB stand in one row; an event that is larger has its own (S-1)."""
    small, large = b"s" * 100_000, b"l" * 300_000
    lines = [small, small, small, large, small, small]
    found = list(Sealer("a", Checksum("crc32c")).seal(1, [0] * 6, lines))

    assert [batch[:2] for batch in found] == [(1, 2), (3, 3), (4, 4), (5, 6)]
    assert [len(batch.body) <= MAX_BYTES for batch in found] == [True, True, False, True]


async def test_numbers_are_given_when_the_batch_is_formed(tmp_path: Path) -> None:
    """`expected` is compared with the head that was given out: appends queue up on it (S-2)."""
    spans: dict[int, Span | int] = {}

    async def append(store: SqliteStore, expected: int) -> None:
        try:
            spans[expected] = await store.append(A, [event()] * 2, expected=expected)
        except WrongExpectedVersion as error:
            spans[expected] = error.actual

    async with SqliteStore.open(tmp_path) as store:
        await known(store, A, C)
        async with anyio.create_task_group() as tasks, busy(store) as gate:
            for expected in (1, 3, 4, 5):
                tasks.start_soon(append, store, expected)

    assert spans == {1: (2, 3), 3: (4, 5), 4: 5, 5: (6, 7)}
    assert gate.pieces == [["insert"], ["insert"]]


async def test_appends_beyond_the_room_wait_their_turn(tmp_path: Path) -> None:
    """What waits is bounded in bytes; who comes with more waits outside, and first come is first.

    One that is larger than all the room is taken alone (S-1).
    """
    sizes = [3_000_000, 3_000_000, 2_000_000, 9_000_000, 10]
    spans: dict[int, Span] = {}

    async def append(store: SqliteStore, number: int) -> None:
        spans[number] = await store.append(
            A, [event("x" * 50_000)] * (sizes[number] // 50_000 or 1)
        )

    async with SqliteStore.open(tmp_path) as store:
        await known(store, A, C)
        async with anyio.create_task_group() as tasks, busy(store):
            for number in range(len(sizes)):
                tasks.start_soon(append, store, number)
            await anyio.wait_all_tasks_blocked()
            assert len(store._writer._intake._waiting) == 1  # one is in the queue of the database

    assert [spans[number].first for number in range(len(sizes))] == [2, 62, 122, 162, 342]


async def test_a_hundred_appends_at_once(tmp_path: Path) -> None:
    """A hundred tasks append through one store: a hundred events, none torn (R028)."""
    async with SqliteStore.open(tmp_path) as store:
        async with anyio.create_task_group() as tasks:
            for number in range(100):
                tasks.start_soon(store.append, A, [event(str(number))])
        page = await store.read(A)

    assert sorted(int(e["payload"]["text"]) for e in page.envelopes()) == list(range(100))


async def test_ten_thousand_appends_share_one_sequence(tmp_path: Path) -> None:
    """Three sub-writers of one session, thousands of appends: one sequence without a hole (R014)."""
    spans: list[Span] = []

    async def write(store: SqliteStore, type_: str) -> None:
        async with anyio.create_task_group() as tasks:
            for _ in range(3_334):
                tasks.start_soon(append, store, Event.of(type_))

    async def append(store: SqliteStore, item: Event) -> None:
        spans.append(await store.append(A, [item]))

    async with SqliteStore.open(tmp_path) as store:
        async with anyio.create_task_group() as tasks:
            for type_ in ("message.delta", "acp.session_update", "request.opened"):
                tasks.start_soon(write, store, type_)
        assert (await store.read(A)).head == 10_002

    assert sorted(span.first for span in spans) == list(range(1, 10_003))


async def test_many_new_sessions_are_a_handful_of_calls(tmp_path: Path) -> None:
    """Many sessions that open at once, with titles and aliases, are one transaction (S-1)."""
    opened = [
        Event.of("session.opened", {"title": "a"}),
        Event.of("session.alias", {"scope": "acp", "id": "theirs"}),
        Event.of("session.title", {"title": "b"}),
    ]
    async with SqliteStore.open(tmp_path) as store:
        await known(store, C)
        async with anyio.create_task_group() as tasks, busy(store) as gate:
            for number in range(64):
                tasks.start_soon(store.append, SessionId(f"n{number}"), opened)
            while len(store._writer._intake._waiting) < 64:
                await anyio.lowlevel.checkpoint()
        found = await store.sessions()

    kinds = ["begin", "insert", "insert", "update", "update", "insert", "select", "commit"]
    assert gate.pieces == [["insert"], [*kinds, *["select"] * 64]]  # which ids they were given
    assert [row.title for row in found[:64]] == ["b"] * 64


async def test_an_import_larger_than_a_statement_is_one_transaction(tmp_path: Path) -> None:
    """More rows than one statement takes are still committed together (S-1)."""
    async with SqliteStore.open(tmp_path) as store:
        await known(store, A)
        gate = Gate(store)
        gate.open.set()
        large = Event.of("x", {"parts": ["x" * 50_000] * 5})
        await store.append(A, [large] * 3 + [event()] * 256_000)

    (piece,) = gate.pieces
    assert (piece[0], set(piece[1:-2]), piece[-2:]) == ("begin", {"insert"}, ["select", "commit"])
    assert len(rows(tmp_path)) == 1 + 4 + 1_000
