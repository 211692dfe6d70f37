"""Events in, a transcript out: fold.md's rules, one table a family of events."""

from replay.fold.fold import Fold, fold
from replay.fold.naming import canonical, is_plan_approval, is_question_tool

__all__ = ["Fold", "canonical", "fold", "is_plan_approval", "is_question_tool"]
