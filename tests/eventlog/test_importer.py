"""Files brought into a log."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from eventlog import (
    BadCassette,
    ImportReport,
    Log,
    MemoryStore,
    SessionId,
    capture_of,
    export_cassette,
    import_file,
    open_log,
)

pytestmark = pytest.mark.anyio

ACP = "claude049-hello"


@pytest.fixture(params=["memory", "sqlite"])
async def log(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Log]:
    """A log that holds nothing."""
    if request.param == "memory":
        yield MemoryStore()
    else:
        async with open_log(tmp_path) as opened:
            yield opened


@pytest.fixture
def capture(captures: Path) -> bytes:
    """A capture of one session."""
    return (captures / "acp" / f"{ACP}.jsonl").read_bytes()


async def lines(log: Log, session_id: SessionId) -> list[bytes]:
    """Return a session's lines."""
    return (await log.read(session_id, limit=10_000)).lines


async def test_what_is_imported_is_what_the_file_says_without_a_log(
    log: Log, capture: bytes
) -> None:
    """The log's lines are the capture's, byte for byte, with its own times."""
    report = await import_file(log, ACP, capture)
    (session,) = capture_of(capture).sessions
    assert await lines(log, session.id) == session.lines
    assert [(item.session_id, item.added) for item in report.sessions] == [
        (session.id, len(session.lines))
    ]
    assert report.frames == capture.count(b"\n")
    assert sum(report.events.values()) == len(session.lines)


async def test_importing_twice_changes_nothing(log: Log, captures: Path) -> None:
    """R134: the same ids, and nothing added, the gateway's events included."""
    data = (captures / "hermes" / "15_two_sessions.jsonl").read_bytes()
    first = await import_file(log, "f", data)
    before = {item.session_id: await lines(log, item.session_id) for item in first.sessions}
    second = await import_file(log, "f", data)
    assert [item.added for item in second.sessions] == [0, 0, 0]
    assert {item.session_id: await lines(log, item.session_id) for item in second.sessions} == (
        before
    )


async def test_an_import_that_was_cut_off_goes_on_where_it_stopped(
    log: Log, capture: bytes
) -> None:
    """What is there already is not written again."""
    (session,) = capture_of(capture).sessions
    await log.append(session.id, session.events[:10], at=session.at[:10])
    report = await import_file(log, ACP, capture)
    assert report.sessions[0].added == len(session.events) - 10
    assert await lines(log, session.id) == session.lines


async def test_into_appends_on_purpose_each_time(log: Log, capture: bytes) -> None:
    """The numbers go on; ends of prompts name prompts of their own."""
    mine = SessionId("mine")
    for _ in range(2):
        await import_file(log, ACP, capture, into=mine)
    page = await log.read(mine, limit=10_000)
    finished = [item for item in page.envelopes() if item["type"] == "prompt.finished"]
    assert len(finished) == 4
    by_seq = {item["seq"]: item["type"] for item in page.envelopes()}
    assert {by_seq[item["payload"]["prompt"]] for item in finished} == {"prompt.submitted"}


async def test_several_sessions_are_not_appended_to_one(log: Log, captures: Path) -> None:
    """They have orders of their own."""
    data = (captures / "hermes" / "15_two_sessions.jsonl").read_bytes()
    with pytest.raises(BadCassette, match="2 sessions"):
        await import_file(log, "f", data, into=SessionId("mine"))
    assert await log.sessions() == []


async def test_a_foreign_file_is_refused_by_name(log: Log) -> None:
    """Neither a cassette nor a capture."""
    with pytest.raises(BadCassette, match=r"notes\.txt"):
        await import_file(log, "notes.txt", b"shopping list\n")


async def test_a_session_of_that_name_that_is_no_import_is_left_alone(
    log: Log, capture: bytes
) -> None:
    """Its opening names another content."""
    (session,) = capture_of(capture).sessions
    other = capture_of(capture + b"\n").sessions[0].events
    await log.append(session.id, other[:5])
    with pytest.raises(BadCassette, match="another import"):
        await import_file(log, ACP, capture)
    assert len(await lines(log, session.id)) == 5


async def test_a_cassette_is_recognised_by_its_first_line(log: Log, capture: bytes) -> None:
    """Exported and imported elsewhere, it is the same session."""
    (session,) = capture_of(capture).sessions
    await import_file(log, ACP, capture)
    data = b"".join([piece async for piece in export_cassette(log, session.id)])
    other = MemoryStore()
    report: ImportReport = await import_file(other, "x.jsonl", data)
    assert report.kind == "cassette"
    assert await lines(other, report.sessions[0].session_id) == session.lines
