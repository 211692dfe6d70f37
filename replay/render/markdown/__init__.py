"""A transcript as Markdown: for an issue, a review, a chat."""

from replay.render.markdown.page import markdown_parts, render_markdown

__all__ = ["markdown_parts", "render_markdown"]
