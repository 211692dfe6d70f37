"""A session as an asciicast that any player of version 3 plays (R170)."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eventlog import parse
from replay import Transcript, fold
from replay.entries import Agent, Tool, User
from replay.render import SNAPSHOT, TextOptions, render_text
from replay.render.asciicast import render_asciicast
from replay.render.options import IDLE
from replay.transcript import Turn
from tests.replay.render.hostile import HOSTILE, session

Make = Callable[..., Any]

SECOND = 1_000_000
EXAMPLES = Path(__file__).parent / "examples"
COLOUR = re.compile(r"\x1b\[(?:0|1|2|3[1-6]|1;3[1-6])m")


def _example(name: str) -> Transcript:
    lines = (EXAMPLES / f"{name}.jsonl").read_bytes().splitlines()
    return fold(Transcript(session=f"s-{name}"), map(parse, lines))


def _cast(*transcripts: Transcript, **options: Any) -> tuple[dict[str, Any], list[Any]]:
    head, *events = map(
        json.loads, render_asciicast(transcripts, TextOptions(**options)).splitlines()
    )
    return head, events


def _printed(events: list[Any]) -> str:
    return "".join(text for _, code, text in events if code == "o")


@pytest.mark.parametrize("name", ["a", "b"])
def test_it_prints_the_text_and_nothing_else(name: str) -> None:
    """One source of truth: without our colours it is what `render_text` gives, byte for byte."""
    transcript = _example(name)
    _, events = _cast(transcript)

    assert COLOUR.sub("", _printed(events)).replace("\r\n", "\n") == render_text(transcript)


def test_the_header_is_that_of_version_3() -> None:
    """R170: version, size, start, idle limit, title."""
    head, events = _cast(_example("a"))

    assert head == {
        "version": 3,
        "term": {"cols": 100, "rows": 32},
        "timestamp": 1_796_047_331,
        "idle_time_limit": IDLE,
        "title": "Fix the flaky retry test",
    }
    assert events[-1] == [0, "x", "0"]


def test_turns_are_markers() -> None:
    """R170: a player stops at each turn, before its rule."""
    _, events = _cast(_example("b"))
    marks = [at for at, (_, code, _) in enumerate(events) if code == "m"]

    assert [events[at][2] for at in marks] == ["turn 1", "turn 2"]
    assert [f"turn {n}" in _printed(events[at : at + 3]) for n, at in enumerate(marks, 1)] == [
        True,
        True,
    ]


def _session(make: Make, *times: tuple[type[Any], int, int]) -> Transcript:
    entries = [
        make(
            kind,
            t0=t0 * SECOND,
            t1=t1 * SECOND,
            **({"tool_id": "t", "title": "go"} if kind is Tool else {"text": "a\n\nb"}),
        )
        for kind, t0, t1 in times
    ]
    turn = Turn(n=1, started=1, t0=0, t1=0)
    return Transcript(t0=0, turns=(turn,), entries=tuple(entries))


def _moments(transcript: Transcript) -> dict[str, float]:
    """Return when each line that is no blank appeared, in seconds."""
    now, found = 0.0, {}
    for interval, code, text in _cast(transcript, idle=1e9)[1]:
        now += interval
        if code == "o" and text.strip():
            found[COLOUR.sub("", text).strip()] = round(now, 3)
    return found


def test_entries_appear_when_they_happened(make: Make) -> None:
    """R170: a prompt when sent, a tool when done, words over the time they took."""
    shown = _moments(_session(make, (User, 1, 1), (Tool, 2, 5), (Agent, 6, 10)))

    assert shown["› you"] == 1
    assert shown["◌ go · pending"] == 5
    assert shown["● agent"] == 6.8
    assert shown["b"] == 9.2


def test_a_tool_that_outlasts_what_follows_holds_nothing_up(make: Make) -> None:
    """R170: it appears when the next entry began, in its place."""
    shown = _moments(_session(make, (Tool, 1, 60), (Agent, 3, 3)))

    assert shown["◌ go · pending"] == shown["● agent"] == 3


@given(
    st.lists(st.tuples(st.integers(-99, 99), st.integers(-99, 99)), max_size=8), st.floats(0.1, 5)
)
@settings(max_examples=60, deadline=None)
def test_time_goes_forward_and_never_stands_long(times: list[tuple[int, int]], idle: float) -> None:
    """R170: monotone also where a clock was set back; no pause beyond the idle limit."""
    entries = tuple(
        User(id=f"e{n}", first=n, last=n, t0=t0 * SECOND, t1=t1 * SECOND, text="x", turn=1)
        for n, (t0, t1) in enumerate(times, 1)
    )
    transcript = Transcript(turns=(Turn(n=1, started=1, t0=0, t1=0),), entries=entries)

    assert all(0 <= interval <= idle for interval, _, _ in _cast(transcript, idle=idle)[1])


@pytest.mark.parametrize("text", HOSTILE)
def test_no_escape_of_a_session_is_in_it(text: str) -> None:
    """R132, R170: of control characters only CR LF, and the colours that are ours; one line an event."""
    rendered = render_asciicast([session(text)], TextOptions())
    head, *events = map(json.loads, rendered.splitlines())

    for _, code, said in events:
        bare = COLOUR.sub("", said).removesuffix("\r\n")
        assert bare.isprintable() or not any(ord(c) < 32 or 127 <= ord(c) < 160 for c in bare)
        assert code in {"o", "m", "x"}
    assert head["title"].isprintable()
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\ud800-\udfff]", rendered)


def test_what_has_no_date_has_no_timestamp() -> None:
    """Captures count from their start: the header claims no date, nor does a snapshot."""
    assert "timestamp" not in _cast(Transcript(t0=5))[0]
    dated = dataclasses.replace(_example("a"))
    head = json.loads(render_asciicast([dated], TextOptions(profile=SNAPSHOT)).splitlines()[0])
    assert "timestamp" not in head


def test_sessions_follow_each_other(make: Make) -> None:
    """Two sessions are one recording: the second begins where the first ended."""
    one = _session(make, (User, 1, 1))
    _, events = _cast(one, one)

    assert [text for _, code, text in events if code == "m"] == ["turn 1", "turn 1"]
    assert events.count([0, "x", "0"]) == 1


PLAYER = os.environ.get("ASCIINEMA_PLAYER")
CHROMIUM = shutil.which("chromium")


@pytest.mark.skipif(
    not (PLAYER and CHROMIUM),
    reason="set ASCIINEMA_PLAYER to asciinema-player-worker.min.js, or the like, of asciinema-player "
    "(npm), and install chromium: asciinema of PyPI reads versions 1 and 2 only",
)
@pytest.mark.timeout(120)
def test_asciinemas_own_player_plays_it(tmp_path: Path) -> None:
    """R170: the player shows what we show, to the last line."""
    cast = render_asciicast([_example("b")], TextOptions(width=72))
    script = Path(PLAYER or "").read_text(encoding="utf-8").replace("</script", "<\\/script")
    quoted = json.dumps(cast).replace("</", "<\\/")
    page = tmp_path / "player.html"
    page.write_text(
        f"<meta charset=utf-8><div id=p></div><script>{script}</script><script>"
        f"const cast = {quoted};"
        "const player = AsciinemaPlayer.create({data: () => cast}, document.getElementById('p'),"
        " {speed: 100000, autoPlay: true, terminalFontFamily: 'monospace'});"
        "player.addEventListener('ended', () => { document.title = 'ended'; });"
        "</script>",
        encoding="utf-8",
    )
    shown = subprocess.run(
        [CHROMIUM or "", "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         f"--user-data-dir={tmp_path / 'profile'}", "--virtual-time-budget=20000", "--dump-dom",
         page.as_uri()],
        capture_output=True, text=True, check=True, timeout=100,
    ).stdout  # fmt: skip
    words = re.sub(r"<[^>]*>", "", shown)

    assert "<title>ended</title>" in shown
    assert "Authentication required" in words
    assert "run: codex auth" in words
