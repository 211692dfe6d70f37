"""Locks: the answers to several questions, one at a time (P-30)."""

from __future__ import annotations

from replay import Ask, Unknown
from tests.replay.records import Log, only

QUESTIONS = {
    "session_id": "s",
    "questions": [
        {"qid": "q0", "question": "Which database?", "choices": ["SQLite", "DuckDB"]},
        {"qid": "q1", "question": "Which features?", "choices": ["a"], "multi_select": True},
    ],
}


def clarify(answers: dict[str, str] | None = None) -> Log:
    log = Log()
    log.prompt()
    params = QUESTIONS if answers is None else {**QUESTIONS, "answers": answers}
    log.add("request.opened", id="srq-1", method="clarify", params=params)
    return log


def test_all_locks_together_are_the_answer() -> None:
    """F: "request.locked": re-lockable, null skips, the last lock settles."""
    log = clarify()
    log.add("request.locked", id="srq-1", question_id="q0", answer="SQLite")
    log.add("request.locked", id="srq-1", question_id="q0", answer="DuckDB")
    half = only(log.folded(), Ask)
    log.add("request.locked", id="srq-1", question_id="q1", answer=None)
    log.add("request.locked", id="srq-1", question_id="q0", answer="SQLite")

    ask = only(log.folded(), Ask)
    assert (half.state, half.questions[0].answer, half.questions[0].locked) == (
        "open",
        ("DuckDB",),
        True,
    )
    assert ask.state == "answered"
    assert (ask.questions[0].answer, ask.questions[1].skipped) == (("DuckDB",), True)
    assert ask.late_answers == ("SQLite",)


def test_an_answer_goes_over_earlier_locks() -> None:
    """P-30: a final response merges over the locks that stand."""
    log = clarify()
    log.add("request.locked", id="srq-1", question_id="q1", answer="a")
    log.add("request.answered", id="srq-1", result={"answers": {"q0": "DuckDB"}})

    first, second = only(log.folded(), Ask).questions
    assert (first.answer, second.answer) == (("DuckDB",), ("a",))


def test_no_answers_cancel_all_that_is_not_locked() -> None:
    """F: "request.answered": a clarify without `answers` skips every open question."""
    log = clarify()
    log.add("request.locked", id="srq-1", question_id="q0", answer="SQLite")
    log.add("request.answered", id="srq-1", result={})

    first, second = only(log.folded(), Ask).questions
    assert (first.answer, first.skipped, second.skipped) == (("SQLite",), False, True)


def test_locks_given_with_the_request_are_locks() -> None:
    """P-17: a request that comes with answers locked so far shows them."""
    log = clarify({"q0": "SQLite"})

    first, second = only(log.folded(), Ask).questions
    assert (first.locked, first.answer, second.locked) == (True, ("SQLite",), False)


def test_a_lock_survives_a_timeout() -> None:
    """P-30: the question expires, its locked answer stays."""
    log = clarify()
    log.add("request.locked", id="srq-1", question_id="q0", answer="SQLite")
    log.add("request.cancel", id="srq-1", method="clarify", reason="timeout")

    ask = only(log.folded(), Ask)
    assert (ask.state, ask.questions[0].answer) == ("expired", ("SQLite",))


def test_a_lock_of_no_known_question_is_shown() -> None:
    """P-30: an unknown question of a known request locks nothing."""
    log = clarify()
    log.add("request.locked", id="srq-1", question_id="q7", answer="x")

    transcript = log.folded()
    assert only(transcript, Unknown).problem == "no such question"
    assert only(transcript, Ask).state == "open"
