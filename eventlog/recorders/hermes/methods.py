"""The reviewed lists: what becomes of each method that a client calls on a Hermes gateway.

Above this module: `calls`. Below it: nothing of ours. A method on none of them is not recorded:
it may carry what nobody has looked at (design §1, rule 7). Names are those of the contract of
Hermes 0.22.2.
"""

from __future__ import annotations

from typing import Final

from eventlog.recorders.recorder import Unrecorded

OPENING: Final = frozenset(
    {
        "session.create",
        "session.resume",
        "session.activate",
        "session.branch",
        "session.branch_stored",
        "session.branch_whole",
    }
)
"""Calls whose answer names a session."""

CALLS: Final = frozenset(
    {
        # the session itself
        "session.title",  # with a title; without one it is a read
        "session.compress",
        "session.control",
        "session.cwd.set",
        "session.workspace.move",
        "session.archive",
        "session.set_hidden",
        "session.delete",
        "session.foreign.import",
        "config.set",  # with a session; the value only for SETTINGS
        "tools.configure",
        "skills.reload",
        "reload.mcp",
        # what a person says and attaches
        "prompt.background",
        "prompt.btw",
        "slash.exec",
        "command.dispatch",
        "message.react",
        "file.attach",
        "image.attach",
        "image.attach_bytes",
        "image.detach",
        "pdf.attach",
        "clipboard.paste",
        # what runs in it
        "subagent.steer",
        "subagent.interrupt",
        "process.kill",
        "process.stop",
        "delegation.pause",
        "rollback.restore",
        "preview.restart",
        "handoff.request",
        "handoff.fail",
    }
)
"""Recorded as `client.call` when answered: they change a session and have no type of their own."""

SETTINGS: Final = frozenset(
    {
        "approval_mode",
        "cwd",
        "fast",
        "model",
        "personality",
        "provider",
        "reasoning",
        "reasoning_effort",
        "service_tier",
        "verbose",
        "yolo",
    }
)
"""Keys of `config.set` whose values are recorded; any other key may hold a credential."""

PINGS: Final = frozenset({"ping", "gateway.ping", "approval.received"})

CAPABILITIES: Final = frozenset({"client.capabilities", "gateway.capabilities"})

READS: Final = frozenset(
    {
        "agents.list",
        "approval.pending",
        "commands.catalog",
        "complete.path",
        "complete.slash",
        "config.get",
        "config.show",
        "delegation.status",
        "handoff.state",
        "process.list",
        "rollback.diff",
        "rollback.list",
        "session.active_list",
        "session.context_breakdown",
        "session.control.read",
        "session.events.since",
        "session.events.stats",
        "session.events.subscribe",
        "session.events.unsubscribe",
        "session.foreign.list",
        "session.foreign.preview",
        "session.history",
        "session.list",
        "session.most_recent",
        "session.save",
        "session.status",
        "session.title",
        "session.transcript",
        "session.usage",
        "subagent.list",
        "subagent.tail",
        "usage.bars",
    }
)

WITHHELD: Final = frozenset({"connection.respond", "gateway.authenticate", "model.save_key"})
_WITHHELD_FAMILIES: Final = ("vault.", "mcp.servers.")

SECRET_QUESTIONS: Final = frozenset({"sudo", "display.install.sudo", "secret"})
"""Server requests whose answers are never recorded, beside all of `vault.*` (P-33)."""


def is_secret(question: str) -> bool:
    """Whether the answer to a server request must not be recorded (P-33)."""
    return question in SECRET_QUESTIONS or question.startswith("vault.")


def unrecorded(method: str) -> Unrecorded:
    """Return why a call of *method*, or its answer, is not recorded."""
    if method in WITHHELD or method.startswith(_WITHHELD_FAMILIES):
        return Unrecorded.WITHHELD
    for methods, reason in (
        (PINGS, Unrecorded.PING),
        (CAPABILITIES, Unrecorded.CAPABILITIES),
        (READS, Unrecorded.READ),
    ):
        if method in methods:
            return reason
    return Unrecorded.UNLISTED
