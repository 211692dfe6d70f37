"""Who may talk to a gateway over a socket: whoever knows its token (P-7).

Above this module: the WebSocket's door, the command line. Below it: a file of mode 0600.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from hmac import compare_digest
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Final

VARIABLE: Final = "HERMES_GATEWAY_TOKEN"
"""The environment variable that gives a token, before any file."""

FILE: Final = "token"
"""The file in the log's folder that keeps one."""


class Token:
    """A secret that no log line, error or trace shows."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        if not text:
            raise ValueError("an empty token would let everyone in")
        self._text = text

    def __repr__(self) -> str:
        return "Token(hidden)"

    def matches(self, presented: object) -> bool:
        """Whether *presented* is this token; the time taken tells nothing about it."""
        return isinstance(presented, str) and compare_digest(
            presented.encode(errors="surrogatepass"), self._text.encode(errors="surrogatepass")
        )

    def reveal(self) -> str:
        """Return the secret, to be sent or written and nothing else."""
        return self._text


def load_token(folder: Path, environment: Mapping[str, str] | None = None) -> Token:
    """Return the gateway's token: the environment's, else the folder's, else a new one.

    A new one is written to *folder* in a file that only its owner can read; several gateways that
    start at once agree on one. A file that others can read is closed to them.
    """
    given = (os.environ if environment is None else environment).get(VARIABLE, "").strip()
    if given:
        return Token(given)
    path = folder / FILE
    if not path.exists():
        _create(path)
    if path.stat().st_mode & 0o077:
        path.chmod(0o600)
    return Token(path.read_text(encoding="utf-8").strip())


def without_token(environment: Mapping[str, str]) -> dict[str, str]:
    """Return *environment* as agents and commands get it: they could answer their own questions."""
    return {name: value for name, value in environment.items() if name != VARIABLE}


def _create(path: Path) -> None:
    """Write a new token whole, unless somebody else has just done so."""
    with NamedTemporaryFile("w", dir=path.parent, prefix=".token-") as draft:  # made 0600
        draft.write(secrets.token_urlsafe(32) + "\n")
        draft.flush()
        try:
            os.link(draft.name, path)
        except FileExistsError:
            return
