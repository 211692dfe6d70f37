"""The tutorial, run as its reader would run it: each block in its order, in one folder."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Timer

import pytest
from sybil import Example, Sybil
from sybil.parsers.markdown import CodeBlockParser, PythonCodeBlockParser
from sybil.typing import Parser

CLONE = Path(__file__).parent.parent
TUTORIAL = CLONE / "docs" / "tutorial.md"
PATIENCE = 40.0
"""Seconds that a program of the tutorial may take."""


class Reader:
    """Somebody at a shell, who does what the tutorial says and compares what they see."""

    def __init__(self, folder: Path, environment: pytest.MonkeyPatch) -> None:
        self._folder = folder
        self._environment = environment
        self._serving: list[subprocess.Popen[str]] = []
        self.compared = 0

    def export(self, example: Example) -> None:
        """Set the variables of a block of `export` lines."""
        for line in example.parsed.splitlines():
            name, _, value = line.removeprefix("export ").partition("=")
            self._environment.setenv(name, os.path.expandvars(value))

    def serve(self, example: Example) -> None:
        """Start what goes into a terminal of its own, and wait until it listens."""
        gateway = subprocess.Popen(
            ["/bin/sh", "-c", f"exec {example.parsed}"],
            cwd=CLONE,
            env=os.environ | {"PWD": str(CLONE)},
            stderr=subprocess.PIPE,
            text=True,
        )
        self._serving.append(gateway)
        limit = Timer(PATIENCE, gateway.kill)
        limit.start()
        assert gateway.stderr is not None
        said = list(_until(gateway.stderr, "listening on ws:"))
        limit.cancel()
        assert gateway.poll() is None, said

    def type(self, example: Example) -> None:
        """Run each command of a block, and compare what it prints; `…` stands for anything."""
        for part in re.split(r"(?m)^\$ ", example.parsed)[1:]:
            command, _, expected = part.partition("\n")
            done = subprocess.run(
                ["/bin/sh", "-c", command],
                cwd=self._folder,
                capture_output=True,
                text=True,
                timeout=PATIENCE,
                check=False,
            )
            printed = done.stdout + done.stderr
            assert done.returncode == 0, f"{command}: {printed}"
            pattern = ".*".join(map(re.escape, expected.strip().split("…")))
            assert re.fullmatch(pattern, printed.strip(), re.DOTALL), f"{command}:\n{printed}"
            self.compared += bool(expected.strip())

    def save(self, example: Example) -> None:
        """Write a block to the file that it names."""
        name = example.region.lexemes["arguments"].partition("file=")[2]
        (self._folder / name).write_text(example.parsed, encoding="utf-8")

    def leave(self) -> None:
        """Stop what serves."""
        for gateway in self._serving:
            gateway.send_signal(signal.SIGTERM)
            try:
                gateway.wait(PATIENCE)
            finally:
                gateway.kill()
                gateway.communicate()


def _until(lines: Iterator[str], sign: str) -> Iterator[str]:
    for line in lines:
        yield line
        if sign in line:
            return


def test_the_tutorial_does_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every block runs, from the top to the end, and prints what stands there."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    for name in list(os.environ):
        if name in {"HERMES_GATEWAY_TOKEN", "PYTEST_ADDOPTS"} or name.startswith("PYTEST_XDIST"):
            monkeypatch.delenv(name)
    reader = Reader(tmp_path, monkeypatch)
    parsers: list[Parser] = [
        PythonCodeBlockParser(),
        CodeBlockParser("sh", reader.export),
        CodeBlockParser("sh serve", reader.serve),
        CodeBlockParser("console", reader.type),
        CodeBlockParser("python file=test_agent.py", reader.save),
    ]
    document = Sybil(parsers).parse(TUTORIAL)
    examples = list(document.examples())
    blocks = re.findall(r"(?m)^```\S", TUTORIAL.read_text("utf-8"))
    assert len({example.line for example in examples}) >= len(blocks)
    try:
        for example in examples:
            example.evaluate()
    finally:
        reader.leave()
    assert reader.compared
