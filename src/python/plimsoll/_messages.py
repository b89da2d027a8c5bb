"""Conversion between the messages of a host and those of a provider."""

from __future__ import annotations

import hashlib
import json
from typing import Any, Generic, Mapping, Optional, Sequence, TypeVar

M = TypeVar("M")


class Messages(Generic[M]):
    """Converts messages of a host that have the JSON of a provider already. An adapter overrides the three methods."""

    def to_wire(self, own: M) -> Sequence[Any]:
        """Returns a host's message as one or more messages of the provider."""
        return (own,)

    def added(self, wire: dict[str, Any]) -> M:
        """Returns a host's message for one that the policy wrote."""
        return wire  # type: ignore[return-value]

    def edited(self, own: M, parts: Sequence[tuple[int, Optional[dict[str, Any]]]]) -> M:
        """Returns a copy of `own` with only these of its provider's messages.

        parts: index in `to_wire(own)`, and the new message, or None for an unchanged one.
        """
        return parts[0][1]  # type: ignore[return-value]


class ResponseItems(Messages[Any]):
    """Items of OpenAI's Responses API."""

    def edited(self, own: Any, parts: Sequence[tuple[int, Optional[dict[str, Any]]]]) -> Any:
        # The API uses its stored item instead of one with the same id. Reasoning is sent by its id only.
        item = parts[0][1] or {}
        return item if item.get("type") == "reasoning" else {key: value for key, value in item.items() if key != "id"}


def text_of(wire: Any, *, sort_keys: bool = False) -> str:
    """Returns JSON text. Objects of client libraries are converted by their own `model_dump`."""
    text = json.dumps(wire, ensure_ascii=False, default=_plain, sort_keys=sort_keys)
    try:
        text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair; only the counted copy loses it
        text = text.encode("utf-8", "replace").decode()
    return text


def digest_of(wire: Sequence[Any]) -> str:
    """Returns a text that is equal for messages with equal JSON."""
    return hashlib.blake2b(text_of(list(wire), sort_keys=True).encode(), digest_size=16).hexdigest()


def is_system(wire: Sequence[Any]) -> bool:
    """Returns true for a system prompt."""
    return isinstance(wire[0], Mapping) and wire[0].get("role") in ("system", "developer")


def is_kept_by_server(request: Mapping[str, Any]) -> bool:
    """Returns true for a request of the Responses API that continues a conversation of the server."""
    return bool(request.get("previous_response_id") or request.get("conversation_id"))


def managed_usage(request: Mapping[str, Any], usage: Any) -> tuple[Optional[int], Optional[int]]:
    """Returns input and output tokens of a request, or None for one that the server adds its conversation to."""
    return (None, None) if not usage or is_kept_by_server(request) else (usage.input_tokens, usage.output_tokens)


def texts_of(content: Any) -> list[str]:
    """Returns the texts of a message's content, which is a text or has blocks. Other blocks are represented by their type."""
    blocks = [{"text": content or ""}] if isinstance(content, (str, type(None))) else content
    return [block["text"] if "text" in block else f"[{block.get('type')}]" for block in blocks]


def plain_text(message: Mapping[str, Any]) -> str:
    """Returns the text of a message of Chat Completions, with its calls."""
    texts = texts_of(message.get("content"))
    calls = [call["function"] for call in message.get("tool_calls") or []]
    texts += [f"[calls {call['name']} with {call['arguments']}]" for call in calls]
    return "\n".join(["[result of a call]", *texts] if message["role"] == "tool" else texts)


def arguments_of(text: str) -> dict[str, Any]:
    """Returns the arguments of a call. Text that a policy shortened may not be JSON any more."""
    try:
        arguments = json.loads(text)
    except ValueError:
        arguments = None
    return arguments if isinstance(arguments, dict) else {"arguments": text}


def match_blocks(
    blocks: Sequence[Mapping[str, Any]], before: Sequence[Mapping[str, Any]], own: Sequence[Any]
) -> list[tuple[Any, bool]]:
    """Returns for each block of an edited message the host's block that it was made from, and if it is unchanged.

    before: the blocks as they were, one for each of `own`. A block that the policy wrote gives (None, False).
    """
    free = dict(enumerate(own))
    found: list[tuple[Any, bool]] = [(None, False)] * len(blocks)
    for unchanged in (True, False):
        for i, block in enumerate(blocks):
            if found[i][0] is None:
                match = next((j for j in free if _matches(block, before[j], unchanged)), None)
                if match is not None:
                    found[i] = (free.pop(match), unchanged)
    return found


def _matches(block: Mapping[str, Any], before: Mapping[str, Any], unchanged: bool) -> bool:
    return block == before if unchanged else all(block.get(key) == before.get(key) for key in ("type", "id", "tool_use_id"))


def _plain(value: Any) -> Any:
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", exclude_unset=True)
    return str(value, "latin-1") if isinstance(value, (bytes, bytearray)) else str(value)
