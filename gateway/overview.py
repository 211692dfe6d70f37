"""What a list shows of a session: how much was said, and what last. A small fold of the log.

Above this module: `overviews`, which sets it right at ends of turns. Below it: `eventlog`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from eventlog import START, Envelope, Seq, seq_of
from gateway.heads import lines_of, ts_of

Json = dict[str, Any]

PREVIEW: Final = 200
"""Characters that are kept of the last words."""


@dataclass(slots=True)
class Overview:
    """Folded up to *seq*. Times in µs."""

    seq: Seq = START
    began: int = 0
    latest: int = 0
    messages: int = 0
    """Prompts, answers and tools, as rows of a conversation."""
    preview: str = ""
    model: str = ""
    title: str = ""
    speaking: bool = False
    """The last row is an answer, and grows."""

    @classmethod
    def of_json(cls, values: Json) -> Overview:
        """Return what `json` wrote.

        Raises:
            TypeError: it did not.

        """
        return cls(**values)

    def json(self) -> Json:
        """Return it as JSON."""
        return asdict(self)

    def wanted(self, body: bytes) -> list[bytes]:
        """Return the lines of a page that change anything here but the time."""
        return _WANTED(body)

    def apply(self, envelopes: Iterable[Envelope], ends: tuple[bytes, bytes]) -> None:
        """Fold *envelopes*, what is wanted of a page; *ends* are its first and its last line.

        What stands up to `seq` is ignored.
        """
        self.began = self.began or ts_of(ends[0])
        for envelope in envelopes:
            if envelope["seq"] > self.seq:
                _STEPS[envelope["type"]](self, envelope["payload"])
        if (last := seq_of(ends[1])) > self.seq:
            self.seq, self.latest = last, ts_of(ends[1])

    def row(self) -> None:
        """Count a row that is no answer."""
        self.messages += 1
        self.speaking = False

    def say(self, text: str) -> None:
        """Take words of an answer; words in a row are one row."""
        if not self.speaking:
            self.messages += 1
            self.preview = ""
        self.speaking = True
        if len(self.preview) < PREVIEW:
            self.preview = (self.preview + text)[:PREVIEW]

    def retitle(self, members: Mapping[Any, Any]) -> None:
        """Take the title that *members* hold, if they do."""
        if isinstance(title := members.get("title"), str):
            self.title = title


def _opened(overview: Overview, payload: Json) -> None:
    overview.retitle(payload)
    match payload:
        case {"models": {"currentModelId": str(model)}} | {"info": {"model": str(model)}}:
            overview.model = model
    _options(overview, payload.get("config_options"))


def _options(overview: Overview, options: Any) -> None:
    for option in options if isinstance(options, list) else ():
        match option:
            case {"category": "model", "currentValue": str(model)}:
                overview.model = model


def _update(overview: Overview, payload: Json) -> None:
    match payload.get("update"):
        case {"sessionUpdate": "agent_message_chunk", "content": {"text": str(text)}} if text:
            overview.say(text)
        case {"sessionUpdate": "tool_call"}:
            overview.row()
        case {"sessionUpdate": "session_info_update", "title": title}:
            overview.retitle({"title": title})
        case {"sessionUpdate": "config_option_update", "configOptions": options}:
            _options(overview, options)


def _prompted(overview: Overview, payload: Json) -> None:
    if payload.get("internal") is not True:
        overview.row()


def _info(overview: Overview, payload: Json) -> None:
    overview.retitle(payload)
    if isinstance(model := payload.get("model"), str) and model:
        overview.model = model


def _completed(overview: Overview, payload: Json) -> None:
    if isinstance(text := payload.get("text"), str) and text:
        overview.row()
        overview.preview = text[:PREVIEW]


_STEPS: Final[Mapping[str, Callable[[Overview, Json], None]]] = {
    "session.opened": _opened,
    "session.title": Overview.retitle,
    "session.info": _info,
    "acp.session_update": _update,
    "prompt.submitted": _prompted,
    "tool.start": lambda overview, _: overview.row(),
    "message.complete": _completed,
}

_WANTED: Final = lines_of(_STEPS)
