"""The terminal, if there is one: its width, its colours, a pager.

Above this module: `request`, `program`. Below it: the operating system. What goes to a pipe or a
file never depends on any of this (R127).
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from typing import Final, Literal

Color = Literal["auto", "always", "never"]

_WIDTH: Final = 80
_PAGER: Final = "less -FRX"
"""Ends at once if all is on the screen, shows colours, leaves the text where it is."""


def on_terminal() -> bool:
    """Whether standard output is a terminal."""
    return sys.stdout.isatty()


def cells() -> int:
    """Return the cells of a line of the terminal; 80 where there is none."""
    if not on_terminal():
        return _WIDTH
    return os.get_terminal_size(sys.stdout.fileno()).columns or _WIDTH


def paints(color: Color, *, environ: Mapping[str, str] = os.environ) -> bool:
    """Whether to colour: on a terminal that can, unless `NO_COLOR` says otherwise."""
    if color != "auto":
        return color == "always"
    return on_terminal() and not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"


def page(content: bytes, *, environ: Mapping[str, str] = os.environ) -> bool:
    """Show *content* through the reader's pager; return False if there is none to be had."""
    command = shlex.split(environ.get("PAGER", _PAGER))
    if not command or shutil.which(command[0]) is None or environ.get("TERM") == "dumb":
        return False
    subprocess.run(command, input=content, check=False)  # noqa: S603 - the reader's own choice
    return True
