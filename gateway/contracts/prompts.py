"""Prompts (P-24).

Above this module: the registry. Below it: shapes.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from gateway.contracts.shapes import Content, OfSession, Result, Seq


class PromptSubmit(OfSession):
    """Give the agent text, or content blocks; the answer comes once they are in the log."""

    text: str | None = None
    content: Content | None = None
    submission_ref: Annotated[str, Field(pattern=r"^[ -~]{1,64}$")] | None = None
    display_kind: str | None = None
    interrupted: bool | None = None
    queued: bool | None = None
    surface: str | None = None
    voice_context: str | None = None
    voice_turn: bool | None = None
    title_preview: str | None = None
    truncate_before_user_ordinal: int | None = None
    truncate_before_row_id: int | None = None
    truncate_before_message_id: str | None = None
    confirm_truncate: bool | None = None
    confirm_empty_truncate: bool | None = None
    confirm_deep_truncate: bool | None = None
    rebind_survivor_row_ids: list[int] | None = None
    hosted_task: Any = Field(None, alias="_hosted_task")
    turn_author: Any = Field(None, alias="_turn_author")
    hosted_terminal_callback: Any = Field(None, alias="_hosted_terminal_callback")


class SessionCorrection(OfSession):
    """Give words to the turn that runs."""

    text: Annotated[str, Field(min_length=1)]
    submission_ref: Annotated[str, Field(pattern=r"^[ -~]{1,64}$")] | None = None


class SessionSteer(SessionCorrection):
    """Add words to the turn that runs; an ACP agent hears them when its turn is over."""


class SessionRedirect(SessionCorrection):
    """Stop the turn that runs, and go on with these words instead."""


class SessionCorrectionResult(Result):
    """What became of the words; `rejected`: no turn runs, so that they are a prompt to submit."""

    status: Literal["queued", "redirected", "rejected"]
    text: str


class PromptSubmitResult(Result):
    """Where the prompt stands in the log, and for a repeated `submission_ref` its outcome."""

    status: Literal["streaming", "queued", "steered", "redirected"]
    seq: Seq
    outcome: str | None = None
