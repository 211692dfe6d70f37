"""Which tool works for which: calls of a sub-agent stand behind the call that gave it its work.

Above this module: `scene`, `order`. Below it: `entries`.

A parent that is not known, that comes from another turn, or that leads back to its child is none:
its child stands where it was called (R114).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from replay.entries import AnyEntry, Tool


def parents_of(entries: Iterable[AnyEntry]) -> dict[str, str]:
    """Return for each tool that works for another the id of that one's entry."""
    tools = [entry for entry in entries if isinstance(entry, Tool)]
    if not any(tool.parent for tool in tools):
        return {}
    known = {(tool.turn, tool.tool_id): tool.id for tool in tools}
    claimed = {
        tool.id: known[tool.turn, tool.parent]
        for tool in tools
        if tool.parent is not None and (tool.turn, tool.parent) in known
    }
    return {child: parent for child, parent in claimed.items() if not _loops(child, claimed)}


def _loops(child: str, claimed: Mapping[str, str]) -> bool:
    """Whether going up from *child* leads back to a tool that was passed."""
    passed = {child}
    at = claimed.get(child)
    while at is not None:
        if at in passed:
            return True
        passed.add(at)
        at = claimed.get(at)
    return False


def depth_of(entry: str, parents: Mapping[str, str]) -> int:
    """Return how many tools an entry works for, one behind the other."""
    depth = 0
    while (parent := parents.get(entry)) is not None:
        entry, depth = parent, depth + 1
    return depth


def nested(entries: Sequence[AnyEntry], parents: Mapping[str, str]) -> Iterator[AnyEntry]:
    """Yield *entries* in their order, but each child behind its parent and its elder siblings."""
    if not parents:
        yield from entries
        return
    present = {entry.id for entry in entries}
    children: defaultdict[str, list[AnyEntry]] = defaultdict(list)
    roots = []
    for entry in entries:
        parent = parents.get(entry.id)
        if parent in present:
            children[parent].append(entry)
        else:
            roots.append(entry)
    waiting = roots[::-1]
    while waiting:
        entry = waiting.pop()
        yield entry
        waiting += children[entry.id][::-1]
