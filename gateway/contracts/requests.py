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


class Selected(Open):
    """The option that was chosen."""

    outcome: Literal["selected"]
    optionId: str  # noqa: N815 - ACP's own name


class Cancelled(Open):
    """None was, because the turn is over."""

    outcome: Literal["cancelled"]


class PermissionResult(Open):
    """Which option was chosen, or that the question was withdrawn."""

    outcome: Selected | Cancelled


class ElicitationResult(Open):
    """A filled form, a refusal, or neither."""

    action: Literal["accept", "decline", "cancel"]
    content: dict[str, Any] | None = None


class ApprovalRequest(Question):
    """Ask whether a command may run, in Hermes's words."""

    request_id: str


class ApprovalResult(Open):
    """`once`, `session`, `always` or `deny`; for `all` that wait, or this one."""

    choice: Literal["once", "session", "always", "deny"]
    all: bool | None = None


class ClarifyRequest(Question):
    """Ask one to five questions at once; `answers` holds those locked so far (P-30)."""

    questions: list[dict[str, Any]]
    answers: dict[str, Any] | None = None


class ClarifyResult(Open):
    """An answer or null for each question; none at all cancels."""

    answers: dict[str, str | list[str] | None] | None = None


class ValueResult(Open):
    """A value: a secret one is handed on and never recorded (P-33)."""

    value: str


class FreeResult(Open):
    """Whatever the asker understands."""


NOT_VALUES: Final = frozenset({"setup_beat", "theme.pick"})
"""Questions of Hermes's own that something else than a value answers."""

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
