"""An ACP session as a Hermes client knows sessions: its events, its questions (protocol §8, P-6).

Above this package: attachments, methods. Below it: `replay` (names of tools), `eventlog`.

A pure, stateful translation of the log: one event becomes at most one event, of the same seq. So
history and live give the same bytes here, too (P-11). What has no counterpart is not sent.
"""

from gateway.hermes_view.asks import answer_of, lockable, method_of, shown
from gateway.hermes_view.history import Rows, rows_of, usage_of
from gateway.hermes_view.view import View
from gateway.hermes_view.views import Views

__all__ = [
    "Rows",
    "View",
    "Views",
    "answer_of",
    "lockable",
    "method_of",
    "rows_of",
    "shown",
    "usage_of",
]
