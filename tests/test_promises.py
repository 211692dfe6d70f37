"""The table of promises holds both ways: each is proved by a test, and each id named is one."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

TESTS = Path(__file__).parent
ID = re.compile(r"\b(?:P-\d+a?|S-\d+|F-L\d|R\d{3})\b")
LATER_SCENARIOS = re.compile(r"R\d{3}")


def table() -> dict[str, dict[str, dict[str, object]]]:
    return tomllib.loads((TESTS / "promises.toml").read_text(encoding="utf-8"))


def promises() -> dict[str, dict[str, object]]:
    groups = table()
    return {**groups["protocol"], **groups["store"], **groups["fold"]}


def docstrings_of_tests() -> Iterator[str]:
    """What the tests say they prove: docstrings of test functions and of rule-based machines."""
    suites = [*TESTS.rglob("test_*.py"), *(TESTS.parent / "eventlog" / "conformance").glob("*.py")]
    for path in suites:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield ast.get_docstring(node) or ""


@cache
def named() -> frozenset[str]:
    return frozenset(id_ for text in docstrings_of_tests() for id_ in ID.findall(text))


def test_every_promise_is_proved_or_planned() -> None:
    """A promise without a test is either planned, with its issue, or a lie."""
    unproved = [
        id_ for id_, row in promises().items() if id_ not in named() and not row.get("planned")
    ]

    assert unproved == []


def test_every_part_that_is_said_to_hold_is_proved() -> None:
    """What a planned promise already keeps is named by a test too."""
    unproved = [id_ for id_, row in promises().items() if row.get("part") and id_ not in named()]

    assert unproved == []


def test_every_scenario_of_the_table_is_proved() -> None:
    """A public report that this project says it covers is named by a test."""
    assert sorted(set(table()["scenarios"]["ids"]) - named()) == []


def test_no_test_names_a_promise_that_nobody_made() -> None:
    """A typing error in an id would make a proof that nobody finds."""
    known = promises().keys()

    assert [
        id_ for id_ in sorted(named()) if not LATER_SCENARIOS.match(id_) and id_ not in known
    ] == []
