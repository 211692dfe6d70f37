"""Text files for an agent: read below one folder, written below the session's own (ACP `fs/*`).

Above this module: `workspace`. Below it: the file system.

A path is resolved first, and then walked from the allowed folder down without following any
link, so that what is exchanged for a link in between leads nowhere. Only regular files are
touched: a pipe or a device would never end.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import Any, Final

import anyio.to_thread

from gateway.errors import Code, RpcError
from gateway.workspace.params import count, not_found, text, wrong

MOST: Final = 16 << 20
"""Bytes that are read or written at once."""

_PLAIN: Final = os.O_CLOEXEC | os.O_NOFOLLOW
_FOLDER: Final = _PLAIN | os.O_DIRECTORY | os.O_RDONLY


class Files:
    """Files under *root* can be read, those under *cwd* written if it is under *root*, too."""

    def __init__(self, root: Path, cwd: Path) -> None:
        self._root = Path(os.path.realpath(root))
        self._cwd = Path(os.path.realpath(cwd))

    async def read(self, params: dict[str, Any]) -> dict[str, str]:
        """Return `{content}`: `limit` lines from line `line` on, counted from 1."""
        path, line, limit = text(params, "path"), count(params, "line"), count(params, "limit")
        content = await anyio.to_thread.run_sync(self._read, path, line or 1, limit)
        return {"content": content}

    async def write(self, params: dict[str, Any]) -> dict[str, Any]:
        """Write `content`; the file is replaced as a whole, and made with its folders if need be."""
        path, content = text(params, "path"), text(params, "content")
        await anyio.to_thread.run_sync(self._write, path, content)
        return {}

    def _read(self, path: str, line: int, limit: int | None) -> str:
        with _refusals(path):
            folder, name = self._walk(path, self._root, make=False)
            try:
                # A pipe without a writer would let us wait for ever.
                descriptor = os.open(name, _PLAIN | os.O_RDONLY | os.O_NONBLOCK, dir_fd=folder)
            finally:
                os.close(folder)
            try:
                _check_regular(path, os.fstat(descriptor))
                with os.fdopen(descriptor, "rb", closefd=False) as file:
                    return _text(path, _lines(file, path, line, limit))
            finally:
                os.close(descriptor)

    def _write(self, path: str, content: str) -> None:
        body = _bytes(content)
        if not self._cwd.is_relative_to(self._root):
            raise wrong("path", f"cannot be written: {self._cwd} is outside of {self._root}")
        with _refusals(path):
            folder, name = self._walk(path, self._cwd, make=True)
            try:
                _replace(folder, name, path, body)
            finally:
                os.close(folder)

    def _walk(self, path: str, top: Path, *, make: bool) -> tuple[int, str]:
        """Return the open folder that a file is in, and its name there."""
        if not os.path.isabs(path):  # noqa: PTH117 - it is a name on the wire
            raise wrong("path", "must be absolute", value=path)
        real = Path(os.path.realpath(path))
        if real == top or not real.is_relative_to(top):
            raise wrong("path", f"must be a file below {top}", value=path)
        *folders, name = real.relative_to(top).parts
        here = os.open(top, _FOLDER)
        for part in folders:
            if make:
                with suppress(FileExistsError):
                    os.mkdir(part, dir_fd=here)
            try:
                deeper = os.open(part, _FOLDER, dir_fd=here)
            finally:
                os.close(here)
            here = deeper
        return here, name


def _replace(folder: int, name: str, path: str, body: bytes) -> None:
    """Put a file in the place of another, if there is one, with its permissions."""
    mode = None
    with suppress(FileNotFoundError):
        known = os.stat(name, dir_fd=folder, follow_symlinks=False)
        _check_regular(path, known)
        mode = stat.S_IMODE(known.st_mode)
    draft = f".{token_hex(8)}.part"
    descriptor = os.open(draft, _PLAIN | os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666, dir_fd=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(body)
            if mode is not None:
                os.fchmod(descriptor, mode)
        os.replace(draft, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(draft, dir_fd=folder)
        raise


def _lines(file: Any, path: str, line: int, limit: int | None) -> bytes:
    for _ in range(line - 1):
        if not _one(file, path):
            return b""
    body = bytearray()
    left = limit
    while left is None or left > 0:
        piece = _one(file, path)
        body += piece
        if len(body) > MOST:
            raise wrong("path", f"has more than {MOST} bytes there: ask for fewer lines")
        if not piece:
            break
        left = None if left is None else left - 1
    return bytes(body)


def _one(file: Any, path: str) -> bytes:
    piece: bytes = file.readline(MOST + 1)
    if len(piece) > MOST:
        raise wrong("path", f"has a line of more than {MOST} bytes", value=path)
    return piece


def _text(path: str, body: bytes) -> str:
    try:
        return body.decode()
    except UnicodeDecodeError as error:
        raise wrong("path", f"is no UTF-8 text at byte {error.start}", value=path) from None


def _bytes(content: str) -> bytes:
    try:
        body = content.encode()
    except UnicodeEncodeError:
        raise wrong("content", "holds half a character, which UTF-8 cannot") from None
    if len(body) > MOST:
        raise wrong("content", f"has {len(body)} bytes, more than {MOST}")
    return body


def _check_regular(path: str, known: os.stat_result) -> None:
    if not stat.S_ISREG(known.st_mode):
        raise wrong("path", "is no regular file", value=path)


@contextmanager
def _refusals(path: str) -> Iterator[None]:
    """Tell the agent what the machine says of a file."""
    try:
        yield
    except FileNotFoundError:
        raise not_found(path) from None
    except OSError as error:
        if error.errno in {errno.ELOOP, errno.ENOTDIR, errno.ENAMETOOLONG, errno.ENXIO}:
            raise wrong("path", f"cannot be reached: {error.strerror}", value=path) from None
        why = f"{path}: {error.strerror}"
        raise RpcError(Code.INTERNAL_ERROR, why, {"path": path}) from error
    except ValueError as error:
        raise wrong("path", f"is none: {error}", value=path) from None
