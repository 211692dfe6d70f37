"""What was missed comes before what happens now."""

from __future__ import annotations

import pytest

from eventlog import codec
from gateway.transports import memory_pair
from gateway.wrap.ahead import Ahead

pytestmark = pytest.mark.anyio


def event(runtime: str, seq: int | None) -> bytes:
    """Return an event's frame."""
    number = {} if seq is None else {"seq": seq}
    params = {"type": "x", "session_id": runtime, **number}
    return codec.dumps({"jsonrpc": "2.0", "method": "event", "params": params})


ANSWER = codec.dumps({"jsonrpc": "2.0", "id": "since-0", "result": {"events": []}})
REFUSAL = codec.dumps({"jsonrpc": "2.0", "id": "since-0", "error": {"code": 1, "message": ""}})


@pytest.mark.parametrize("answer", [ANSWER, REFUSAL])
async def test_events_wait_for_the_answer_that_holds_those_before_them(answer: bytes) -> None:
    """Numbered events of the session come behind the answer, in their order; everything else
    passes at once (P-39)."""
    ours, theirs = memory_pair()
    async with ours, theirs:
        line = Ahead(ours, [b"first"])
        line.hold("r1", "since-0")
        passing = [event("r2", 1), event("r1", None), b"no frame"]
        frames = [event("r1", 7), passing[0], event("r1", 8), passing[1], passing[2]]
        for frame in (*frames, answer, event("r1", 9)):
            await theirs.send(frame)

        heard = [await line.receive() for _ in range(8)]

    assert heard == [b"first", *passing, answer, event("r1", 7), event("r1", 8), event("r1", 9)]
