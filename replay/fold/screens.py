"""A terminal while its output arrives: text as it comes, bytes as they complete characters.

Above this module: `draft`, `terminals`. Below it: `transcript`, `strings`.
"""

from __future__ import annotations

import base64
import codecs
from typing import Any

from replay.fold.strings import joined
from replay.fold.values import changed
from replay.transcript import Terminal


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

    def feed_bytes(self, data: bytes) -> None:
        """Append bytes; a character that is not whole yet waits for its end (R109)."""
        decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        text = decoder.decode(base64.b64decode(self._terminal.pending) + data)
        rest, _ = decoder.getstate()
        self._terminal = changed(self._terminal, pending=base64.b64encode(rest).decode("ascii"))
        self._chunks.append(text)

    def show(self, output: str) -> None:
        """Replace everything that was shown."""
        self._chunks = [output]
        self._terminal = changed(self._terminal, output="", pending="")

    def set(self, **changes: Any) -> None:
        """Set what is known of the terminal beside its output; None leaves what was known."""
        known = {key: value for key, value in changes.items() if value is not None}
        if known:
            self._terminal = changed(self._terminal, **known)

    def close(self) -> None:
        """Note that nothing more will come: half a character is shown as its bytes."""
        rest = base64.b64decode(self._terminal.pending)
        self._chunks.append(rest.decode("utf-8", "surrogateescape"))
        self._terminal = changed(self._terminal, pending="", closed=True)

    def terminal(self) -> Terminal:
        """Return the terminal as it stands."""
        if self._chunks:
            output = joined(self._terminal.output, self._chunks)
            self._terminal = changed(self._terminal, output=output)
            self._chunks = []
        return self._terminal
