"""What a tool printed: found among its content, its terminals and its raw output.

Above this module: `tools`. Below it: `entries`, `clean`.

The order is content, terminals, raw output, error (fold.md, "rawOutput"; R107). Of a raw output
that is an object the members that hold words are taken; a fence that an agent has put around
the whole is taken off.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from replay.entries import Tool
from replay.pieces import Block, Excerpt, Json
from replay.render.cells import expand_tabs
from replay.render.clean import clean, clean_line
from replay.render.figures import counted, grouped
from replay.transcript import Terminal

_WORDS: Final = (
    ("formatted_output",),
    ("aggregated_output",),
    ("output",),
    ("stdout", "stderr"),
    ("content",),
    ("text",),
    ("message",),
    ("result",),
)
"""The first group with words in it is what an object says."""

_FACTS: Final = frozenset(
    {"exit_code", "exitCode", "success", "status", "duration", "duration_s", "error", "signal"}
)
"""Members of a raw output that are shown otherwise."""

_FENCED: Final = re.compile(r"\s*(`{3,})[^\n`]*\n(.*?)\n?\1\s*\Z", re.DOTALL)
_EXCERPT: Final = frozenset({"text", "size", "sha256", "tail"})


@dataclass(frozen=True, slots=True)
class Printout:
    """Lines of an output, clean. If *size* (bytes) is set, what stood before *tail* is not kept."""

    lines: Sequence[str] = ()
    size: int | None = None
    tail: Sequence[str] = ()

    def cut(self, keep: tuple[int, int] | None) -> tuple[Sequence[str], str, Sequence[str]]:
        """Return its first lines, how much is not shown of it ("" if all is), and its last ones."""
        head, tail = keep or (len(self.lines), len(self.tail))
        if self.size is not None:
            after = self.tail[max(0, len(self.tail) - tail) :]
            return self.lines[:head], f"{grouped(self.size)} bytes in all", after
        left_out = len(self.lines) - head - tail
        if keep is None or left_out <= 0:
            return self.lines, "", ()
        return self.lines[:head], counted(left_out, "line"), self.lines[len(self.lines) - tail :]


def printed(tool: Tool, terminals: Mapping[str, Terminal], *, raw: bool) -> Printout:
    """Return what *tool* printed; with *raw* an output without words is shown as JSON."""
    found = _content(tool, terminals) or _screen(tool, terminals) or _spoken(words_of(tool.output))
    if not found and raw and (rest := _without_words(tool.output)):
        found = [Excerpt(text=rest)]
    return _joined(found)


def content_of(tool: Tool, terminals: Mapping[str, Terminal]) -> Printout:
    """Return what *tool* gave as its content alone."""
    return _joined(_content(tool, terminals))


def block_line(block: Block, dot: str) -> str:
    """Return a block that is no text as one line: `[image · image/png · 3 000 bytes]`."""
    parts = [
        "link" if block.type == "resource_link" else clean_line(block.type),
        clean_line(block.name or ""),
        clean_line(block.uri or ""),
        clean_line(block.mime or ""),
        counted(block.size, "byte") if block.size is not None else "",
    ]
    return f"[{f' {dot} '.join(part for part in parts if part)}]"


def shown_terminal(tool: Tool, terminals: Mapping[str, Terminal]) -> Terminal | None:
    """Return the last terminal that *tool* refers to."""
    named = [item.terminal for item in tool.content if item.terminal is not None]
    held = [terminals[key] for key in (*named, *tool.terminals) if key in terminals]
    return held[-1] if held else None


def text_lines(text: str) -> list[str]:
    """Return the lines of *text*, clean, without the blank ends."""
    body = clean(text).strip("\n")
    return [expand_tabs(line).rstrip() for line in body.split("\n")] if body.strip() else []


def _content(tool: Tool, terminals: Mapping[str, Terminal]) -> list[Excerpt]:
    texts: list[Excerpt] = []
    for item in tool.content:
        if item.text is not None and not _announces(item.text.text, tool):
            texts.append(item.text)
        elif item.terminal is not None and item.terminal in terminals:
            texts.append(terminals[item.terminal].shown)
        elif item.block is not None:
            texts += [
                Excerpt(text=block_line(item.block, "·")),
                Excerpt(text=item.block.text or ""),
            ]
    return _spoken(texts)


def _screen(tool: Tool, terminals: Mapping[str, Terminal]) -> list[Excerpt]:
    screen = shown_terminal(tool, terminals)
    return _spoken([screen.shown] if screen else [])


def _spoken(texts: Iterable[Excerpt]) -> list[Excerpt]:
    return [text for text in texts if text.text.strip()]


def _announces(text: str, tool: Tool) -> bool:
    """Whether *text* only repeats what the tool is to do: some agents send that as content."""
    given = tool.input if isinstance(tool.input, Mapping) else {}
    return text.strip() in {tool.title, given.get("description")} and bool(text.strip())


def words_of(value: Json) -> Iterator[Excerpt]:
    """Yield what a raw output says in words."""
    match value:
        case str():
            yield from _of_string(value)
        case {"text": str(head), "size": int(size), "sha256": _, "tail": str(tail)} if (
            value.keys() == _EXCERPT
        ):
            yield Excerpt(text=head, size=size, tail=tail)
        case {"type": "text", "text": str(text)}:
            yield Excerpt(text=text)
        case dict():
            yield from _of_object(value)
        case list():
            for item in value:
                yield from words_of(item)


def _of_string(text: str) -> Iterator[Excerpt]:
    try:
        value = json.loads(text) if text.lstrip().startswith("{") else None
    except ValueError:
        value = None
    inner = list(_of_object(value)) if isinstance(value, dict) else []
    yield from inner or [Excerpt(text=text)]


def _of_object(value: Mapping[str, Json]) -> Iterator[Excerpt]:
    for group in _WORDS:
        said = [text for key in group for text in words_of(value.get(key)) if text.text.strip()]
        if said:
            yield from said
            return


def _without_words(value: Json) -> str:
    if not isinstance(value, Mapping) or value.keys() <= _FACTS or _is_worded(value):
        return ""
    rest = {key: item for key, item in value.items() if key not in _FACTS}
    return json.dumps(rest, ensure_ascii=False) if any(rest.values()) else ""


def beside_words(value: Json) -> str:
    """Return as JSON what an object of a raw output holds beside its words and usual facts."""
    if not isinstance(value, Mapping) or not _is_worded(value):
        return ""
    words = {key for group in _WORDS for key in group if isinstance(value.get(key), str)}
    rest = {key: item for key, item in value.items() if key not in words | _FACTS}
    return json.dumps(rest, ensure_ascii=False) if any(rest.values()) else ""


def _is_worded(value: Mapping[str, Json]) -> bool:
    """Whether an object has a place for words, be it empty: then it had nothing to say."""
    return any(isinstance(value.get(key), str) for group in _WORDS for key in group)


def _joined(texts: Iterable[Excerpt]) -> Printout:
    lines: list[str] = []
    for text in texts:
        if text.size is not None:  # what comes behind a cut text would be lost in its middle
            return Printout(
                [*lines, *text_lines(text.text)], text.size, text_lines(text.tail or "")
            )
        lines += text_lines(_unfenced(text.text))
    return Printout(lines)


def _unfenced(text: str) -> str:
    found = _FENCED.match(text)
    return found[2] if found and found[1] not in found[2] else text
