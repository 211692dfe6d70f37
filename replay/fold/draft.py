"""A transcript while it is being written: rows, turns, and the indexes that steps look things up in.

Above this module: the steps. Below it: `row`, `screens`, `transcript`.

A draft is made of a transcript alone (F-L2): indexes are rebuilt from its entries, and what no
entry shows stands in `Transcript.state`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile
from typing import Any, Final, TypeVar

from replay.entries import (
    AnyEntry,
    Ask,
    Entry,
    Error,
    Gap,
    Interrupt,
    Plan,
    Subagent,
    Tool,
    User,
)
from replay.fold.indexes import Indexes
from replay.fold.older import NOTHING, Older
from replay.fold.row import Row
from replay.fold.screens import Screen
from replay.fold.values import changed, made
from replay.pieces import Json
from replay.transcript import Diagnosis, Transcript, Turn

E = TypeVar("E", bound=Entry)

_SEALING: Final = frozenset({Tool, Plan, Ask, Subagent, Error, Interrupt, Gap})
"""Entries that end the text before them; a visible user entry does too."""


class Draft(Indexes):
    """What steps write to. *seq* and *ts* are those of the record at hand."""

    def __init__(self, transcript: Transcript, older: Older = NOTHING) -> None:
        super().__init__(older)
        self.base = transcript
        self.seq: int = transcript.seq
        self.ts: int = transcript.t1
        self.began = transcript.t0 if transcript.seq else None
        self.info = transcript.info
        self.v2 = transcript.info.speaks_v2
        self.title = transcript.title
        self.mode = transcript.mode
        self.config = dict(transcript.config)
        self.commands = transcript.commands
        self.usage = dict(transcript.usage)
        self.ephemeral = dict(transcript.ephemeral)
        self.diag = list(transcript.diag)
        self.turns = list(transcript.turns)
        self.screens = {terminal.id: Screen(terminal) for terminal in transcript.terminals}
        self._named = self._again_at = self._again = 0
        self._turns_shown = len(self.turns)
        self._dirty: list[Row[Any]] = []
        self._frozen: list[AnyEntry] = list(transcript.entries)
        for place, entry in enumerate(transcript.entries):
            self.enter(Row(entry, place, shown=True))
        self._load(transcript.state)

    def _load(self, state: dict[str, Json]) -> None:
        tail = state.get("tail")
        self.tail: Row[Any] | None = None if tail is None else self.rows[tail]
        """The text that is open for more of its kind."""
        self.turn: int | None = state.get("turn")
        """Index of the turn that runs."""
        self.lively: bool = state.get("lively", False)
        """That turn has shown a sign of the agent."""
        self.replaying: bool = state.get("replaying", False)
        self.closed: bool = state.get("closed", False)
        self.needs_action: bool = state.get("needs_action", False)
        self.echo: Json = state.get("echo")
        self.offered: list[str] = list(state.get("offered", ()))
        """Ids of thoughts that may turn out to be the answer."""
        self.calls: dict[str, Json] = dict(state.get("calls", {}))
        """Calls that have no result yet."""

    def _state(self) -> dict[str, Json]:
        state = {
            "tail": None if self.tail is None else self.tail.place,
            "turn": self.turn,
            "lively": self.lively,
            "replaying": self.replaying,
            "closed": self.closed,
            "needs_action": self.needs_action,
            "echo": self.echo,
            "offered": list(self.offered),
            "calls": dict(self.calls),
        }
        return {
            key: value for key, value in state.items() if value or (value == 0 and key in _PLACES)
        }

    # -- entries ---------------------------------------------------------------------------------

    def add(self, kind: type[E], /, **fields: Any) -> Row[E]:
        """Append an entry; it is in the turn that runs, or in the last one."""
        if kind in _SEALING or (kind is User and not fields.get("hidden")):
            self.seal()
        seq = fields["first"] = fields["last"] = self.seq
        fields["id"] = f"e{seq}" if seq != self._named else self._next_name()
        self._named = seq
        fields["turn"] = len(self.turns) or None
        fields["t0"] = fields["t1"] = self.ts
        entry = made(kind, fields)
        row = Row(entry, len(self.rows))
        self._frozen.append(entry)  # type: ignore[arg-type]  # every Entry we make is an AnyEntry
        self._dirty.append(row)
        self.enter(row)
        return row

    def edit(self, row: Row[Any], /, **changes: Any) -> None:
        """Change an entry because the record at hand is about it."""
        self.write(row, changes)

    def write(self, row: Row[Any], changes: dict[str, Any]) -> None:
        """Do the same with *changes* that are the caller's own."""
        if row.shown:
            self._own(row)
        changes["last"], changes["t1"] = self.seq, self.ts
        row.entry.__dict__.update(changes)

    def mark(self, row: Row[Any], /, **changes: Any) -> None:
        """Change an entry because of a record that is about something else."""
        if row.shown:
            self._own(row)
        row.write(changes)

    def _own(self, row: Row[Any]) -> None:
        row.own()
        self._dirty.append(row)

    def append(self, row: Row[Any], text: str) -> None:
        """Add to what *row* says."""
        row.chunks.append(text)
        if row.shown:
            self._own(row)
        members = row.entry.__dict__
        members["last"], members["t1"] = self.seq, self.ts

    def _next_name(self) -> str:
        """Return the id of one more entry that this record makes."""
        self._again = self._again + 1 if self._again_at == self.seq else 1
        self._again_at = self.seq
        return f"e{self.seq}.{self._again}"

    def seal(self) -> None:
        """End the open text, which is whole now: more of its kind begins a new entry."""
        if self.tail is not None:
            self.tail.settle()
            self.tail = None
        if self.echo:
            self.settle_echo()

    def settle_echo(self) -> None:
        """End an echo of the prompt; half of one was no echo but a message of its own."""
        echo, self.echo = self.echo, None
        if not echo["whole"]:
            self.add(User, text=echo["text"], mid=echo["mid"])

    # -- everything beside entries ---------------------------------------------------------------

    @property
    def turn_number(self) -> int | None:
        """Return the number of the turn that runs, else of the last one: they are the same."""
        return len(self.turns) or None

    def rows_of_turn(self) -> Iterator[Row[Any]]:
        """Iterate over what stands in that turn, the last first: no turn goes on after the next."""
        turn = self.turn_number
        return takewhile(lambda row: row.entry.turn == turn, reversed(self.rows))

    def set_turn(self, **changes: Any) -> None:
        """Change the turn that runs."""
        assert self.turn is not None  # noqa: S101 - callers have looked
        self.change_turn(self.turn, **changes)

    def change_turn(self, at: int, **changes: Any) -> None:
        """Change the turn at index *at*: in place while nobody else holds it."""
        if at < self._turns_shown:
            self.turns[at] = changed(self.turns[at], **changes)
        else:
            self.turns[at].__dict__.update(changes)

    def count(self, what: str, times: int = 1) -> None:
        """Count a record that is not shown."""
        self.ephemeral[what] = self.ephemeral.get(what, 0) + times

    def remark(self, problem: str, seq: int | None = None) -> None:
        """Note something about the log that no reader of the conversation needs."""
        at = self.seq if seq is None else seq
        if self.diag and self.diag[-1].problem == problem:
            self.diag[-1] = changed(self.diag[-1], times=self.diag[-1].times + 1)
        else:
            self.diag.append(Diagnosis(seq=at, problem=problem))

    def learn(self, **known: Any) -> None:
        """Note what is known of the agent and where it works."""
        self.info = changed(self.info, **known)
        self.v2 = self.info.speaks_v2

    def screen(self, terminal_id: str) -> Screen:
        """Return the terminal of that id, a new one if there is none."""
        if (screen := self.screens.get(terminal_id)) is None:
            screen = self.screens[terminal_id] = Screen.blank(terminal_id)
        return screen

    def transcript(self) -> Transcript:
        """Return what stands so far; what has not changed is not made again."""
        for row in self._dirty:
            row.settle()
            row.shown = True
            self._frozen[row.place] = row.entry
        self._dirty.clear()
        return changed(
            self.base,
            seq=self.seq,
            t0=self.began or 0,
            t1=self.ts,
            info=self.info,
            title=self.title,
            mode=self.mode,
            config=dict(self.config),
            commands=self.commands,
            usage=dict(self.usage),
            status=self._status(),
            turns=self._turns(),
            entries=tuple(self._frozen),
            terminals=tuple(screen.terminal() for screen in self.screens.values()),
            ephemeral=dict(self.ephemeral),
            state=self._state(),
            diag=tuple(self.diag),
        )

    def _turns(self) -> tuple[Turn, ...]:
        if self.turn is not None:
            self.set_turn(t1=self.ts)
        self._turns_shown = len(self.turns)
        return tuple(self.turns)

    def _status(self) -> Any:
        if self.closed:
            return "closed"
        if self.waiting or self.needs_action:
            return "waiting"
        if self.turn is not None and not self.turns[self.turn].replayed:
            return "running"
        return "idle"


_PLACES: Final = frozenset({"tail", "turn"})
"""State that may be 0."""
