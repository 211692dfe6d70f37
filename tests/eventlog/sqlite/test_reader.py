"""Reading: beside the writer, in order, and past what is damaged."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import aclosing, closing
from pathlib import Path

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eventlog import (
    CaughtUp,
    Checkpoint,
    Event,
    LogUnavailable,
    Page,
    SessionId,
    SqliteReader,
    SqliteStore,
    parse,
    subscribe,
)
from eventlog.batch import Batch, Sealer
from eventlog.checksum import ALGORITHMS, Checksum
from eventlog.event import line
from eventlog.sqlite import sums
from tests.eventlog.values import EVENTS

pytestmark = pytest.mark.anyio

SESSION, OTHER = SessionId("s"), SessionId("other")


def counted(number: int) -> list[Event]:
    return [Event.of("x", {"n": n}) for n in range(number)]


def change(path: Path, *statements: str) -> None:
    """Change the database behind the log's back."""
    with closing(sqlite3.connect(path / "events.db")) as database, database:
        sums.install(database)
        for statement in statements:
            assert database.execute(statement).rowcount == 1


async def history(log: SqliteReader, limit: int = 100) -> list[tuple[int, str, object]]:
    """Return the session as a follower gets it: number, type, payload."""
    found: list[tuple[int, str, object]] = []
    async with aclosing(subscribe(log, SESSION, limit=limit)) as items:
        async for item in items:
            if isinstance(item, CaughtUp):
                return found
            found += [(e["seq"], e["type"], e["payload"]) for e in item.envelopes()]
    raise AssertionError


def gap(first: int, last: int, reason: str) -> tuple[int, str, object]:
    return last, "log.gap", {"first": first, "last": last, "reason": reason}


async def test_a_reader_beside_the_writer_sees_what_is_durable(tmp_path: Path) -> None:
    """Another connection reads every event that was acknowledged, and follows the rest (S-4)."""
    seen: list[int] = []

    async def follow(reader: SqliteReader) -> None:
        async with aclosing(subscribe(reader, SESSION, limit=3)) as items:
            async for item in items:
                if isinstance(item, Page):
                    seen.extend(envelope["seq"] for envelope in item.envelopes())
                if seen[-1:] == [12]:
                    return

    with anyio.fail_after(10):
        async with SqliteStore.open(tmp_path) as store, SqliteReader.open(tmp_path) as reader:
            assert reader.epoch == store.epoch
            await store.append(SESSION, counted(4))
            assert (await reader.read(SESSION)).head == 4
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(follow, reader)
                for _ in range(4):
                    await store.append(SESSION, counted(2))
    assert seen == list(range(1, 13))


async def test_a_reader_waits_without_being_told(tmp_path: Path) -> None:
    """A reader in another process has nobody to wake it: it looks whether the log changed (S-4)."""
    async with SqliteStore.open(tmp_path) as store, SqliteReader.open(tmp_path) as reader:
        with anyio.fail_after(5):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(lambda: reader.wait(SESSION, after=0))
                await anyio.wait_all_tasks_blocked()
                await store.append(OTHER, counted(1))
                await store.append(SESSION, counted(1))
            await reader.wait(SESSION, after=0)


async def test_a_log_that_was_closed_can_be_read(tmp_path: Path) -> None:
    """Reading needs no writer, and leaves the log as it can be written again."""
    async with SqliteStore.open(tmp_path) as store:
        await store.append(SESSION, counted(3))
    for _ in range(2):
        async with SqliteReader.open(tmp_path) as reader:
            assert len(await history(reader)) == 3
            with pytest.raises(sqlite3.OperationalError, match="readonly"):
                await reader._reader.execute_fetchall("delete from batch")
    async with SqliteStore.open(tmp_path) as store:
        await store.append(SESSION, counted(1))


async def test_equal_times_change_no_order(tmp_path: Path) -> None:
    """A thousand events of one time are read ten times in the order of their numbers (R017)."""
    async with SqliteStore.open(tmp_path, clock=lambda: 5_000) as store:
        for start in range(0, 1_000, 40):
            await store.append(SESSION, counted(1_000)[start : start + 40])
        for _ in range(10):
            assert await history(store) == [(n + 1, "x", {"n": n}) for n in range(1_000)]


async def test_no_order_is_left_to_chance(tmp_path: Path) -> None:
    """Told to give rows backwards where no order was asked for, SQLite gives them as ever (R017)."""
    keys = [SessionId(f"s{number}") for number in (3, 1, 2)]
    async with SqliteStore.open(tmp_path, clock=lambda: 5_000) as store:
        for key in (SESSION, *keys):
            for _ in range(3):
                await store.append(key, counted(3))
            await store.append(key, [Event.of("session.alias", {"scope": "x", "id": "shared"})])
        await store._reader.execute_fetchall("pragma reverse_unordered_selects=on")

        assert [seq for seq, _, _ in await history(store)] == list(range(1, 11))
        assert [row.id for row in await store.sessions()] == [*reversed(keys), SESSION]
        assert await store.resolve("shared") == [SESSION, *keys]
        assert await store.unsettled() == sorted([SESSION, *keys])
        assert [found async for found in store.verify()] == []


@given(st.lists(EVENTS, min_size=1, max_size=30), st.sampled_from(sorted(ALGORITHMS)), st.data())
@settings(max_examples=40, deadline=None)
def test_a_flipped_bit_is_found(
    events: Sequence[Event], algorithm: str, data: st.DataObject
) -> None:
    """Any change of a batch, of its body or of where it says it stands, breaks its sum (S-6)."""
    sealer = Sealer("s", Checksum(algorithm))
    (batch,) = sealer.seal(5, range(len(events)), [line(5 + n, n, e) for n, e in enumerate(events)])
    assert sealer.intact(batch)
    bit = data.draw(st.integers(0, 8 * len(batch.body) - 1))
    flipped = bytearray(batch.body)
    flipped[bit // 8] ^= 1 << bit % 8

    damaged = [
        batch._replace(**{name: getattr(batch, name) ^ (1 << bit % 40)})
        for name in ("first", "last", "ts", "crc", "codec")
    ]
    damaged += [batch._replace(body=bytes(flipped)), batch._replace(body=batch.body[:-1])]
    assert not any(sealer.intact(copy) for copy in damaged)
    assert not Sealer("t", Checksum(algorithm)).intact(batch)


@pytest.mark.parametrize(
    "damage",
    [
        "body = cast(replace(cast(body as text), '5', '6') as blob)",
        "body = substr(body, 1, length(body) - 1)",
        "body = x''",
        "crc = crc + 1",
        "ts = ts + 1",
        "last = last + 1000",
        "last = last - 1",
        "codec = 1",
        "codec = 9",
    ],
)
async def test_a_damaged_batch_costs_itself_only(damage: str, tmp_path: Path) -> None:
    """It is served as one line that says what is lost, at the last lost number (S-6).

    Whatever the size of pages; and the writer goes on.
    """
    async with SqliteStore.open(tmp_path) as store:
        for _ in range(3):
            await store.append(SESSION, counted(3))
        await store.append(OTHER, counted(2))
    change(tmp_path, f"update batch set {damage} where session = 1 and first = 4")  # noqa: S608 - ours
    async with SqliteStore.open(tmp_path) as store:
        whole = [(n + 1, "x", {"n": n % 3}) for n in range(9)]
        expected = [*whole[:3], gap(4, 6, "damaged"), *whole[6:]]
        for limit in (1, 2, 3, 4, 100):
            assert await history(store, limit) == expected
        assert [str(found) async for found in store.verify()] == ["s: events 4 to 6 are damaged"]
        assert [found async for found in store.verify(OTHER)] == []
        assert (await store.append(SESSION, counted(1))).first == 10


async def test_a_reader_inside_a_damaged_batch_is_told_the_rest(tmp_path: Path) -> None:
    """Who had read a part of it is told that what follows its cursor is lost."""
    async with SqliteStore.open(tmp_path) as store:
        for _ in range(2):
            await store.append(SESSION, counted(3))
        change(tmp_path, "update batch set crc = 0 where first = 1")
        page = await store.read(SESSION, after=1, limit=1)

    (text,) = page.lines
    envelope = parse(text)
    assert (envelope["seq"], envelope["type"], envelope["payload"]) == gap(2, 3, "damaged")
    assert page.next == 3


async def test_a_damaged_end_is_shown_too(tmp_path: Path) -> None:
    """A damaged last batch, or only batch, is a gap up to the head; nothing after it is made up."""
    async with SqliteStore.open(tmp_path) as store:
        await store.append(SESSION, counted(3))
        await store.append(SESSION, counted(2))
        change(tmp_path, "update batch set crc = 0 where first = 4")
        assert (await history(store))[3:] == [gap(4, 5, "damaged")]
        change(tmp_path, "update batch set crc = 0 where first = 1")
        assert await history(store) == [gap(1, 3, "damaged"), gap(4, 5, "damaged")]
        assert (await store.read(SESSION, after=5)).body == b""


@pytest.mark.parametrize("gone", [1, 4, 7])
async def test_a_missing_batch_is_a_gap(gone: int, tmp_path: Path) -> None:
    """What is not there at all is said as well, in the middle as at the beginning (S-6)."""
    async with SqliteStore.open(tmp_path) as store:
        for _ in range(4):
            await store.append(SESSION, counted(3))
        change(tmp_path, f"delete from batch where first = {gone}")  # noqa: S608 - ours
        for limit in (1, 2, 100):
            found = await history(store, limit)
            assert [seq for seq, _, _ in found if not gone <= seq < gone + 2] == [
                n for n in range(1, 13) if not gone <= n < gone + 2
            ]
            assert gap(gone, gone + 2, "missing") in found
        assert [(d.first, d.last, d.reason) async for d in store.verify(SESSION)] == [
            (gone, gone + 2, "missing")
        ]


async def test_an_unknown_checksum_is_no_damage(tmp_path: Path) -> None:
    """A log whose sums this program cannot compute is refused, not called damaged."""
    async with SqliteStore.open(tmp_path):
        pass
    change(tmp_path, "update meta set value = 'xxh3' where key = 'checksum'")
    with pytest.raises(LogUnavailable, match="xxh3"):
        async with SqliteReader.open(tmp_path):
            pass


async def test_a_log_made_without_the_fast_checksum_is_read(tmp_path: Path) -> None:
    """Which sum a log uses stands in it (S-6)."""
    async with SqliteStore.open(tmp_path):
        pass
    change(tmp_path, "update meta set value = 'crc32' where key = 'checksum'")
    async with SqliteStore.open(tmp_path) as store:
        await store.append(SESSION, counted(2))
        assert len(await history(store)) == 2
        assert [found async for found in store.verify()] == []


def test_checksums_are_the_published_ones() -> None:
    """Both algorithms give their check values, in one piece or in several."""
    assert Checksum("crc32c").of(b"123456789") == 0xE3069283
    assert Checksum("crc32").of(b"1234", b"56789") == 0xCBF43926


def test_a_batch_of_another_codec_is_not_read_as_lines() -> None:
    """What this version cannot read is a gap, never taken for lines."""
    sealer = Sealer("s", Checksum("crc32c"))
    texts = [line(number, 1, Event.of("x")) for number in (1, 2)]
    (batch,) = sealer.seal(1, [1], texts[:1])
    shifted = Batch(1, 1, 1, 0, sealer.crc(1, 1, 1, 0, texts[1]), texts[1])
    cold = Batch(1, 1, 1, 1, sealer.crc(1, 1, 1, 1, b"{}"), b"{}")

    assert sealer.intact(batch)
    assert not sealer.intact(shifted)
    assert [run.reason for run in sealer.runs([(cold, None)], 0)] == ["damaged"]


async def test_a_page_goes_on_inside_a_batch(tmp_path: Path) -> None:
    """P-9, S-6: one batch is read in many pages, by two readers in turn; that it is merged,
    pruned or deleted between two of them changes no number, and what is gone is not served.
    """
    async with SqliteStore.open(tmp_path) as store:
        for _ in range(3):
            await store.append(SESSION, counted(40))

        async def numbers(after: int) -> list[int]:
            page = await store.read(SESSION, after=after, limit_bytes=500)
            return [envelope["seq"] for envelope in page.envelopes()]

        first, second = await numbers(0), await numbers(3)
        assert (first[0], second[0]) == (1, 4)
        assert (await numbers(first[-1]))[0] == first[-1] + 1
        assert (await numbers(second[-1]))[0] == second[-1] + 1
        at = (await numbers(36))[-1]
        assert at == 36 + len(await numbers(36))
        await store.compact(before=2**62)
        cursor, found = at, list[int]()
        while some := await numbers(cursor):
            found += some
            cursor = some[-1]
            if cursor > 60 and len(found) < 30:
                await store.append(SESSION, counted(1))
        assert found == list(range(at + 1, found[-1] + 1))
        assert found[-1] > 120
        await numbers(5)
        last = (await store.prunable(SESSION)).seq
        await numbers(last - 20)
        await store.prune(SESSION, Checkpoint(last, 1, b"{}"))
        assert await numbers(last - 20) == []
        assert (await store.read(SESSION, after=5)).floor == last
