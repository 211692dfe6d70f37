"""What is open in a session, folded from few of its lines."""

from __future__ import annotations

from typing import Any

import pytest

from eventlog import Event, MemoryStore, SessionId, codec
from gateway import closing
from gateway.closing import catch_up
from gateway.overview import Overview
from gateway.state import SessionState

pytestmark = pytest.mark.anyio

SESSION = SessionId("s-1")
DELTA = Event.of("message.delta", {"text": '{"seq":1,"ts":1,"type":"request.opened"'})
CHUNK = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "Yes."}}


def prompt(text: str) -> Event:
    return Event.of("prompt.submitted", {"content": [{"type": "text", "text": text}], "ref": "r"})


async def test_only_what_matters_is_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Asking what is open in a long session parses the lines that open or end something, and no
    other; words that look like such a line are words.
    """
    log = MemoryStore(clock=iter(range(1, 10_000)).__next__)
    await log.append(SESSION, [Event.of("session.opened", {"source": {"kind": "hosted"}})])
    await log.append(SESSION, [DELTA] * 5_000)
    await log.append(SESSION, [prompt("go")])
    parsed: list[bytes] = []

    def parse(text: bytes) -> Any:
        parsed.append(text)
        return codec.loads(text)

    monkeypatch.setattr(closing, "parse", parse)
    state = await catch_up(log, SESSION, SessionState())
    assert len(parsed) == 2
    assert state.seq == 5_002
    assert state.source == "hosted"
    assert list(state.prompts) == [5_002]
    assert state.requests == {}


async def test_large_strings_are_whole_where_they_are_wanted() -> None:
    """P-17, P-34: a question is asked as it came, however long; what nobody asks for stays away."""
    log = MemoryStore()
    words = "long " * 50_000
    params = {"message": words, "requestedSchema": {"$blob": "its own"}}
    opened = {"id": "srq-1", "method": "elicitation/create", "params": params}
    await log.append(SESSION, [Event.of("request.opened", opened), Event.of("x", {"t": words})])
    state = await catch_up(log, SESSION, SessionState())
    assert state.requests["srq-1"].params == params
    assert state.seq == 2


async def test_at_any_place() -> None:
    """Caught up in steps or at once, twice or until somewhere, it is the same."""
    log = MemoryStore()
    await log.append(SESSION, [prompt("one"), DELTA, DELTA])
    first = await catch_up(log, SESSION, SessionState(), until=2)
    assert first.seq == 2
    await catch_up(log, SESSION, first)
    await catch_up(log, SESSION, first)
    await log.append(SESSION, [Event.of("prompt.finished", {"prompt": 1, "result": {}})])
    await catch_up(log, SESSION, first)
    assert first == await catch_up(log, SESSION, SessionState())
    assert first.prompts == {}


async def test_overview_is_told_the_time_by_every_line() -> None:
    """R075: rows are counted from few lines; when the session began and last moved, from all."""
    log = MemoryStore(clock=iter((10_000, 20_000, 30_000)).__next__)
    await log.append(SESSION, [DELTA])
    await log.append(SESSION, [prompt("go"), Event.of("acp.session_update", {"update": CHUNK})])
    await log.append(SESSION, [DELTA])
    overview = await catch_up(log, SESSION, Overview())
    assert (overview.began, overview.latest) == (10, 30)
    assert (overview.messages, overview.preview) == (2, "Yes.")
    assert overview.seq == 4
