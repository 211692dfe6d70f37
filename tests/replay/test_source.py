"""What SESSION means: ids, beginnings, aliases, latest, files (cli.md; R141)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eventlog import Event, InvalidSessionId, SessionId, open_log
from replay.errors import AmbiguousName, ReplayError, SessionNotFound, WrongName
from replay.source import is_file_name, read_file, read_log

pytestmark = pytest.mark.anyio


async def _ids(name: str, log: Path) -> list[str]:
    return [one.id for one in (await read_log(name, log=str(log))).sessions]


def _in_file(name: str | Path, session: str | None = None) -> list[str]:
    return [one.id for one in read_file(str(name), session).sessions]


@pytest.mark.parametrize(
    ("name", "id_"),
    [
        ("s-one", "s-one"),
        ("s-on", "s-one"),
        ("t", "t-two"),
        ("alias-s-other", "s-other"),
        ("latest", "t-two"),
    ],
)
async def test_a_session_of_the_log_has_many_names(log: Path, name: str, id_: str) -> None:
    """Cli: SESSION is an id, a unique prefix, an alias, or `latest`."""
    assert await _ids(name, log) == [id_]


@pytest.mark.parametrize(
    ("name", "error"), [("s-", AmbiguousName), ("x", SessionNotFound), ("S-ONE", SessionNotFound)]
)
async def test_a_name_that_means_none_or_several_is_refused(
    log: Path, name: str, error: type[ReplayError]
) -> None:
    """Cli: an ambiguous beginning names its candidates; an unknown name, where it was looked for."""
    with pytest.raises(error, match=r"s-one, s-other|s-other, s-one|log"):
        await _ids(name, log)


async def test_lines_of_the_log_come_whole_and_in_order(log: Path) -> None:
    """R017: every line, by seq."""
    (session,) = (await read_log("s-one", log=str(log))).sessions

    assert [text.split(b",")[0] for text in session.lines] == [
        b'{"seq":%d' % n for n in range(1, 9)
    ]


HOSTILE = [
    "",
    ".",
    "..",
    "x" * 300,
    "%2e%2e",
    "id\n",
    "s-оne",
    "CON ",
    "a b",
    "\x00",
    "s\u202e",
    "~",
]


@pytest.mark.parametrize("name", HOSTILE, ids=ascii)
async def test_what_is_no_id_is_refused_before_anything_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """R141: neither the log nor a file is touched for a name that cannot be one."""

    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("something was opened")

    monkeypatch.setattr("replay.source.open_reader", refuse)
    monkeypatch.setattr("pathlib.Path.read_bytes", refuse)
    with pytest.raises(InvalidSessionId):
        await _ids(name, tmp_path)
    with pytest.raises(InvalidSessionId):
        _in_file("some.jsonl", name)


@pytest.mark.parametrize("name", ["../x", "..\\x", "a/b", "/no/such/place", "./-"])
async def test_a_path_to_nothing_is_no_session_either(name: str) -> None:
    """R141: what has the form of a path is only ever read as a file, never as an id."""
    assert is_file_name(name)
    with pytest.raises(WrongName, match="is no file, and no session has such a name"):
        _in_file(name)


async def test_an_id_in_a_file_is_never_a_path(cassette: Callable[..., Path]) -> None:
    """R141: a cassette that calls its session `../x` is damaged, and nothing is looked up."""

    def rename(lines: list[bytes]) -> None:
        start = lines[0].index(b'"session_id":"') + len(b'"session_id":"')
        lines[0] = lines[0][:start] + b"../x" + lines[0][lines[0].index(b'"', start) :]

    held = read_file(str(cassette(change=rename)))

    assert not held.sessions
    assert held.flaws


async def test_one_session_of_a_file_can_be_picked(captures: Path) -> None:
    """Cli: `--session ID` picks one, by its id or a beginning that only it has."""
    file = captures / "hermes/15_two_sessions.jsonl"
    first, second, gateway = _in_file(file)

    assert _in_file(file, second) == [second]
    with pytest.raises(AmbiguousName):
        _in_file(file, "imp-")
    with pytest.raises(SessionNotFound):
        _in_file(file, "s-one")
    assert gateway == first.removesuffix("1") + "0"


async def test_a_folder_is_no_session(tmp_path: Path) -> None:
    """Bad input: a folder may be a log; the option for that is named."""
    with pytest.raises(WrongName, match="--log"):
        _in_file(tmp_path)


async def test_a_file_that_is_not_there_is_said_so() -> None:
    """Cli: a name with the suffix of a session file is a file."""
    assert is_file_name("nothing.jsonl")
    with pytest.raises(SessionNotFound):
        _in_file("nothing.jsonl")


async def test_the_latest_is_a_session(log: Path) -> None:
    """Cli: `latest` is a session, never what an import kept of no session, however new."""
    async with open_log(log) as store:
        await store.append(SessionId("imp-0123456789ab-0"), [Event.of("sessions.changed")])

    assert await _ids("latest", log) == ["t-two"]
    assert await _ids("imp-0123456789ab-0", log) == ["imp-0123456789ab-0"]
