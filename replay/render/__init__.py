"""Renderers: a transcript as text, pure, for eyes and for golden files."""

from replay.render.options import DEFAULT, PROFILES, SNAPSHOT, Profile, TextOptions
from replay.render.renderer import Renderer
from replay.render.text import render_text, render_texts

__all__ = [
    "DEFAULT",
    "PROFILES",
    "SNAPSHOT",
    "Profile",
    "Renderer",
    "TextOptions",
    "render_text",
    "render_texts",
]
