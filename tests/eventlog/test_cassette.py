"""Sessions as files: what goes out comes back, and what is damaged is named by its line."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eventlog import (
    GATEWAY,
    START,
    BadCassette,
    CassetteBase,
    CassetteHeader,
    Checkpoint,
    Event,
    Imported,
    Log,
    MemoryStore,
    Seq,
    SessionId,
    SqliteStore,
    event_of,
    export_cassette,
    import_cassette,
    is_cassette,
    read_cassette,
)
from tests.eventlog.values import EVENTS

pytestmark = pytest.mark.anyio

SESSION = SessionId("s1")
EVENT = Event.of("x", {"a": 1})


@pytest.fixture(params=["memory", "sqlite"])
async def log(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Log, None]:
    """An empty log, by each adapter in turn."""
    async with opened(request.param, tmp_path) as store:
        yield store


@asynccontextmanager
async def opened(kind: str, path: Path) -> AsyncGenerator[Log, None]:
    if kind == "memory":
        yield MemoryStore()
        return
    async with SqliteStore.open(path) as store:
        yield store


async def exported(log: Log, session: SessionId = SESSION) -> bytes:
    return b"".join([piece async for piece in export_cassette(log, session)])


def lines(*numbers: int, head: int | None = None) -> list[bytes]:
    """A cassette of events with these numbers."""
    last = numbers[-1] if head is None else head
    header = CassetteHeader(SESSION, "e", START, Seq(last)).line()
    events = (b'{"seq":%d,"ts":%d,"type":"x","payload":{}}' % (n, 10 * n) for n in numbers)
    return [text + b"\n" for text in (header, *events)]


async def test_a_cassette_is_a_header_and_the_lines(log: Log) -> None:
    """The first line says what it is and where it was recorded; the rest is the log's."""
    await log.append(SESSION, [EVENT, EVENT], at=[5, 6])

    header, first, second, rest = (await exported(log)).split(b"\n")

    assert header == (
        b'{"cassette":1,"session_id":"s1","epoch":"%b","floor":0,"head":2}' % log.epoch.encode()
    )
    assert is_cassette(header)
    assert first == b'{"seq":1,"ts":5,"type":"x","payload":{"a":1}}'
    assert second == b'{"seq":2,"ts":6,"type":"x","payload":{"a":1}}'
    assert rest == b""


async def test_export_and_import_give_equal_bytes_back(log: Log, tmp_path: Path) -> None:
    """All but the header, which says where it was recorded, is the same in any log (R165)."""
    await log.append(SESSION, [Event.of("x", {"n": n, "lone": "\ud83d"}) for n in range(700)])
    await log.append(SESSION, [Event.of("y", {"$blob": 2**80}, members={"turn": 1}, origin="e:1")])
    before = await exported(log)
    async with opened("sqlite", tmp_path / "other") as other:
        ((key, added),) = (
            (one.session_id, one.added) for one in await import_cassette(other, BytesIO(before))
        )
        after = await exported(other, key)
        epoch = other.epoch

    assert added == 701
    assert after.split(b"\n")[1:] == before.split(b"\n")[1:]
    assert after.split(b"\n")[0] == before.split(b"\n")[0].replace(
        b'"s1"', b'"%b"' % key.encode()
    ).replace(log.epoch.encode(), epoch.encode())


@given(
    st.lists(EVENTS, min_size=1, max_size=8),
    st.lists(st.integers(0, 2**60), min_size=8, max_size=8),
)
@settings(max_examples=40, deadline=None)
async def test_any_session_survives_the_journey(events: Sequence[Event], times: list[int]) -> None:
    """Whatever is in the payloads, the imported session holds the same bytes."""
    log = MemoryStore()
    await log.append(SESSION, events, at=times[: len(events)])

    (one,) = await import_cassette(log, BytesIO(await exported(log)))

    assert (await log.read(one.session_id)).body == (await log.read(SESSION)).body


async def test_the_same_content_changes_nothing_the_second_time(log: Log) -> None:
    """The id comes from the content alone: also what was exported from an import is known."""
    await log.append(SESSION, [EVENT])
    (first,) = await import_cassette(log, BytesIO(await exported(log)))
    (second,) = await import_cassette(log, BytesIO(await exported(log)))
    (third,) = await import_cassette(log, BytesIO(await exported(log, first.session_id)))

    assert first.session_id.startswith("imp-")
    assert first.session_id.endswith("-1")
    assert second == third == Imported(first.session_id, 0)
    assert (await log.read(first.session_id)).head == 1


async def test_an_import_never_joins_the_session_it_came_from(log: Log) -> None:
    """Importing a session's own cassette makes another session, until told otherwise."""
    await log.append(SESSION, [EVENT])
    cassette = await exported(log)
    await import_cassette(log, BytesIO(cassette))
    assert (await log.read(SESSION)).head == 1

    for head in (2, 3):
        assert await import_cassette(log, BytesIO(cassette), into=SESSION) == [Imported(SESSION, 1)]
        assert (await log.read(SESSION)).head == head


async def test_several_sessions_in_one_file(log: Log) -> None:
    """Each becomes a session, also two that hold the same; `@gateway` is numbered 0."""
    for key, number in ((SESSION, 1), (SessionId("s2"), 2), (SessionId("s3"), 1), (GATEWAY, 3)):
        await log.append(key, [EVENT] * number, at=range(number))
    whole = b"".join(
        [await exported(log, SessionId(key)) for key in (SESSION, "s2", "s3", GATEWAY)]
    )

    imported = await import_cassette(log, BytesIO(whole))

    assert [one.added for one in imported] == [1, 2, 1, 3]
    assert [one.session_id[-2:] for one in imported] == ["-1", "-1", "-2", "-0"]
    assert len({one.session_id for one in imported}) == 4
    with pytest.raises(BadCassette, match="4 sessions"):
        await import_cassette(log, BytesIO(whole), into=SESSION)


async def test_an_export_ends_where_the_session_ended_when_it_began() -> None:
    """What is appended while a session is exported is not in the file, nor in its header."""
    log = MemoryStore()
    await log.append(SESSION, [EVENT] * 3)
    pieces = export_cassette(log, SESSION)
    text = await anext(pieces)
    await log.append(SESSION, [EVENT] * 3)
    text += b"".join([piece async for piece in pieces])

    assert len(list(read_cassette(BytesIO(text)))) == 4


async def test_an_unknown_session_is_an_empty_cassette(log: Log) -> None:
    """It has a header that says so."""
    (header,) = read_cassette(BytesIO(await exported(log)))

    assert isinstance(header, CassetteHeader)
    assert header.head == 0


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        (lines(1, 2)[1:], 1, "no cassette"),
        ([b'{"cassette":9}\n'], 1, "version 9"),
        ([b'{"cassette":1,"session_id":"../x","epoch":"e","floor":0,"head":1}\n'], 1, "session id"),
        ([b'{"cassette":1,"session_id":"s","epoch":"e","floor":2,"head":1}\n'], 1, "first line"),
        ([*lines(1, 2)[:2], b"[]\n", *lines(1, 2)[2:]], 3, "not an event"),
        ([*lines(1, 2)[:2], b'{"seq":2,"ts', *lines(1, 2)[2:]], 3, "at character"),
        ([*lines(1, 2), lines(1, 2)[2]], 4, "event 2 comes after event 2"),
        (lines(1, 3), 3, "event 3 comes where 2 was due"),
        (lines(1, 2, head=5), 4, "it ends at event 2, the session at 5"),
        ([*lines(1, 2, head=5), *lines(1)], 4, "it ends at event 2, the session at 5"),
        ([*lines(1, head=2), b'{"seq":true,"ts":1,"type":"x","payload":{}}\n'], 3, "integers"),
        ([*lines(1, head=2), b'{"seq":2,"ts":-1,"type":"x","payload":{}}\n'], 3, "integers"),
        ([*lines(1, head=2), b'{"seq":2,"ts":1,"type":"x","payload":{}'], 3, "at character"),
    ],
)
async def test_damage_is_named_by_its_line(text: list[bytes], line: int, reason: str) -> None:
    """What is wrong is said with the line's number, and nothing of the file is imported (R035)."""
    log = MemoryStore()
    with pytest.raises(BadCassette, match=reason) as error:
        await import_cassette(log, text, name="tape")

    assert (error.value.name, error.value.line) == ("tape", line)
    assert await log.sessions() == []


@pytest.mark.parametrize(
    "bad",
    [
        b"null",
        b"[]",
        b"42",
        b'"x"',
        b"{}",
        b'{"type":null}',
        b'{"type":5}',
        b'{"seq":"7"}',
        b"\xff",
    ],
)
def test_a_lenient_reader_is_shown_damage_in_its_place(bad: bytes) -> None:
    """Read leniently, every good line comes, and each bad one as an error where it stood (R035)."""
    first, *rest = lines(1, 2, 3)
    text = [first, rest[0], bad + b"\n", b"\n", *rest[1:], bad]

    items = list(read_cassette(text, lenient=True))

    assert [item for item in items if isinstance(item, bytes)] == [b.strip() for b in rest]
    flaws = [item for item in items if isinstance(item, BadCassette)]
    assert [flaw.line for flaw in flaws] == [3, 7]
    assert items.index(flaws[0]) == 2


def test_a_file_that_passed_through_other_hands_is_read() -> None:
    """A byte order mark, CRLF and blank lines change nothing."""
    text = [line.replace(b"\n", b"\r\n") for line in lines(1, 2)]
    text = [b"\xef\xbb\xbf" + text[0], b"\r\n", *text[1:], b"\n"]

    assert is_cassette(text[0])
    assert list(read_cassette(text))[1:] == [line.strip() for line in lines(1, 2)[1:]]


async def test_a_session_with_a_gap_is_imported_with_it() -> None:
    """The line that stands for lost events takes up their numbers; importing again changes nothing.

    An import that was cut off behind the gap goes on there.
    """
    gap = b'{"seq":4,"ts":1,"type":"log.gap","payload":{"first":2,"last":4,"reason":"damaged"}}\n'
    text = [*lines(1, head=5), gap, lines(5)[1]]
    assert len(list(read_cassette(text))) == 4

    log = MemoryStore()
    (made,) = await import_cassette(log, text)
    assert made.added == 3
    page = await log.read(made.session_id)
    assert page.lines == [line.strip() for line in text[1:]]
    assert (await import_cassette(log, text))[0].added == 0

    half = MemoryStore()
    await half.append(made.session_id, [event_of(text[1].strip())[1]], at=[event_of(text[1])[0]])
    await half.skip(made.session_id, event_of(gap.strip())[1], at=1)
    assert (await import_cassette(half, text))[0].added == 1
    assert (await half.read(made.session_id)).body == page.body


async def test_nothing_is_imported_from_an_empty_file() -> None:
    """An empty file is no cassette."""
    with pytest.raises(BadCassette, match="empty"):
        await import_cassette(MemoryStore(), [])


# -- what does not stand in lines -----------------------------------------------------------------


def large(text: str) -> Event:
    return Event.of("x", {"text": text * 40_000, "own": {"$blob": "mine"}})


async def test_large_strings_travel_with_the_session(log: Log, tmp_path: Path) -> None:
    """P-34: each in a line of its own before its first use, once; imported, all is as it was."""
    rows = Event.of("y", {"rows": list(range(90_000)), "text": "two" * 40_000})
    await log.append(SESSION, [EVENT, large("one"), large("two"), large("one"), rows])
    file = await exported(log)
    kinds = [text[:8] for text in file.splitlines()[1:]]
    blobs = [number for number, kind in enumerate(kinds) if kind == b'{"blob":']

    assert len(blobs) == 3
    assert b"$blob" not in file.splitlines()[1]
    assert list(read_cassette(BytesIO(file)))[1:] == (await log.read(SESSION)).lines
    async with opened("sqlite", tmp_path / "other") as other:
        (one,) = await import_cassette(other, BytesIO(file))
        assert one.added == 5
        for how in (True, False):
            theirs = await other.read(one.session_id, by_reference=how)
            assert theirs.body == (await log.read(SESSION, by_reference=how)).body
        again = await exported(other, one.session_id)
        assert again.splitlines()[1:] == file.splitlines()[1:]


async def test_a_large_string_that_is_missing_is_named() -> None:
    """One that is damaged, or not there, is told by line; what refers to it is kept as it is."""
    log = MemoryStore()
    await log.append(SESSION, [large("one"), EVENT])
    header, blob, first, second = (await exported(log)).splitlines()
    for damaged, line, why in (
        ([header, first, second], 2, "does not stand before it"),
        ([header, blob.replace(b"oneone", b"onetwo", 1), first, second], 2, "not what its hash"),
    ):
        with pytest.raises(BadCassette, match=why) as error:
            list(read_cassette(damaged))
        assert error.value.line == line
        kept = [item for item in read_cassette(damaged, lenient=True) if isinstance(item, bytes)]
        assert kept == [first, second]


async def test_what_was_pruned_travels_with_the_session(log: Log, tmp_path: Path) -> None:
    """S-10: the base is exported, and imported: same numbers, same base, the same file again."""
    opened_ = Event.of("session.opened", {"title": "t", "cwd": "/x"})
    await log.append(SESSION, [opened_, EVENT], at=[5, 6])
    await log.append(SESSION, [EVENT, EVENT], at=[7, 8])
    state = Checkpoint(Seq(2), 3, b'{"fold_version":3,"entries":["\xc3\xa9"]}')
    await log.prune(SESSION, state)
    file = await exported(log)

    header, base, *events = read_cassette(BytesIO(file))
    assert header == CassetteHeader(SESSION, log.epoch, Seq(2), Seq(4))
    assert isinstance(base, CassetteBase)
    assert (base.state, base.created, base.title) == (state, 5, "t")
    assert len(events) == 2
    async with opened("sqlite", tmp_path / "other") as other:
        (one,) = await import_cassette(other, BytesIO(file))
        (same,) = await import_cassette(other, BytesIO(file))
        assert (one.added, same.added, same.session_id) == (2, 0, one.session_id)
        assert await other.base(one.session_id) == state
        page = await other.read(one.session_id, after=2)
        assert (page.floor, page.head, page.body) == (2, 4, (await log.read(SESSION, after=2)).body)
        row = await other.session(one.session_id)
        assert row is not None
        assert (row.title, row.created, row.opened["cwd"]) == ("t", 5, "/x")
        assert (await exported(other, one.session_id)).splitlines()[1:] == file.splitlines()[1:]


async def test_an_import_of_a_pruned_session_that_was_cut_off_goes_on(log: Log) -> None:
    """A base without its events, left by a crash in between, gets them the next time."""
    source = MemoryStore()
    await source.append(SESSION, [EVENT, EVENT, EVENT])
    await source.prune(SESSION, Checkpoint(Seq(2), 1, b"{}"))
    file = await exported(source)
    (one,) = await import_cassette(MemoryStore(), BytesIO(file))
    row = await source.session(SESSION)
    assert row is not None
    await log.begin(one.session_id, Checkpoint(Seq(2), 1, b"{}"), row)

    (again,) = await import_cassette(log, BytesIO(file))

    assert (again.session_id, again.added) == (one.session_id, 1)
    with pytest.raises(BadCassette, match="cannot be appended"):
        await import_cassette(log, BytesIO(file), into=SESSION)


@pytest.mark.parametrize("text", [b'{"base":{"seq":1},"body":{}}', b'{"base":3}', b'{"blob":1}'])
def test_a_base_or_string_of_another_form_is_named(text: bytes) -> None:
    """By its line."""
    header, *events = lines(1, 2)
    with pytest.raises(BadCassette) as error:
        list(read_cassette([header, text + b"\n", *events]))
    assert error.value.line == 2
