"""Renderers: a transcript as text, pure, for eyes and for golden files."""

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
from replay.render.text import render_text, render_texts

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
    "render_text",
    "render_texts",
]
