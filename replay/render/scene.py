"""A transcript with what the renderer looks up in it, and the page that it goes on.

Above this module: one module a kind of entry. Below it: `layout`, `transcript`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from replay.entries import AnyEntry, Ask, Plan, Tool
from replay.render.layout import Layout
from replay.render.nesting import parents_of
from replay.render.options import TextOptions
from replay.render.verbs import known
from replay.transcript import Terminal, Transcript


@dataclass(frozen=True, slots=True)
class Scene:
    """What an entry's rendering may depend on beside the entry."""

    transcript: Transcript
    layout: Layout
    entries: Mapping[str, AnyEntry]
    asks: Mapping[str, Sequence[Ask]]
    """Questions by the id of the tool entry that they belong to."""
    terminals: Mapping[str, Terminal]
    planned: frozenset[int | None]
    """Turns that have a plan."""
    parents: Mapping[str, str]
    """Tools that work for other tools, by entry ids."""

    @classmethod
    def of(cls, transcript: Transcript, options: TextOptions) -> Scene:
        """Look up what belongs together."""
        asks: defaultdict[str, list[Ask]] = defaultdict(list)
        for entry in transcript.entries:
            if isinstance(entry, Ask) and entry.tool is not None:
                asks[entry.tool].append(entry)
        return cls(
            transcript=transcript,
            layout=Layout(options),
            entries={entry.id: entry for entry in transcript.entries},
            asks=asks,
            terminals={terminal.id: terminal for terminal in transcript.terminals},
            planned=frozenset(e.turn for e in transcript.entries if isinstance(e, Plan)),
            parents=parents_of(transcript.entries),
        )

    def hidden(self, entry: AnyEntry) -> bool:
        """Whether *entry* is left out and counted in the footer."""
        if self.layout.options.profile.whole:
            return False
        return entry.hidden or entry.superseded

    def permissions(self, tool: Tool) -> list[Ask]:
        """Return the permissions that are shown within *tool*."""
        asks = self.asks.get(tool.id, ())
        return [ask for ask in asks if ask.what == "permission" and not self.hidden(ask)]

    def replaced(self, tool: Tool) -> bool:
        """Whether something else is shown in place of *tool* (render.md, rule 6)."""
        asks = [ask for ask in self.asks.get(tool.id, ()) if not self.hidden(ask)]
        asked_alone = tool.permission_only and bool(asks)
        asked = any(ask.what != "permission" and _is_question(tool) for ask in asks)
        return asked_alone or asked or self._planned_by(tool)

    def nested(self, ask: Ask) -> bool:
        """Whether *ask* is shown within its tool."""
        tool = self.entries.get(ask.tool or "")
        if ask.what != "permission" or not isinstance(tool, Tool):
            return False
        return not self.hidden(tool) and not self.replaced(tool)

    def _planned_by(self, tool: Tool) -> bool:
        verb = known(tool)
        worked = tool.status == "completed" and not self.permissions(tool)
        return worked and verb is not None and verb.short == "todo" and tool.turn in self.planned


def _is_question(tool: Tool) -> bool:
    verb = known(tool)
    return verb is not None and verb.short == "ask"
