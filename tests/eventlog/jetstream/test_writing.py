"""Several writers never interleave, and what became of an append is always found out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio
import pytest
from nats.aio.msg import Msg

from eventlog import (
    GATEWAY,
    Event,
    Fenced,
    LogUnavailable,
    SessionId,
    WrongExpectedVersion,
    seq_of,
)
from eventlog.jetstream import JetStreamStore
from eventlog.jetstream.link import Link, Silent
from eventlog.jetstream.session import Session

pytestmark = pytest.mark.anyio

SESSION = SessionId("s")


def said(*texts: str) -> list[Event]:
    return [Event.of("message.delta", {"text": text}) for text in texts]


async def texts(log: JetStreamStore, key: SessionId = SESSION) -> list[str]:
    page = await log.read(key, limit=100_000)
    assert [seq_of(text) for text in page.lines] == list(range(1, page.head + 1))
    return [one["payload"]["text"] for one in page.envelopes()]


async def test_a_second_writer_is_fenced(url: str) -> None:
    """Who appends behind another one's event without knowing of it is refused, once (S-2)."""
    async with JetStreamStore.open(url) as a, JetStreamStore.open(url) as b:
        await a.append(SESSION, said("a1"))
        await b.append(SESSION, said("b1"))
        with pytest.raises(Fenced):
            await a.append(SESSION, said("a2"))
        assert await a.append(SESSION, said("a3")) == (3, 3)
        assert await texts(b) == ["a1", "b1", "a3"]


async def test_a_head_that_another_moved_is_told(url: str) -> None:
    """Who expects a head that is not there any more is told of the one that is."""
    async with JetStreamStore.open(url) as a, JetStreamStore.open(url) as b:
        await a.append(SESSION, said("a1"))
        await b.append(SESSION, said("b1"))
        with pytest.raises(WrongExpectedVersion) as refused:
            await a.append(SESSION, said("a2"), expected=1)
        assert refused.value.actual == 2
        await b.append(SESSION, said("b2"))
        assert await a.append(SESSION, said("a3"), expected=3) == (4, 4)


async def test_who_comes_after_a_look_is_not_told_of_it(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who is refused with others learns of the head that there was when he came, or later."""
    async with JetStreamStore.open(url) as a, JetStreamStore.open(url) as b:
        await a.append(SESSION, said("a1"))
        await b.append(SESSION, said("b1"))
        refused: list[int] = []

        async def refuse() -> None:
            with pytest.raises(WrongExpectedVersion) as error:
                await a.append(SESSION, said("late"), expected=1)
            refused.append(error.value.actual)

        fresh = a._looks.fresh

        async def slow(session: Session) -> Session:
            found = await fresh(session)
            monkeypatch.setattr(a._looks, "fresh", fresh)
            await b.append(SESSION, said("b2"))
            tasks.start_soon(refuse)
            while not session.queue:
                await anyio.lowlevel.checkpoint()
            return found

        monkeypatch.setattr(a._looks, "fresh", slow)
        async with anyio.create_task_group() as tasks:
            with pytest.raises(Fenced):
                await a.append(SESSION, said("a2"))
        assert refused == [3]
        assert await texts(b) == ["a1", "b1", "b2"]


async def test_all_may_write_what_belongs_to_no_session(url: str) -> None:
    """Nobody is kept out of `@gateway`: every gateway's notes are there, one after the other."""
    async with JetStreamStore.open(url) as a, JetStreamStore.open(url) as b:
        async with anyio.create_task_group() as tasks:
            for number in range(20):
                tasks.start_soon(a.append, GATEWAY, said(f"a{number}"))
                tasks.start_soon(b.append, GATEWAY, said(f"b{number}"))
        found = await texts(a, GATEWAY)
        assert sorted(found) == sorted(f"{who}{number}" for who in "ab" for number in range(20))


@pytest.mark.parametrize("sent", [True, False], ids=["stored", "lost on its way"])
@pytest.mark.parametrize("many", [1, 600], ids=["one message", "several"])
async def test_an_append_without_an_answer_is_settled(
    url: str, monkeypatch: pytest.MonkeyPatch, *, sent: bool, many: int
) -> None:
    """Whether the answer or the question was lost: it is recorded once, and said to be."""
    async with JetStreamStore.open(url) as log:
        await log.append(SESSION, said("first"))
        losing(monkeypatch, log._link, sent=sent)
        assert await log.append(SESSION, said(*map(str, range(many)))) == (2, many + 1)
        assert await log.append(SESSION, said("last")) == (many + 2, many + 2)
        assert await texts(log) == ["first", *map(str, range(many)), "last"]


@pytest.mark.parametrize("many", [1, 600], ids=["one message", "several"])
async def test_an_append_is_found_behind_which_another_stands(
    url: str, monkeypatch: pytest.MonkeyPatch, many: int
) -> None:
    """It was stored, its answer was lost, and others went on: it is neither denied nor repeated."""
    async with JetStreamStore.open(url) as a, JetStreamStore.open(url) as b:
        await a.append(GATEWAY, said("first"))
        ask: Callable[..., Any] = a._link.ask

        async def late(subject: str, body: bytes = b"", **more: Any) -> Msg:
            answer: Msg = await ask(subject, body, **more)
            if ".evt." in subject and answer.data:
                monkeypatch.setattr(a._link, "ask", ask)
                await b.append(GATEWAY, said("other"))
                raise Silent("lost")
            return answer

        monkeypatch.setattr(a._link, "ask", late)
        assert await a.append(GATEWAY, said(*map(str, range(many)))) == (2, many + 1)
        assert await a.append(GATEWAY, said("last")) == (many + 3, many + 3)
        assert await texts(b, GATEWAY) == ["first", *map(str, range(many)), "other", "last"]


def losing(monkeypatch: pytest.MonkeyPatch, link: Link, *, sent: bool) -> None:
    """Lose the answer to the next message of a session's events, or the message."""
    ask: Callable[..., Any] = link.ask
    lost: list[str] = []

    async def once(subject: str, body: bytes = b"", **more: Any) -> Msg:
        answer: Msg | None = None
        loses = ".evt." in subject and not lost
        if sent or not loses:
            answer = await ask(subject, body, **more)
        if loses and (answer is None or answer.data):
            lost.append(subject)
            raise Silent("lost")
        assert answer is not None
        return answer

    monkeypatch.setattr(link, "ask", once)


async def test_what_is_too_large_for_the_servers_is_refused(url: str) -> None:
    """The error says what to change; the session goes on."""
    async with JetStreamStore.open(url) as log:
        huge = Event("x" * 2_000_000)
        with pytest.raises(LogUnavailable, match="max_payload"):
            await log.append(SESSION, [huge])
        assert await log.append(SESSION, said("small")) == (1, 1)


async def test_what_fails_is_told_and_what_follows_is_not(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A log that cannot be written says so within the deadline, and again when it can (S-9)."""
    async with JetStreamStore.open(f"{url}&deadline=1") as log:
        await log.append(SESSION, said("one"))

        async def silent(*_: Any, **__: Any) -> Msg:
            raise Silent("nobody answers")

        with monkeypatch.context() as broken:
            broken.setattr(log._link, "ask", silent)
            with anyio.fail_after(10), pytest.raises(LogUnavailable, match="nobody answers"):
                await log.append(SESSION, said("two"))
            assert log.degraded
        await log.probe()
        assert log.degraded is None
        assert await log.append(SESSION, said("three")) == (2, 2)
