"""Lines that stay, and lines that may change."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from eventlog import Envelope, Event, Seq, line, parse, read_capture
from replay import Fold, Live, TextOptions, Transcript, render_text

OPTIONS = TextOptions(width=80, time="none")
CAPTURES = (
    "acp/claude049-tools",
    "acp/claude049-plan",
    "acp/claude049-reject",
    "acp/claude049-elicit",
    "acp/codex26-tools",
    "acp/claude049-cancel",
    "acp/gemini-tools",
    "acp/kimi-reject",
    "hermes/03_tools_files_terminal",
    "hermes/05_approvals",
    "hermes/07_clarify",
)


def steps(file: Path) -> list[Transcript]:
    """Return the largest session of a capture after each of its events."""
    session = max(read_capture(file.read_bytes()), key=lambda one: len(one.lines))
    fold, seen = Fold(), []
    for text in session.lines:
        fold.apply(parse(text))
        seen.append(fold.transcript())
    return seen


def body(text: str) -> list[str]:
    """Return the lines that show entries: without head, rules, foot and blank lines."""
    lines = text[text.index("\n\n") :].split("\n")
    foot = next((n for n, line in enumerate(lines) if set(line) == {"─"}), len(lines))
    return [line for line in lines[:foot] if line and not line.startswith("──")]


@pytest.mark.parametrize("capture", CAPTURES)
def test_all_is_said_and_nothing_twice(captures: Path, capture: str) -> None:
    """Looked at after every event, what was appended is the page, line for line; at the end nothing
    is left that may change.
    """
    seen = steps(captures / f"{capture}.jsonl")
    live = Live(OPTIONS)
    shown = [live.show(transcript) for transcript in seen]
    appended = Counter(body("".join(one.settled for one in shown)))
    page = Counter(body(render_text(seen[-1], OPTIONS)))

    assert appended == page
    assert shown[-1].tail == ""


def test_what_reads_otherwise_later_is_said_again(captures: Path) -> None:
    """A tool that was given up and goes on is shown as it stands then; never in the same words."""
    live = Live(OPTIONS)
    seen = steps(captures / "acp" / "codex26-cancel.jsonl")
    settled = "".join(live.show(transcript).settled for transcript in seen)
    told = settled.split("\n⊘ run ")[1:]
    assert len(told) > 1
    assert len(set(told)) == len(told)
    assert body(render_text(seen[-1], OPTIONS))[-1] in settled


def test_looking_again_says_nothing(captures: Path) -> None:
    """A transcript that was shown already, as after a gateway's restart, gives no line."""
    seen = steps(captures / "acp" / "claude049-tools.jsonl")
    live = Live(OPTIONS)
    for transcript in seen:
        live.show(transcript)
    assert {live.show(transcript).settled for transcript in seen[-5:]} == {""}


def test_words_settle_when_something_follows(captures: Path) -> None:
    """While an agent speaks its words are in the tail, whole; then they move up, once."""
    seen = steps(captures / "acp" / "claude049-hello.jsonl")
    live = Live(OPTIONS)
    tails = []
    settled = ""
    for transcript in seen:
        shown = live.show(transcript)
        settled += shown.settled
        tails.append(shown.tail)
        assert not (shown.tail and shown.tail in settled)
    spoken = [tail for tail in tails if "● " in tail]
    assert len(spoken) > 1
    assert spoken[-1].strip() in settled


def test_only_the_last_turns_of_history(captures: Path) -> None:
    """Opening a long session shows its last turns, and says how many there are before them."""
    last = steps(captures / "acp" / "claude049-tools.jsonl")[-1]
    settled = Live(OPTIONS, turns=1).show(last).settled
    assert "… 1 earlier turn not shown" in settled
    assert [line[:10] for line in settled.split("\n") if "── turn" in line] == ["── turn 2 "]


def test_read_anew_nothing_is_said_twice(captures: Path) -> None:
    """R056: the same session under other ids: a turn that was over stays told, whatever it reads now;
    of one that runs only what reads otherwise is said.
    """
    seen = steps(captures / "hermes" / "05_approvals.jsonl")
    first = next(n for n, one in enumerate(seen) if len(one.turns) == 2)
    live = Live(OPTIONS)
    for transcript in seen[:first]:
        live.show(transcript)

    renumbered = Fold()
    for n, record in enumerate(_other_ids(captures / "hermes" / "05_approvals.jsonl"), 1):
        record["seq"] = Seq(n)
        renumbered.apply(record)
    whole = renumbered.transcript()
    assert whole.entries[0].id != seen[-1].entries[0].id
    live.again(whole)
    rest = live.show(whole).settled

    second = render_text(seen[-1], OPTIONS)
    second = second[second.index("── turn 2 ") :]
    assert Counter(body(f"\n\n{rest}")) == Counter(body(f"\n\n{second}"))


def _other_ids(file: Path) -> list[Envelope]:
    """The same records behind one that says nothing: each has another number."""
    session = max(read_capture(file.read_bytes()), key=lambda one: len(one.lines))
    return [parse(line(1, 0, Event.of("sessions.changed"))), *map(parse, session.lines)]
