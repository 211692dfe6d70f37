"""The worked example of docs/golden-tests.md, done as it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

PAGE = Path(__file__).parents[2] / "docs" / "golden-tests.md"


def _blocks() -> dict[str, str]:
    """Return the page's code by the kind of its fence; of several of a kind, in order."""
    found = re.findall(
        r"^```(\w+)\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )
    counts: dict[str, int] = {}
    blocks = {}
    for kind, text in found:
        counts[kind] = counts.get(kind, 0) + 1
        blocks[f"{kind}{counts[kind]}"] = text
    return blocks


def test_the_worked_example_works(pytester: pytest.Pytester) -> None:
    """The page's test, session, scrubber and golden belong together."""
    blocks = _blocks()
    golden = pytester.path / "__snapshots__" / "test_agent" / "test_session.txt"
    golden.parent.mkdir(parents=True)
    for path, text in (
        (pytester.path / "pyproject.toml", blocks["toml1"]),
        (pytester.path / "session.jsonl", blocks["json1"]),
        (pytester.path / "test_agent.py", blocks["python1"]),
        (pytester.path / "conftest.py", blocks["python2"]),
        (golden, blocks["text1"]),
    ):
        path.write_text(text, encoding="utf-8")
    run = pytester.runpytest_subprocess()

    assert run.ret == pytest.ExitCode.OK
    run.assert_outcomes(passed=1)
