"""A record of the log as one line: number, time since the first, type, payload (render.md, rule 8).

Above this module: `text`. Below it: `layout`.
"""

from __future__ import annotations

import json
from typing import Final

from replay.entries import Unknown
from replay.render.cells import clip, width
from replay.render.clean import clean_line
from replay.render.figures import offset
from replay.render.layout import Passage
from replay.render.scene import Scene

_TYPE: Final = 22
"""Cells for a type of usual length."""


def timeline_passage(record: Unknown, scene: Scene) -> Passage:
    """Show a record of the log; of an ACP update the update's own type."""
    layout, start = scene.layout, scene.transcript.t0
    type_, payload = _told(record)
    lead = f"{record.first:>6}"
    if layout.options.time != "none":
        lead += f"  {offset(record.t0, start):>9}"
    lead += f"  {clean_line(type_):<{_TYPE}}  "
    said = clean_line(json.dumps(payload, ensure_ascii=False)) if payload else ""
    if layout.cells:
        said = clip(said, max(10, layout.cells - width(lead)), layout.glyphs.cut)
    return Passage([f"{lead}{said}".rstrip()], tool=True)


def _told(record: Unknown) -> tuple[str, object]:
    match record.payload:
        case {"update": {"sessionUpdate": str(kind), **members}}:
            return kind, members
    return record.type, record.payload
