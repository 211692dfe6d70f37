"""The pytest plugin in a project of somebody else's (R122, R123, R136)."""

from __future__ import annotations

import os
from pathlib import Path
from textwrap import dedent

import pytest

from snapshots import golden_text

pytest_plugins = ["pytester"]

TEST = """
    def test_session(transcript, snapshot):
        assert transcript("session.jsonl") == snapshot
"""


@pytest.fixture
def project(
    pytester: pytest.Pytester, captures: Path, monkeypatch: pytest.MonkeyPatch
) -> pytest.Pytester:
    """A project with one recorded session, one golden test, and no golden yet."""
    for name in [name for name in os.environ if name.startswith("PYTEST_XDIST")]:
        monkeypatch.delenv(name)  # its runs are no part of ours
    capture = captures / "acp/claude049-reject.jsonl"
    pytester.path.joinpath("session.jsonl").write_bytes(capture.read_bytes())
    pytester.makepyfile(test_golden=TEST)
    return pytester


@pytest.fixture
def golden(project: pytest.Pytester) -> Path:
    """The golden of that test, written as the plugin would."""
    path = project.path / "__snapshots__" / "test_golden" / "test_session.txt"
    path.parent.mkdir(parents=True)
    path.write_text(golden_text(project.path / "session.jsonl"), encoding="utf-8")
    return path


def _run(project: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    quick = ("-p", "no:hypothesispytest", "-p", "no:cacheprovider")
    return project.runpytest_subprocess("-p", "snapshots.plugin", *quick, *arguments)


def test_a_golden_is_one_text_file_a_test(project: pytest.Pytester) -> None:
    """The golden is written on demand and holds the text that the session has."""
    assert _run(project, "--snapshot-update").ret == pytest.ExitCode.OK

    (golden,) = project.path.joinpath("__snapshots__").rglob("*.*")
    place = ("__snapshots__", "test_golden", "test_session.txt")
    assert golden.relative_to(project.path).parts == place
    assert golden.read_text(encoding="utf-8") == golden_text(project.path / "session.jsonl")


def test_an_equal_session_passes_from_several_processes_too(
    project: pytest.Pytester, golden: Path
) -> None:
    """R122: only writing is refused; comparing may be spread."""
    before = golden.read_bytes()

    assert _run(project, "-n", "2").ret == pytest.ExitCode.OK
    assert golden.read_bytes() == before


@pytest.mark.usefixtures("golden")
def test_a_changed_session_fails_and_shows_the_lines(project: pytest.Pytester) -> None:
    """What is compared is the text, and what differs is shown."""
    session = project.path / "session.jsonl"
    session.write_bytes(session.read_bytes().replace(b"edit please", b"edit at once"))
    run = _run(project)

    assert run.ret == pytest.ExitCode.TESTS_FAILED
    run.stdout.re_match_lines([r".*edit please.*", r".*edit at once.*"])


def test_updating_from_several_processes_is_refused(project: pytest.Pytester) -> None:
    """R122: a usage error with what to do, and nothing written."""
    run = _run(project, "-n", "2", "--snapshot-update")

    assert run.ret == pytest.ExitCode.USAGE_ERROR
    run.stderr.fnmatch_lines(
        ["*--snapshot-update with 2 workers can lose goldens: run it with -n 0*"]
    )
    assert not project.path.joinpath("__snapshots__").exists()


def test_an_unused_golden_fails_a_full_run(project: pytest.Pytester, golden: Path) -> None:
    """R123: a golden whose test is gone is not forgotten: the run fails and names it."""
    golden.rename(golden.with_name("test_gone.txt"))
    golden.write_text(golden_text(project.path / "session.jsonl"), encoding="utf-8")
    run = _run(project, "--snapshot-details")

    assert run.ret == pytest.ExitCode.TESTS_FAILED
    run.stdout.fnmatch_lines(["*test_gone*"])


def test_other_snapshots_are_left_alone_and_scrubbers_added(project: pytest.Pytester) -> None:
    """`snapshot` changes only where `transcript` is used; `scrubbers` is overridden like any other."""
    other = "\n\ndef test_other(snapshot):\n    assert {'a': 1} == snapshot\n"
    project.makepyfile(test_golden=dedent(TEST) + other)
    project.makeconftest(
        """
        import pytest
        from snapshots import SCRUBBERS, Scrubber

        @pytest.fixture
        def scrubbers():
            return [*SCRUBBERS, Scrubber("script", r"S:[a-z]+")]
        """
    )
    _run(project, "--snapshot-update")
    written = project.path.joinpath("__snapshots__").rglob("*.*")
    amber, golden = sorted(written, key=lambda path: path.suffix)

    assert (amber.suffix, golden.suffix) == (".ambr", ".txt")
    assert "edit please [[<script:1>]]" in golden.read_text(encoding="utf-8")
