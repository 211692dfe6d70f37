"""Text that only grows."""

from __future__ import annotations

import pytest

from replay import TextOptions
from replay.feed import Feed
from replay.selection import Selection
from tests.replay.records import Log

OPTIONS = TextOptions(time="none")


@pytest.mark.parametrize(
    "wanted", [Selection(), Selection(only=frozenset({"agent"})), Selection(last=1)]
)
def test_half_a_message_is_not_printed(wanted: Selection) -> None:
    """ADR 8: what cannot be taken back waits until it is whole, whatever is filtered."""
    log = Log()
    log.ends(log.prompt("Earlier"))
    prompt = log.prompt("Go")
    log.says("Fir", "m1")
    feed = Feed(OPTIONS, wanted)
    printed = feed.opening(log.folded())
    log.says("st.", "m1")
    printed += feed.more(log.folded())
    assert "Fir" not in printed
    log.says("Second.", "m2")
    printed += feed.more(log.folded())
    assert printed.count("First.") == 1
    assert "Second" not in printed
    log.ends(prompt)
    printed += feed.more(log.folded()) + feed.closing(log.folded())

    assert printed.count("First.") == printed.count("Second.") == 1


def test_a_question_is_printed_at_once() -> None:
    """Whoever watches a pipe has to see that somebody is asked."""
    log = Log()
    log.prompt("Go")
    asked = {"description": "runs a shell loop", "command": "make", "choices": ["once", "deny"]}
    log.add("request.opened", id="srq-1", method="approval", params=asked)

    assert "runs a shell loop" in Feed(OPTIONS).opening(log.folded())
