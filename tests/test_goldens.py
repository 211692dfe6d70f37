"""Golden sessions: real recordings as the text that a person reads, one file each.

Every file was read against its capture and the fold's rules before it was committed. A change in
one of them is a change in what people see: read the diff, then run `pytest --snapshot-update`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

GOLDENS = {
    "claude-tools": "acp/claude049-tools",
    "claude-cancel": "acp/claude049-cancel",
    "claude-reject": "acp/claude049-reject",
    "claude-errors": "acp/claude049-errors",
    "claude-plan": "acp/claude049-plan",
    "claude-elicit": "acp/claude049-elicit",
    "codex-tools": "acp/codex26-tools",
    "codex-cancel": "acp/codex26-cancel",
    "codex-askmode": "acp/codex26-askmode",
    "gemini-tools": "acp/gemini-tools",
    "gemini-cancel": "acp/gemini-cancel",
    "gemini-load": "acp/gemini-load",
    "kimi-tools": "acp/kimi-tools",
    "kimi-load": "acp/kimi-load",
    "hermes-acp-tools": "acp/hermes-tools",
    "hermes-acp-errors": "acp/hermes-errors",
    "gateway-tools": "hermes/03_tools_files_terminal",
    "gateway-approvals": "hermes/05_approvals",
    "gateway-approval-interrupted": "hermes/06_approval_interrupted",
    "gateway-clarify": "hermes/07_clarify",
    "gateway-errors": "hermes/09_errors",
    "gateway-reconnect": "hermes/16_ws_reconnect",
}
"""One an agent and kind of scenario: the golden's name, and the capture that it is made of."""


@pytest.mark.parametrize("capture", GOLDENS.values(), ids=GOLDENS.keys())
def test_session(capture: str, captures: Path, transcript: Any, snapshot: Any) -> None:
    """R093, R096, R097: the whole conversation, in order, in words; nothing lost, nothing twice."""
    assert transcript(captures / f"{capture}.jsonl") == snapshot
