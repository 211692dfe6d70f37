"""What a fold that goes on from the end of a transcript must not miss: names in what it has not.

Above this module: `indexes`. Below it: nothing.

A record that names something older cannot be folded without it: the fold stops with `Elsewhere`,
and begins again from the whole.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NoReturn


class Elsewhere(Exception):
    """A record is about an entry that this fold has not been given."""


class Older:
    """The names of entries that are not there, by the index that they stand in."""

    def __init__(self, names: Iterable[tuple[Any, ...]]) -> None:
        self._names: dict[str, set[Any]] = {}
        for index, *name in names:
            self._names.setdefault(index, set()).add(name[0] if len(name) == 1 else tuple(name))

    def __bool__(self) -> bool:
        return bool(self._names)

    def index(self, name: str) -> dict[Any, Any]:
        """Return an empty index of that name, which guards what it lacks."""
        lacking = self._names.get(name)
        return Guarded(lacking) if lacking else {}


NOTHING: Final = Older(())
"""There is nothing older."""


class Guarded(dict[Any, Any]):
    """An index that knows which names it lacks."""

    def __init__(self, lacking: set[Any]) -> None:
        super().__init__()
        self._lacking = lacking

    def get(self, key: Any, default: Any = None) -> Any:
        """Return what is called so; raise `Elsewhere` if it is older."""
        if key in self._lacking and not super().__contains__(key):
            raise Elsewhere
        return super().get(key, default)

    def __missing__(self, key: Any) -> NoReturn:
        raise Elsewhere if key in self._lacking else KeyError(key)

    def __contains__(self, key: object) -> bool:
        return super().__contains__(key) or (key in self._lacking and _stop())

    def setdefault(self, key: Any, default: Any = None) -> Any:
        """Return the list of that name; one that began earlier is elsewhere."""
        return _stop() if key in self._lacking else super().setdefault(key, default)

    def values(self) -> Any:
        """Return all there is, where that is all."""
        return _stop() if self._lacking else super().values()


def _stop() -> NoReturn:
    raise Elsewhere
