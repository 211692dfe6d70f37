"""What the user asks for, and how each turn ends.

Above this module: `VOCABULARY`. Below it: `payload`.
"""

from __future__ import annotations

from typing import Any, Literal

from eventlog.vocabulary.payload import Json, Outcome, Payload


class PromptSubmitted(Payload):
    """A prompt, as ACP content blocks. `params` holds what else a Hermes client said with it."""

    content: Json
    ref: str | None = None
    internal: bool | None = None
    queued: bool | None = None
    """It waits for the turn before it; its own begins at `prompt.started`."""
    params: dict[str, Any] | None = None


class PromptStarted(Payload):
    """The turn of a prompt that was queued begins; ACP only."""

    prompt: int | None


class PromptCorrected(Payload):
    """Words for the turn that is running; *prompt* is the seq of the prompt that they became."""

    kind: Literal["steer", "redirect"]
    text: Json
    prompt: int | None = None


class PromptFinished(Outcome):
    """An ACP prompt's answer: its turn is over. *prompt* is the seq of `prompt.submitted`."""

    prompt: int | None


class PromptRejected(Payload):
    """A prompt or correction that was not taken: its seq, or its content if it has none."""

    error: Json
    prompt: int | None = None
    content: Json = None


class TurnInterrupted(Payload):
    """Somebody stopped the turn; what the agent still sends is taken (P-37)."""

    by: str
    reason: str | None = None
