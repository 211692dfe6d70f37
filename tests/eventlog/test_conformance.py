"""Every adapter keeps every promise of the shared suite, with every kind of journal."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from eventlog import Log, MemoryStore, SqliteStore
from eventlog.conformance import PROMISES, Open, Promise, Reconnecting


def opens_memory(_: Path) -> Open:
    """A log in memory lives as long as the process: a restart finds it as it was."""
    store = MemoryStore()

    @asynccontextmanager
    async def open_log() -> AsyncGenerator[Log, None]:
        yield store

    return open_log


def opens_sqlite(folder: Path) -> Open:
    """A log on disk."""
    return lambda: SqliteStore.open(folder)


def opens_without_a_wal(folder: Path) -> Open:
    """A log on disk, as a network's file system wants it (R045)."""
    return lambda: SqliteStore.open(folder, journal="delete")


ADAPTERS = {"memory": opens_memory, "sqlite": opens_sqlite, "sqlite-delete": opens_without_a_wal}


@pytest.fixture(params=list(ADAPTERS.values()), ids=list(ADAPTERS))
def adapter(request: pytest.FixtureRequest) -> Callable[[Path], Open]:
    """Opens a log at a path, by each adapter in turn."""
    chosen: Callable[[Path], Open] = request.param
    return chosen


@pytest.mark.anyio
@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise.__name__)
async def test_the_adapter_keeps_its_promise(
    promise: Promise, adapter: Callable[[Path], Open], tmp_path: Path
) -> None:
    """What each promise says stands in the docstring of its function in eventlog/conformance.

    With either journal, R045.
    """
    await promise(adapter(tmp_path / "log"))


def test_a_reader_that_is_cut_off_ends_with_the_whole_log(
    adapter: Callable[[Path], Open], tmp_path: Path
) -> None:
    """Append, cut off, restart, wake for nothing: nothing is missing, twice or out of order.

    One machine, whose model is a list (P-8).
    """
    folders: Iterator[Path] = (tmp_path / str(number) for number in count())

    class Machine(Reconnecting):
        def __init__(self) -> None:
            super().__init__(lambda: adapter(next(folders)))

    run_state_machine_as_test(
        Machine,
        settings=settings(max_examples=25, stateful_step_count=20, deadline=None),
    )
