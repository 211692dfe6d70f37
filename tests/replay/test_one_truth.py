"""One source of truth: every format shows the same entries, in the same order, in the same state.

What is expected is worked out here from the transcript's JSON and the tables of the documents,
not with the renderers' own code.
"""

from __future__ import annotations

import json
import re
import unicodedata
from functools import cache
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from eventlog import Envelope, parse, read_capture
from replay import EMPTY, TextOptions, Transcript, dump, fold, format_named, load
from replay.render.verbs import known
from tests.replay.render.hostile import HOSTILE, session
from tests.replay.streams import streams

CAPTURES = Path(__file__).parents[1] / "captures"
FILES = sorted(path.relative_to(CAPTURES).as_posix() for path in CAPTURES.glob("*/*.jsonl"))
FORMATS = ("text", "markdown", "html", "json", "cast")

Shown = list[tuple[int, str]]
"""First record and sign of each entry that stands by itself."""

SIGNS = {
    "user": "›",
    "agent": "●",
    "thought": "∴",
    "plan": "☰",
    "ask": "◆",
    "notice": "▲",
    "error": "!",
    "interrupt": "■",
    "system": "~",
    "unknown": "?",
    "gap": "≠",
}
STATES = {
    "completed": "✓",
    "failed": "✗",
    "rejected": "⊘",
    "cancelled": "⊘",
    "aborted": "⊘",
    "unresolved": "⊘",
}
WORK = {"completed": "✓", "failed": "✗", "error": "✗", "interrupted": "⊘", "cancelled": "⊘"}


@cache
def recorded(file: str) -> list[Transcript]:
    """Return the sessions of a capture."""
    return [
        fold(Transcript(session=one.id), map(parse, one.lines))
        for one in read_capture((CAPTURES / file).read_bytes())
    ]


def written(transcript: Transcript, name: str) -> str:
    options = TextOptions(width=0, seq=True)
    return format_named(name).write([transcript], options, hide=False)[0].decode()


# -- what is expected ------------------------------------------------------------------------------


def expected(transcript: Transcript) -> Shown:
    """Return what JSON says is to be seen (render.md, rules 2, 6 and 7)."""
    entries = dump(transcript)["entries"]
    seen = [entry for entry in entries if not entry["hidden"] and not entry["superseded"]]
    asked = {e["tool"]: e for e in seen if e["kind"] == "ask" and e["tool"]}
    planned = {entry["turn"] for entry in entries if entry["kind"] == "plan"}
    verbs = {e.id: known(e) for e in transcript.entries if e.kind == "tool"}
    shown: Shown = []
    tools: set[str] = set()
    for entry in seen:
        if entry["kind"] == "tool" and not _replaced(entry, asked, planned, verbs):
            tools.add(entry["id"])
    for entry in seen:
        match entry["kind"]:
            case "tool" if entry["id"] not in tools:
                continue
            case "ask" if entry["what"] == "permission" and entry["tool"] in tools:
                continue
            case "agent" | "thought" if not entry["blocks"] and not _visible(entry["text"]):
                continue
        shown.append((entry["first"], _sign(entry)))
    return shown


def _replaced(tool: dict[str, Any], asked: dict[str, Any], planned: set[Any], verbs: Any) -> bool:
    ask, verb = asked.get(tool["id"]), verbs[tool["id"]]
    short = verb.short if verb else None
    if ask and (tool["permission_only"] or (ask["what"] != "permission" and short == "ask")):
        return True
    permitted = ask is not None and ask["what"] == "permission"
    return (
        tool["status"] == "completed"
        and not permitted
        and short == "todo"
        and tool["turn"] in planned
    )


def _visible(text: str) -> bool:
    bare = re.sub(r"\x1b\[[0-?]*[ -/]*[@-~]?|\x1b[ -/]*[0-~]?", "", text)
    return bool(bare.strip())


def _sign(entry: dict[str, Any]) -> str:
    match entry["kind"]:
        case "tool":
            return STATES.get(entry["status"], "◌")
        case "subagent":
            return WORK.get(entry["status"], "◌")
    return SIGNS[entry["kind"]]


# -- what is there ---------------------------------------------------------------------------------

FIRST_COLUMN = "".join({*SIGNS.values(), *STATES.values(), "◌", "↳"})


def in_text(text: str) -> Shown:
    """Read a text with `--seq`: the sign in column 0, the number at the end of that line."""
    found: Shown = []
    for line in text.split("\n"):
        if (
            line[:1]
            and line[0] in FIRST_COLUMN
            and (number := re.search(r"  #(\d+)(?:-\d+)?$", line))
        ):
            found.append((int(number[1]), line.lstrip("↳")[0]))
    return found


def in_cast(text: str) -> Shown:
    events = [json.loads(line) for line in text.splitlines()[1:]]
    printed = "".join(said for _, code, said in events if code == "o").replace("\r\n", "\n")
    return in_text(re.sub(r"\x1b\[[0-9;]*m", "", printed))


def in_markdown(text: str) -> Shown:
    """Read a document: anchors before headings, lines of HTML with a sign at their beginning."""
    found: Shown = []
    pattern = (
        r'^(?:<a id="e(\d+)[^"]*"></a>\n\n### (You|Agent)'
        r'|<p id="e(\d+)[^"]*">(\S+)|<details id="e(\d+)[^"]*"[^>]*>\n<summary>(\S+))'
    )
    for hit in re.finditer(pattern, text, re.MULTILINE):
        if hit[1]:
            found.append((int(hit[1]), "›" if hit[2] == "You" else "●"))
        else:
            found.append((int(hit[3] or hit[5]), unescape(hit[4] or hit[6])[0]))
    return found


class _Cards(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: Shown = []
        self._in_sign = False
        self._number = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del tag
        known_ = dict(attrs)
        classes = (known_.get("class") or "").split()
        if "card" in classes:
            self._number = int(re.match(r"e(\d+)", known_["id"] or "")[1])  # type: ignore[index]
        self._in_sign = "sign" in classes

    def handle_data(self, data: str) -> None:
        if self._in_sign:
            self.found.append((self._number, data))
            self._in_sign = False


def in_html(text: str) -> Shown:
    page = _Cards()
    page.feed(text)
    return page.found


READERS = {"text": in_text, "markdown": in_markdown, "html": in_html, "cast": in_cast}


def assert_agree(transcript: Transcript) -> None:
    wanted = expected(transcript)
    for name, read in READERS.items():
        assert read(written(transcript, name)) == wanted, name


# -- the promises ----------------------------------------------------------------------------------


@pytest.mark.parametrize("file", FILES)
def test_every_format_shows_the_same_of_a_recording(file: str) -> None:
    """R131: text, Markdown, HTML and cast show the entries of the JSON, in its order and states."""
    for transcript in recorded(file):
        assert_agree(transcript)


@pytest.mark.parametrize("file", FILES)
def test_every_format_shows_the_same_of_a_recording_that_breaks_off(file: str) -> None:
    """R130, R131: also in mid-turn, with open tools and questions."""
    for one in read_capture((CAPTURES / file).read_bytes()):
        records = [parse(line) for line in one.lines]
        for part in (3, 5, 8):
            assert_agree(fold(EMPTY, records[: len(records) * part // 10]))


@given(streams())
@settings(max_examples=40, deadline=None)
def test_every_format_shows_the_same_of_any_session(records: list[Envelope]) -> None:
    """R131: sessions that no agent would make are shown alike, too."""
    assert_agree(fold(EMPTY, records))


@pytest.mark.parametrize("file", FILES)
def test_every_word_is_in_every_format(file: str) -> None:
    """R093, R131: what was said and what tools printed is in Markdown and HTML as it is in JSON."""
    for transcript in recorded(file):
        pages = [_words(written(transcript, name)) for name in ("markdown", "html")]
        for entry in transcript.entries:
            if entry.hidden or entry.superseded or entry.kind not in {"user", "agent", "thought"}:
                continue
            for word in re.findall(r"\w{4,}", getattr(entry, "text", "")):
                assert all(word in page for page in pages), word


def _words(page: str) -> str:
    return unescape(re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", page))


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("text", HOSTILE)
def test_no_control_byte_of_any_field_is_in_any_format(name: str, text: str) -> None:
    """R132: titles, tool names, labels, paths, errors, answers: no format lets one through."""
    shown = written(session(text), name)
    if name == "json":
        assert load(json.loads(shown)) == session(text)
    if name == "cast":
        said = "".join(event[2] for event in map(json.loads, shown.splitlines()[1:]))
        shown += re.sub(r"\x1b\[(?:0|1|2|3[1-6]|1;3[1-6])m|\r\n", "", said)

    assert {c for c in shown if unicodedata.category(c) in {"Cc", "Cs"}} <= {"\n"}


@pytest.mark.parametrize("file", FILES)
def test_no_control_byte_of_a_recording_is_in_any_format(file: str) -> None:
    """R132: nor any of what real agents and their terminals sent."""
    for transcript in recorded(file):
        for name in FORMATS:
            shown = written(transcript, name)

            assert {c for c in shown if unicodedata.category(c) in {"Cc", "Cs"}} <= {"\n"}
