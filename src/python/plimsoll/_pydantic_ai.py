"""Conversion of Pydantic AI's messages to the format `openai_chat`."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import Any, Optional, Sequence

from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import (
    BinaryContent,
    CachePoint,
    ImageUrl,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from ._conversations import Conversations
from ._manager import Manager
from ._messages import Messages, match_blocks, text_of, texts_of


class PydanticMessages(Messages[ModelMessage]):
    """Messages of Pydantic AI. Each part of a request is a message of the provider. Edited parts keep their other fields."""

    def to_wire(self, own: ModelMessage) -> list[Any]:
        if isinstance(own, ModelRequest):
            return [_wire(part) for part in own.parts] or [{"role": "user", "content": ""}]
        wire: dict[str, Any] = {"role": "assistant", "content": _text(own, TextPart)}
        if thinking := _text(own, ThinkingPart):
            wire["reasoning_content"] = thinking
        calls = [part for part in own.parts if isinstance(part, ToolCallPart)]
        if calls:
            wire["tool_calls"] = [
                {"id": call.tool_call_id, "type": "function", "function": _function(call)} for call in calls
            ]
        return [wire]

    def added(self, wire: dict[str, Any]) -> ModelMessage:
        role, content = wire["role"], "\n".join(texts_of(wire.get("content")))
        if role == "assistant":
            calls = [(call["function"], call["id"]) for call in wire.get("tool_calls") or []]
            parts = [ToolCallPart(function["name"], function["arguments"], id) for function, id in calls]
            return ModelResponse([*([TextPart(content)] if content else []), *parts])
        if role == "tool":
            return ModelRequest([ToolReturnPart(wire.get("name", ""), content, wire["tool_call_id"])])
        return ModelRequest([SystemPromptPart(content) if role in ("system", "developer") else UserPromptPart(content)])

    def edited(self, own: ModelMessage, parts: Sequence[tuple[int, Optional[dict[str, Any]]]]) -> ModelMessage:
        if isinstance(own, ModelRequest):
            kept = [(own.parts[i], wire) for i, wire in parts if i < len(own.parts)]
            return replace(own, parts=[part if wire is None else _edited(part, wire) for part, wire in kept])
        before, wire = self.to_wire(own)[0], parts[0][1] or {}
        texts = [wire["content"]] if wire.get("content") else []
        functions = {call["id"]: call["function"] for call in wire.get("tool_calls") or []}
        new: list[Any] = []
        for part in own.parts:
            # The Responses API ignores the text of an item that has the id of a stored one.
            if isinstance(part, TextPart) and wire.get("content") != before["content"]:
                new += [replace(part, content=texts.pop(), id=None)] if texts else []
            elif isinstance(part, ThinkingPart):
                new += [part] if "reasoning_content" in wire else []
            elif not isinstance(part, ToolCallPart) or functions.get(part.tool_call_id) == _function(part):
                new.append(part)
            elif part.tool_call_id in functions:
                new.append(replace(part, args=functions[part.tool_call_id]["arguments"], id=None))
        return replace(own, parts=new)


class RunCapability(AbstractCapability[Any]):
    """A capability with a manager for each run. Runs of one conversation follow each other with the same manager.

    Runs at the same time may have different histories, so only one of them continues with the decisions of the conversation.
    """

    conversations: Conversations[ModelMessage]
    manager: Any

    def create(self) -> Manager[ModelMessage]:
        """Returns a new manager."""
        raise NotImplementedError

    async def for_run(self, ctx: Any) -> Any:
        run = copy(self)
        run.manager = self.create()
        return run

    async def wrap_run(self, ctx: Any, *, handler: Any) -> Any:
        self.manager = self.conversations.take(ctx.conversation_id, lambda: self.manager)
        try:
            return await handler()
        finally:
            self.conversations.put(ctx.conversation_id, self.manager)

    @classmethod
    def get_serialization_name(cls) -> Optional[str]:
        return None


def _text(message: ModelResponse, kind: Any) -> Optional[str]:
    return "".join(part.content for part in message.parts if isinstance(part, kind)) or None


def _function(call: ToolCallPart) -> dict[str, str]:
    return {"name": call.tool_name, "arguments": call.args_as_json_str()}


def _wire(part: Any) -> dict[str, Any]:
    if isinstance(part, ToolReturnPart):
        return {
            "role": "tool",
            "tool_call_id": part.tool_call_id,
            "name": part.tool_name,
            "content": part.model_response_str(),
        }
    if isinstance(part, SystemPromptPart):
        return {"role": "system", "content": part.content}
    if isinstance(part, UserPromptPart):
        content = part.content if isinstance(part.content, str) else [_block(item) for item in _items(part)]
        return {"role": "user", "content": content}
    # Feedback to the model, and parts that newer versions add.
    content = part.model_response() if hasattr(part, "model_response") else text_of(part)
    if _is_retry(part):
        return {"role": "tool", "tool_call_id": part.tool_call_id, "name": part.tool_name, "content": content}
    return {"role": "user", "content": content}


def _is_retry(part: Any) -> bool:
    """Returns true for a part that asks to repeat a call, which is the result of the call."""
    # By its kind: newer versions write such a request as a `ToolReturnPart`, and the class may go.
    return part.part_kind == "retry-prompt" and part.tool_name is not None


def _items(part: UserPromptPart) -> list[Any]:
    return [item for item in part.content if not isinstance(item, CachePoint)]


def _block(item: Any) -> dict[str, Any]:
    if isinstance(item, ImageUrl) or (isinstance(item, BinaryContent) and item.is_image):
        return {"type": "image_url", "image_url": {"url": item.url if isinstance(item, ImageUrl) else item.data_uri}}
    text = item if isinstance(item, str) else getattr(item, "content", None)
    return {"type": "text", "text": text if isinstance(text, str) else text_of(item)}


def _edited(part: Any, wire: dict[str, Any]) -> Any:
    content = wire.get("content") or ""
    if isinstance(part, UserPromptPart) and isinstance(content, list):
        items = _items(part)
        matched = match_blocks(content, [_block(item) for item in items], items)
        kept = [old if same else block["text"] if "text" in block else old for block, (old, same) in zip(content, matched)]
        content = kept + [item for item in part.content if isinstance(item, CachePoint)]
    if _is_retry(part):  # adds words to its content
        return ToolReturnPart(part.tool_name, content, part.tool_call_id, timestamp=part.timestamp)
    return replace(part, content=content)
