"""A session in numbers (cli.md, `--stats`)."""

from __future__ import annotations

from pathlib import Path

from eventlog import parse, read_capture
from replay import Transcript, fold
from replay.stats import stats_of, stats_text
from tests.replay.records import Log


def test_tools_are_counted_and_timed() -> None:
    """Render, "stats": by count, failures, p50 and p95 (nearest rank); stopped ones apart."""
    log = Log("x")
    prompt = log.prompt()
    for number in range(20):
        log.call(f"t{number}", title="run", kind="execute", status="in_progress")
        log.patch(f"t{number}", status="failed" if number == 3 else "completed")
    log.call("late", title="Read it", kind="read", status="in_progress")
    log.ends(prompt, "cancelled")
    stats = stats_of(log.folded())

    run, read = stats.tools
    assert (run.name, run.calls, run.failed, run.stopped) == ("run", 20, 1, 0)
    assert (run.p50_us, run.p95_us) == (1_000_000, 1_000_000)
    assert (read.name, read.calls, read.stopped, read.p50_us) == ("read", 1, 1, None)
    assert stats.turns == {"interrupted": 1}
    assert (stats.prompts, stats.events) == (1, len(log.records))
    assert stats.duration_us == 1_000_000 * (len(log.records) - 1)


def test_waits_for_a_person_are_added_up() -> None:
    """Render, "stats": from the question to its answer; what nobody answered is no wait."""
    log = Log("x")
    log.prompt()
    log.permission("a", "srq-1")
    log.says("still here")
    log.picks("yes", "srq-1")
    log.permission("b", "srq-2")
    stats = stats_of(log.folded())

    assert (stats.waits, stats.waiting_us) == (1, 2_000_000)


def test_numbers_as_text(captures: Path) -> None:
    """Turns, time, tokens, cost and a table of tools, each with what it is."""
    (session,) = read_capture((captures / "acp/claude049-tools.jsonl").read_bytes())
    transcript = fold(Transcript(session="s-1"), map(parse, session.lines))
    text = stats_text(stats_of(transcript), transcript)

    assert text.startswith("session  s-1 · untitled\nturns    2 · 2 complete\n")
    assert "\nused     1 311 of 1 000 000 context · $" in text
    assert "\ntools    9 calls, 2 failed\n" in text
    lines = text.splitlines()
    assert lines[8].split() == ["calls", "failed", "stopped", "p50", "p95"]
    assert [line.split()[:3] for line in lines[9:]] == [
        ["read", "4", "1"], ["run", "3", "1"], ["edit", "1", "0"], ["write", "1", "0"],
    ]  # fmt: skip


def test_nothing_has_numbers_too() -> None:
    """An empty session is zeroes, not an error."""
    stats = stats_of(Transcript())

    assert (stats.events, stats.turns, list(stats.tools)) == (0, {}, [])
    assert "tools    none\n" in stats_text(stats, Transcript())
