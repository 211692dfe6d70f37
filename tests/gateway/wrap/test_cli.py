"""`hermes-gateway wrap`: what it says before it wraps anything."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from eventlog import exits
from gateway.wrap.cli import app


@pytest.mark.parametrize("what", ["acp", "hermes"])
def test_a_log_on_servers_is_refused_in_words(what: str, tmp_path: Path) -> None:
    """A session on servers is held by a lease, and an editor's agent is not ours to end: where
    to record instead is said, and no secret of the address.
    """
    log = "nats://me:hunter2@127.0.0.1:4222/team"
    found = CliRunner().invoke(app, [what, "--log", log, "--", "true"], env={"HOME": str(tmp_path)})

    assert found.exit_code == exits.USAGE
    assert "--log FOLDER" in found.output
    assert "hermes-log copy" in found.output
    assert "nats://127.0.0.1:4222/team" in found.output
    assert "hunter2" not in found.output
