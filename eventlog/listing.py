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

_WATCHED: Final = frozenset({"session.opened", "session.alias", "session.title", "session.info"})


@dataclass(slots=True)
class Listing:
    """What some events change in a session's row: nothing, or one of these."""

    title: str | None = None
    """The last title; empty when it was taken away (ACP's null)."""
    opened: Mapping[str, Any] | None = None
    aliases: list[tuple[str, str]] = field(default_factory=list)

    def __bool__(self) -> bool:
        return self.title is not None or self.opened is not None or bool(self.aliases)


def listing(events: Iterable[Event]) -> Listing:
    """Return what *events* say about their session, the last title winning."""
    found = Listing()
    for event in events:
        if event.type in _WATCHED or b'"session_info_update"' in event.payload:
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
