"""What a program imports before it does anything: to start is felt."""

from __future__ import annotations

import subprocess
import sys
from types import ModuleType

import pytest

import eventlog
import eventlog.sqlite
import replay

HEAVY = ("aiosqlite", "asyncio", "pydantic", "rich", "sqlite3", "websockets", "zstandard")


@pytest.mark.parametrize(
    "package", [eventlog, eventlog.sqlite, replay], ids=lambda one: one.__name__
)
def test_a_root_has_every_name_that_it_promises(package: ModuleType) -> None:
    """Also those that are imported only when somebody asks; and no module in the place of one."""
    modules = {name for name in package.__all__ if isinstance(getattr(package, name), ModuleType)}
    assert modules <= {"codec", "exits"}
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        package.nothing  # noqa: B018 - to ask is the test


@pytest.mark.parametrize("program", ["eventlog", "replay"])
def test_help_is_there_before_anything_heavy_is(program: str) -> None:
    """To say what there is needs no database, no event loop and no models."""
    asked = (
        f"import sys; sys.argv = ['x', '--help']; from {program}.cli import main\n"
        "try:\n    main()\nexcept SystemExit:\n    print(*sys.modules)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", asked], capture_output=True, check=True, timeout=30, text=True
    )
    assert set(HEAVY) & set(ran.stdout.split("\n")[-2].split()) == set()
