"""What is asked about sessions rather than shown of them: hits, numbers, differences, a check.

Above this module: `program`. Below it: `grep`, `stats`, `compare`. Each answer is the bytes for
standard output, and an exit code.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from difflib import unified_diff
from typing import Any

from eventlog import codec
from replay.compare import Comparison, compare
from replay.errors import WrongName
from replay.exits import DONE, FOUND
from replay.grep import hits, pattern_of
from replay.render.options import TextOptions
from replay.stats import stats_of, stats_text
from replay.transcript import Transcript


@dataclass(frozen=True, slots=True)
class Answer:
    """What is written, the exit code, and a word for standard error."""

    content: Iterable[bytes]
    """Piece by piece; to be gone through once."""
    code: int = DONE
    remark: str = ""


def found(transcripts: Iterable[Transcript], pattern: str, *, json: bool) -> Answer:
    """Return the lines that hold *pattern*, with the ids of their entries.

    Raises:
        WrongName: it is no pattern.

    """
    compiled = pattern_of(pattern)
    all_ = [hit for transcript in transcripts for hit in hits(transcript, compiled)]
    lines = (_json(asdict(hit)) if json else str(hit) for hit in all_)
    return Answer(_bytes(lines), DONE if all_ else FOUND)


def numbers(transcripts: Sequence[Transcript], *, json: bool) -> Answer:
    """Return each session in numbers."""
    counted = [stats_of(transcript) for transcript in transcripts]
    if json:
        return Answer(_bytes(_json(stats.json()) for stats in counted))
    texts = [stats_text(stats, one) for stats, one in zip(counted, transcripts, strict=True)]
    return Answer(["\n".join(texts).encode()])


def difference(
    ours: Transcript,
    theirs: Transcript,
    options: TextOptions,
    names: tuple[str, str],
    *,
    json: bool,
) -> Answer:
    """Return where two sessions differ."""
    compared = compare(ours, theirs, options, names)
    code = DONE if compared.first is None else FOUND
    if json:
        return Answer(_bytes([_json(compared.json())]), code)
    return Answer(_bytes(compared.lines), code, _first(compared))


def _first(compared: Comparison) -> str:
    if compared.first is None:
        return ""
    left, right = compared.first
    return f"first difference: {left} | {right}"


def checked(answer: Answer, expected: bytes, name: str) -> Answer:
    """Return how what is answered differs from what a file holds."""
    rendered = b"".join(answer.content)
    if rendered == expected:
        return Answer([])
    lines = unified_diff(_lines(expected), _lines(rendered), name, "rendered now", lineterm="", n=3)
    return Answer(_bytes(lines), FOUND, f"{name} is not what is rendered now")


def one_of(transcripts: Sequence[Transcript], name: str) -> Transcript:
    """Return the only session of *name*.

    Raises:
        WrongName: there are several.

    """
    if len(transcripts) == 1:
        return transcripts[0]
    ids = ", ".join(transcript.session for transcript in transcripts)
    raise WrongName(name, f"holds {len(transcripts)} sessions: pick one with --session, of {ids}")


def _lines(content: bytes) -> list[str]:
    return content.decode("utf-8", "replace").splitlines()


def _json(value: Any) -> str:
    return codec.dumps(value).decode()


def _bytes(lines: Iterable[str]) -> Iterable[bytes]:
    return [f"{line}\n".encode("utf-8", "replace") for line in lines]
