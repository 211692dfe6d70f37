"""What a list of sessions shows comes from the events, and from nothing else."""

from __future__ import annotations

import pytest

from eventlog import Event
from eventlog.listing import listing


def test_most_events_change_nothing() -> None:
    """Events that say nothing about their session are not even parsed."""
    assert listing([]) is None
    assert listing([Event("message.delta", b"not looked at"), Event.of("session.closed")]) is None
    assert listing([Event.of("acp.session_update", {"update": {"sessionUpdate": "plan"}})]) is None


def test_the_last_title_wins() -> None:
    """Titles come from several events; the last one counts, and null takes it away."""
    titles = [Event.of("session.title", {"title": title}) for title in ("a", "b", " c ")]

    found = listing(titles)
    assert found is not None
    assert found.title == "c"
    gone = listing([*titles, Event.of("session.title", {"title": None})])
    assert gone is not None
    assert gone.title == ""


def test_the_first_opening_is_kept() -> None:
    """A session is described by its first `session.opened`."""
    found = listing([Event.of("session.opened", {"cwd": cwd}) for cwd in ("/a", "/b")])

    assert found is not None
    assert found.opened == {"cwd": "/a"}


def test_aliases_are_scoped() -> None:
    """The same foreign id from two places is two aliases."""
    found = listing([Event.of("session.alias", {"scope": s, "id": "x"}) for s in ("acp:a", "h")])

    assert found is not None
    assert found.aliases == [("acp:a", "x"), ("h", "x")]


@pytest.mark.parametrize(
    ("type_", "payload"),
    [
        ("session.alias", {"scope": 1, "id": "x"}),
        ("session.alias", {}),
        ("session.title", {"title": 5}),
        ("session.info", {}),
        ("acp.session_update", {"update": "session_info_update"}),
        ("acp.session_update", {"a": {"sessionUpdate": "session_info_update"}}),
    ],
)
def test_events_of_another_shape_change_nothing(type_: str, payload: dict[str, object]) -> None:
    """What does not have the expected members is recorded, and tells the list nothing."""
    found = listing([Event.of(type_, payload)])

    assert found is None or (found.title, found.opened, found.aliases) == (None, None, [])
