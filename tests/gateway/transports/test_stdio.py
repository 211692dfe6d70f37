"""A program whose standard streams are a line."""

from __future__ import annotations

import subprocess
import sys
from os import pipe, write
from pathlib import Path

import anyio
import pytest

from eventlog import codec
from gateway.errors import FrameTooLong
from gateway.jsonrpc import Reply, Request, dump, parse
from gateway.transports import DescriptorTransport, taken

pytestmark = pytest.mark.anyio

ECHO = """
import os, subprocess, sys
import anyio
from gateway.peer import Peer
from gateway.transports import stdio

async def echo(call):
    print("a stray print")
    os.write(1, b"and a stray write\\n")
    subprocess.run([sys.executable, "-c", "print(input())"], stderr=subprocess.DEVNULL)
    return call.params

async def main():
    async with stdio(limit=1_000_000) as line:
        await Peer(line, echo).run()

print("before")
anyio.run(main)
print("after")
"""


def _run(text: bytes) -> tuple[list[bytes], bytes]:
    done = subprocess.run([sys.executable, "-c", ECHO], input=text, capture_output=True, check=True)
    return done.stdout.splitlines(), done.stderr


def test_nothing_but_frames_reaches_standard_output() -> None:
    """Prints and children write to standard error and read nothing; no frame is torn (P-4)."""
    out, err = _run(dump(Request(1, "m", {"a": 1})) + b"\n" + dump(Request(2, "m")) + b"\n")
    assert out[0] == b"before"
    assert out[-1] == b"after"
    answers = [parse(line) for line in out[1:-1]]
    assert sorted(answers, key=str) == [Reply(1, {"a": 1}), Reply(2, {})]
    assert err.count(b"a stray print") == 2
    assert err.count(b"and a stray write") == 2


def test_the_last_request_needs_no_line_end_and_is_answered() -> None:
    """The end of input does not cut off the answers to what came before it."""
    out, _ = _run(dump(Request("last", "m")))
    assert parse(out[1]) == Reply("last", {})


def test_a_line_over_the_limit_costs_an_error() -> None:
    """It is answered with its size, and the next frame works (P-2, R148)."""
    large = dump(Request(1, "m", {"text": "x" * 1_000_000}))
    out, _ = _run(large + b"\n" + dump(Request(2, "m")) + b"\n")
    refusal, answer = (codec.loads(line) for line in out[1:-1])
    assert refusal["id"] is None
    assert refusal["error"]["code"] == -32600
    assert f"{len(large)} bytes is over the limit of 1000000" in refusal["error"]["message"]
    assert answer["id"] == 2


async def test_a_reader_that_stands_still_holds_up_nobody() -> None:
    """A full pipe lets the program go on; what has left is known inside a frame (P-20)."""
    (to_right, from_left), (to_left, from_right) = pipe(), pipe()
    left = DescriptorTransport(to_left, from_left)
    right = DescriptorTransport(to_right, from_right)
    frame = b"x" * 1_000_000
    with anyio.fail_after(10):
        async with left, right, anyio.create_task_group() as tasks:
            tasks.start_soon(left.send, frame)
            while not taken(left):
                await anyio.lowlevel.checkpoint()
            assert 0 < taken(left) < len(frame)
            assert await right.receive() == frame
    assert taken(left) == len(frame) + 1


async def test_an_interrupted_frame_is_the_last() -> None:
    """After half a frame nothing else is written: it could not be told apart."""
    (to_right, from_left), (to_left, from_right) = pipe(), pipe()
    left = DescriptorTransport(to_left, from_left)
    async with left, DescriptorTransport(to_right, from_right):
        with anyio.move_on_after(0.01):
            await left.send(b"x" * 1_000_000)
        with pytest.raises(anyio.BrokenResourceError):
            await left.send(b"{}")


async def test_a_file_is_a_line_too(tmp_path: Path) -> None:
    """`< frames > answers` works: files cannot be waited for, and need not be."""
    (tmp_path / "in").write_bytes(b"one\ntwo\n")
    with (tmp_path / "in").open("rb") as source, (tmp_path / "out").open("wb") as sink:
        line = DescriptorTransport(source.fileno(), sink.fileno())
        assert [await line.receive(), await line.receive()] == [b"one", b"two"]
        with pytest.raises(anyio.EndOfStream):
            await line.receive()
        await line.send(b"three")
    assert (tmp_path / "out").read_bytes() == b"three\n"


async def test_closing_ends_a_wait() -> None:
    """Whoever waits for a frame learns that the line was closed here."""
    (to_right, from_left), (to_left, from_right) = pipe(), pipe()
    left = DescriptorTransport(to_left, from_left)
    with anyio.fail_after(10):
        async with DescriptorTransport(to_right, from_right), anyio.create_task_group() as tasks:

            async def wait() -> None:
                with pytest.raises(anyio.ClosedResourceError):
                    await left.receive()

            tasks.start_soon(wait)
            await anyio.wait_all_tasks_blocked()
            await left.aclose()
            with pytest.raises(anyio.ClosedResourceError):
                await left.send(b"{}")


async def test_a_frame_behind_one_too_long_is_read() -> None:
    """Reading goes on behind a line that was skipped (R148)."""
    (to_right, from_left), (to_left, from_right) = pipe(), pipe()
    right = DescriptorTransport(to_right, from_right, limit=10)
    async with right, DescriptorTransport(to_left, from_left):
        write(from_left, b"x" * 50 + b"\nshort\n")
        with pytest.raises(FrameTooLong, match="50 bytes is over the limit of 10"):
            await right.receive()
        assert await right.receive() == b"short"
