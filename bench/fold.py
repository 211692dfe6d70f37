"""How fast a session's records become a transcript, over the same lines only parsed (B-12).

Two kinds of sessions: all captures one after the other, as often as they make 60 000 records; and
one answer in thousands of small chunks, looked at after every single one, as a live client does.

Parsing and folding take turns, session by session, and what counts is the processor's time: so
both meet the same machine, whoever else uses it.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time

import orjson

from bench.harness import Contender, Goal
from eventlog import Envelope, Event, line, parse, read_capture
from replay import EMPTY, Fold, fold

CAPTURES = Path(__file__).parents[1] / "tests" / "captures"
RECORDS = 60_000


def recorded() -> list[list[bytes]]:
    """Return the lines of every recorded session."""
    files = sorted(CAPTURES.glob("*/*.jsonl"))
    sessions = [session for file in files for session in read_capture(file.read_bytes())]
    return [session.lines for session in sessions]


def answer(chunks: int) -> list[Envelope]:
    """Return a turn whose answer comes in that many chunks."""
    started = [Event.of("message.start")]
    said = [Event.of("message.delta", {"text": f"word {n} "}) for n in range(chunks)]
    return [parse(line(seq, seq, event)) for seq, event in enumerate(started + said, start=1)]


def contender(name: str, count: int, work: Callable[[], object]) -> Contender:
    """Return what does *work*, which handles *count* records."""

    async def run(_at: Path) -> dict[str, float]:
        begun = perf_counter()
        work()
        return {"records/s": count / (perf_counter() - begun)}

    return Contender(name, run)


def parse_all(lines: list[bytes]) -> None:
    """Parse every line, and no more."""
    for text in lines:
        orjson.loads(text)


def in_turns(sessions: list[tuple[list[bytes], list[Envelope]]], times: int) -> dict[str, float]:
    """Parse and fold every session; return the rates, and one over the other."""
    parsing = folding = 0.0
    count = times * sum(len(lines) for lines, _ in sessions)
    for _ in range(times):
        for lines, records in sessions:
            begun = process_time()
            parse_all(lines)
            between = process_time()
            fold(EMPTY, records)
            parsing += between - begun
            folding += process_time() - between
    return {
        "records/s": count / folding,
        "records/s parsed by orjson.loads": count / parsing,
        "of that rate": parsing / folding,
    }


def watch(records: list[Envelope]) -> None:
    """Take a transcript after each record."""
    folding = Fold()
    for record in records:
        folding.apply(record)
        folding.transcript()


def contenders() -> tuple[list[Contender], list[Goal]]:
    """Return what is measured, and what should come out."""
    sessions = recorded()
    pairs = [(lines, [parse(text) for text in lines]) for lines in sessions]
    times = RECORDS // sum(map(len, sessions))
    short, long = answer(1_000), answer(10_000)
    gc.collect()
    gc.freeze()  # the collector shall not walk the input again and again

    async def alternate(_at: Path) -> dict[str, float]:
        return in_turns(pairs, times)

    folds = Contender("fold of all recordings", alternate)
    live = contender("a transcript after each of 1 000 chunks", 1_000, lambda: watch(short))
    long_live = contender("a transcript after each of 10 000 chunks", 10_000, lambda: watch(long))
    return [folds, live, long_live], [
        Goal(
            "fold over orjson.loads (B-12: ≥ .5)",
            lambda: folds.median("of that rate"),
            lambda ratio: ratio >= 0.5,
        ),
        Goal(
            "live, ten times the chunks over the rate of one (≥ .4: not quadratic)",
            lambda: long_live.median("records/s") / live.median("records/s"),
            lambda ratio: ratio >= 0.4,
        ),
    ]
