"""Fixtures that every test folder shares."""

from __future__ import annotations

from pathlib import Path

import pytest

CAPTURES = Path(__file__).parent / "captures"


@pytest.fixture
def anyio_backend() -> str:
    """The log's SQLite driver needs asyncio."""
    return "asyncio"


@pytest.fixture
def captures() -> Path:
    """The folder of real recordings: `acp/*.jsonl` and `hermes/*.jsonl`."""
    return CAPTURES
