"""What `hermes-replay` does, once its arguments are read: open, fold, render, write, say how it went.

Above this module: `replay.cli`. Below it: `source`, `part`, the formats, the answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import anyio

from replay.answers import Answer, checked, difference, found, numbers, one_of
from replay.digest import digest
from replay.entries import Gap
from replay.errors import NoSuchPoint, WrongName
from replay.exits import DAMAGED, DONE, complain, ending
from replay.formats import LINES, format_name, format_named, refuse_to_redact
from replay.part import Part, Taken, take
from replay.reading import take_log
from replay.recordings import Flaw, Recording, holds_no_session
from replay.render.figures import counted
from replay.render.options import SNAPSHOT
from replay.request import Request
from replay.source import PRUNED, is_file_name, read_file
from replay.terminal import on_terminal, page
from replay.transcript import Transcript
from replay.writing import refuse_to_overwrite, write

_DIGEST: Final = "digest"


def run(request: Request) -> int:
    """Do what *request* asks; return the exit code. Errors go to standard error, in words."""
    return ending(partial(_done, request))


def _done(request: Request) -> int:
    request.refuse_contradictions()
    if request.follow:
        from replay.following import follow  # noqa: PLC0415 - starting is felt

        return follow(request)
    if request.step:
        from replay.stepping import step  # noqa: PLC0415 - starting is felt

        return step(request)
    return _replay(request)


def _replay(request: Request) -> int:
    format_ = _DIGEST if request.digest else format_name(request.format, request.named_output)
    if format_ in {LINES, _DIGEST}:
        refuse_to_redact(format_, hide=request.redact)
    refuse_to_overwrite(request.output, force=request.force)
    shown = _found(request, lines=format_ == LINES)
    answer = _asked(shown, request) or _rendered(shown, format_, request)
    if request.check is not None:
        answer = checked(answer, request.check.read_bytes(), str(request.check))
    _write(answer, format_, request)
    return _report(shown, request) or answer.code


@dataclass(frozen=True, slots=True)
class _Found:
    """Sessions as far as they were asked for, and what is damaged."""

    taken: Sequence[Taken]
    flaws: Sequence[Flaw]

    @property
    def transcripts(self) -> list[Transcript]:
        """What the sessions say."""
        return [one.transcript for one in self.taken]


def _found(request: Request, *, lines: bool) -> _Found:
    """Read what was named, outside of any event loop: Ctrl-C ends waiting for standard input."""
    shown = _read(request, lines=lines)
    if not request.sanitize:
        return shown
    from replay.sanitize import Sanitizer  # noqa: PLC0415 - starting is felt

    sanitizer = Sanitizer()
    taken = [replace(one, transcript=sanitizer.sanitized(one.transcript)) for one in shown.taken]
    complain(f"hermes-replay: {counted(sanitizer.replaced, 'text')} replaced by marks")
    return replace(shown, taken=taken)


def _read(request: Request, *, lines: bool) -> _Found:
    part = request.part(lines=lines)
    if not is_file_name(request.name):
        if request.pick is not None:
            what = "is one session: --session picks one of a file's sessions"
            raise WrongName(request.name, what)
        return _Found([anyio.run(partial(take_log, request.name, part, log=request.log))], ())
    held = read_file(request.name, request.pick)
    taken = _taken(held.sessions, part)
    shown = [one for one in taken if one.told or not holds_no_session(one.transcript.session)]
    return _Found(shown or taken, held.flaws)  # what has no session is shown if it was named


def _taken(recordings: Sequence[Recording], part: Part) -> list[Taken]:
    """Take the part of each session that has such a part; at least one has to."""
    taken: list[Taken] = []
    missing: dict[str, NoSuchPoint] = {}
    for recording in recordings:
        try:
            taken.append(take(recording.id, recording.lines, part, begin=recording.begin))
        except NoSuchPoint as error:
            missing[recording.id] = error
    if not taken:
        raise next(iter(missing.values()))
    complain(
        *(f"hermes-replay: {why}" for id_, why in missing.items() if not holds_no_session(id_))
    )
    return taken


# -- what is asked -------------------------------------------------------------------------------


def _asked(shown: _Found, request: Request) -> Answer | None:
    """Return the answer to what was asked about the sessions, if anything was."""
    if request.grep is not None:
        return found(_hidden(shown, request), request.grep, json=request.json)
    if request.stats:
        return numbers(_hidden(shown, request), json=request.json)
    if request.diff is not None:
        return _difference(shown, request, request.diff)
    return None


def _difference(shown: _Found, request: Request, other: str) -> Answer:
    theirs = _found(replace(request, name=other, pick=None), lines=False)
    pair = one_of(_hidden(shown, request), request.name), one_of(_hidden(theirs, request), other)
    options = replace(request.plain_options(), profile=SNAPSHOT)
    names = pair[0].session, pair[1].session
    if names[0] == names[1]:
        names = request.name, other
    return difference(*pair, options, names, json=request.json)


def _hidden(shown: _Found, request: Request) -> list[Transcript]:
    """Return the transcripts, without their secrets if that was asked for."""
    if not request.redact:
        return shown.transcripts
    from replay.redact import redact  # noqa: PLC0415 - starting is felt

    return [redact(transcript)[0] for transcript in shown.transcripts]


# -- what is shown -------------------------------------------------------------------------------


def _rendered(shown: _Found, format_: str, request: Request) -> Answer:
    if format_ == _DIGEST:
        return Answer([digest(one).encode() + b"\n" for one in shown.transcripts])
    if format_ == LINES:
        return Answer(_own_lines(shown))
    options = request.options() if request.check is None else request.plain_options()
    options = replace(
        options,
        until=any(one.cut for one in shown.taken),
        omitted={one.transcript.session: one.omitted for one in shown.taken},
    )
    content, told = format_named(format_).stream(shown.transcripts, options, hide=request.redact)
    return Answer(content, remark=told)


def _own_lines(shown: _Found) -> Iterable[bytes]:
    if len(shown.taken) > 1:
        ids = ", ".join(one.session for one in shown.transcripts)
        what = f"is one session, here are {len(shown.taken)}: pick one with --session, of {ids}"
        raise WrongName("jsonl", what)
    return (text + b"\n" for one in shown.taken for text in one.lines)


def _write(answer: Answer, format_: str, request: Request) -> None:
    to_read = request.output is None and request.pager and format_ == "text" and on_terminal()
    content = [b"".join(answer.content)] if to_read else answer.content
    if not (to_read and page(b"".join(content))):
        write(content, request.output, force=request.force)
    if answer.remark:
        complain(f"hermes-replay: {answer.remark}")


def _report(shown: _Found, request: Request) -> int:
    for flaw in shown.flaws:
        complain(f"hermes-replay: {request.name}, {flaw}")
    lost = sum(map(_lost, shown.transcripts))
    if shown.flaws:
        complain("hermes-replay: the file is damaged; what could be read is shown")
    elif lost:
        complain(f"hermes-replay: the log is damaged: {counted(lost, 'event')} cannot be read")
    return DAMAGED if shown.flaws or lost else DONE


def _lost(transcript: Transcript) -> int:
    """Return how many events are missing that were once recorded, not those that never were."""
    gaps = [entry for entry in transcript.entries if isinstance(entry, Gap)]
    lost = [gap for gap in gaps if gap.reason != PRUNED]
    return sum(1 + gap.end - gap.begin for gap in lost if gap.begin and gap.end)
