"""The formats that `hermes-replay` writes: one row a format.

Above this module: `program`, `cli`. Below it: the renderers, `dump`, `redact`.

A format that is made to be shared is redacted unless told otherwise; text and JSON, which are
looked at where they were recorded, only if asked for. The log's own lines (`jsonl`) are made by
`program`: they are no rendering, and cannot be redacted (R143).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from eventlog import codec
from replay.dump import dump
from replay.errors import CannotRedact, WrongName
from replay.plain import plain
from replay.render import TextOptions, text_parts
from replay.transcript import Transcript

_UNSEEN: Final = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
"""What JSON allows in a string and a terminal obeys: escaped, the value is the same (R132)."""

LINES: Final = "jsonl"
"""The log's own lines."""


@dataclass(frozen=True, slots=True)
class Format:
    """How sessions are written, piece by piece; *suffixes* are those of files."""

    name: str
    suffixes: tuple[str, ...]
    parts: Callable[[Sequence[Transcript], TextOptions], Iterator[str]]
    shared: bool = False

    def stream(
        self, transcripts: Sequence[Transcript], options: TextOptions, *, hide: bool | None
    ) -> tuple[Iterator[bytes], str]:
        """Return sessions in this format, and in words what was hidden of them, if anything was.

        *hide* None leaves it to the format.
        """
        told = ""
        if self.shared if hide is None else hide:
            transcripts, told = _redacted(transcripts)
        return (part.encode("utf-8") for part in self.parts(transcripts, options)), told

    def write(
        self, transcripts: Sequence[Transcript], options: TextOptions, *, hide: bool | None
    ) -> tuple[bytes, str]:
        """Return the same as a whole."""
        content, told = self.stream(transcripts, options, hide=hide)
        return b"".join(content), told


def _redacted(transcripts: Sequence[Transcript]) -> tuple[Sequence[Transcript], str]:
    from replay.redact import merged, redact  # noqa: PLC0415 - starting is felt

    hidden = [redact(transcript) for transcript in transcripts]
    report = merged(found for _, found in hidden)
    return [transcript for transcript, _ in hidden], str(report) if report else ""


def _json(transcripts: Sequence[Transcript], options: TextOptions) -> Iterator[str]:
    del options
    for transcript in transcripts:
        before = "{"
        for name, value in dump(replace(transcript, entries=())).items():
            yield f'{before}"{name}":'
            yield from _entries(transcript) if name == "entries" else [_value(value)]
            before = ","
        yield "}\n"


def _entries(transcript: Transcript) -> Iterator[str]:
    before = "["
    for entry in transcript.entries:
        yield before + _value(plain(entry))
        before = ","
    yield "]" if transcript.entries else "[]"


def _value(value: object) -> str:
    return _UNSEEN.sub(_escaped, codec.dumps(value).decode())


def _escaped(hit: re.Match[str]) -> str:
    return f"\\u{ord(hit[0]):04x}"


def _markdown(transcripts: Sequence[Transcript], options: TextOptions) -> Iterator[str]:
    from replay.render.markdown import markdown_parts  # noqa: PLC0415 - starting is felt

    return markdown_parts(transcripts, options)


def _html(transcripts: Sequence[Transcript], options: TextOptions) -> Iterator[str]:
    from replay.render.html import html_parts  # noqa: PLC0415 - starting is felt

    return html_parts(transcripts, options)


def _cast(transcripts: Sequence[Transcript], options: TextOptions) -> Iterator[str]:
    from replay.render.asciicast import asciicast_parts  # noqa: PLC0415 - starting is felt

    return asciicast_parts(transcripts, options)


_FORMATS: Final = (
    Format("text", (".txt", ""), text_parts),
    Format("markdown", (".md", ".markdown"), _markdown, shared=True),
    Format("html", (".html", ".htm"), _html, shared=True),
    Format("json", (".json",), _json),
    Format("cast", (".cast",), _cast, shared=True),
)
_BY_NAME: Final = {format_.name: format_ for format_ in _FORMATS}
_BY_SUFFIX: Final = {
    **{suffix: format_.name for format_ in _FORMATS for suffix in format_.suffixes},
    ".jsonl": LINES,
    ".ndjson": LINES,
}


def format_named(name: str) -> Format:
    """Return the format of that name."""
    return _BY_NAME[name]


def format_name(wanted: str | None, output: Path | None) -> str:
    """Return the name of the format: the one asked for, else what the output's suffix tells.

    Raises:
        WrongName: the suffix tells nothing.

    """
    suffix = output.suffix.lower() if output else ""
    name = wanted or _BY_SUFFIX.get(suffix)
    if name is None:
        raise WrongName(str(output), "does not tell the format; -f does")
    return name


def refuse_to_redact(what: str, *, hide: bool | None) -> None:
    """Raise `CannotRedact` if *what* was to be redacted and cannot be."""
    if hide:
        raise CannotRedact(what)
