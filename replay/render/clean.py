r"""Untrusted text made safe to show: what a terminal would obey is applied, dropped or named.

Above this module: everything that prints a string of a transcript. Below it: nothing.

Escape sequences go, in their 7-bit and 8-bit forms, finished or not; a link keeps its address.
Of a line with carriage returns the part after the last one is kept; backspaces are applied.
What is left of control, direction and invisible characters is shown by name: `<U+202E>`. Only
`\n` and `\t` of the control characters come out (R132; fold.md, edge cases; design §1, rule 8).
"""

from __future__ import annotations

import re
from typing import Final

_ESC_STRING: Final = r"[^\x07\x1b\x90\x98\x9c-\x9f\r\n]*(?:\x07|\x1b\\|\x9c)"
_LINK: Final = re.compile(
    r"(?:\x1b\]|\x9d)8;[^;\x07\x1b\x9c\n]*;([^\x07\x1b\x9c\n]+)(?:\x07|\x1b\\|\x9c)"
    r"([^\n]*?)"
    r"(?=(?:\x1b\]|\x9d)8;|\n|\Z)"
)
_ESCAPE: Final = re.compile(
    # CSI: colours, cursor; cut off ones too
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"
    # OSC, DCS, SOS, PM, APC: to their terminator, else (7-bit form only) to the end of the line.
    # In the 8-bit form these bytes are also what wrongly decoded text is full of: no terminator,
    # no sequence.
    rf"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f]){_ESC_STRING}"
    r"|\x1b[\]PX^_][^\x1b\r\n]*"
    # the rest: two or three characters, or a lone ESC
    r"|\x1b(?:[ -/]*[0-~])?"
)
_EMOJI_TAGS: Final = "\U0001f3f4[\U000e0020-\U000e007e]+\U000e007f"
_NAMED: Final = re.compile(
    f"({_EMOJI_TAGS})|"
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\ufeff\ufff0-\ufffb\ufffe\uffff\ud800-\udfff\U000e0000-\U000e007f]"
)


def clean(text: str) -> str:
    r"""Return *text* as it may be printed; of the control characters only `\n` and `\t` stay."""
    if text.isascii() and text.isprintable():
        return text
    if "\x1b" in text or _has_c1(text):
        text = _ESCAPE.sub("", _LINK.sub(_linked, text))
    if "\r" in text or "\b" in text:
        text = "\n".join(map(_overwritten, text.split("\n")))
    return _NAMED.sub(_name, text)


def clean_line(text: str) -> str:
    """Return *text* as it may be printed within a line: breaks and tabs become spaces."""
    lines = (line.strip() for line in clean(text).replace("\t", " ").split("\n"))
    return " ".join(line for line in lines if line)


def _has_c1(text: str) -> bool:
    return not text.isascii() and any(c in text for c in "\x90\x98\x9b\x9d\x9e\x9f")


def _linked(found: re.Match[str]) -> str:
    address, text = found[1], found[2]
    bare = _ESCAPE.sub("", text)
    return text if bare.strip() in {address, ""} and bare else f"{text} ({address})".lstrip()


def _overwritten(line: str) -> str:
    line = line.rstrip("\r").rpartition("\r")[2]
    if "\b" not in line:
        return line
    kept: list[str] = []
    for char in line:
        if char != "\b":
            kept.append(char)
        elif kept:
            kept.pop()
    return "".join(kept)


def _name(found: re.Match[str]) -> str:
    if found[1]:
        return found[1]
    char = found[0]
    return "\ufffd" if "\ud800" <= char <= "\udfff" else f"<U+{ord(char):04X}>"
