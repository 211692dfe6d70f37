"""The send buffer of one peer (P-20)."""

from __future__ import annotations

import anyio
import pytest

from gateway.outbox import Outbox

pytestmark = pytest.mark.anyio


class Sink:
    """A peer that takes frames when it is told to."""

    def __init__(self) -> None:
        self.taken: list[bytes] = []
        self.open = anyio.Event()

    async def send(self, frame: bytes) -> None:
        """Take a frame, when open."""
        await self.open.wait()
        self.taken.append(frame)


async def test_an_event_waits_for_room() -> None:
    """What waits stays under the bound: the writer of events is as slow as their reader."""
    outbox, sink, put = Outbox(room=10), Sink(), []

    async def write() -> None:
        for number in range(5):
            await outbox.put(b"%04d" % number)
            put.append(number)

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(outbox.drain, sink.send)
            tasks.start_soon(write)
            await anyio.wait_all_tasks_blocked()
            assert put == [0, 1]
            assert outbox.waiting == 8
            sink.open.set()
            await anyio.wait_all_tasks_blocked()
            tasks.cancel_scope.cancel()
    assert sink.taken == [b"%04d" % number for number in range(5)]
    assert outbox.waiting == 0


async def test_an_answer_does_not_wait() -> None:
    """A full buffer of events holds up no answer, and what stands in line stays in line."""
    outbox, sink = Outbox(room=4), Sink()
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            await outbox.put(b"1234")
            tasks.start_soon(outbox.put, b"late")
            await anyio.wait_all_tasks_blocked()
            outbox.put_now(b"answer")
            sink.open.set()
            tasks.start_soon(outbox.drain, sink.send)
            await anyio.wait_all_tasks_blocked()
            tasks.cancel_scope.cancel()
    assert sink.taken == [b"1234", b"answer", b"late"]


async def test_a_frame_larger_than_the_buffer_stands_alone() -> None:
    """Nothing is too large to be sent; it only has to wait until it is the only one."""
    outbox, sink = Outbox(room=4), Sink()
    sink.open.set()
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(outbox.drain, sink.send)
            await outbox.put(b"1")
            await outbox.put(b"much larger")
            await outbox.emptied()
            tasks.cancel_scope.cancel()
    assert sink.taken == [b"1", b"much larger"]


async def test_a_backlog_of_answers_gives_the_peer_up() -> None:
    """Answers that pass their bound mean a peer that asks and does not listen (P-20)."""
    outbox = Outbox(urgent_room=10)
    outbox.put_now(b"one alone may have any size")
    outbox.put_now(b"another")
    with anyio.fail_after(5):
        assert "passed 10 bytes" in str(await outbox.stalled(lambda: 0))


async def test_a_peer_that_takes_nothing_is_given_up() -> None:
    """No byte in the time allowed is the end (P-20)."""
    outbox = Outbox(patience=0.02)
    await outbox.put(b"1")
    with anyio.fail_after(5):
        slow = await outbox.stalled(lambda: 0)
    assert slow.waiting == 1


async def test_a_peer_that_takes_a_byte_now_and_then_is_kept() -> None:
    """Slow is not stuck: progress inside a frame counts (P-20)."""
    outbox, looked = Outbox(patience=0.02), 0

    def taken() -> int:
        nonlocal looked
        looked += 1
        return min(looked, 30)

    await outbox.put(b"1")
    with anyio.fail_after(5):
        await outbox.stalled(taken)
    assert looked > 30


async def test_an_idle_peer_is_kept() -> None:
    """Who is owed nothing may be silent for ever."""
    outbox = Outbox(patience=0.005)
    with anyio.move_on_after(0.05) as scope:
        await outbox.stalled(lambda: 0)
    assert scope.cancelled_caught


async def test_an_agent_is_never_given_up() -> None:
    """It may be busy for as long as it likes, and be told as much as there is to tell."""
    outbox = Outbox.patient()
    for _ in range(6):
        outbox.put_now(b"x" * (1 << 20))
    with anyio.move_on_after(0.05) as scope:
        await outbox.stalled(lambda: 0)
    assert scope.cancelled_caught


async def test_closing_wakes_whoever_waits_for_room() -> None:
    """When the line drops, nobody waits for it any more."""
    outbox = Outbox(room=1)
    await outbox.put(b"1")
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(outbox.put, b"2")
            await anyio.wait_all_tasks_blocked()
            outbox.close()
    assert outbox.closed
    assert outbox.waiting == 0
