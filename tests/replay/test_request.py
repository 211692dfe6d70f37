"""Which part of which session is shown (cli.md), in one process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from replay.exits import DONE, USAGE

Run = Callable[..., tuple[int, str, str]]


@pytest.mark.parametrize("fields", [{"all": True}, {"verbose": True}, {"profile": "timeline"}])
def test_what_is_only_counted_makes_no_session(
    captures: Path, ask: Run, fields: dict[str, Any]
) -> None:
    """Cli: what an import kept of no session stays out, however much of one is shown."""
    code, out, _ = ask(str(captures / "hermes/04_todo_plan.jsonl"), **fields)

    assert code == DONE
    assert out.startswith("imp-718c3d049007-1 ")
    assert "session 1 of" not in out


def test_a_turn_is_taken_of_each_session_that_has_it(captures: Path, ask: Run) -> None:
    """Cli: `--turn 2` of a file with several sessions: those without it are named; none has 9."""
    file = str(captures / "acp/claude049-load.jsonl")
    code, out, err = ask(file, turn=2, profile="snapshot")
    until = ask(file, until="turn:2", profile="snapshot")

    assert (code, until[0]) == (DONE, DONE)
    assert out.startswith("── turn 2 ──")
    assert err == "hermes-replay: turn 2: imp-21e51c3af777-2 has 0 turns\n"
    assert ask(file, turn=9)[0] == USAGE
    plan = str(captures / "hermes/04_todo_plan.jsonl")
    assert ask(plan, turn=1)[::2] == (DONE, "")


@pytest.mark.parametrize("format_", ["text", "markdown", "html", "cast"])
def test_a_session_that_is_not_over_says_so_in_every_format(
    log: Path, tmp_path: Path, ask: Run, format_: str
) -> None:
    """R130: a log that ends within a turn; one that was cut there on purpose does not say it."""
    lines = tmp_path / "open.jsonl"
    ask("s-one", log=str(log), until="4", output=lines)
    _, whole, _ = ask(str(lines), format=format_)
    _, cut, _ = ask("s-one", log=str(log), until="4", format=format_)

    assert "session incomplete: last event seq 4" in whole
    assert "session incomplete" not in cut
