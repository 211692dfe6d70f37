"""What every log promises about waiting, and so about following a session live."""

from __future__ import annotations

from contextlib import aclosing

import anyio

from eventlog.conformance.opening import (
    OTHER,
    SESSION,
    Open,
    Promise,
    counted,
    refusal,
    said,
)
from eventlog.errors import HistoryTruncated
from eventlog.event import Seq, seq_of
from eventlog.store import Log
from eventlog.subscription import CaughtUp, subscribe

_PATIENCE = 10
"""Seconds until a promise counts as broken."""


async def waiting_ends_when_the_session_grows(open_log: Open) -> None:
    """A wait returns once the head is beyond the cursor, at once if it already is.

    What it waited for can then be read.
    """
    found: list[int] = []

    async def follow(log: Log) -> None:
        for after in range(3):
            while (page := await log.read(SESSION, after=after)).head <= after:
                await log.wait(SESSION, after=after)
            found.append(seq_of(page.lines[0]))

    async with open_log() as log:
        with anyio.fail_after(_PATIENCE):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(follow, log)
                for _ in range(3):
                    await anyio.wait_all_tasks_blocked()
                    await log.append(OTHER, counted(1))
                    await log.append(SESSION, counted(1))

    assert found == [1, 2, 3]


async def waiting_ends_when_the_session_is_deleted(open_log: Open) -> None:
    """Who waits for more of a session that is deleted is told, once, and may go on waiting."""
    heard: list[int] = []

    async def note(floor: Seq) -> None:
        heard.append(floor)

    async with open_log() as log:
        await log.append(SESSION, counted(3))
        items = subscribe(log, SESSION, removed=note)
        async with aclosing(items):
            assert [type(await anext(items)) is CaughtUp for _ in range(2)] == [False, True]
            with anyio.fail_after(_PATIENCE):
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(anext, items)
                    await anyio.wait_all_tasks_blocked()
                    await log.delete(SESSION)
                    while not heard:
                        await anyio.lowlevel.checkpoint()
                    await log.append(SESSION, said("again"))

    assert heard == [3]


async def history_passes_into_the_present_without_a_seam(open_log: Open) -> None:
    """Events appended while a reader catches up reach it once, in order, none missing."""
    seen: list[int] = []

    async def follow(log: Log) -> None:
        async with aclosing(subscribe(log, SESSION, limit=7)) as items:
            async for item in items:
                if not isinstance(item, CaughtUp):
                    seen.extend(map(seq_of, item.lines))
                if seen[-1:] == [150]:
                    return

    async with open_log() as log:
        await log.append(SESSION, counted(50))
        with anyio.fail_after(_PATIENCE):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(follow, log)
                for _ in range(100):
                    await log.append(SESSION, counted(1))

    assert seen == list(range(1, 151))


async def the_end_of_history_is_marked_once(open_log: Open) -> None:
    """One mark says that all that was there has been delivered, also where nothing was."""
    async with open_log() as log:
        for head in (0, 5):
            if head:
                await log.append(SESSION, counted(head))
            items = []
            async with aclosing(subscribe(log, SESSION, limit=2)) as stream:
                async for item in stream:
                    items.append(item)
                    if item == CaughtUp(Seq(head)):
                        break
            assert [type(item) is CaughtUp for item in items] == [False] * (head + 1 >> 1) + [True]


async def a_follower_of_another_history_is_told(open_log: Open) -> None:
    """A cursor that the log cannot continue is an error with its numbers, never silence."""
    async with open_log() as log:
        await log.append(SESSION, said("a"))
        async with aclosing(subscribe(log, SESSION, after=9)) as items:
            error = await refusal(HistoryTruncated, anext(items))

    assert (error.after, error.floor, error.head) == (9, 0, 1)


PROMISES: tuple[Promise, ...] = (
    waiting_ends_when_the_session_grows,
    waiting_ends_when_the_session_is_deleted,
    history_passes_into_the_present_without_a_seam,
    the_end_of_history_is_marked_once,
    a_follower_of_another_history_is_told,
)
