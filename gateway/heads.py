"""Lines of the log told apart by their heads, which are always alike: nothing else is parsed.

Above this module: small folds of the log. Below it: the form of a line (design, rule 4).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

_TIME: Final = re.compile(rb'\{"seq":\d+,"ts":(-?\d+)')


def lines_of(types: Iterable[str]) -> re.Pattern[bytes]:
    """Return what matches the lines of events of these types."""
    names = "|".join(map(re.escape, types))
    return re.compile(rb'\{"seq":\d+,"ts":-?\d+,"type":"(?:%b)"' % names.encode())


def ts_of(text: bytes) -> int:
    """Return when the event of a line was recorded, in µs since the Unix epoch."""
    found = _TIME.match(text)
    return int(found[1]) if found else 0
