"""What stands beside the conversation: errors, notices, system lines, the unknown.

Above this module: every family of steps. Below it: `draft`, `agents`.
"""

from __future__ import annotations

from typing import Any, Final, Literal

from replay.entries import Error, Notice, System, Unknown
from replay.fold.agents import facts_of
from replay.fold.draft import Draft
from replay.fold.row import Row
from replay.fold.strings import normal, shortened
from replay.pieces import Json

ErrorClass = Literal["auth", "billing", "provider", "other"]

_AUTH_WORDS: Final = (
    "authentication required",
    "unauthorized",
    "not authenticated",
    "login required",
)
_AUTH_CODES: Final = frozenset({"-32000", "401"})
"""ACP's code, and the HTTP status that gemini sends in its place."""
_AUTH_MEMBERS: Final = ("errorType", "errorKind")
"""Where agents say what sort of error it is; claude: `authentication_failed`."""


def error(
    draft: Draft,
    text: str,
    *,
    code: str | None = None,
    data: Json = None,
    cls: ErrorClass | None = None,
    **fields: Any,
) -> None:
    """Show a failure; the same one again in its turn is counted on the first (F: "error event")."""
    if (row := _same_error(draft, text)) is not None:
        draft.edit(row, times=row.entry.times + 1)
        return
    if cls is None:
        cls = "auth" if _is_auth(text, code, data) else "other"
    hint = _hint(draft, data) if cls == "auth" else None
    draft.add(Error, text=text, code=code, cls=cls, hint=hint, **fields)


def _same_error(draft: Draft, text: str) -> Row[Error] | None:
    said = normal(text)
    rows = (row for row in draft.rows_of_turn() if type(row.entry) is Error)
    return next((row for row in rows if normal(row.entry.text) == said), None)


def _is_auth(text: str, code: str | None, data: Json) -> bool:
    if code in _AUTH_CODES:
        return True
    if isinstance(data, dict) and any(
        str(data.get(key, "")).startswith("auth") for key in _AUTH_MEMBERS
    ):
        return True
    said = text.lower()
    return any(words in said for words in _AUTH_WORDS)


def _hint(draft: Draft, data: Json) -> str:
    if isinstance(data, dict) and isinstance(command := data.get("authCommand"), str):
        return command
    return facts_of(draft.info.agent).sign_in or "Please authenticate"


def notice(draft: Draft, text: str, level: str = "info", key: str | None = None) -> None:
    """Show a notice; one with the key and text of an uncleared one is counted on it."""
    row = draft.notices.get(key) if key is not None else None
    if row is not None and row.entry.text == text and not row.entry.cleared:
        draft.edit(row, times=row.entry.times + 1)
    else:
        draft.add(Notice, text=text, level=level, key=key)


def clear_notices(draft: Draft, key: str) -> None:
    """Mark every notice of *key* as cleared."""
    for row in draft.all_rows() if key in draft.notices else ():
        if isinstance(row.entry, Notice) and row.entry.key == key and not row.entry.cleared:
            draft.edit(row, cleared=True)


def system(draft: Draft, tag: str, text: str, **fields: Any) -> Row[System]:
    """Show a change of the session itself."""
    return draft.add(System, tag=tag, text=text, **fields)


def unknown(draft: Draft, type_: str, payload: Json, problem: str | None = None) -> None:
    """Show a record as it is (F-L6, F-L8)."""
    draft.add(Unknown, type=type_, payload=shortened(payload), problem=problem)
