"""Selections: which entries are wanted (cli.md, `--turn`, `--last`, `--only`, `--tool`, …)."""

from __future__ import annotations

from pathlib import Path

import pytest

from eventlog import parse, read_capture
from replay import Transcript, fold
from replay.entries import Ask, Tool
from replay.errors import NoSuchPoint, WrongName
from replay.points import point_of
from replay.selection import Selection, kinds_of, select


@pytest.fixture
def whole(captures: Path) -> Transcript:
    """A session of two turns with tools, permissions, plans and thoughts."""
    (session,) = read_capture((captures / "acp/claude049-tools.jsonl").read_bytes())
    return fold(Transcript(session="s"), map(parse, session.lines))


def test_nothing_wanted_is_everything(whole: Transcript) -> None:
    """Without a filter the transcript is the same object."""
    assert select(whole, Selection()) == (whole, 0)


@pytest.mark.parametrize(
    ("wanted", "turns"),
    [
        (Selection(turn=1), [1]),
        (Selection(turn=-1), [2]),
        (Selection(last=1), [2]),
        (Selection(last=9), [1, 2]),
        (Selection(begin=point_of("turn:2")), [2]),
    ],
)
def test_turns_are_picked_from_either_end(
    whole: Transcript, wanted: Selection, turns: list[int]
) -> None:
    """Cli: `--turn N|-1`, `--last N`, `--from turn:N`."""
    shown, omitted = select(whole, wanted)

    assert [turn.n for turn in shown.turns] == turns
    assert {entry.turn for entry in shown.entries} == set(turns)
    assert omitted == 0


@pytest.mark.parametrize("turn", [0, 3, -3])
def test_a_turn_that_is_not_there_is_said_to_be_missing(whole: Transcript, turn: int) -> None:
    """Cli: exit 2, and how many there are."""
    with pytest.raises(NoSuchPoint, match="2 turns"):
        select(whole, Selection(turn=turn))


def test_an_entry_that_goes_on_behind_the_point_is_shown(whole: Transcript) -> None:
    """Cli, `--from SEQ`: what began before and was not over is part of it."""
    tool = next(entry for entry in whole.entries if isinstance(entry, Tool))
    shown, _ = select(whole, Selection(begin=point_of(str(tool.last))))

    assert shown.entries[0] == tool
    assert select(whole, Selection(begin=point_of(str(tool.last + 1))))[0].entries[0] != tool


def test_kinds_can_be_picked_and_left_out(whole: Transcript) -> None:
    """Cli, `--only` and `--hide`; what is left out is counted, and turns without anything go."""
    shown, omitted = select(whole, Selection(only=kinds_of("thoughts, tool")))
    rest, _ = select(whole, Selection(hide=kinds_of("thought,tool,ask")))

    assert {entry.kind for entry in shown.entries} == {"thought", "tool", "ask"}
    assert omitted == len(whole.entries) - len(shown.entries)
    assert {entry.kind for entry in rest.entries} == {"user", "agent", "plan"}
    assert {turn.n for turn in select(whole, Selection(only=kinds_of("plan")))[0].turns} == {1}
    with pytest.raises(WrongName, match="no kind of entry"):
        kinds_of("tool,nonsense")


@pytest.mark.parametrize("name", ["run", "Bash", "execute", "bash"])
def test_tools_are_found_by_name_kind_or_verb(whole: Transcript, name: str) -> None:
    """Cli, `--tool NAME`: with what was asked about them."""
    shown, _ = select(whole, Selection(tool=name))
    tools = [entry for entry in shown.entries if isinstance(entry, Tool)]
    asks = [entry for entry in shown.entries if isinstance(entry, Ask)]

    assert [tool.name for tool in tools] == ["Bash"] * 3
    assert asks
    assert {ask.tool for ask in asks} <= {tool.id for tool in tools}
    assert len(shown.entries) == len(tools) + len(asks)


def test_statuses_are_found_by_word_or_group(whole: Transcript) -> None:
    """Cli, `--status failed`."""
    failed, _ = select(whole, Selection(status="failed"))
    none, _ = select(whole, Selection(status="stopped"))

    assert [e.status for e in failed.entries if isinstance(e, Tool)] == ["failed", "failed"]
    assert not none.entries
    assert not none.turns
