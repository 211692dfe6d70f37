"""What the list of sessions shows, derived from events as they are appended.

Above this module: the adapters, which keep what it finds beside the events, in the same
transaction. Below it: `event`. An adapter that lost these rows could rebuild them from the log.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from eventlog import codec
from eventlog.event import Event

LISTED: Final = frozenset(
    {"session.opened", "session.alias", "session.title", "session.info", "acp.session_update"}
)
"""The types of event that may change a session's row."""


@dataclass(slots=True)
class Listing:
    """What some events change in a session's row: one of these, or several."""

    title: str | None = None
    """The last title; empty when it was taken away (ACP's null)."""
    opened: Mapping[str, Any] | None = None
    aliases: list[tuple[str, str]] = field(default_factory=list)


def listing(events: Iterable[Event]) -> Listing | None:
    """Return what *events* say about their session, the last title winning; None if nothing."""
    found = None
    for event in events:
        if event.type in LISTED and (
            event.type != "acp.session_update" or b'"session_info_update"' in event.payload
        ):
            found = found or Listing()
            _note(found, event.type, codec.loads(event.payload))
    return found


def _note(found: Listing, type_: str, payload: Mapping[str, Any]) -> None:
    match type_, payload:
        case "session.alias", {"scope": str(scope), "id": str(alias)}:
            found.aliases.append((_unicode(scope), _unicode(alias)))
        case "session.opened", _:
            found.opened = payload if found.opened is None else found.opened
            _retitle(found, payload)
        case "acp.session_update", {"update": {"sessionUpdate": "session_info_update"} as update}:
            _retitle(found, update)
        case (("session.title" | "session.info"), _):
            _retitle(found, payload)


def _retitle(found: Listing, members: Mapping[str, Any]) -> None:
    match members:
        case {"title": str(title)}:
            found.title = _unicode(title).strip()
        case {"title": None}:
            found.title = ""


def _unicode(text: str) -> str:
    """Return *text* as every database can hold it: a lone surrogate becomes U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
