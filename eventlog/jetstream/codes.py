"""What the servers' error numbers mean, where more than one module asks.

Above this module: everything of this adapter. Below it: nothing.
"""

from __future__ import annotations

from typing import Final

NO_MESSAGE: Final = 10037
"""Who leads has no such message."""

WRONG_SEQUENCE: Final = {10071, 10164}
"""Something else follows, or is about to, than a message said; or who says so leads no more."""

FULL: Final = {10023, 10028, 10047, 10077}
"""There is no room left."""
