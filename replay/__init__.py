"""Rebuild what a person saw, from the log alone."""

from typing import TYPE_CHECKING

from eventlog import later
from replay.digest import canonical_json, digest
from replay.dump import dump, load, load_base, schema
from replay.entries import (
    Agent,
    AnyEntry,
    Ask,
    Entry,
    Error,
    Gap,
    Interrupt,
    Notice,
    Plan,
    Subagent,
    System,
    Thought,
    Tool,
    Unknown,
    User,
)
from replay.errors import NotATranscript, OtherFoldVersion, ReplayError
from replay.fold import (
    Fold,
    better_kind,
    better_title,
    canonical,
    fold,
    is_plan_approval,
    is_question_tool,
    tool_name,
)
from replay.opening import KIND, checkpoint_of, opening, state_of
from replay.pieces import (
    Block,
    Excerpt,
    Json,
    Location,
    Option,
    PlanItem,
    Question,
    ToolContent,
)
from replay.transcript import (
    EMPTY,
    FOLD_VERSION,
    Diagnosis,
    Info,
    Outcome,
    Terminal,
    Transcript,
    Turn,
)

if TYPE_CHECKING:
    from replay.formats import Format, format_named
    from replay.live import Live, Shown
    from replay.names import names_in
    from replay.recordings import Flaw, Recording, Recordings, holds_no_session, read_recordings
    from replay.render import (
        COMPACT,
        DEFAULT,
        FULL,
        PROFILES,
        SNAPSHOT,
        TIMELINE,
        Profile,
        Renderer,
        TextOptions,
        clean,
        clean_line,
        render_text,
        render_texts,
    )
else:
    # what has the name of a module (`fold`) cannot come later: the module would be found instead
    __getattr__ = later(
        __name__,
        {
            "formats": "Format format_named",
            "live": "Live Shown",
            "names": "names_in",
            "recordings": "Flaw Recording Recordings holds_no_session read_recordings",
            "render": "COMPACT DEFAULT FULL PROFILES SNAPSHOT TIMELINE Profile Renderer TextOptions"
            " clean clean_line render_text render_texts",
        },
    )

__all__ = [
    "COMPACT",
    "DEFAULT",
    "EMPTY",
    "FOLD_VERSION",
    "FULL",
    "KIND",
    "PROFILES",
    "SNAPSHOT",
    "TIMELINE",
    "Agent",
    "AnyEntry",
    "Ask",
    "Block",
    "Diagnosis",
    "Entry",
    "Error",
    "Excerpt",
    "Flaw",
    "Fold",
    "Format",
    "Gap",
    "Info",
    "Interrupt",
    "Json",
    "Live",
    "Location",
    "NotATranscript",
    "Notice",
    "Option",
    "OtherFoldVersion",
    "Outcome",
    "Plan",
    "PlanItem",
    "Profile",
    "Question",
    "Recording",
    "Recordings",
    "Renderer",
    "ReplayError",
    "Shown",
    "Subagent",
    "System",
    "Terminal",
    "TextOptions",
    "Thought",
    "Tool",
    "ToolContent",
    "Transcript",
    "Turn",
    "Unknown",
    "User",
    "better_kind",
    "better_title",
    "canonical",
    "canonical_json",
    "checkpoint_of",
    "clean",
    "clean_line",
    "digest",
    "dump",
    "fold",
    "format_named",
    "holds_no_session",
    "is_plan_approval",
    "is_question_tool",
    "load",
    "load_base",
    "names_in",
    "opening",
    "read_recordings",
    "render_text",
    "render_texts",
    "schema",
    "state_of",
    "tool_name",
]
