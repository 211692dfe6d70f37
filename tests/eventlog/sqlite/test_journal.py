"""The WAL has its length from the beginning, and keeps it."""

from __future__ import annotations

from pathlib import Path

import pytest

from eventlog import Event, SqliteReader, SqliteStore
from tests.eventlog.sqlite.gate import A, B

pytestmark = pytest.mark.anyio

LENGTH = 4 * 1024 * 1024
"""What is there at every opening."""

MOST = 12 * 1024 * 1024
"""Beyond the pages at which it is moved into the database there is room for one large commit."""


async def test_the_journal_is_long_from_the_beginning(tmp_path: Path) -> None:
    """Made so at every opening, written over and over, and gone after an orderly end (S-5).

    Commits go into a file that does not grow: twenty megabytes of events leave it as it was.
    """
    wal = tmp_path / "events.db-wal"
    for _ in range(2):
        async with SqliteStore.open(tmp_path) as store:
            assert wal.stat().st_size >= LENGTH
            for number in range(8):
                await store.append(A, [Event.of("x", {"text": "x" * 1_000})] * 20)
                assert wal.stat().st_size < LENGTH + 300_000, number
            for _ in range(20):
                await store.append(B, [Event.of("x", {"text": "y" * 50_000})] * 20)
            assert LENGTH <= wal.stat().st_size < MOST
        assert not wal.exists()


async def test_the_journal_is_not_cut_under_a_reader(tmp_path: Path) -> None:
    """Somebody reads all the while: it is still whole, and what they see too (S-5)."""
    async with SqliteStore.open(tmp_path) as store, SqliteReader.open(tmp_path) as reader:
        wal = tmp_path / "events.db-wal"
        for number in range(30):
            await store.append(A, [Event.of("x", {"text": "y" * 50_000})] * 20)
            assert (await reader.read(A, limit=0)).head == 20 * (number + 1)
            assert wal.stat().st_size >= LENGTH
        assert wal.stat().st_size < 2 * MOST
