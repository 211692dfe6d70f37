"""Numbers, times and sizes in words. UTC always; no clock, no locale.

Above this module: the renderers. Below it: nothing. Times and durations are in µs.
"""

from __future__ import annotations

from typing import Final

_SECOND: Final = 1_000_000
_DAY: Final = 86_400


def grouped(number: int) -> str:
    """Return *number* with a space between thousands."""
    return f"{number:,}".replace(",", " ")


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """Return "1 line" or "2 lines"."""
    return f"{grouped(number)} {noun if number == 1 else plural or noun + 's'}"


def seconds(duration: float) -> str:
    """Return a duration as "0.4s", "2m 05s" or "1h 00m 05s"; what was negative is 0."""
    tenths = max(0, round(duration / (_SECOND / 10)))
    if tenths < 600:
        return f"{tenths / 10:.1f}s"
    minutes, rest = divmod(tenths // 10, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h {minutes:02d}m {rest:02d}s" if hours else f"{minutes}m {rest:02d}s"


def clock(moment: int) -> str:
    """Return the time of day, "14:02:11"."""
    second = moment // _SECOND % _DAY
    return f"{second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d}"


def stamp(moment: int) -> str:
    """Return date and time, "2026-11-30 14:02:11Z"."""
    year, month, day = _civil(moment // _SECOND // _DAY)
    return f"{year:04d}-{month:02d}-{day:02d} {clock(moment)}Z"


def offset(moment: int, start: int) -> str:
    """Return the time since *start*, "+12.3s"."""
    return f"+{seconds(moment - start)}"


def _civil(days: int) -> tuple[int, int, int]:
    """Return the Gregorian date *days* after 1970-01-01; years begin in March inside."""
    era, day_of_era = divmod(days + 719_468, 146_097)
    year = (day_of_era - day_of_era // 1460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    day_of_year = day_of_era - (365 * year + year // 4 - year // 100)
    shifted = (5 * day_of_year + 2) // 153
    month = shifted + 3 if shifted < 10 else shifted - 9
    return year + era * 400 + (month <= 2), month, day_of_year - (153 * shifted + 2) // 5 + 1
