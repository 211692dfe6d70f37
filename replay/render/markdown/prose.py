r"""Untrusted Markdown made harmless: what was written stays, what would break out does not.

Above this module: `page`. Below it: nothing. Texts come in clean (`clean`).

Written for CommonMark with GitHub's tables. Outside code there is no HTML, as every `<` and `&`
is escaped; fences are written anew, at the margin and longer than what they hold, and always
close; headings sink below ours, underlined ones are none; links lead to http, https, mail or
within a repository and to nothing else; images are links, as an image is a request; there are no
link definitions, as those would reach other entries (render.md 9; R106, R152).

Code spans are kept only where no reader can see them otherwise: within one line that is no row
of a table. Every other backtick is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from replay.render.cells import expand_tabs

_OPENS: Final = re.compile(r"\s*(`{3,})([^`]*)\Z|\s*(~{3,})(.*)\Z")
_UNDERLINE: Final = re.compile(r"\s*(?:=+|-+)\s*\Z")
_HEADING: Final = re.compile(r"(\s*(?:(?:>|[-*+]\s|[0-9]{1,9}[.)]\s)\s*)*)(#{1,6})(?=\s|\Z)")
_LANGUAGE: Final = re.compile(r"[A-Za-z0-9][\w+#.-]{0,30}")
_SPECIAL: Final = re.compile(r"\\(.)|(`+)|(!?\[)|(\])|([<&])")
_TARGET: Final = re.compile(r"\(<?(?:https?://|mailto:|#|[\w./-]+[)#?\s])", re.IGNORECASE)
_MARKUP: Final = re.compile(r"([\\`*_\[\]#|~!$@])")
_SUNK: Final = 3
"""Levels of our own headings."""


def harmless(text: str) -> str:
    """Return Markdown that somebody wrote as it can stand among ours."""
    blocks = list(_blocks(text.strip("\n").split("\n")))
    return "\n".join(
        line for line, before in zip(blocks, ["", *blocks], strict=False) if line or before
    ).strip("\n")


def escaped(text: str) -> str:
    """Return *text* (one line) so that Markdown shows it as it is."""
    return _entities(_MARKUP.sub(r"\\\1", text))


def html_text(text: str) -> str:
    """Return *text* (one line) so that HTML within Markdown shows it as it is."""
    return _entities(text).replace('"', "&quot;").replace(">", "&gt;")


def fenced(lines: Sequence[str], language: str = "") -> str:
    """Return *lines* behind a fence that none of them can close."""
    runs = [len(run) for line in lines for run in re.findall("`+", line)]
    fence = "`" * max(3, 1 + max(runs, default=0))
    return "\n".join([f"{fence}{language}", *lines, fence])


def _entities(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")


def _blocks(lines: Sequence[str]) -> Iterator[str]:
    """Yield lines, and each fence with what it holds as one."""
    fence, language, held = "", "", list[str]()
    for raw in lines:
        line = expand_tabs(raw).rstrip()
        if fence and re.fullmatch(rf"\s*{re.escape(fence[0])}{{{len(fence)},}}", line):
            yield from ("", fenced(held, language), "")
            fence, held = "", []
        elif fence:
            held.append(line)
        elif opens := _OPENS.match(line):
            fence = opens[1] or opens[3]
            known = _LANGUAGE.match((opens[2] or opens[4] or "").strip())
            language = known[0] if known else ""
        else:
            yield _line(line)
    if fence:
        yield from ("", fenced(held, language), "")


def _line(line: str) -> str:
    if _UNDERLINE.match(line):
        rule = line.strip()
        return "* * *" if len(rule) > 2 and rule[0] == "-" else f"\\{rule}"
    heading = _HEADING.match(line)
    if heading is None:
        return _inline(line)
    level = "#" * min(6, len(heading[2]) + _SUNK)
    return heading[1] + level + _inline(line[heading.end() :])


def _inline(line: str) -> str:
    """Escape what a line must not do, from left to right, as a reader of Markdown goes."""
    made: list[str] = []
    at = 0
    while found := _SPECIAL.search(line, at):
        made.append(line[at : found.start()])
        at = found.end()
        if found[2]:
            text, at = _ticks(line, found)
        else:
            text = _escape(line, found)
        made.append(text)
    return "".join(made) + line[at:]


def _escape(line: str, found: re.Match[str]) -> str:
    if found[1]:
        return "\\" + _entities(found[1])
    if found[3]:
        return found[3].replace("!", "\\!")
    if found[4]:
        rest = line[found.end() :]
        harmful = rest.startswith(":") or (rest.startswith("(") and not _TARGET.match(rest))
        return "\\]" if harmful else "]"
    return _entities(found[5])


def _ticks(line: str, found: re.Match[str]) -> tuple[str, int]:
    """Return a code span if it ends in this line, else its backticks escaped; and where to go on."""
    run = found[2]
    end = re.compile(rf"(?<!`){run}(?!`)").search(line, found.end())
    inside = line[found.end() : end.start()] if end else ""
    if end is None or "]:" in inside or ("|" in line and re.search("[<&]", inside)):
        return "\\`" * len(run), found.end()
    return run + inside + run, end.end()
