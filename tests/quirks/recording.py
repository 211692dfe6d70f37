"""A capture as its frames, and as what this project makes of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from eventlog import Envelope, parse, read_capture
from replay import EMPTY, Entry, Transcript, fold

CAPTURES = Path(__file__).parents[1] / "captures" / "acp"
OURS = Path(__file__).with_name("captures")
"""Recorded for these tests alone: the real agent, with the script of `tests.gateway.agents`."""

E = TypeVar("E", bound=Entry)
Json = dict[str, Any]


@dataclass(frozen=True)
class Recording:
    """What passed, and the session that it was."""

    frames: list[tuple[str, Json]]
    events: list[Envelope]
    transcript: Transcript

    def updates(self, kind: str | None = None) -> list[Json]:
        """Return the session updates, of one kind or all."""
        found = [
            frame["params"]["update"]
            for _, frame in self.frames
            if frame.get("method") == "session/update"
        ]
        return [one for one in found if kind in (None, one["sessionUpdate"])]

    def calls(self, method: str) -> list[Json]:
        """Return the params of every call of a method, by either end."""
        return [frame["params"] for _, frame in self.frames if frame.get("method") == method]

    def answers(self, method: str) -> list[Json]:
        """Return the frames that answer the client's calls of a method."""
        asked = {
            frame["id"]
            for way, frame in self.frames
            if way == "in" and frame.get("method") == method
        }
        return [
            frame
            for way, frame in self.frames
            if way == "out" and "method" not in frame and frame.get("id") in asked
        ]

    def entries(self, kind: type[E]) -> list[E]:
        """Return the entries of one kind that a person sees."""
        return [entry for entry in self.transcript.entries if isinstance(entry, kind)]

    def after_answers(self, method: str) -> Iterator[str]:
        """Yield the kinds of updates that come between an answer and the client's next call."""
        asked: set[Any] = set()
        over = False
        for way, frame in self.frames:
            if way == "in" and "method" in frame:
                over = False
                if frame["method"] == method:
                    asked.add(frame["id"])
            elif way == "out" and "method" not in frame and frame.get("id") in asked:
                over = True
            elif over and frame.get("method") == "session/update":
                yield frame["params"]["update"]["sessionUpdate"]


@cache
def recording(name: str, *, number: int = 1) -> Recording:
    """Return a capture and one of its sessions, the first one if nothing else is said."""
    file = f"{name}.jsonl"
    data = ((OURS if (OURS / file).exists() else CAPTURES) / file).read_bytes()
    lines = [json.loads(line) for line in data.splitlines()]
    frames = [(line["dir"], line["frame"]) for line in lines if line["dir"] in ("in", "out")]
    session = next(one for one in read_capture(data) if one.id.endswith(f"-{number}"))
    events = [parse(line) for line in session.lines]
    return Recording(
        [pair for pair in frames if "_raw" not in pair[1]], events, fold(EMPTY, events)
    )


def of_agent(agent: str) -> list[Recording]:
    """Return every capture of an agent."""
    return [recording(path.stem) for path in sorted(CAPTURES.glob(f"{agent}-*.jsonl"))]
