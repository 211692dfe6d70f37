"""An agent reads and writes the files that it may, and no others, whatever it calls them."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gateway.errors import RpcError
from gateway.workspace.files import MOST, Files

pytestmark = pytest.mark.anyio

SECRET = "not for agents"  # noqa: S105 - it is the text of a file


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A root with a session's folder in it, and something beside it that is not for agents."""
    (tmp_path / "root" / "work").mkdir(parents=True)
    (tmp_path / "root" / "notes.txt").write_text("one\ntwo\nthree")
    (tmp_path / "root-beside").mkdir()
    (tmp_path / "root-beside" / "secret").write_text(SECRET)
    return tmp_path


@pytest.fixture
def files(place: Path) -> Files:
    return Files(place / "root", place / "root" / "work")


async def read(files: Files, path: Path | str, **members: Any) -> str:
    answer = await files.read({"sessionId": "s", "path": str(path), **members})
    return answer["content"]


async def write(files: Files, path: Path | str, content: str) -> None:
    await files.write({"sessionId": "s", "path": str(path), "content": content})


async def code_of_reading(files: Files, path: Path | str) -> int:
    with pytest.raises(RpcError) as refused:
        await read(files, path)
    return int(refused.value.code)


@pytest.mark.parametrize(
    ("members", "content"),
    [
        ({}, "one\ntwo\nthree"),
        ({"line": None, "limit": None}, "one\ntwo\nthree"),
        ({"line": 0}, "one\ntwo\nthree"),
        ({"line": 2}, "two\nthree"),
        ({"limit": 2}, "one\ntwo\n"),
        ({"line": 2, "limit": 1}, "two\n"),
        ({"line": 3, "limit": 9}, "three"),
        ({"line": 9}, ""),
        ({"limit": 0}, ""),
    ],
)
async def test_lines_are_counted_from_one(
    files: Files, place: Path, members: dict[str, Any], content: str
) -> None:
    """`line` is the first one, `limit` how many; what is not there is empty."""
    assert await read(files, place / "root" / "notes.txt", **members) == content


@pytest.mark.parametrize("text", ["", "\r\nCR\rLF\n", "\ufeffBOM\0NUL", "漢字 👩‍🚀\n"])
async def test_text_comes_back_as_it_was_written(files: Files, place: Path, text: str) -> None:
    """Nothing is added, translated or taken away."""
    path = place / "root" / "work" / "new" / "deep" / "file"

    await write(files, path, text)

    assert await read(files, path) == text
    assert path.read_bytes() == text.encode()
    assert [one.name for one in path.parent.iterdir()] == ["file"]


async def test_a_replaced_file_keeps_its_permissions(files: Files, place: Path) -> None:
    """A script that an agent edits can still be run; a new file is what the umask says."""
    path = place / "root" / "work" / "run.sh"
    path.write_text("old")
    path.chmod(0o750)

    await write(files, path, "new")

    assert stat.S_IMODE(path.stat().st_mode) == 0o750


async def test_a_missing_file_is_said_to_be_missing(files: Files, place: Path) -> None:
    """-32002 in the words of ACP's own libraries, which some agents read."""
    path = str(place / "root" / "nothing")
    with pytest.raises(RpcError, match=f"Resource not found: {path}") as refused:
        await read(files, path)

    assert (refused.value.code, refused.value.data) == (-32002, {"uri": path})


def out_by_link(place: Path) -> Path:
    link = place / "root" / "work" / "link"
    link.symlink_to(place / "root-beside" / "secret")
    return link


def out_by_linked_folder(place: Path) -> Path:
    link = place / "root" / "work" / "folder"
    link.symlink_to(place / "root-beside")
    return link / "secret"


def out_by_relative_link(place: Path) -> Path:
    link = place / "root" / "work" / "up"
    link.symlink_to("../../root-beside/secret")
    return link


def out_by_loop(place: Path) -> Path:
    link = place / "root" / "work" / "loop"
    link.symlink_to(link)
    return link


WAYS_OUT: dict[str, Callable[[Path], Path | str]] = {
    "beside": lambda place: place / "root-beside" / "secret",
    "dots": lambda place: place / "root" / "work" / ".." / ".." / "root-beside" / "secret",
    "link": out_by_link,
    "linked folder": out_by_linked_folder,
    "relative link": out_by_relative_link,
    "loop": out_by_loop,
    "relative": lambda _: "work/../../root-beside/secret",
    "empty": lambda _: "",
    "nul": lambda place: f"{place / 'root' / 'work'}/a\0b",
    "long": lambda place: f"{place / 'root' / 'work'}/{'x' * 5000}",
    "root itself": lambda place: place / "root",
    "folder": lambda place: place / "root" / "work",
    "device": lambda _: "/dev/zero",
    "process": lambda _: "/proc/self/environ",
    "through a file": lambda place: place / "root" / "notes.txt" / "deeper",
}


@pytest.mark.parametrize("way", WAYS_OUT)
async def test_there_is_no_way_out(files: Files, place: Path, way: str) -> None:
    """Neither reading nor writing leaves the folder, by whatever name; nothing is left behind."""
    path = WAYS_OUT[way](place)

    assert await code_of_reading(files, path) == -32602
    with pytest.raises(RpcError) as refused:
        await write(files, path, "mine now")

    assert refused.value.code == -32602
    assert (place / "root-beside" / "secret").read_text() == SECRET
    assert not any(name.endswith(".part") for *_, names in os.walk(place) for name in names)


async def test_a_link_that_stays_inside_is_followed(files: Files, place: Path) -> None:
    """Projects are full of them; the file is written, the link stays."""
    (place / "root" / "work" / "real").write_text("old")
    link = place / "root" / "work" / "link"
    link.symlink_to("real")

    await write(files, link, "new")

    assert link.is_symlink()
    assert await read(files, link) == (place / "root" / "work" / "real").read_text() == "new"


async def test_a_link_put_there_in_between_leads_nowhere(
    files: Files, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was a folder when it was looked at, and is a link when it is opened, is not opened."""
    (place / "root" / "work" / "folder").mkdir()
    real = os.path.realpath

    def exchanged(path: str | Path) -> str:
        found = real(path)
        if found.endswith("folder/secret"):
            (place / "root" / "work" / "folder").rmdir()
            (place / "root" / "work" / "folder").symlink_to(place / "root-beside")
        return found

    monkeypatch.setattr(os.path, "realpath", exchanged)

    assert await code_of_reading(files, place / "root" / "work" / "folder" / "secret") == -32602


async def test_a_dangling_link_makes_no_file_elsewhere(files: Files, place: Path) -> None:
    """Writing to a link whose target is outside and does not exist yet, makes nothing."""
    link = place / "root" / "work" / "link"
    link.symlink_to(place / "root-beside" / "made")

    with pytest.raises(RpcError):
        await write(files, link, "mine now")

    assert not (place / "root-beside" / "made").exists()


async def test_a_hard_link_is_replaced_and_not_written_through(files: Files, place: Path) -> None:
    """A second name of a file outside becomes a file of its own."""
    link = place / "root" / "work" / "hard"
    link.hardlink_to(place / "root-beside" / "secret")

    await write(files, link, "mine")

    assert link.read_text() == "mine"
    assert (place / "root-beside" / "secret").read_text() == SECRET


async def test_a_pipe_is_no_file(files: Files, place: Path) -> None:
    """It is refused at once; nobody waits for somebody to write to it."""
    pipe = place / "root" / "work" / "pipe"
    os.mkfifo(pipe)

    assert await code_of_reading(files, pipe) == -32602
    with pytest.raises(RpcError, match="regular"):
        await write(files, pipe, "mine")
    assert stat.S_ISFIFO(pipe.stat().st_mode)


async def test_what_is_read_outside_of_the_session_is_not_written(
    files: Files, place: Path
) -> None:
    """The root may be read; only the session's own folder may be written."""
    with pytest.raises(RpcError, match="below"):
        await write(files, place / "root" / "notes.txt", "mine")
    assert await read(files, place / "root" / "notes.txt", limit=1) == "one\n"


async def test_a_session_elsewhere_writes_nothing(place: Path) -> None:
    """A session whose folder is not under the root may read there, and write nowhere."""
    files = Files(place / "root", place / "root-beside")

    with pytest.raises(RpcError, match="outside"):
        await write(files, place / "root-beside" / "secret", "mine")
    with pytest.raises(RpcError, match="outside"):
        await write(files, place / "root" / "notes.txt", "mine")


async def test_too_much_is_refused_with_the_number(files: Files, place: Path) -> None:
    """A line or a file over the limit is not cut in silence; fewer lines of it can be had."""
    lines = place / "root" / "lines"
    lines.write_text("x" * 1023 + "\n")
    with lines.open("a") as file:
        file.truncate(MOST + 4096)

    for members in ({}, {"line": 2}):
        with pytest.raises(RpcError, match=str(MOST)):
            await read(files, lines, **members)
    assert len(await read(files, lines, limit=1)) == 1024
    with pytest.raises(RpcError, match=str(MOST)):
        await write(files, place / "root" / "work" / "big", "x" * (MOST + 1))


async def test_what_is_no_text_is_refused(files: Files, place: Path) -> None:
    """Bytes that are no UTF-8 would come back as others; the place of the first is named."""
    (place / "root" / "picture").write_bytes(b"ok\xff\xd8")

    with pytest.raises(RpcError, match="byte 2"):
        await read(files, place / "root" / "picture")
    with pytest.raises(RpcError, match="half a character"):
        await write(files, place / "root" / "work" / "half", "\ud800")


@pytest.mark.parametrize(
    "members", [{}, {"path": 7}, {"path": "/x", "line": -1}, {"path": "/x", "limit": True}]
)
async def test_params_are_read_strictly(files: Files, members: dict[str, Any]) -> None:
    """What is wrong is named."""
    with pytest.raises(RpcError) as refused:
        await files.read({"sessionId": "s", **members})

    assert refused.value.code == -32602
    assert refused.value.data["path"] in ("path", "line", "limit")


async def test_what_the_machine_refuses_is_told(files: Files, place: Path) -> None:
    """A full disk or a missing permission is an error of the call, not of the gateway."""
    folder = place / "root" / "work" / "x" / "y"
    folder.parent.mkdir()
    folder.parent.touch()
    folder.write_text("a file where a folder is needed")

    with pytest.raises(RpcError) as refused:
        await write(files, folder / "z", "mine")

    assert refused.value.code == -32602
