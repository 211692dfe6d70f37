"""Renderers: a transcript as text, pure, for eyes and for golden files."""

from replay.render.clean import clean, clean_line
from replay.render.options import (
    COMPACT,
    DEFAULT,
    FULL,
    PROFILES,
    SNAPSHOT,
    TIMELINE,
    Profile,
    TextOptions,
)
from replay.render.renderer import Renderer
from replay.render.text import render_text, render_texts, text_parts

__all__ = [
    "COMPACT",
    "DEFAULT",
    "FULL",
    "PROFILES",
    "SNAPSHOT",
    "TIMELINE",
    "Profile",
    "Renderer",
    "TextOptions",
    "clean",
    "clean_line",
    "render_text",
    "render_texts",
    "text_parts",
]
