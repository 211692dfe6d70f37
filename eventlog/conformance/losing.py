"""What every log promises about numbers whose events are lost: one line stands for them (S-6)."""

from __future__ import annotations

import anyio

from eventlog.conformance.opening import SESSION, Open, Promise, counted, refusal, said
from eventlog.errors import WrongExpectedVersion
from eventlog.event import Event, Seq, line, seq_of
from eventlog.store import Checkpoint, Log


def _gap(first: int, last: int) -> Event:
    return Event.of("log.gap", {"first": first, "last": last, "reason": "damaged"})


async def _numbers(log: Log, after: int = 0) -> list[int]:
    return [seq_of(text) for text in (await log.read(SESSION, after=after)).lines]


async def a_gap_takes_the_place_of_what_is_lost(open_log: Open) -> None:
    """It is one line, with the number of the last event that it stands for; the next follows it.

    Whoever stopped inside of it is told of it; limits count lines.
    """
    async with open_log() as log:
        await log.append(SESSION, counted(3))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: log.wait(SESSION, after=3))  # returns, or this never ends
            await log.skip(SESSION, _gap(4, 9), at=17)
        assert (await log.append(SESSION, said("after"), expected=9)).first == 10
        await log.skip(SESSION, _gap(11, 11), at=18)
    async with open_log() as log:
        page = await log.read(SESSION)
        assert [seq_of(text) for text in page.lines] == [1, 2, 3, 9, 10, 11]
        assert page.lines[3] == line(9, 17, _gap(4, 9))
        assert (page.head, page.next) == (11, 11)
        assert await _numbers(log, after=3) == await _numbers(log, after=6) == [9, 10, 11]
        assert await _numbers(log, after=9) == [10, 11]
        some = await log.read(SESSION, after=2, limit=2)
        assert ([seq_of(text) for text in some.lines], some.next) == ([3, 9], 9)
        (row,) = await log.sessions()
        assert (row.head, row.updated) == (11, 18)


async def a_gap_begins_where_the_session_ends(open_log: Open) -> None:
    """Elsewhere, or if it says nothing of numbers, nothing is recorded."""
    async with open_log() as log:
        await log.append(SESSION, counted(3))
        for first in (3, 5):
            error = await refusal(WrongExpectedVersion, log.skip(SESSION, _gap(first, 9), at=1))
            assert (error.expected, error.actual) == (first - 1, 3)
        for gap, at in (
            (Event.of("log.gap", {"lost": 2}), 1),
            (Event.of("x", {"first": 4, "last": 5}), 1),
            (_gap(5, 4), 1),
            (_gap(4, 5), -1),
        ):
            await refusal(ValueError, log.skip(SESSION, gap, at=at))
        assert await _numbers(log) == [1, 2, 3]
        assert (await log.append(SESSION, counted(1))).first == 4


async def a_session_may_begin_with_a_gap(open_log: Open) -> None:
    """Then it is there, as of the gap's time."""
    async with open_log() as log:
        await log.skip(SESSION, _gap(1, 4), at=5)
    async with open_log() as log:
        (row,) = await log.sessions()
        assert (row.id, row.created, row.updated, row.head) == (SESSION, 5, 5, 4)
        assert (await log.append(SESSION, counted(1))).first == 5


async def a_gap_is_pruned_whole(open_log: Open) -> None:
    """No floor is inside of one (S-10)."""
    async with open_log() as log:
        await log.append(SESSION, counted(3), at=[1, 2, 3])
        await log.skip(SESSION, _gap(4, 9), at=4)
        await log.append(SESSION, counted(1), at=[5])
        assert (await log.prunable(SESSION, to=6)).seq in {0, 3}  # as far as a batch ends there
        assert (await log.prunable(SESSION, before=4)).seq == 3
        reach = await log.prunable(SESSION, to=9)
        assert (reach.seq, reach.events) == (9, 9)
        await log.prune(SESSION, Checkpoint(Seq(9), 1, b"{}"))
        assert await _numbers(log) == [10]


async def a_gap_and_an_append_take_turns(open_log: Open) -> None:
    """Whichever is first, no number is given twice and none is left out (P-8)."""
    async with open_log() as log:
        await log.append(SESSION, counted(3))
        refused: list[int] = []

        async def skip() -> None:
            try:
                await log.skip(SESSION, _gap(4, 9), at=1)
            except WrongExpectedVersion:
                refused.append(4)

        async with anyio.create_task_group() as tasks:
            for _ in range(3):
                tasks.start_soon(log.append, SESSION, counted(2))
            tasks.start_soon(skip)
            for _ in range(3):
                tasks.start_soon(log.append, SESSION, counted(2))
        found = await _numbers(log)
        assert found == [n for n in range(1, found[-1] + 1) if refused or not 4 <= n < 9]
        assert found[-1] == 15 + (0 if refused else 6)


PROMISES: tuple[Promise, ...] = (
    a_gap_takes_the_place_of_what_is_lost,
    a_gap_begins_where_the_session_ends,
    a_session_may_begin_with_a_gap,
    a_gap_is_pruned_whole,
    a_gap_and_an_append_take_turns,
)
