"""What a disk may hold after a power failure: every write that was not synced is a question.

A process runs under `shim.c`, which writes down what it does to the files of a folder. From that
any moment can be played back: what was synced is there; of what was not, each write is there, is
not, or is torn at a sector, each for itself and in no order.
"""

from __future__ import annotations

import os
import random
import shutil
import struct
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import pytest

SECTOR = 512
_HEAD = struct.Struct("=cBxxIq")


class Operation(NamedTuple):
    """`w`rite at *offset*, `a`ppend, `t`runcate to *offset*, `s`ync, or `u`nlink."""

    kind: str
    name: str
    offset: int
    data: bytes


def built(folder: Path) -> Path:
    """Build the shim in *folder*."""
    if not (compiler := shutil.which("cc") or shutil.which("gcc")):
        pytest.skip("no C compiler: nothing can stand between a process and its disk")
    library = folder / "shim.so"
    source = Path(__file__).with_name("shim.c")
    command = [compiler, "-shared", "-fPIC", "-O1", "-w", "-o"]
    subprocess.run([*command, str(library), str(source), "-ldl", "-pthread"], check=True)
    return library


def under_shim(
    library: Path, script: str, folder: Path, *arguments: str, fail: str = ""
) -> tuple[subprocess.CompletedProcess[str], Path]:
    """Run *script* with what it does to *folder* written down; return how it ended, and that.

    *fail* says which call fails, counted from when the script opens the file `begin`.
    """
    trace = library.with_name(f"{folder.name}.trace")
    environment = {
        **os.environ,
        "LD_PRELOAD": str(library),
        "SHIM_FOLDER": str(folder),
        "SHIM_TRACE": str(trace),
        **({"SHIM_FAIL": fail, "SHIM_BEGIN": "1"} if fail else {}),
    }
    done = subprocess.run(
        [sys.executable, "-c", script, folder, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    return done, trace


def operations(trace: Path) -> Iterator[Operation]:
    """Yield what was written down."""
    text = trace.read_bytes()
    at = 0
    while at < len(text):
        kind, name, size, offset = _HEAD.unpack_from(text, at)
        at += _HEAD.size
        data = text[at + name : at + name + size]
        yield Operation(kind.decode(), text[at : at + name].decode(), offset, data)
        at += name + size


@dataclass(slots=True)
class Held:
    """A file on the disk: what it surely holds, and what was done to it since the last sync."""

    text: bytearray = field(default_factory=bytearray)
    since: list[Operation] = field(default_factory=list)
    there: bool = True

    def sync(self) -> None:
        """Make everything certain."""
        for operation in self.since:
            self.apply(operation)
        self.since.clear()

    def apply(self, operation: Operation) -> None:
        """Do what *operation* says."""
        match operation.kind:
            case "u":
                self.there = False
                self.text.clear()
            case "t":
                del self.text[operation.offset :]
                self.text += bytes(operation.offset - len(self.text))
            case _:
                self.there = True
                end = operation.offset + len(operation.data)
                self.text += bytes(max(0, end - len(self.text)))
                self.text[operation.offset : end] = operation.data

    def perhaps(self, chance: random.Random) -> Held:
        """Return what may be left of it."""
        left = Held(bytearray(self.text), there=self.there)
        fate = chance.choice(["all", "none", "some", "some"])
        for operation in self.since:
            if fate == "all":
                left.apply(operation)
            elif fate == "some":
                for part in _torn(operation, chance):
                    left.apply(part)
        return left


class Disk:
    """The files of a folder, and how certain they are."""

    def __init__(self, folder: Path) -> None:
        self.files = {path.name: Held(bytearray(path.read_bytes())) for path in folder.iterdir()}

    def do(self, operation: Operation) -> None:
        """Note what was done; a synced folder makes certain what was unlinked in it."""
        if operation.kind == "s":
            for name, held in self.files.items():
                gone = bool(held.since) and held.since[-1].kind == "u"
                if name == operation.name or (operation.name == "." and gone):
                    held.sync()
        else:
            held = self.files.setdefault(operation.name, Held(there=False))
            held.since.append(operation)

    def fail(self, folder: Path, chance: random.Random) -> None:
        """Leave in *folder* what a power failure may leave."""
        folder.mkdir()
        for name, held in self.files.items():
            left = held.perhaps(chance)
            if left.there and not name.endswith("-shm"):  # memory, which is gone
                (folder / name).write_bytes(left.text)


def _torn(operation: Operation, chance: random.Random) -> Sequence[Operation]:
    fate = chance.random()
    if fate < 0.4:
        return [operation]
    if fate < 0.7 or operation.kind != "w":
        return []
    size = len(operation.data)
    return [
        operation._replace(
            offset=operation.offset + start, data=operation.data[start : start + SECTOR]
        )
        for start in range(0, size, SECTOR)
        if chance.random() < 0.5
    ]
