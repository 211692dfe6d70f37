"""Fixtures for the renderers: entries put into a transcript by hand, and shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from replay.entries import AnyEntry
from replay.render import SNAPSHOT, TextOptions, render_text
from replay.transcript import Info, Transcript, Turn

Make = Callable[..., Any]
Show = Callable[..., list[str]]


@pytest.fixture
def make() -> Make:
    """Return a function that makes an entry of a kind; ids and sequence numbers count up."""
    made: list[int] = []

    def make_entry(kind: type[Any], **fields: Any) -> Any:
        made.append(1)
        seq = len(made)
        common = {"id": f"e{seq}", "turn": 1, "first": seq, "last": seq, "t0": seq, "t1": seq}
        return kind(**common | fields)

    return make_entry


@pytest.fixture
def show() -> Show:
    """Return a function that gives the lines of entries below their turn's rule."""

    def show_entries(
        *entries: AnyEntry, options: TextOptions | None = None, **fields: Any
    ) -> list[str]:
        transcript = Transcript(
            info=fields.pop("info", Info(cwd="/w")),
            turns=(Turn(n=1, started=1, t0=0, t1=0, outcome="complete"),),
            entries=entries,
            **fields,
        )
        text = render_text(transcript, options or TextOptions(profile=SNAPSHOT))
        return text.removesuffix("\n").split("\n")[2:]

    return show_entries
