"""What is said and thought: chunks into messages, whole messages over chunks (fold.md, ACP table).

Above this module: `acp`, `hermes`. Below it: `draft`, `turns`.

A chunk goes to the open text if that is of its kind and has its id: a present and a missing id
are different messages. Chunks are joined when a transcript is taken, not one by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from replay.entries import Agent, Thought, User
from replay.fold.draft import Draft
from replay.fold.row import Row
from replay.fold.strings import joined, normal
from replay.fold.turns import finish_turn, start_turn
from replay.pieces import Block


def say(draft: Draft, kind: type[Agent | Thought], text: str, mid: str | None = None) -> None:
    """Add *text* to what the agent says or thinks."""
    if not text:
        return
    row = draft.tail
    if row is None or type(row.entry) is not kind or row.entry.mid != mid:
        row = _open(draft, kind, mid)
    draft.append(row, text)
    if row.entry.hidden:
        _show_if_new(draft, row)


def _show_if_new(draft: Draft, row: Row[Agent]) -> None:
    """Show a late message as soon as it says what its turn has not said."""
    said = [other for other in agent_rows(draft) if not other.entry.late]
    draft.mark(row, hidden=repeats(row.text, said))


def unsaid(draft: Draft, kind: type[Agent | Thought], text: str, mid: str | None) -> str:
    """Return what *text* adds to the open text of that kind and id, which it begins with."""
    row = draft.tail
    if row is None or type(row.entry) is not kind or row.entry.mid != mid:
        return text
    return text.removeprefix(row.text)


def attach(draft: Draft, kind: type[Agent | Thought], block: Block, mid: str | None = None) -> None:
    """Add a block that is no text to what the agent says or thinks."""
    row = draft.tail
    if row is None or type(row.entry) is not kind or row.entry.mid != mid:
        row = _open(draft, kind, mid)
    draft.edit(row, blocks=(*row.entry.blocks, block), hidden=False)


def _open(draft: Draft, kind: type[Any], mid: str | None) -> Row[Any]:
    draft.seal()
    fields: dict[str, Any] = {"mid": mid}
    if mid is not None:
        fields["part"] = len(draft.said.get((kind.kind, mid), ())) + 1
    if kind is Agent and draft.turn is None and draft.turns:
        fields |= {"late": True, "hidden": True}
    draft.lively = True
    row = draft.add(kind, **fields)
    draft.tail = row
    return row


def replace_message(
    draft: Draft,
    kind: type[Agent | Thought | User],
    mid: str,
    text: str,
    blocks: tuple[Block, ...],
) -> None:
    """Make the whole message *mid* say *text* (v2); its later parts are superseded."""
    if rows := _parts(draft, kind, mid):
        row, *others = rows
        for other in others:
            draft.mark(other, superseded=True)
    elif text or blocks:
        row = _open_user(draft, mid) if kind is User else _open(draft, kind, mid)
    else:
        return
    rewrite(draft, row, text, blocks=blocks)


def _parts(draft: Draft, kind: type[Any], mid: str) -> Sequence[Row[Any]]:
    """Return what there is of a message; the id of a prompt may have come after it."""
    if kind is User:
        return [row for row in draft.users.values() if row.entry.mid == mid]
    return draft.said.get((kind.kind, mid), ())


def rewrite(draft: Draft, row: Row[Any], text: str, /, **changes: Any) -> None:
    """Replace what *row* says."""
    row.chunks.clear()
    draft.edit(row, text=text, **changes)


def user_chunk(draft: Draft, part: str | Block, mid: str | None) -> None:
    """Add what the agent says that the user said: an echo of the prompt, or a message."""
    if part == "":
        return
    row = draft.tail
    if row is not None and type(row.entry) is User and row.entry.mid == mid:
        if draft.replaying and mid is None and isinstance(part, str):
            row = _next_told(draft)
        _continue_user(draft, row, part)
    elif row is not None or not _echoes(draft, part, mid):
        _new_user(draft, _with_echo(draft, part, mid), mid)


def _next_told(draft: Draft) -> Row[User]:
    """Begin the next message that a replay tells of: there, each chunk without an id is one.

    Nothing of the agent stands between it and the one before, so both ask for the same turn.
    """
    row = draft.add(User)
    if draft.turn is not None:
        draft.set_turn(prompts=(*draft.turns[draft.turn].prompts, row.entry.id))
    draft.tail = row
    return row


def _continue_user(draft: Draft, row: Row[User], part: str | Block) -> None:
    if isinstance(part, Block):
        draft.edit(row, blocks=(*row.entry.blocks, part))
    else:
        draft.append(row, part)


def _new_user(draft: Draft, part: str | Block, mid: str | None) -> None:
    row = _open_user(draft, mid)
    draft.tail = row
    _continue_user(draft, row, part)


def _open_user(draft: Draft, mid: str | None) -> Row[User]:
    """Begin a message of the user that the agent tells of; it is a prompt if no turn runs."""
    if draft.replaying and draft.turn is not None and draft.turns[draft.turn].replayed:
        finish_turn(draft, "complete")
    if draft.turn is not None:
        return draft.add(User, mid=mid)
    start_turn(draft, replayed=draft.replaying)
    row = draft.add(User, mid=mid)
    draft.set_turn(prompts=(row.entry.id,))
    return row


# -- echoes: an agent that repeats the prompt it was given ---------------------------------------


def _echoes(draft: Draft, part: str | Block, mid: str | None) -> bool:
    """Tell whether *part* repeats the last prompt of the turn that runs, and remember how far."""
    row = _last_prompt(draft)
    if draft.replaying or row is None:
        return False
    if isinstance(part, Block):
        return part in row.entry.blocks
    if draft.echo and draft.echo["mid"] != mid:
        draft.settle_echo()
    heard = joined(draft.echo["text"] if draft.echo else "", [part])
    if not row.text.startswith(_without_half(heard)):
        return False
    draft.echo = {"text": heard, "mid": mid, "whole": row.text == heard}
    if row.text == heard and mid is not None:
        draft.mark(row, mid=mid)
    return True


def _without_half(text: str) -> str:
    """Return *text* without the half of a character that ends it."""
    return text[:-1] if "\ud800" <= text[-1:] <= "\udbff" else text


def _with_echo(draft: Draft, part: str | Block, mid: str | None) -> str | Block:
    """Return *part* with what was taken for an echo before it, if it is of the same message."""
    if draft.echo is None or draft.echo["mid"] != mid or isinstance(part, Block):
        return part
    heard, draft.echo = draft.echo["text"], None
    return joined(heard, [part])


def _last_prompt(draft: Draft) -> Row[User] | None:
    if draft.turn is None:
        return None
    prompts = draft.turns[draft.turn].prompts
    return next((draft.users[name] for name in reversed(prompts)), None)


def agent_rows(draft: Draft) -> list[Row[Agent]]:
    """Return what the agent has said in the turn and what still counts of it, in order."""
    rows = (row for row in draft.rows_of_turn() if type(row.entry) is Agent)
    return [row for row in rows if not row.entry.superseded][::-1]


def repeats(text: str, rows: Iterable[Row[Agent]]) -> bool:
    """Tell whether *text* is contained in what *rows* say together."""
    said = "".join(row.text for row in rows)
    return text in said or normal(text) in normal(said)
