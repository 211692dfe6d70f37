"""A transcript as one HTML file: offline, without a script, for a browser of any size."""

from replay.render.html.page import html_parts, render_html

__all__ = ["html_parts", "render_html"]
