"""A transcript as Markdown: for an issue, a review, a chat."""

from replay.render.markdown.page import render_markdown

__all__ = ["render_markdown"]
