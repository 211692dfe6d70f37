"""The formats that `hermes-replay` writes: one row a format.

Above this module: `program`, `cli`. Below it: the renderers, `dump`, `redact`.

A format that is made to be shared is redacted unless told otherwise; text and JSON, which are
looked at where they were recorded, only if asked for. The log's own lines (`jsonl`) are made by
`program`: they are no rendering, and cannot be redacted (R143).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from eventlog import codec
from replay.dump import dump
from replay.errors import CannotRedact, WrongName
from replay.render import TextOptions, render_texts, text_parts
from replay.transcript import Transcript

_UNSEEN: Final = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
"""What JSON allows in a string and a terminal obeys: escaped, the value is the same (R132)."""

LINES: Final = "jsonl"
"""The log's own lines."""


@dataclass(frozen=True, slots=True)
class Format:
    """How sessions are written; *suffixes* are those of files."""

    name: str
    suffixes: tuple[str, ...]
    render: Callable[[Sequence[Transcript], TextOptions], str]
    shared: bool = False
    parts: Callable[[Sequence[Transcript], TextOptions], Iterator[str]] | None = None
    """The same piece by piece, where it need not be in memory as a whole."""

    def stream(
        self, transcripts: Sequence[Transcript], options: TextOptions, *, hide: bool | None
    ) -> tuple[Iterable[bytes], str]:
        """Return what `write` does, piece by piece."""
        if self.parts is None or hide:
            content, told = self.write(transcripts, options, hide=hide)
            return [content], told
        return (part.encode("utf-8") for part in self.parts(transcripts, options)), ""

    def write(
        self, transcripts: Sequence[Transcript], options: TextOptions, *, hide: bool | None
    ) -> tuple[bytes, str]:
        """Return sessions in this format, and in words what was hidden of them, if anything was.

        *hide* None leaves it to the format.
        """
        told = ""
        if self.shared if hide is None else hide:
            transcripts, told = _redacted(transcripts)
        return self.render(transcripts, options).encode("utf-8"), told


def _redacted(transcripts: Sequence[Transcript]) -> tuple[Sequence[Transcript], str]:
    from replay.redact import merged, redact  # noqa: PLC0415 - starting is felt

    hidden = [redact(transcript) for transcript in transcripts]
    report = merged(found for _, found in hidden)
    return [transcript for transcript, _ in hidden], str(report) if report else ""


def _json(transcripts: Sequence[Transcript], options: TextOptions) -> str:
    del options
    lines = (codec.dumps(dump(one)).decode() for one in transcripts)
    return "".join(f"{_UNSEEN.sub(_escaped, line)}\n" for line in lines)


def _escaped(hit: re.Match[str]) -> str:
    return f"\\u{ord(hit[0]):04x}"


def _markdown(transcripts: Sequence[Transcript], options: TextOptions) -> str:
    from replay.render.markdown import render_markdown  # noqa: PLC0415 - starting is felt

    return render_markdown(transcripts, options)


def _html(transcripts: Sequence[Transcript], options: TextOptions) -> str:
    from replay.render.html import render_html  # noqa: PLC0415 - starting is felt

    return render_html(transcripts, options)


def _cast(transcripts: Sequence[Transcript], options: TextOptions) -> str:
    from replay.render.asciicast import render_asciicast  # noqa: PLC0415 - starting is felt

    return render_asciicast(transcripts, options)


_FORMATS: Final = (
    Format("text", (".txt", ""), render_texts, parts=text_parts),
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
