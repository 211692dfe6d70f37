"""A gateway says where it is, and nobody believes one that is dead."""

from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path

from gateway.announcement import FILE, announced, gateway_in

URL = "ws://127.0.0.1:8765/api/ws"


def test_found_while_it_runs(tmp_path: Path) -> None:
    """Whoever may read the folder finds the address; nobody else may, and it goes at the end."""
    assert gateway_in(tmp_path) is None
    with announced(tmp_path, URL):
        assert gateway_in(tmp_path) == URL
        assert stat.S_IMODE((tmp_path / FILE).stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == []


def test_killed_gateway_is_not_found(tmp_path: Path) -> None:
    """A file that was left behind is recognised, and the next gateway takes its place."""
    script = (
        "import os, pathlib, sys; from gateway.announcement import announced\n"
        f"with announced(pathlib.Path(sys.argv[1]), {URL!r}): os.abort()"
    )
    subprocess.run((sys.executable, "-c", script, str(tmp_path)), check=False, capture_output=True)
    assert (tmp_path / FILE).exists()
    assert gateway_in(tmp_path) is None
    with announced(tmp_path, URL):
        assert gateway_in(tmp_path) == URL


def test_successor_keeps_its_own(tmp_path: Path) -> None:
    """A gateway that ends late does not take the announcement of the next one away."""
    with announced(tmp_path, "ws://127.0.0.1:2/api/ws"):
        with announced(tmp_path, URL):
            assert gateway_in(tmp_path) == URL
        assert gateway_in(tmp_path) is None
    assert list(tmp_path.iterdir()) == []


def test_nonsense_is_no_address(tmp_path: Path) -> None:
    """What is no announcement names no gateway."""
    for text in ("", "{", "[]", '{"url": 1}'):
        (tmp_path / FILE).write_text(text)
        assert gateway_in(tmp_path) is None
