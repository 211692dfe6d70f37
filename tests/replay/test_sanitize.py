"""A session without its content."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from eventlog import parse, read_capture
from replay import EMPTY, TextOptions, Transcript, dump, fold, format_named
from replay.exits import DONE, USAGE
from replay.program import run
from replay.request import Request
from replay.sanitize import Sanitizer
from tests.replay.records import Log

CAPTURES = sorted((Path(__file__).parents[1] / "captures").glob("*/*.jsonl"))
FORMATS = ["text", "markdown", "html", "json", "cast"]
WORD = re.compile(r"[^\W\d_]{4,}")


def strings(value: Any) -> Iterator[str]:
    """Yield every string that a person or an agent wrote in the payload of an event."""
    match value:
        case str():
            yield value
        case dict():
            for item in value.values():
                yield from strings(item)
        case list():
            for item in value:
                yield from strings(item)


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.stem)
def test_of_what_was_recorded_no_sentence_is_left(path: Path) -> None:
    """R168: no text of more than two words of any recorded session is in its sanitized JSON."""
    for session in read_capture(path.read_bytes()):
        records = [parse(line) for line in session.lines]
        bare = Sanitizer().sanitized(fold(EMPTY, records))
        shown = json.dumps(dump(bare), ensure_ascii=False)
        said = {text.strip() for one in records for text in strings(one["payload"])}
        sentences = {text for text in said if len(WORD.findall(text)) > 2 and " " in text}

        assert [text for text in sentences if text in shown] == []


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.stem)
def test_structure_is_kept(path: Path) -> None:
    """R168: the same entries with the same states, in the same turns, at the same times."""
    for session in read_capture(path.read_bytes()):
        whole = fold(EMPTY, map(parse, session.lines))
        bare = Sanitizer().sanitized(whole)

        assert _shape(bare) == _shape(whole)
        for name in FORMATS:
            content, _ = format_named(name).write([bare], TextOptions(), hide=False)
            assert content


def _shape(transcript: Transcript) -> list[Any]:
    kept = (
        "id",
        "kind",
        "turn",
        "first",
        "last",
        "t0",
        "t1",
        "status",
        "state",
        "exit_code",
        "hidden",
    )
    entries = [[getattr(one, name, None) for name in kept] for one in transcript.entries]
    turns = [(turn.n, turn.outcome, turn.prompts, turn.t0) for turn in transcript.turns]
    return [entries, turns, transcript.seq, transcript.ephemeral]


def test_equal_texts_have_equal_marks() -> None:
    """R168: `[redacted:kind:n]`; a reader can still tell what was said again."""
    log = Log()
    for text in ("one", "two", "one"):
        log.ends(log.prompt(text))
    bare = Sanitizer().sanitized(log.folded())

    assert [getattr(entry, "text", None) for entry in bare.entries] == [
        "[redacted:user:1]",
        "[redacted:user:2]",
        "[redacted:user:1]",
    ]


def test_what_stands_in_names_and_numbers_goes_too() -> None:
    """R168: members that are no names, numbers of an input, the words of a choice, odd tool names."""
    log = Log()
    log.prompt()
    log.call(
        "t1",
        title="Read /home/ann/diary.txt",
        name="look into diary",
        rawInput={"path": "/home/ann", "ann at home": [4711, True, None, {"iban": "DE02"}]},
    )
    asked = {"questions": [{"qid": "q", "question": "Who is it?", "choices": ["Ann", "Bob"]}]}
    log.add("request.opened", id="srq-1", method="clarify", params=asked)
    log.add("request.answered", id="srq-1", result={"answers": {"q": "Ann"}})
    shown = json.dumps(dump(Sanitizer().sanitized(log.folded())))

    assert not [
        word for word in ("home/", "Ann", "diary", "4711", "DE02", "Who", "Bob") if word in shown
    ]
    assert '"path": "[redacted:tool:' in shown


def test_on_the_command_line(
    cassette: Callable[..., Path], capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    """R168: on standard error it says how much; what cannot be without its content is refused."""
    assert run(Request(name=str(cassette()), sanitize=True)) == DONE
    out, err = capsysbinary.readouterr()
    assert b"[redacted:user:1]" in out
    assert re.search(rb"\d+ texts replaced by marks", err)
    assert run(Request(name=str(cassette()), sanitize=True, digest=True)) == USAGE
