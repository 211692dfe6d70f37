"""Where goldens lie: one text file a session, named after its test.

Above this module: the plugin. Below it: syrupy, which nothing else imports.
"""

from __future__ import annotations

from typing import Any

from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode


class SessionExtension(SingleFileSnapshotExtension):
    """Keeps each golden as `__snapshots__/<test file>/<test>.txt`: UTF-8, as it is read."""

    _write_mode = WriteMode.TEXT
    file_extension = "txt"

    def serialize(self, data: Any, **_: Any) -> str:
        """Return the text as it goes to the file."""
        if not isinstance(data, str):
            raise TypeError(f"a golden session is a text, not a {type(data).__name__}")
        return data
