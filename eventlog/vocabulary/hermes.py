"""Hermes's own event names, with what the log's readers make of them.

Above this module: `VOCABULARY`. Below it: nothing. The names are those of the contract of
Hermes 0.22.2 and of later versions as far as they are public; payloads are kept verbatim, so
there are no models of them here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_TOLD: Final = "shown in the transcript"
_STATE: Final = "changes what is known of the session"
_PASSING: Final = "counted only: it tells of a moment, or of the gateway and not of a session"

_NAMES: Final[Mapping[str, str]] = {
    _TOLD: """
        message.start message.delta message.interim message.complete message.input
        message.reaction reasoning.delta reasoning.available moa.reference
        tool.start tool.complete tool.output_risk todo.updated
        subagent.spawn_requested subagent.start subagent.thinking subagent.tool
        subagent.progress subagent.complete
        agent.terminal.output terminal.close status.update notification.show
        notification.clear notice error request.cancel approval.cancelled
        background.complete btw.complete review.summary browser.progress
        billing.step_up.verification connection.update preview.restart.progress
        preview.restart.complete
    """,
    _STATE: """
        session.info session.title session.usage session.control.update session.reclaimed
    """,
    _PASSING: """
        gateway.ready thinking.delta tool.generating moa.progress moa.phase moa.aggregating
        session.resume_progress sessions.changed projects.changed platforms.changed
        pairing.changed cron.changed skin.changed tip.show layout.apply pane.reveal reaction
        pet.changed pet.generate.progress pet.hatch.progress
        voice.status voice.partial voice.transcript voice.interrupted wake.detected
        preview.open preview.close display.install.done display.install.log display.lease
        display.status setup.ready free_tier.challenge onboarding.ended
        bot_relay.outbox.pending browser.controller.command browser.controller.cancel
        connection.request
    """,
}

HERMES: Final[Mapping[str, str]] = {
    name: use for use, names in _NAMES.items() for name in names.split()
}
"""Name -> what it is for."""
