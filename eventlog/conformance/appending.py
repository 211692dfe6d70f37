"""What every log promises about appending."""

from __future__ import annotations

import anyio

from eventlog.conformance.opening import (
    OTHER,
    SESSION,
    Open,
    Promise,
    counted,
    lines,
    refusal,
    said,
    span,
    texts,
)
from eventlog.errors import InvalidSessionId, WrongExpectedVersion
from eventlog.event import GATEWAY, Event, SessionId, Span, parse, seq_of
from eventlog.store import Log


async def numbers_start_at_one_and_have_no_holes(open_log: Open) -> None:
    """The first event of a session is number 1, the next one 2, and so on (P-8)."""
    async with open_log() as log:
        assert await log.append(SESSION, counted(2)) == span(1, 2)
        assert await log.append(SESSION, counted(3)) == span(3, 5)

        assert [seq_of(text) for text in await lines(log)] == [1, 2, 3, 4, 5]


async def sessions_are_numbered_apart(open_log: Open) -> None:
    """A busy session does not move another one's numbers, nor the gateway's own (P-8)."""
    async with open_log() as log:
        await log.append(SESSION, counted(2))

        assert await log.append(OTHER, counted(1)) == span(1, 1)
        assert await log.append(GATEWAY, counted(1)) == span(1, 1)


async def an_event_is_stored_as_it_was_made(open_log: Open) -> None:
    """The line holds the payload's own bytes, and other members behind it (R150).

    Surrogates, integers of any size and a payload's own `$blob` key come back as they were.
    """
    payload = {"lone": "\ud83d", "big": 2**70, "$blob": "mine", "nul": "\0", "sep": "\u2028\r\n"}
    event = Event.of("x", payload, members={"turn": {"n": 1}}, origin="e.1:2")
    async with open_log() as log:
        await log.append(SESSION, [event], at=[7])

        (text,) = await lines(log)

    assert text == b'{"seq":1,"ts":7,"type":"x","payload":%b%b}' % (event.payload, event.rest)
    assert parse(text)["payload"] == payload


async def one_append_is_never_torn_by_another(open_log: Open) -> None:
    """Many writers of one session share one sequence: contiguous, each append in one piece (R014).

    What an append returns is where its events stand.
    """
    spans: dict[int, Span] = {}

    async def write(log: Log, number: int) -> None:
        spans[number] = await log.append(SESSION, said(*[str(number)] * (number % 4 + 1)))

    async with open_log() as log:
        async with anyio.create_task_group() as tasks:
            for number in range(200):
                tasks.start_soon(write, log, number)
        found = await texts(log)

    assert len(found) == sum(number % 4 + 1 for number in range(200))
    for number, (first, last) in spans.items():
        assert found[first - 1 : last] == [str(number)] * (number % 4 + 1)


async def a_large_append_is_one_piece(open_log: Open) -> None:
    """An append of more events than a batch may hold is still numbered and kept as one."""
    async with open_log() as log:
        assert await log.append(SESSION, counted(3_000)) == span(1, 3_000)
        assert await texts(log) == [str(number) for number in range(3_000)]


async def a_stale_writer_is_told_so(open_log: Open) -> None:
    """An append that expects another head records nothing and says what the head is."""
    async with open_log() as log:
        await log.append(SESSION, counted(2), expected=0)

        error = await refusal(WrongExpectedVersion, log.append(SESSION, counted(1), expected=1))

        assert (error.session_id, error.expected, error.actual) == (SESSION, 1, 2)
        assert (await log.read(SESSION)).head == 2


async def of_rivals_exactly_one_wins(open_log: Open) -> None:
    """Writers who all read the same head and expect it: one is recorded, the others are told."""
    outcomes: list[object] = []

    async def compete(log: Log, number: int) -> None:
        try:
            outcomes.append(await log.append(SESSION, said(str(number)), expected=1))
        except WrongExpectedVersion as error:
            outcomes.append(error.actual)

    async with open_log() as log:
        await log.append(SESSION, counted(1))
        async with anyio.create_task_group() as tasks:
            for number in range(20):
                tasks.start_soon(compete, log, number)

        assert (await log.read(SESSION)).head == 2

    assert outcomes.count(span(2, 2)) == 1
    assert outcomes.count(2) == 19


async def nothing_appended_is_nothing_recorded(open_log: Open) -> None:
    """An append of no events gives an empty span, makes no session, and still checks the head."""
    async with open_log() as log:
        assert await log.append(SESSION, []) == span(1, 0)
        assert await log.session(SESSION) is None
        await refusal(WrongExpectedVersion, log.append(SESSION, [], expected=1))


async def captured_times_are_kept(open_log: Open) -> None:
    """With `at`, every event has its own time; the session's are those of its ends."""
    async with open_log() as log:
        await log.append(SESSION, counted(2), at=[5, 3])
        await log.append(SESSION, counted(1), at=[4])

        assert [parse(text)["ts"] for text in await lines(log)] == [5, 3, 4]
        row = await log.session(SESSION)
        assert row is not None
        assert (row.created, row.updated) == (5, 4)


async def impossible_times_are_refused(open_log: Open) -> None:
    """As many times as events, none before 1970 and none beyond 64 bits."""
    async with open_log() as log:
        for times in ([1], [1, 2, 3], [1, -1], [1, 2**63]):
            await refusal(ValueError, log.append(SESSION, counted(2), at=times))
        assert (await log.read(SESSION)).head == 0


async def an_id_of_another_form_is_refused(open_log: Open) -> None:
    """What is not a session id is neither written, read nor waited for (P-25, R141)."""
    async with open_log() as log:
        for text in ("", "../x", "/etc/passwd", "a/b", "a\n", "a\0", "%2e", "é", ".", "a" * 129):
            bad = SessionId(text)
            await refusal(InvalidSessionId, log.append(bad, counted(1)))
            await refusal(InvalidSessionId, log.read(bad))
            await refusal(InvalidSessionId, log.wait(bad, after=0))
        assert await log.sessions() == []


async def a_cancelled_append_is_whole_or_absent(open_log: Open) -> None:
    """Cancelling appends at any moment tears none, loses no other, and leaves no hole."""
    async with open_log() as log:
        for ticks in range(8):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(log.append, OTHER, said("other"))
                tasks.start_soon(log.append, SESSION, said("a", "b"))
                for _ in range(ticks):
                    await anyio.lowlevel.checkpoint()
                tasks.cancel_scope.cancel()
        last = await log.append(SESSION, said("end"))

        found = await texts(log)
        assert len(found) == last.last
        assert found == ["a", "b"] * (len(found) // 2) + ["end"]


PROMISES: tuple[Promise, ...] = (
    numbers_start_at_one_and_have_no_holes,
    sessions_are_numbered_apart,
    an_event_is_stored_as_it_was_made,
    one_append_is_never_torn_by_another,
    a_large_append_is_one_piece,
    a_stale_writer_is_told_so,
    of_rivals_exactly_one_wins,
    nothing_appended_is_nothing_recorded,
    captured_times_are_kept,
    impossible_times_are_refused,
    an_id_of_another_form_is_refused,
    a_cancelled_append_is_whole_or_absent,
)
