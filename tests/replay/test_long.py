"""A long session on the command line: what it takes to see its end, and the whole."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from eventlog import Event, SessionId, open_log
from replay import KIND, Fold, checkpoint_of, digest

pytestmark = pytest.mark.anyio

SESSION: Final = SessionId("s-long")
MEASURED: Final = """
import resource, sys
from replay.cli import main
try:
    main()
finally:
    used = resource.getrusage(resource.RUSAGE_SELF)
    status = open("/proc/self/status").read()
    peak = int(status.partition("VmHWM:")[2].split()[0]) * 1024
    print(peak, used.ru_utime + used.ru_stime, file=sys.stderr)
"""
"""Runs the program, and prints its peak memory in bytes and its seconds of processor time.

`ru_maxrss` would be no less than that of the test, from which the program was started.
"""


def update(of: str, /, **members: Any) -> Event:
    """Return an update of the agent."""
    return Event.of("acp.session_update", {"update": {"sessionUpdate": of, **members}})


def turn(number: int) -> list[Event]:
    """Return a turn of 100 events, 56 kB: two tools that tell all of their output each time."""
    said = {"type": "text", "text": f"Look at part {number}"}
    events = [Event.of("prompt.submitted", {"content": [said]})]
    for tool in (f"t{number}-0", f"t{number}-1"):
        events.append(update("tool_call", toolCallId=tool, title="Bash", kind="execute"))
        lines = [f"line {at} of {tool}, which goes on " + "for a while " * 6 for at in range(18)]
        for at in range(18):
            text = {"type": "text", "text": "\n".join(lines[: at + 1])}
            content = [{"type": "content", "content": text}]
            events.append(update("tool_call_update", toolCallId=tool, content=content))
        events.append(update("tool_call_update", toolCallId=tool, status="completed"))
    words = ({"type": "text", "text": f"word {at} "} for at in range(58))
    events += [update("agent_message_chunk", content=word) for word in words]
    asked = {"prompt": number * 100 + 1, "result": {"stopReason": "end_turn"}}
    return [*events, Event.of("prompt.finished", asked)]


async def record(folder: Path, turns: int) -> str:
    """Record that many turns, keep the state at the end as a gateway does; return its digest."""
    folding = Fold()
    async with open_log(folder) as log:
        for start in range(0, turns, 50):
            events = [event for number in range(start, start + 50) for event in turn(number)]
            span = await log.append(SESSION, events)
            page = await log.read(SESSION, after=span.first - 1, limit=len(events))
            while page.body:
                for envelope in page.envelopes():
                    folding.apply(envelope)
                page = await log.read(SESSION, after=page.next, limit=len(events))
        await log.keep(SESSION, KIND, checkpoint_of(folding.transcript()))
    return digest(folding.transcript())


def measured(*arguments: str) -> tuple[bytes, float, float]:
    """Return what the program prints, its peak memory (bytes), its processor time (s)."""
    command = [sys.executable, "-c", MEASURED, *arguments]
    ran = subprocess.run(command, capture_output=True, check=True, timeout=600)
    memory, seconds = ran.stderr.split()[-2:]
    return ran.stdout, float(memory), float(seconds)


@pytest.mark.parametrize(
    "turns", [50, pytest.param(10_000, marks=[pytest.mark.slow, pytest.mark.timeout(1_800)])]
)
@pytest.mark.skipif(sys.platform != "linux", reason="where peak memory stands is Linux's")
async def test_the_end_of_a_long_session_is_there_at_once(turns: int, tmp_path: Path) -> None:
    """R158, B-11: of a million events in 500 MB the last turn takes less than a second and 150 MB,
    the whole 300 MB; and both are what the fold from the first event gives."""
    expected = await record(tmp_path, turns)
    where = ("s-long", "--log", str(tmp_path))
    end, memory, seconds = measured(*where, "--last", "1")
    assert f"Look at part {turns - 1}\n".encode() in end
    assert memory < 150e6
    assert seconds < 1 or turns < 1_000, "of processor time; starting alone is half of it"
    whole, memory, _ = measured(*where)
    assert whole.count("› you".encode()) == turns
    assert memory < 300e6
    afresh, memory, _ = measured(*where, "--until", "+99999999", "--digest")
    assert afresh.decode().strip() == expected
    assert memory < 300e6
