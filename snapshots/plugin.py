"""The pytest plugin, for those who ask for it: `-p snapshots.plugin` (see docs/golden-tests.md).

Above this module: test suites, ours and others'. Below it: `golden`, `extension`.

Opt-in, and no entry point: a plugin that every project gets would clash with a package or folder
of theirs called `snapshots` (design §6).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import pytest
from syrupy.assertion import SnapshotAssertion

from snapshots.extension import SessionExtension
from snapshots.golden import Source, golden_text
from snapshots.scrubbers import SCRUBBERS, Scrubber


class GoldenOf(Protocol):
    """What the fixture `transcript` is."""

    def __call__(self, source: Source | str, *, session: str | None = None, width: int = 80) -> str:
        """Return a session as golden text; a name is looked for beside the test, then here."""
        ...


class _Fixtures:
    """Registered behind all other plugins, so that `snapshot` here is made from syrupy's."""

    @pytest.fixture
    def scrubbers(self) -> Sequence[Scrubber]:
        """Return what is replaced; override it to add your own: `[*SCRUBBERS, Scrubber(…)]`."""
        return SCRUBBERS

    @pytest.fixture
    def transcript(self, request: pytest.FixtureRequest, scrubbers: Sequence[Scrubber]) -> GoldenOf:
        """Return a function that gives a recorded session as the text of a golden file."""

        def golden_of(source: Source | str, *, session: str | None = None, width: int = 80) -> str:
            found = (
                _found(source, request.path.parent) if isinstance(source, str | Path) else source
            )
            return golden_text(found, scrubbers=scrubbers, session=session, width=width)

        return golden_of

    @pytest.fixture
    def snapshot(
        self, request: pytest.FixtureRequest, snapshot: SnapshotAssertion
    ) -> SnapshotAssertion:
        """Return syrupy's fixture; where `transcript` is used too, it keeps a text file a test."""
        golden = "transcript" in request.fixturenames
        return snapshot.use_extension(SessionExtension) if golden else snapshot


def pytest_configure(config: pytest.Config) -> None:
    """Refuse what would write goldens from several processes at once (R122)."""
    config.pluginmanager.register(_Fixtures(), "hermes-replay-fixtures")
    workers = _workers(config)
    if config.getoption("update_snapshots", default=False) and workers > 1:
        raise pytest.UsageError(
            f"--snapshot-update with {workers} workers can lose goldens: run it with -n 0"
        )


def _workers(config: pytest.Config) -> int:
    number: Any = config.getoption("numprocesses", default=None)
    environments: Any = config.getoption("tx", default=None) or []
    return number if isinstance(number, int) else len(environments)


def _found(name: str | Path, beside: Path) -> Path:
    near = beside / name
    return near if near.exists() else Path(name)
