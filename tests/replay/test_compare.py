"""Two sessions compared: where they first differ, in the form of render.md's example C."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eventlog import parse, read_capture
from replay import SNAPSHOT, TextOptions, Transcript, fold
from replay.compare import Comparison, Place, compare, unified

EXAMPLE = Path(__file__).parent / "render" / "examples" / "a.jsonl"
AS_GOLDENS = TextOptions(profile=SNAPSHOT)

EXAMPLE_C = (
    "--- s-7f3c2a\n+++ s-91d0aa\n"
    "@@ -33,6 +33,6 @@\n"
    " ◆ question\n"
    "   May I change the signature of retry() to take a clock?\n"
    "-    ( ) Yes\n"
    "-    (•) Only with a default\n"
    "+    (•) Yes\n"
    "+    ( ) Only with a default\n"
    "     ( ) No\n"
    " \n"
    "@@ -40,5 +40,5 @@\n"
    "   │ @@ -11,6 +11,6 @@\n"
    "   │ -def retry(fn, times=3):\n"
    "-  │ +def retry(fn, times=3, sleep=time.sleep):\n"
    "+  │ +def retry(fn, times=3, clock=None):\n"
    "   │      for n in range(times):\n"
    "   │          try:\n"
    "@@ -46,5 +46,5 @@\n"
    "   │          except Transient:\n"
    "   │ -            time.sleep(2 ** n)\n"
    "-  │ +            sleep(2 ** n)\n"
    "+  │ +            (clock or time).sleep(2 ** n)\n"
    " \n"
    " ◆ approval · runs a shell loop\n"
    "@@ -54,8 +54,4 @@\n"
    " ✓ run     for i in $(seq 100); do pytest -q tests/test_retry.py || exit 1; do…\n"
    "   │ 500 passed in 18.72s\n"
    "-\n"
    "-↳✓ Look for other real sleeps in tests/ · 1 tool\n"
    "-  │ search_files time.sleep\n"
    "-  Two more: tests/test_poll.py:40 and tests/test_lock.py:12.\n"
    " \n"
    " ● agent\n"
)


def _transcript(lines: list[str], name: str) -> Transcript:
    return fold(Transcript(session=name), [parse(line.encode()) for line in lines])


def _example() -> list[str]:
    return EXAMPLE.read_text(encoding="utf-8").splitlines()


def _other() -> list[str]:
    """Return the example as it might have gone: another answer, another edit, no sub-agent."""
    changed = [
        line.replace('{"q0":"Only with a default"}', '{"q0":"Yes"}')
        .replace("sleep=time.sleep):", "clock=None):")
        .replace("+            sleep(2 ** n)", "+            (clock or time).sleep(2 ** n)")
        .replace('"ts":1796', '"ts":1797')
        for line in _example()
        if '"subagent.' not in line
    ]
    records = [json.loads(line) for line in changed]
    return [json.dumps({**record, "seq": seq}) for seq, record in enumerate(records, 1)]


def _compared(ours: list[str], theirs: list[str]) -> Comparison:
    a, b = _transcript(ours, "s-7f3c2a"), _transcript(theirs, "s-91d0aa")
    return compare(a, b, AS_GOLDENS, ("s-7f3c2a", "s-91d0aa"))


def test_two_runs_of_the_same_conversation_are_equal() -> None:
    """R173: other ids, other times, other numbers of events: no difference, and none is printed."""
    later = [line.replace('"ts":1796', '"ts":1797').replace("call_", "x_") for line in _example()]
    compared = _compared(_example(), later)

    assert (compared.first, list(compared.lines)) == (None, [])
    assert compared.json()["equal"] is True


def test_a_difference_looks_like_example_c() -> None:
    """Render, example C; R173: the first difference is named, the rest is a unified diff."""
    compared = _compared(_example(), _other())
    text = "".join(f"{line}\n" for line in compared.lines)

    assert text == EXAMPLE_C
    assert compared.first is not None
    assert str(compared.first[0]) == "e17 (ask) of turn 1"
    assert compared.json()["first"]["b"]["seq"] == 17


def test_a_tool_is_compared_with_the_same_tool_of_the_same_turn(captures: Path) -> None:
    """R173: one tool more in the first turn moves nothing of what follows."""
    (session,) = read_capture((captures / "acp/claude049-tools.jsonl").read_bytes())
    whole = fold(Transcript(session="a"), map(parse, session.lines))
    tool = next(entry for entry in whole.entries if entry.kind == "tool")
    less = replace(whole, entries=tuple(entry for entry in whole.entries if entry is not tool))
    compared = compare(whole, less, AS_GOLDENS, ("a", "b"))

    assert [line for line in compared.lines[2:] if line[0] in "+-"] == [
        "-",
        "-✓ read    src/app.py · 10 lines",
    ]
    assert compared.first is not None
    assert compared.first[0].entry == tool.id


def test_a_session_that_ends_sooner_says_so() -> None:
    """The end of one is a difference, too: nothing more."""
    compared = _compared(_example(), _example()[:10])

    assert compared.first is not None
    assert any(line.startswith("-") for line in compared.lines[2:])
    assert str(Place()) == "nothing more"


LINES = st.lists(st.tuples(st.sampled_from(" -+"), st.sampled_from("abc")), max_size=40)


@settings(max_examples=100)
@given(LINES)
def test_a_unified_diff_can_be_applied(steps: list[tuple[str, str]]) -> None:
    """Applying the hunks to one side gives the other, wherever they are."""
    ours = [line for sign, line in steps if sign != "+"]
    theirs = [line for sign, line in steps if sign != "-"]
    made: list[str] = []
    at = 0
    for line in list(unified(steps, ("a", "b")))[2:]:
        if line.startswith("@@"):
            begin, _, length = line.split()[1][1:].partition(",")
            start = int(begin) - (length != "0")
            made += ours[at:start]
            at = start
        elif line[0] == "+":
            made.append(line[1:])
        else:
            assert ours[at] == line[1:]
            made += [line[1:]] * (line[0] == " ")
            at += 1

    assert made + ours[at:] == theirs


@pytest.mark.parametrize("file", ["acp/gemini-tools", "hermes/07_clarify"])
def test_every_recording_equals_itself(captures: Path, file: str) -> None:
    """R173: no session differs from itself."""
    for session in read_capture((captures / f"{file}.jsonl").read_bytes()):
        whole = fold(Transcript(session=session.id), map(parse, session.lines))
        assert compare(whole, whole, AS_GOLDENS, ("a", "b")).first is None
