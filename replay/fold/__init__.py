"""Events in, a transcript out: fold.md's rules, one table a family of events."""

from replay.fold.fold import Fold, fold
from replay.fold.naming import (
    better_kind,
    better_title,
    canonical,
    is_plan_approval,
    is_question_tool,
    tool_name,
)

__all__ = [
    "Fold",
    "better_kind",
    "better_title",
    "canonical",
    "fold",
    "is_plan_approval",
    "is_question_tool",
    "tool_name",
]
