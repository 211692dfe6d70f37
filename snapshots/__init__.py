"""Golden sessions: a syrupy extension, an opt-in pytest plugin, scrubbers."""

from snapshots.golden import Source, golden_text
from snapshots.scrubbers import SCRUBBERS, Scrubber, scrub

__all__ = ["SCRUBBERS", "Scrubber", "Source", "golden_text", "scrub"]
