"""What a real browser makes of a page full of attacks (R152); skipped where there is none."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from replay.render import TextOptions
from replay.render.html import render_html
from tests.replay.render.hostile import HOSTILE, session

CHROMIUM = shutil.which("chromium")
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--hide-scrollbars", "--window-size=390,800", "--virtual-time-budget=2000"),
)

pytestmark = [
    pytest.mark.skipif(
        CHROMIUM is None, reason="needs chromium (Debian: apt-get install chromium)"
    ),
    pytest.mark.timeout(120),
]


def _dom(page: Path, tmp_path: Path) -> str:
    profile = f"--user-data-dir={tmp_path / 'profile'}"
    command = [CHROMIUM or "", *FLAGS, profile, "--dump-dom", page.as_uri()]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=100).stdout


def test_a_browser_finds_no_way_in(tmp_path: Path) -> None:
    """R152: in the DOM as the browser built it: no script, no handler, no address but `#…`."""
    page = tmp_path / "hostile.html"
    page.write_text(
        render_html([session(text) for text in HOSTILE], TextOptions()), encoding="utf-8"
    )
    dom = _dom(page, tmp_path)
    tags = re.findall(r"<[a-z][^<>]*>", re.sub(r"<style>.*?</style>", "", dom, flags=re.DOTALL))

    assert dom.count("<main") == len(HOSTILE)
    assert not [
        tag
        for tag in tags
        if re.match(r"<(?:script|img|iframe|object|embed|link|form|base)\b", tag)
    ]
    assert not [tag for tag in tags if re.search(r"\son\w+=", re.sub(r'"[^"]*"', '""', tag))]
    assert {href[:1] for tag in tags for href in re.findall(r'\shref="([^"]*)"', tag)} == {"#"}


PROBE = (
    "<script>document.title = `${document.documentElement.scrollWidth} of ${innerWidth}`</script>"
)


def test_a_page_fits_a_telephone(tmp_path: Path) -> None:
    """Issue 4, HTML at 390 px: whatever is in it, the page itself does not scroll sideways.

    The measuring script is the test's own: for it the page's policy is taken out.
    """
    html = render_html([session("x" * 500), session("wide " * 80)], TextOptions())
    page = tmp_path / "narrow.html"
    measured = re.sub(r'<meta http-equiv="[^>]*>', "", html).replace("</body>", PROBE + "</body>")
    page.write_text(measured, encoding="utf-8")
    found = re.search(r"<title>(\d+) of (\d+)</title>", _dom(page, tmp_path))

    assert found is not None
    assert int(found[1]) <= int(found[2])
