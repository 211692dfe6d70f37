"""What a look at a log's surroundings has found.

Above this module: the adapters' own looks, the command line. Below it: nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that was looked at: what it is, and whether something should be done."""

    name: str
    value: str
    advice: str = ""
    """What should be changed; empty where all is well."""

    @property
    def warns(self) -> bool:
        """Whether something should be changed."""
        return bool(self.advice)

    def __str__(self) -> str:
        mark = "!" if self.warns else " "
        return f"{mark} {self.name:<12}  {self.value}" + (f": {self.advice}" if self.advice else "")

    def as_json(self) -> dict[str, Any]:
        """Return the finding as JSON has it."""
        return {"name": self.name, "value": self.value, "ok": not self.warns, "advice": self.advice}
