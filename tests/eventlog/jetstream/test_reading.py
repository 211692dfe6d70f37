"""What is damaged or missing is said, what is not is served, wherever a reader begins."""

from __future__ import annotations

from functools import partial
from typing import Any

import anyio
import pytest

from eventlog import Event, SessionId, seq_of
from eventlog.jetstream import JetStreamReader, JetStreamStore
from eventlog.jetstream.stored import CRC
from eventlog.jetstream.subjects import Subjects, session_of

pytestmark = pytest.mark.anyio

SESSION = SessionId("s.1")


def said(*texts: str) -> list[Event]:
    return [Event.of("message.delta", {"text": text}) for text in texts]


async def test_a_missing_batch_is_a_gap(url: str) -> None:
    """What the servers have lost is one event that says so; the rest is served (S-6)."""
    async with JetStreamStore.open(url) as log:
        for number in range(5):
            await log.append(SESSION, said(f"{number}a", f"{number}b"))
        session = await log._looks.fresh(log._looks.session(SESSION))
        places = sorted(session.places.values())
        for at in places[1:3]:
            await log._link.api(f"STREAM.MSG.DELETE.{log._link.stream}", {"seq": at})
    async with JetStreamReader.open(url) as reader:
        page = await reader.read(SESSION)
        assert [seq_of(text) for text in page.lines] == [1, 2, 6, 7, 8, 9, 10]
        gap = page.envelopes()[2]
        assert gap["type"] == "log.gap"
        assert gap["payload"] == {"first": 3, "last": 6, "reason": "missing"}
        assert [str(one) for one in [one async for one in reader.verify()]] == [
            "s.1: events 3 to 6 are missing"
        ]


async def test_a_damaged_batch_is_a_gap(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A body that does not fit its checksum is not believed, and hides no other (S-6)."""
    async with JetStreamStore.open(url) as log:
        await log.append(SESSION, said("1"))
        ask = log._link.ask

        async def flipped(subject: str, body: bytes = b"", **more: object) -> object:
            return await ask(subject, body.replace(b"two", b"owt"), **more)  # type: ignore[arg-type]

        with monkeypatch.context() as flip:
            flip.setattr(log._link, "ask", flipped)
            await log.append(SESSION, said("two"))
        await log.append(SESSION, said("3"))
    async with JetStreamReader.open(url) as reader:
        one, gap, three = (await reader.read(SESSION)).envelopes()
        assert (one["payload"], three["payload"]) == ({"text": "1"}, {"text": "3"})
        assert gap["payload"] == {"first": 2, "last": 2, "reason": "damaged"}
        assert [str(one) async for one in reader.verify()] == ["s.1: events 2 to 2 are damaged"]


@pytest.mark.parametrize("begin", [0, 1, 149, 150, 298, 299])
async def test_a_reader_begins_anywhere(fresh_sessions: str, begin: int) -> None:
    """A place that nobody has read before is found among other sessions' batches."""
    async with JetStreamReader.open(fresh_sessions) as reader:
        page = await reader.read(SESSION, after=begin, limit=3)
        assert [seq_of(text) for text in page.lines] == list(
            range(begin + 1, min(begin + 3, 300) + 1)
        )
        assert page.head == 300


@pytest.fixture(scope="module")
def fresh_sessions(fresh: object) -> str:
    """A log of three sessions whose batches alternate, irregularly."""
    assert callable(fresh)
    url = str(fresh())

    async def fill() -> None:
        async with JetStreamStore.open(url) as log:
            for number in range(300):
                await log.append(SESSION, said(str(number)))
                if number % 7 == 0 or number > 250:
                    await log.append(SessionId("s-2"), said("x"))
                    await log.append(SessionId("t"), said(*["y"] * (number % 5 + 1)))

    anyio.run(fill)
    return url


async def test_readers_of_other_processes_are_told(url: str) -> None:
    """A wait ends when another process has appended, without looking again and again."""
    async with JetStreamStore.open(url) as log, JetStreamReader.open(url) as reader:
        await log.append(SESSION, said("1"))
        for head in range(1, 6):
            with anyio.fail_after(1.5):  # sooner than a reader looks by itself
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(partial(reader.wait, SESSION, after=head))
                    await anyio.wait_all_tasks_blocked()
                    await log.append(SESSION, said("more"))
            assert (await reader.read(SESSION, after=head)).head == head + 1


@pytest.mark.parametrize("key", ["a", "a.b", "@gateway", "A_b:c-d.", "x" * 128])
def test_an_id_is_a_subject_and_back(key: str) -> None:
    """Every id is one token of a subject, and can be read from it again (P-25)."""
    subject = Subjects("log").events(key)

    assert len(subject.split(".")) == 4
    assert not {*subject} & {" ", "*", ">"}
    assert session_of(subject) == key


async def test_a_batch_carries_our_own_numbers(url: str) -> None:
    """One message a batch: first, last, checksum and epoch stand beside the lines (S-6)."""
    async with JetStreamStore.open(url) as log:
        await log.append(SESSION, said("a", "b"))
        session = await log._looks.fresh(log._looks.session(SESSION))
        found = await log._link.collect(
            {"seq": session.end_at, "next_by_subj": log._subjects.events(SESSION), "batch": 1}
        )
        (message,) = found.messages
        said_of = message.headers
        assert (said_of["Seq-First"], said_of["Seq-Last"], said_of["Epoch"]) == (
            "1",
            "2",
            log.epoch,
        )
        assert said_of["Nats-Msg-Id"] == f"{SESSION}:1"
        assert int(said_of[CRC])
        assert message.body == (await log.read(SESSION)).body


async def test_a_large_batch_is_fetched_once(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch that is several pages comes over the network once, and is found at once (S-6)."""
    async with JetStreamStore.open(url) as log:
        for _ in range(3):
            await log.append(SESSION, said(*["x" * 1_000] * 200))
        for number in range(100):
            await log.append(SessionId("t"), said(str(number)))
    async with JetStreamReader.open(url) as reader:
        collect, sizes = reader.link.collect, list[int]()

        async def counted(wanted: Any) -> Any:
            found = await collect(wanted)
            sizes.append(sum(len(one.body) for one in found.messages))
            return found

        monkeypatch.setattr(reader.link, "collect", counted)
        cursor, pages = 0, 0
        while cursor < 600:
            page = await reader.read(SESSION, after=cursor, limit_bytes=65_536)
            assert [seq_of(text) for text in page.lines] == list(range(cursor + 1, page.next + 1))
            cursor, pages = page.next, pages + 1

    assert pages > 9
    # each of the three once, and the last once more, when the session was looked at
    assert sum(size > 100_000 for size in sizes) <= 4, sizes
