"""`hermes-log`, run as people run it: what it prints, what it exits with, how it ends."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import anyio
import pytest

from eventlog import Event, SessionId, SqliteStore, exits
from tests.eventlog.program import COMMAND, hermes_log

pytestmark = pytest.mark.anyio


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A log of two sessions, the newer one with a title that would harm a terminal."""
    path = tmp_path / "log"
    anyio.run(fill, path)
    return path


async def fill(path: Path) -> None:
    async with SqliteStore.open(path) as store:
        await store.append(SessionId("old"), [Event.of("message.delta", {"text": "é"})], at=[1])
        await store.append(
            SessionId("new-one"),
            [
                Event.of("session.opened", {"cwd": "/x", "title": "a\x1b[31m\u202eb"}),
                Event.of("message.delta", {"text": "c\x9b\x7f\ud83d\x1b]8"}, origin="e:1"),
                Event.of("session.alias", {"scope": "acp", "id": "theirs"}),
            ],
            at=[1_700_000_000_000_000 + n for n in range(3)],
        )


def test_sessions_are_listed_newest_first(log: Path) -> None:
    """One line a session, in columns, with nothing in it that a terminal would obey."""
    found = hermes_log("ls", log=log)

    assert found.stdout.splitlines() == [
        "new-one  3  2023-11-14T22:13:20.000002Z  a\\u001b[31m\\u202eb",
        "old      1  1970-01-01T00:00:00.000001Z",
    ]
    assert (found.stderr, found.returncode) == ("", exits.OK)


def test_the_list_comes_as_json_too(log: Path) -> None:
    """`--json` gives the same as an array."""
    rows = json.loads(hermes_log("ls", "--json", log=log).stdout)

    assert [(row["id"], row["events"], row["title"]) for row in rows] == [
        ("new-one", 3, "a\x1b[31m\u202eb"),
        ("old", 1, None),
    ]
    assert rows[0]["opened"]["cwd"] == "/x"


@pytest.mark.parametrize("name", ["new-one", "new", "latest", "theirs"])
def test_a_session_is_shown_by_any_of_its_names(name: str, log: Path) -> None:
    """An id, the beginning of one, `latest`, an alias: one line an event, controls escaped."""
    found = hermes_log("show", name, log=log)

    assert found.returncode == exits.OK
    assert found.stdout.splitlines()[1] == (
        "     2  2023-11-14T22:13:20.000001Z  message.delta  "
        '{"text":"c\\u009b\\u007f\\ud83d\\u001b]8"},"origin":"e:1"'
    )
    assert len(found.stdout.splitlines()) == 3


async def test_an_exported_session_is_the_log_s_own_lines(log: Path, tmp_path: Path) -> None:
    """A cassette goes to stdout or to a file, the same bytes."""
    async with SqliteStore.open(log) as store:
        body = (await store.read(SessionId("new-one"))).body
    file = tmp_path / "out.jsonl"

    assert hermes_log("export", "new", "-o", file, log=log).returncode == exits.OK
    text = file.read_bytes()

    assert hermes_log("export", "new", log=log).stdout.encode() == text
    assert text.split(b"\n", 1)[1] == body + b"\n"


@pytest.mark.parametrize(
    ("command", "name", "code"),
    [
        *((command, "unknown", exits.NOT_FOUND) for command in ("show", "export", "verify")),
        *((command, "../old", exits.USAGE) for command in ("show", "export", "verify")),
        *(
            ("show", name, exits.USAGE)
            for name in ("/etc/passwd", "..\\old", "a\n", "", "x" * 300, "%2e%2e")
        ),
    ],
)
def test_a_name_that_means_nothing_is_told(command: str, name: str, code: int, log: Path) -> None:
    """Unknown is 3, what cannot be an id is 2; either way one line on stderr (R029, R141)."""
    found = hermes_log(command, name, log=log)

    assert (found.returncode, found.stdout) == (code, "")
    assert len(found.stderr.splitlines()) == 1


def test_a_bad_id_touches_no_file(tmp_path: Path) -> None:
    """What cannot be an id is refused before the log is even looked for (R141)."""
    found = hermes_log("show", "../x", log=tmp_path / "nowhere")

    assert (found.returncode, list(tmp_path.iterdir())) == (exits.USAGE, [])


async def test_a_name_of_several_sessions_names_them(log: Path) -> None:
    """A beginning that several ids share is no choice: they are named."""
    async with SqliteStore.open(log) as store:
        await store.append(SessionId("new-two"), [Event.of("x")])
    found = hermes_log("show", "new", log=log)

    assert (found.returncode, found.stdout) == (exits.USAGE, "")
    assert "new-one" in found.stderr
    assert "new-two" in found.stderr


def test_a_whole_log_is_verified(log: Path) -> None:
    """Nothing found: nothing on stdout, exit 0."""
    for arguments in (["verify"], ["verify", "latest"]):
        found = hermes_log(*arguments, log=log)
        assert (found.returncode, found.stdout) == (exits.OK, "")
        assert "as it was written" in found.stderr


def test_damage_is_found_by_name(log: Path) -> None:
    """A changed batch is named, one line each, and the exit code is 1."""
    with closing(sqlite3.connect(log / "events.db")) as database, database:
        database.execute(
            "update batch set body = cast(replace(cast(body as text), 'cwd', 'dwc') as blob)"
        )
    found = hermes_log("verify", log=log)

    assert found.stdout.splitlines() == ["new-one: events 1 to 3 are damaged"]
    assert found.returncode == exits.FOUND
    assert hermes_log("verify", "old", log=log).returncode == exits.OK


def test_a_file_that_is_no_log_is_told(tmp_path: Path) -> None:
    """A damaged or foreign file is 4, and it says what to try (R029)."""
    path = tmp_path / "x.db"
    path.write_bytes(b"no log" * 1000)
    for command in (["ls"], ["show", "latest"], ["verify"]):
        found = hermes_log(*command, "--log", path)
        assert (found.returncode, found.stdout) == (exits.DAMAGED, "")
        assert "is not an event log" in found.stderr
        assert "--log" in found.stderr


def test_no_log_is_told(tmp_path: Path) -> None:
    """Where no log is, none is made, and the exit code is 5."""
    found = hermes_log("ls", "--log", tmp_path / "nowhere")

    assert (found.returncode, found.stdout) == (exits.UNAVAILABLE, "")
    assert "there is no log here" in found.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_server_that_is_not_there_is_told() -> None:
    """A `nats://` address where nobody listens: one line says what to do, and the exit code is 5."""
    found = hermes_log("ls", "--log", "nats://127.0.0.1:1/name")

    assert found.returncode == exits.UNAVAILABLE
    assert "nats://127.0.0.1:1/name: no server can be reached" in found.stderr


def test_an_export_that_cannot_be_written_is_told(log: Path, tmp_path: Path) -> None:
    """An output file in no folder is a wrong argument."""
    found = hermes_log("export", "old", "-o", tmp_path / "no" / "file", log=log)

    assert found.returncode == exits.USAGE
    assert "No such file" in found.stderr


@pytest.mark.parametrize("arguments", [["nonsense"], ["show"], ["ls", "--no-such-option"]])
def test_wrong_arguments_are_usage(arguments: list[str]) -> None:
    """Exit code 2, and stdout stays empty."""
    found = hermes_log(*arguments)
    assert (found.returncode, found.stdout) == (exits.USAGE, "")


@pytest.mark.parametrize("command", [[], ["ls"], ["show"], ["export"], ["verify"]])
def test_help_ends_with_examples(command: list[str]) -> None:
    """Every help shows how it is used."""
    found = hermes_log(*command, "--help")

    assert found.returncode == exits.OK
    assert "hermes-log" in found.stdout.rpartition("Examples:")[2]


@pytest.mark.parametrize("command", ["show", "export"])
async def test_a_reader_may_go_away(command: str, log: Path) -> None:
    """`| head -1` gets its line, and the program ends quietly and soon (R128, R029)."""
    async with SqliteStore.open(log) as store:
        await store.append(SessionId("long"), [Event.of("x", {"text": "y" * 500})] * 5_000)
    line, stderr, code = first_line([*COMMAND, command, "long"], log)

    assert line
    assert stderr == ""
    assert code in {0, 141}


def first_line(command: list[str], log: Path) -> tuple[str, str, int]:
    """Read one line of what *command* prints, and go away."""
    environ = {**os.environ, "HERMES_LOG": str(log), "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environ
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        line = process.stdout.readline()
        process.stdout.close()
        stderr = process.stderr.read()
        return line, stderr, process.wait(timeout=5)


INTERRUPTED = """
import os, signal
import anyio
from eventlog import exits, open_log
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may start us without
async def main():
    async with open_log() as log:
        os.kill(os.getpid(), signal.SIGINT)
        await anyio.sleep_forever()
with exits.ending("test"):
    anyio.run(main)
"""

FAILED = """
import threading
import anyio
from eventlog import exits, open_log
async def main():
    async with open_log() as log:
        raise ValueError("a bug")
try:
    anyio.run(main)
finally:
    print(sum("worker_thread" in thread.name for thread in threading.enumerate()))
"""


def test_an_interrupt_ends_the_program(tmp_path: Path) -> None:
    """Ctrl-C while a log is open closes it and exits with 130, without a traceback (R029)."""
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED],
        env={**os.environ, "HERMES_LOG": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert (done.returncode, done.stderr) == (exits.INTERRUPTED, "")
    assert signal.SIGINT.value == 2


def test_an_exception_ends_the_program(tmp_path: Path) -> None:
    """A bug inside leaves no thread of the database behind that would keep the process (R029)."""
    done = subprocess.run(
        [sys.executable, "-c", FAILED],
        env={**os.environ, "HERMES_LOG": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.stdout == "0\n"
    assert "ValueError: a bug" in done.stderr
    assert "ExceptionGroup" not in done.stderr


def test_what_is_printed_depends_on_nothing(log: Path) -> None:
    """Width, colour, locale, encoding and time zone change no byte on stdout."""
    environs: list[dict[str, str]] = [
        {},
        {"COLUMNS": "20", "TERM": "dumb", "TZ": "Asia/Tokyo", "NO_COLOR": "1"},
        {"COLUMNS": "200", "FORCE_COLOR": "1", "LC_ALL": "C", "PYTHONIOENCODING": "ascii"},
    ]
    for command in (["ls"], ["show", "old"]):
        printed = {hermes_log(*command, log=log, environ=environ).stdout for environ in environs}
        assert len(printed) == 1
