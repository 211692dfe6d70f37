"""Every recorded gateway, behind us: what it said is recorded and told, whole and in order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from gateway.gateway_script import read_steps
from gateway.wrap.front import OWN
from gateway.wrap.passing import BY_STORED_ID
from tests.gateway.wrap.house import HERMES, House, Json, Window, house
from tests.gateway.wrap.test_hermes import from_upstream, said, upstream_events

pytestmark = pytest.mark.anyio

CAPTURES = sorted(
    path.stem
    for path in HERMES.glob("*.jsonl")
    if path.stem not in {"09_errors", "10_restart_resume", "18_acp_adapter"}
)
"""All but one of broken frames, one of two processes (elsewhere), and one of another protocol."""

BY_THEMSELVES = OWN | {"session.activate", "session.events.stats", "ping"}
"""Calls that the player answers at any time, or that never reach it."""


async def play(home: House, window: Window, capture: str) -> None:
    """Be the recorded client: call, and answer what is asked, in the recorded order."""
    names: dict[str, str] = {}
    waiting: dict[Any, int] = {}
    asked: list[str] = []
    for way, frame in read_steps((HERMES / f"{capture}.jsonl").read_bytes()):
        if way == "out" and frame.get("id") in waiting and "method" not in frame:
            answer = await _answer(window, waiting.pop(frame["id"]))
            match frame.get("result"), answer.get("result"):
                case {"session_id": str(runtime)}, {"session_id": str(name)}:
                    names[runtime] = name
        elif way == "out" and "method" in frame and "id" in frame:
            asked.append(frame["id"])
        elif way == "in" and frame.get("method") not in BY_THEMSELVES:
            if "method" not in frame:
                await _reply(window, frame)
            else:
                if frame["method"] == "session.interrupt":  # of what they saw, and no sooner
                    await _asked(window, asked[-1:])
                params = dict(frame.get("params") or {})
                if frame["method"] not in BY_STORED_ID and params.get("session_id") in names:
                    params["session_id"] = names[params["session_id"]]
                waiting[frame["id"]] = await window.send(frame["method"], **params)


async def _answer(window: Window, id_: int) -> Json:
    def is_it(frame: Json) -> bool:
        return frame.get("id") == id_ and "method" not in frame

    heard = next((frame for frame in window.frames if is_it(frame)), None)
    return heard or await window.until(is_it)


async def _reply(window: Window, frame: Json) -> None:
    """Answer a question as it was answered then, once it has been asked."""
    if not str(frame["id"]).startswith("srq-000000"):  # an id that nobody had asked with
        await _asked(window, [frame["id"]])
        outcome = {key: frame[key] for key in ("result", "error") if key in frame}
        await window.answer(frame["id"], **outcome)


async def _asked(window: Window, ids: Sequence[str]) -> None:
    """Return once these questions have been asked."""
    for id_ in ids:
        while not any(other.get("id") == id_ and "method" in other for other in window.frames):
            await window.next()


@pytest.mark.parametrize("capture", CAPTURES)
async def test_what_the_gateway_said_is_recorded_and_told(capture: str, tmp_path: Path) -> None:
    """A client that does what the recorded one did, with our ids, is answered; each numbered
    event of each session is in the log once, in order, and reached the client as it is there;
    questions are there with their answers (P-9, P-11, P-35)."""
    sent = upstream_events(capture)
    async with house(tmp_path, capture) as home, home.window() as window:
        await play(home, window, capture)
        rows = await home.log.sessions()
        sessions = {row.id: await home.recorded(row.id) for row in rows}
        while sum(len(from_upstream(log)) for log in sessions.values()) < len(sent):
            (name,) = [*sessions][:1] if len(sessions) == 1 else [max(sessions)]
            await home.log.wait(name, after=len(sessions[name]))
            sessions = {row.id: await home.recorded(row.id) for row in rows}
        told = {name: from_upstream(log) for name, log in sessions.items()}
        for name, log in told.items():
            runtimes = {item["origin"].partition(".")[2].partition(":")[0] for item in log}
            assert said(log) == said([item for item in sent if item["session_id"] in runtimes])
            heard = {item["seq"]: item for item in window.events if item["session_id"] == name}
            by_seq = {item["seq"]: {"session_id": name, **item} for item in sessions[name]}
            assert all(by_seq[seq] == item for seq, item in heard.items())

    counted = Counter(item["type"] for log in sessions.values() for item in log)
    asked = {step["id"] for way, step in _questions(capture) if way == "out"}
    assert counted["request.opened"] == len(asked)


def _questions(capture: str) -> list[tuple[str, Json]]:
    steps = read_steps((HERMES / f"{capture}.jsonl").read_bytes())
    return [step for step in steps if "id" in step[1] and str(step[1]["id"]).startswith("srq-")]
