"""The port of every renderer: a transcript and options in, a text out. Pure.

Above this module: `replay.cli`, `snapshots`. Below it: one module a format.
"""

from __future__ import annotations

from typing import Protocol, TypeVar

from replay.transcript import Transcript

Options_contra = TypeVar("Options_contra", contravariant=True)


class Renderer(Protocol[Options_contra]):
    """Shows a transcript. Equal arguments give equal text, on every machine (design §1, rule 6)."""

    def __call__(self, transcript: Transcript, options: Options_contra, /) -> str:
        """Return the whole text; it ends with one newline."""
        ...
