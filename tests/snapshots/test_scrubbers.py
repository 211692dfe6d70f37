"""Scrubbers: what differs between equal runs becomes a placeholder, everything else stays."""

from __future__ import annotations

import pytest

from snapshots import SCRUBBERS, Scrubber, scrub


@pytest.mark.parametrize(
    ("text", "scrubbed"),
    [
        ("id 6f1d2c3b-0a1b-4c2d-8e3f-000102030405.", "id <uuid:1>."),
        ("srq-0123456789ab was asked", "<request:1> was asked"),
        ("at 2026-11-30T14:02:11.5Z and 2026-11-30 14:02:12", "at <time:1> and <time:2>"),
        ("at 2026-11-30T15:02:30.986249+00:00", "at <time:1>"),
        ("Today is 2026-11-30.", "Today is <date:1>."),
        ("cat /tmp/pytest-of-me/pytest-17/test_x0/log/a.txt", "cat <path:1>/log/a.txt"),
        ("cat /tmp/pytest-of-me/pytest-17/popen-gw1/test_x0/a", "cat <path:1>/a"),
        ("'/tmp/tmpab12/x', \"/tmp/tmpcd34\"", "'<path:1>/x', \"<path:2>\""),
        ("/private/var/folders/zz/9k8/T/tmpq1/out", "<path:1>/out"),
        ("/home/me/project/src/app.py", "<home:1>/project/src/app.py"),
        ("/Users/me/a /home/you/b /Users/me/c", "<home:1>/a <home:2>/b <home:1>/c"),
        (r"C:\Users\me\a.txt", r"<home:1>\a.txt"),
        ("commit 9fceb02d0ae598e95dc970b74767f19372d61af8", "commit <hex:1>"),
        ("object at 0x7f1cf95860d0", "object at <hex:1>"),
        ("pid 4711, pid=12", "pid <pid:1>, pid=<pid:2>"),
        ("http://127.0.0.1:43121/x", "http://127.0.0.1:<port:1>/x"),
        ("500 passed in 18.72s, 12 ms", "500 passed in <duration>, <duration>"),
    ],
)
def test_what_differs_is_replaced(text: str, scrubbed: str) -> None:
    """R136: ids, times, folders, processes and durations of a run leave no trace."""
    assert scrub(text) == scrubbed


@pytest.mark.parametrize(
    "text",
    [
        "deadbeef and facade are words, 12345678 is a number, 1e10 too",
        "see https://example.org/home/page and ./tmp/x and a/root/b",
        "version 2.6.0, sleep 0.3; echo 5 s, retry after 10s, line 42",
        "src/app.py:12, +5 −0, 3/3, exit -1, 2026",
        "<path:1> was written by a person",
        "toolu_000234mock call_0001 gpt-5.1-codex #ff00aa",
    ],
)
def test_what_does_not_differ_stays(text: str) -> None:
    """R145 for goldens: a golden that hides what was said proves nothing."""
    assert scrub(text) == text


def test_equal_values_have_equal_numbers_by_first_appearance() -> None:
    """R136: which value came first is the same in every run; what it is, is not."""
    first = "b " + "1" * 7 + "b, " + "2" * 7 + "a, " + "1" * 7 + "b"
    other = first.replace("1", "7").replace("2", "5")

    assert scrub(first) == scrub(other) == "b <hex:1>, <hex:2>, <hex:1>"


def test_a_scrubber_of_ones_own() -> None:
    """The scrubbers are a sequence: one of your own goes behind the others, or before them."""
    own = Scrubber("ticket", r"\bT-\d+\b")

    assert scrub("T-12 in /home/me, T-13, T-12", [*SCRUBBERS, own]) == (
        "<ticket:1> in <home:1>, <ticket:2>, <ticket:1>"
    )


def test_scrubbing_twice_is_scrubbing_once() -> None:
    """Placeholders are not replaced by placeholders."""
    text = "/home/x1/y 6f1d2c3b-0a1b-4c2d-8e3f-000102030405 in 1.5s"

    assert scrub(scrub(text)) == scrub(text)
