"""A terminal while its output arrives: text as it comes, bytes as they complete characters.

Above this module: `draft`, `terminals`. Below it: `transcript`, `strings`.

Output over 64 KiB is kept as its ends and its size, whether it came as one text or in thousands
of chunks; only of one text the hash is known.
"""

from __future__ import annotations

import base64
import codecs
from typing import Any, Final

from replay.fold.strings import TAIL, end_of, excerpt, joined
from replay.fold.values import changed
from replay.transcript import Terminal

_WAITING: Final = 256
"""Chunks after which they are joined: so that a stream without end needs no memory without end."""


class Screen:
    """The terminal that tools refer to by its id."""

    __slots__ = ("_chunks", "_terminal")

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self._chunks: list[str] = []

    @classmethod
    def blank(cls, terminal_id: str) -> Screen:
        """Return a terminal that has shown nothing."""
        return cls(Terminal(id=terminal_id))

    def feed(self, text: str) -> None:
        """Append text."""
        self._chunks.append(text)
        if len(self._chunks) > _WAITING:
            self.terminal()

    def feed_bytes(self, data: bytes) -> None:
        """Append bytes; a character that is not whole yet waits for its end (R109)."""
        decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        text = decoder.decode(base64.b64decode(self._terminal.pending) + data)
        rest, _ = decoder.getstate()
        self._set(pending=base64.b64encode(rest).decode("ascii"))
        self.feed(text)

    def show(self, output: str) -> None:
        """Replace everything that was shown."""
        self._chunks = []
        cut = excerpt(output)
        self._set(output=cut.text, tail=cut.tail, size=cut.size, sha256=cut.sha256, pending="")

    def set(self, **changes: Any) -> None:
        """Set what is known of the terminal beside its output; None leaves what was known."""
        if known := {key: value for key, value in changes.items() if value is not None}:
            self._set(**known)

    def close(self) -> None:
        """Note that nothing more will come: half a character is shown as its bytes."""
        rest = base64.b64decode(self._terminal.pending)
        self.feed(rest.decode("utf-8", "surrogateescape"))
        self._set(pending="", closed=True)

    def terminal(self) -> Terminal:
        """Return the terminal as it stands."""
        if any(self._chunks):
            self._join(self._chunks)
            self._chunks = []
        return self._terminal

    def _join(self, chunks: list[str]) -> None:
        known = self._terminal
        if known.size is None:
            cut = excerpt(joined(known.output, chunks))
            self._set(output=cut.text, tail=cut.tail, size=cut.size)
            return
        before = known.tail or ""
        after = joined(before, chunks)
        size = known.size + _size(after) - _size(before)
        self._set(tail=end_of(after, TAIL), size=size, sha256=None)

    def _set(self, **changes: Any) -> None:
        self._terminal = changed(self._terminal, **changes)


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
