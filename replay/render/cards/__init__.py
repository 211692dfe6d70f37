"""Entries as cards: what pages (Markdown, HTML) show of each, before any markup."""

from replay.render.cards.card import (
    Card,
    Change,
    Choices,
    Note,
    Output,
    Part,
    Permission,
    Quote,
    Steps,
    Words,
)

__all__ = [
    "Card",
    "Change",
    "Choices",
    "Note",
    "Output",
    "Part",
    "Permission",
    "Quote",
    "Steps",
    "Words",
]
