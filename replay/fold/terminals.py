"""Terminals: output in tools' `_meta`, in calls of `terminal/*`, in updates of its own.

Above this module: `tools`, `calls`, `acp`, `hermes`. Below it: `draft`, `screens`.
"""

from __future__ import annotations

import base64
import binascii
from typing import Any, Final

from replay.fold import shape
from replay.fold.draft import Draft
from replay.fold.shape import Misshapen, Payload

META: Final = ("terminal_info", "terminal_output", "terminal_output_delta", "terminal_exit")
_META: Final = frozenset(META)


def speaks(meta: Payload) -> bool:
    """Tell whether *meta* says something of terminals."""
    return not _META.isdisjoint(meta)


def check_meta(meta: Payload) -> None:
    """Raise `Misshapen` unless `feed_meta` can take *meta*."""
    for key in META:
        said = shape.maybe_mapping(meta, key)
        if said is None:
            continue
        shape.maybe_text(said, "terminal_id")
        if key.startswith("terminal_output"):
            shape.text(said, "data")
        if key == "terminal_exit":
            shape.maybe_integer(said, "exit_code")
            shape.maybe_text(said, "signal")


def feed_meta(draft: Draft, meta: Payload, tool_id: str) -> list[str]:
    """Create, feed and close the terminals that *meta* speaks of; return their ids."""
    fed = []
    for key in META:
        if (said := meta.get(key)) is None:
            continue
        screen = draft.screen(said.get("terminal_id") or tool_id)
        fed.append(said.get("terminal_id") or tool_id)
        if key.startswith("terminal_output"):
            screen.feed(said["data"])
        elif key == "terminal_exit":
            screen.set(exit_code=said.get("exit_code"), signal=said.get("signal"))
            screen.close()
    return list(dict.fromkeys(fed))


def terminal_update(draft: Draft, update: Payload) -> None:
    """Upsert a terminal (v2)."""
    name = shape.name(update, "terminalId")
    command = shape.maybe_text(update, "command")
    output = shape.maybe_text(update, "output")
    status = shape.maybe_mapping(update, "exitStatus")
    ended = exit_of(status) if status is not None else None
    screen = draft.screen(name)
    screen.set(command=command)
    if output is not None:
        screen.show(output)
    if ended is not None:
        screen.set(**ended)
        screen.close()


def terminal_output_chunk(draft: Draft, update: Payload) -> None:
    """Append bytes to a terminal (v2)."""
    name = shape.name(update, "terminalId")
    draft.screen(name).feed_bytes(decoded(shape.text(update, "data")))


def exit_of(status: Payload) -> dict[str, Any]:
    """Return how a terminal's command ended, as fields of a terminal."""
    return {
        "exit_code": shape.maybe_integer(status, "exitCode"),
        "signal": shape.maybe_text(status, "signal"),
    }


def output(draft: Draft, payload: Payload) -> None:
    """Append what a process of Hermes has written."""
    name, chunk = shape.name(payload, "process_id"), shape.text(payload, "chunk")
    draft.screen(name).feed(chunk)


def closed(draft: Draft, payload: Payload) -> None:
    """Close the terminal of a process of Hermes."""
    draft.screen(shape.name(payload, "process_id")).close()


def decoded(data: str) -> bytes:
    """Return the bytes of a base64 text."""
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        raise Misshapen("data is no base64") from None
