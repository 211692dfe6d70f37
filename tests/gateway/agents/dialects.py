"""The wire formats in which agents ask their models, as far as real agents need them.

Each dialect reads a request into `Asked` and writes what the script says as server-sent events:
Anthropic's Messages, OpenAI's Responses and Chat Completions, Gemini's streamGenerateContent.
An agent that does not stream gets the same in one piece.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from tests.gateway.agents.script import Asked, Endless, Part, Said, Speaker, Tool

Json = dict[str, Any]
Event = tuple[str | None, Json]
"""Name of a server-sent event, and its contents."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one API asks and answers."""

    read: Callable[[Json], Asked]
    write: Callable[[Iterable[Part]], Iterator[Event]]
    whole: Callable[[Iterable[Part]], Json]
    done: bytes = b""
    """What ends a stream."""


WORDS_PER_ENDLESS: Final = 2000


def spoken(parts: Iterable[Part]) -> Iterator[str | Tool]:
    """Yield words and calls; what has no end goes on longer than anybody waits."""
    for part in parts:
        if isinstance(part, Endless):
            yield from (f"tick {number} " for number in range(WORDS_PER_ENDLESS))
        else:
            yield part


def _text(content: Any) -> str:
    """Return the words in the content of a message, whatever its shape."""
    match content:
        case str():
            return content
        case list():
            return "\n".join(filter(None, map(_text, content)))
        case {"text": str(text)}:
            return text
        case {"content": inner}:
            return _text(inner)
        case {"output": inner}:
            return _text(inner) if not isinstance(inner, dict) else json.dumps(inner)
    return ""


def _by(message: Json) -> Speaker:
    speakers: dict[str, Speaker] = {"user": "user", "tool": "tool"}
    return speakers.get(message.get("role", ""), "model")


# Anthropic


def _read_messages(body: Json) -> Asked:
    said: list[Said] = []
    for message in body.get("messages") or ():
        content = message["content"]
        for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            if block.get("type") == "tool_result":
                said.append(Said("tool", _text(block.get("content"))))
            elif block.get("type") == "text":
                said.append(Said("user" if message["role"] == "user" else "model", block["text"]))
    tools = [str(tool.get("name")) for tool in body.get("tools") or ()]
    return Asked(said, tools, body.get("stream") is True)


def _write_messages(parts: Iterable[Part]) -> Iterator[Event]:
    usage = {"input_tokens": 10, "output_tokens": 1}
    head = {"id": "msg_script", "type": "message", "role": "assistant", "model": "script"}
    empty: Json = {
        **head,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }
    yield _named("message_start", {"message": empty})
    index, open_text, reason = 0, False, "end_turn"
    for part in spoken(parts):
        if isinstance(part, str):
            if not open_text:
                open_text = True
                block: Json = {"type": "text", "text": ""}
                yield _named("content_block_start", {"index": index, "content_block": block})
            delta: Json = {"type": "text_delta", "text": part}
            yield _named("content_block_delta", {"index": index, "delta": delta})
            continue
        if open_text:
            yield _named("content_block_stop", {"index": index})
            index, open_text = index + 1, False
        reason = "tool_use"
        block = {"type": "tool_use", "id": part.id, "name": part.name, "input": {}}
        yield _named("content_block_start", {"index": index, "content_block": block})
        delta = {"type": "input_json_delta", "partial_json": json.dumps(part.arguments)}
        yield _named("content_block_delta", {"index": index, "delta": delta})
        yield _named("content_block_stop", {"index": index})
        index += 1
    if open_text:
        yield _named("content_block_stop", {"index": index})
    end = {"stop_reason": reason, "stop_sequence": None}
    yield _named("message_delta", {"delta": end, "usage": {"output_tokens": 5}})
    yield _named("message_stop", {})


def _named(name: str, body: Json) -> Event:
    return name, {"type": name, **body}


def _whole_message(parts: Iterable[Part]) -> Json:
    content: list[Json] = []
    for part in spoken(parts):
        if isinstance(part, str):
            content.append({"type": "text", "text": part})
        else:
            content.append(
                {"type": "tool_use", "id": part.id, "name": part.name, "input": part.arguments}
            )
    head = {"id": "msg_script", "type": "message", "role": "assistant", "model": "script"}
    usage = {"input_tokens": 10, "output_tokens": 5}
    return {
        **head,
        "content": content,
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": usage,
    }


# OpenAI, Responses


def _read_responses(body: Json) -> Asked:
    said: list[Said] = []
    items = body.get("input") or ()
    for item in [{"role": "user", "content": items}] if isinstance(items, str) else items:
        if str(item.get("type", "")).endswith("_output"):
            said.append(Said("tool", _text(item.get("output"))))
        elif item.get("role"):
            said.append(Said(_by(item), _text(item.get("content"))))
    tools = [str(tool.get("name")) for tool in body.get("tools") or ()]
    return Asked(said, tools, body.get("stream") is True)


def _write_responses(parts: Iterable[Part]) -> Iterator[Event]:
    yield _named("response.created", {"response": {"id": "resp_script"}})
    output: list[Json] = []
    text = ""
    message: Json = {"type": "message", "role": "assistant", "id": "msg_script"}
    for part in spoken(parts):
        if isinstance(part, str):
            if not text:
                yield _named(
                    "response.output_item.added",
                    {"output_index": 0, "item": {**message, "content": []}},
                )
            text += part
            where = {"item_id": "msg_script", "output_index": 0, "content_index": 0}
            yield _named("response.output_text.delta", {**where, "delta": part})
            continue
        output += _message_of(message, text)
        call = {
            "type": "function_call",
            "id": "fc_script",
            "call_id": part.id,
            "name": part.name,
            "arguments": json.dumps(part.arguments),
        }
        yield from _done(output[-1:], 0)
        text = ""
        output.append(call)
        yield from _done([call], len(output) - 1)
    if text:
        output += _message_of(message, text)
        yield from _done(output[-1:], len(output) - 1)
    yield _named("response.completed", {"response": _response(output)})


def _message_of(message: Json, text: str) -> list[Json]:
    return [{**message, "content": [{"type": "output_text", "text": text}]}] if text else []


def _done(items: Iterable[Json], index: int) -> Iterator[Event]:
    for item in items:
        yield _named("response.output_item.done", {"output_index": index, "item": item})


def _response(output: list[Json]) -> Json:
    usage = {
        "input_tokens": 10,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 5,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 15,
    }
    return {"id": "resp_script", "object": "response", "output": output, "usage": usage}


def _whole_response(parts: Iterable[Part]) -> Json:
    *_, (_, last) = _write_responses(parts)
    response: Json = last["response"]
    return response


# OpenAI, Chat Completions


def _read_chat(body: Json) -> Asked:
    messages = body.get("messages") or ()
    said = [Said(_by(message), _text(message.get("content"))) for message in messages]
    tools = [str((tool.get("function") or {}).get("name")) for tool in body.get("tools") or ()]
    return Asked(said, tools, body.get("stream") is True)


def _write_chat(parts: Iterable[Part]) -> Iterator[Event]:
    yield None, _chunk({"role": "assistant"})
    reason, calls = "stop", 0
    for part in spoken(parts):
        if isinstance(part, str):
            yield None, _chunk({"content": part})
            continue
        reason = "tool_calls"
        function = {"name": part.name, "arguments": json.dumps(part.arguments)}
        call = {"index": calls, "id": part.id, "type": "function", "function": function}
        calls += 1
        yield None, _chunk({"tool_calls": [call]})
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    yield None, {**_chunk({}, reason), "usage": usage}


def _chunk(delta: Json, reason: str | None = None) -> Json:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    head = {"id": "c-1", "object": "chat.completion.chunk", "created": 1, "model": "script"}
    return {**head, "choices": [choice]}


def _whole_chat(parts: Iterable[Part]) -> Json:
    text = "".join(part for part in spoken(parts) if isinstance(part, str))
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    head = {"id": "c-1", "object": "chat.completion", "created": 1, "model": "script"}
    return {**head, "choices": [choice]}


# Gemini


def _read_gemini(body: Json) -> Asked:
    said: list[Said] = []
    for content in body.get("contents") or ():
        for part in content.get("parts") or ():
            if "functionResponse" in part:
                said.append(Said("tool", json.dumps(part["functionResponse"].get("response"))))
            elif "text" in part:
                said.append(Said(_by(content), part["text"]))
    tools = [
        str(function.get("name"))
        for tool in body.get("tools") or ()
        for function in tool.get("functionDeclarations") or ()
    ]
    return Asked(said, tools, streams=True)


def _write_gemini(parts: Iterable[Part]) -> Iterator[Event]:
    for part in spoken(parts):
        if isinstance(part, str):
            yield None, _candidate([{"text": part}])
        else:
            call = {"name": part.name, "args": part.arguments}
            yield None, _candidate([{"functionCall": call}])
    yield None, _candidate([{"text": ""}], "STOP")


def _candidate(parts: list[Json], reason: str | None = None) -> Json:
    end = {"finishReason": reason} if reason else {}
    usage = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}
    candidate = {"index": 0, "content": {"role": "model", "parts": parts}, **end}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "script"}


def _whole_gemini(parts: Iterable[Part]) -> Json:
    text = "".join(part for part in spoken(parts) if isinstance(part, str))
    return _candidate([{"text": text}], "STOP")


MESSAGES: Final = Dialect(_read_messages, _write_messages, _whole_message)
RESPONSES: Final = Dialect(_read_responses, _write_responses, _whole_response)
CHAT: Final = Dialect(_read_chat, _write_chat, _whole_chat, b"data: [DONE]\n\n")
GEMINI: Final = Dialect(_read_gemini, _write_gemini, _whole_gemini)
