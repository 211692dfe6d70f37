"""The token."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway.auth import FILE, VARIABLE, Token, load_token


def test_a_token_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    """The first start writes a file of mode 0600, later ones read it (P-7)."""
    first = load_token(tmp_path, {})
    assert (tmp_path / FILE).stat().st_mode & 0o777 == 0o600
    assert load_token(tmp_path, {}).reveal() == first.reveal()
    assert len(first.reveal()) >= 32
    assert [path.name for path in tmp_path.iterdir()] == [FILE]


def test_two_folders_have_two_tokens(tmp_path: Path) -> None:
    """Tokens are random."""
    folders = [tmp_path / "a", tmp_path / "b"]
    for folder in folders:
        folder.mkdir()
    assert len({load_token(folder, {}).reveal() for folder in folders}) == 2


def test_the_environment_comes_first(tmp_path: Path) -> None:
    """A token that is given makes no file (P-7)."""
    assert load_token(tmp_path, {VARIABLE: " given \n"}).reveal() == "given"
    assert not list(tmp_path.iterdir())


def test_a_file_that_others_can_read_is_closed_to_them(tmp_path: Path) -> None:
    """A copied or restored file is made private again."""
    (tmp_path / FILE).write_text("known\n")
    (tmp_path / FILE).chmod(0o644)
    assert load_token(tmp_path, {}).reveal() == "known"
    assert (tmp_path / FILE).stat().st_mode & 0o777 == 0o600


def test_an_empty_file_lets_nobody_in(tmp_path: Path) -> None:
    """An empty token would match an empty guess."""
    (tmp_path / FILE).touch()
    with pytest.raises(ValueError, match="empty token"):
        load_token(tmp_path, {})


def test_a_token_shows_itself_to_nobody() -> None:
    """Neither a log line nor a trace that holds the object holds the secret (P-7)."""
    token = Token("s3cret")
    assert "s3cret" not in f"{token} {token!r} {[token]}"


@pytest.mark.parametrize("presented", ["", "s3cre", "s3cret ", "S3cret", None, 7, "\ud800", "é"])
def test_only_the_token_matches(presented: object) -> None:
    """Anything else does not, whatever its type."""
    token = Token("s3cret")
    assert token.matches("s3cret")
    assert not token.matches(presented)
