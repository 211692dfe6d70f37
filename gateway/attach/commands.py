"""What a visitor may type beside prompts, and what is told beside the session itself.

Above this module: `visit`. Below it: nothing of ours but clean words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from replay import clean_line

HELP: Final = """\
Type a prompt and press Enter; Alt-Enter begins another line. While the agent works, the next
prompt waits for its turn. Questions are answered by the numbers beside the choices.
  /interrupt   stop the turn (or Ctrl-C)
  /sessions    which sessions there are
  /quit        leave; the session goes on (or Ctrl-C twice, or Ctrl-D)
  /help        this"""

RESET: Final = "— events before this were pruned; this is the session as it stands —"
OLDER: Final = (
    "— this gateway keeps no log: what happens while the line is down is not shown in full —"
)
ANEW: Final = "— read anew; what happened meanwhile is shown as far as this gateway has kept it —"

_SIGNS: Final = {"running": "●", "needs_input": "◆", "idle": "◌"}


def listed(rows: Sequence[Mapping[str, Any]], here: str | None) -> Iterator[str]:
    """Yield a line a session, the one of the newest event first."""
    yield "sessions, the newest first:"
    wide = max((len(str(row["id"])) for row in rows), default=0)
    for row in rows:
        status = str(row.get("status") or "")  # an older gateway does not say
        title = clean_line(row.get("title") or row.get("preview") or "")[:60]
        sign = _SIGNS.get(status, " ")
        own = " · you are here" if row["id"] == here else ""
        facts = " · ".join(part for part in (status.replace("_", " "), title) if part)
        yield f"  {sign} {row['id']:<{wide}}  {facts}{own}"
