"""A transcript as one HTML file: offline, without a script, for a browser of any size."""

from replay.render.html.page import render_html

__all__ = ["render_html"]
