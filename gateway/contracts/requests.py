"""What a client may be asked (protocol §6).

Above this module: the registry. Below it: shapes.

The params of all of them are open: they are an agent's or an upstream gateway's own, passed on
as they came, with the session's durable id.
"""

from __future__ import annotations

from typing import Any, Final, Literal

from gateway.contracts.shapes import Name, Open


class Question(Open):
    """Ask the user something in a session. `replayed` marks one that was asked before (P-19)."""

    session_id: Name
    replayed: Literal[True] | None = None


class PermissionRequest(Question):
    """Ask whether an ACP agent may use a tool; params as the agent sent them."""

    options: list[dict[str, Any]]


class PermissionResult(Open):
    """Which option was chosen, or that the question was withdrawn."""

    outcome: dict[str, Any]


class ApprovalRequest(Question):
    """Ask whether a command may run, in Hermes's words."""

    request_id: str


class ApprovalResult(Open):
    """`once`, `session`, `always` or `deny`."""

    choice: str


class ClarifyRequest(Question):
    """Ask one to five questions at once; `answers` holds those locked so far (P-30)."""

    questions: list[dict[str, Any]]
    answers: dict[str, Any] | None = None


class ClarifyResult(Open):
    """An answer or null for each question; none at all cancels."""

    answers: dict[str, Any] | None = None


class FreeResult(Open):
    """Whatever the asker understands."""


HERMES_QUESTIONS: Final = (
    "display.install.sudo",
    "preview.act",
    "preview.read",
    "secret",
    "setup_beat",
    "sudo",
    "terminal.read",
    "theme.apply",
    "theme.pick",
    "tour",
    "vault.code",
    "vault.save_login",
    "vault.unlock_prompt",
    "window.read",
)
"""What a wrapped Hermes gateway may ask beyond approval and clarify."""
