"""What the steps of a fold look things up in, by the ids that events have for them.

Above this module: `draft`. Below it: `row`, `lattice`, `older`.

Indexes are private: they are made of the entries alone, when a fold goes on from a transcript as
when an entry is added (F-L2).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from replay.entries import (
    Agent,
    AnyEntry,
    Ask,
    Notice,
    Plan,
    Subagent,
    System,
    Thought,
    Tool,
    User,
)
from replay.fold.lattice import is_working
from replay.fold.older import NOTHING, Elsewhere, Older
from replay.fold.row import Row


class Indexes:
    """The rows in their order, and the last of each id."""

    def __init__(self, older: Older = NOTHING) -> None:
        self.rows: list[Row[Any]] = []
        self.tools: dict[str, Row[Tool]] = older.index("tools")
        self.working: dict[int, Row[Tool]] = {}
        self.asks: dict[str, Row[Ask]] = older.index("asks")
        self.waiting: dict[str, Row[Ask]] = {}
        self.users: dict[str, Row[User]] = older.index("users")
        self.queued: dict[str, Row[User]] = {}
        self.messages: dict[int, Row[Any]] = older.index("messages")
        self.plans: dict[tuple[str, int | None], Row[Plan]] = {}
        self.notices: dict[str, Row[Notice]] = older.index("notices")
        self.systems: dict[str, Row[System]] = older.index("systems")
        self.subagents: dict[str, Row[Subagent]] = older.index("subagents")
        self.said: dict[tuple[str, str], list[Row[Any]]] = older.index("said")
        self._older = older

    def all_rows(self) -> list[Row[Any]]:
        """Return every row of the session.

        Raises:
            Elsewhere: this is a fold of its end.

        """
        if self._older:
            raise Elsewhere
        return self.rows

    def enter(self, row: Row[Any]) -> None:
        """Put *row* into the list and into the indexes of its kind."""
        self.rows.append(row)
        if (index := _INDEXING.get(type(row.entry))) is not None:
            index(self, row)

    def _index_tool(self, row: Row[Tool]) -> None:
        self.tools[row.entry.tool_id] = row
        if is_working(row.entry.status):
            self.working[row.place] = row

    def _index_said(self, row: Row[Agent] | Row[Thought]) -> None:
        said = row.entry
        if said.mid is not None:
            self.said.setdefault((said.kind, said.mid), []).append(row)
        if type(said) is Agent and said.row is not None:
            self.messages[said.row] = row

    def _index_user(self, row: Row[User]) -> None:
        user = row.entry
        self.users[user.id] = row
        if user.queued and user.for_turn is None and user.rejected is None:
            self.queued[user.id] = row
        if user.row is not None:
            self.messages[user.row] = row

    def _index_ask(self, row: Row[Ask]) -> None:
        self.asks[row.entry.ask_id] = row
        if row.entry.state == "open":
            self.waiting[row.entry.ask_id] = row

    def _index_plan(self, row: Row[Plan]) -> None:
        self.plans[row.entry.plan_id, row.entry.turn] = row

    def _index_notice(self, row: Row[Notice]) -> None:
        if row.entry.key is not None:
            self.notices[row.entry.key] = row

    def _index_system(self, row: Row[System]) -> None:
        if row.entry.key is not None:
            self.systems[row.entry.key] = row

    def _index_subagent(self, row: Row[Subagent]) -> None:
        self.subagents[row.entry.key] = row


def names_of(entry: AnyEntry) -> Iterator[tuple[str | int, ...]]:
    """Yield by which names a later record may find *entry*: the index, then what it has there."""
    if isinstance(entry, User | Agent) and entry.row is not None:
        yield "messages", entry.row
    match entry:
        case Tool():
            yield "tools", entry.tool_id
        case Ask():
            yield "asks", entry.ask_id
        case User():
            yield "users", entry.id
        case Agent() | Thought() if entry.mid is not None:
            yield "said", entry.kind, entry.mid
        case Notice() if entry.key is not None:
            yield "notices", entry.key
        case System() if entry.key is not None:
            yield "systems", entry.key
        case Subagent():
            yield "subagents", entry.key


_INDEXING: Final[dict[type, Callable[[Indexes, Any], None]]] = {
    Tool: Indexes._index_tool,  # noqa: SLF001 - the class's own table
    Agent: Indexes._index_said,  # noqa: SLF001
    Thought: Indexes._index_said,  # noqa: SLF001
    User: Indexes._index_user,  # noqa: SLF001
    Ask: Indexes._index_ask,  # noqa: SLF001
    Plan: Indexes._index_plan,  # noqa: SLF001
    Notice: Indexes._index_notice,  # noqa: SLF001
    System: Indexes._index_system,  # noqa: SLF001
    Subagent: Indexes._index_subagent,  # noqa: SLF001
}
