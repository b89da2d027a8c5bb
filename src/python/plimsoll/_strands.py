"""Conversion of Strands' messages (Converse) to the format `anthropic_messages`."""

from __future__ import annotations

import base64
import json
from typing import Any, Optional, Sequence

from ._messages import Messages, match_blocks, text_of


class StrandsMessages(Messages[Any]):
    """Messages of Strands. An edited one keeps its ids, metadata and all blocks that the policy did not change."""

    def to_wire(self, own: Any) -> list[Any]:
        return [{"role": own["role"], "content": [_wire(block) for block in own["content"] if "cachePoint" not in block]}]

    def added(self, wire: dict[str, Any]) -> Any:
        return {"role": wire["role"], "content": [_own(block, {}) for block in _blocks(wire["content"])]}

    def edited(self, own: Any, parts: Sequence[tuple[int, Optional[dict[str, Any]]]]) -> Any:
        blocks = _blocks((parts[0][1] or {})["content"])
        before = [block for block in own["content"] if "cachePoint" not in block]
        matched = match_blocks(blocks, [_wire(block) for block in before], before)
        content = [old if same else _own(block, old or {}) for block, (old, same) in zip(blocks, matched)]
        return {**own, "content": content + [block for block in own["content"] if "cachePoint" in block]}


def _blocks(content: Any) -> list[Any]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _wire(block: Any) -> dict[str, Any]:
    if "text" in block:
        return {"type": "text", "text": block["text"]}
    if use := block.get("toolUse"):
        return {"type": "tool_use", "id": use["toolUseId"], "name": use["name"], "input": use["input"]}
    if result := block.get("toolResult"):
        content = [_wire(item) for item in result["content"]]
        is_error = result.get("status") == "error"
        return {"type": "tool_result", "tool_use_id": result["toolUseId"], "content": content, "is_error": is_error}
    if reasoning := block.get("reasoningContent", {}).get("reasoningText"):
        return {"type": "thinking", "thinking": reasoning["text"], "signature": reasoning.get("signature", "")}
    if "image" in block and "bytes" in block["image"].get("source", {}):
        data = base64.b64encode(block["image"]["source"]["bytes"]).decode()
        media = f"image/{block['image']['format']}"
        return {"type": "image", "source": {"type": "base64", "media_type": media, "data": data}}
    return {"type": "text", "text": json.dumps(block["json"]) if "json" in block else text_of(block)}


def _own(block: dict[str, Any], old: Any) -> Any:
    """Returns an edited block with the fields that only Strands' block `old` has."""
    if block["type"] == "tool_use":
        use = {"toolUseId": block["id"], "name": block["name"], "input": block["input"]}
        return {**old, "toolUse": {**old.get("toolUse", {}), **use}}
    if block["type"] == "tool_result":
        result = old.get("toolResult", {"toolUseId": block["tool_use_id"], "status": "success"})
        items = _blocks(block.get("content") or [])
        before = result.get("content", [])
        matched = match_blocks(items, [_wire(item) for item in before], before)
        content = [own if same else _own(item, {}) for item, (own, same) in zip(items, matched)]
        return {**old, "toolResult": {**result, "content": content}}
    return {"text": block["text"]} if "text" in block else old


def total_input(usage: Any) -> tuple[Optional[int], Optional[int]]:
    """Returns input tokens, including cached ones, and output tokens. Some models count cached tokens apart."""
    if not usage:
        return None, None
    tokens, output = usage["inputTokens"], usage["outputTokens"]
    if tokens + output != usage["totalTokens"]:
        tokens += usage.get("cacheReadInputTokens", 0) + usage.get("cacheWriteInputTokens", 0)
    return tokens, output
