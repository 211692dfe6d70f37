"""`hermes-gateway import`: files in, session ids out.

Above this module: the command line. Below it: the importer of `eventlog`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import anyio

from eventlog import BadCassette, ImportReport, Log, SessionId, import_file, open_log

Say = Callable[[str], None]


async def import_files(
    files: Sequence[Path], location: Path, into: SessionId | None, say: Say, tell: Say
) -> int:
    """Import *files*; say each session's id, and tell what was new, skipped or refused.

    Returns how many files were refused: one that cannot be imported does not stop the others.

    Raises:
        LogBusy: a gateway writes this log.
        LogUnavailable: it cannot be written; importing again goes on from there.

    """
    refused = 0
    async with open_log(location) as log:
        for file in files:
            refused += not await _import(log, file, into, say, tell)
    return refused


async def _import(log: Log, file: Path, into: SessionId | None, say: Say, tell: Say) -> bool:
    try:
        report = await import_file(log, file.name, await anyio.Path(file).read_bytes(), into=into)
    except OSError as error:
        tell(f"{file}: {error.strerror}")
        return False
    except BadCassette as error:
        tell(str(error))
        return False
    for session in report.sessions:
        say(session.session_id)
    tell(_summary(file, report))
    for skipped in report.skipped:
        tell(f"{file}, line {skipped.number}: {skipped.reason} ({skipped.size} bytes)")
    return True


def _summary(file: Path, report: ImportReport) -> str:
    added = sum(session.added for session in report.sessions)
    new = f"{added} events" if added else "nothing new"
    left = f", {sum(report.unrecorded.values())} not recorded" if report.unrecorded else ""
    frames = f" from {report.frames} frames{left}" if report.frames else ""
    damaged = f", {len(report.skipped)} lines skipped" if report.skipped else ""
    return f"{file}: {new}{frames}{damaged}"
