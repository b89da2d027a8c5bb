"""Conversion of LangChain's messages to the format `openai_chat`, and the state of a graph."""

from __future__ import annotations

from typing import Annotated, Any, Optional, Sequence

from langchain.agents.middleware.types import AgentState, PrivateStateAttr
from langchain_core.messages import AIMessage, BaseMessage, convert_to_messages, convert_to_openai_messages
from typing_extensions import NotRequired

from ._messages import Messages, arguments_of, match_blocks, text_of


#: Of summary requests. Keeps them out of the agent's stream.
CONFIG: Any = {"metadata": {"lc_source": "plimsoll"}, "tags": ["nostream"]}


class PlimsollState(AgentState):
    """The agent's state with the decisions of the policy."""

    plimsoll: NotRequired[Annotated[str, PrivateStateAttr]]


class LangChainMessages(Messages[BaseMessage]):
    """Messages of LangChain. An edited one keeps its id, metadata and all blocks that the policy did not change."""

    def to_wire(self, own: BaseMessage) -> list[Any]:
        blocks = isinstance(own.content, list)
        try:
            return convert_to_openai_messages([own], text_format="block" if blocks else "string")
        except Exception:  # a block that OpenAI has no equivalent of
            own = own.model_copy(update={"content": [_convertible(block) for block in own.content]})
            return convert_to_openai_messages([own], text_format="block")

    def added(self, wire: dict[str, Any]) -> BaseMessage:
        return convert_to_messages([wire])[0]

    def edited(self, own: BaseMessage, parts: Sequence[tuple[int, Optional[dict[str, Any]]]]) -> BaseMessage:
        before, kept = self.to_wire(own), dict(parts)
        results = _results(own, before)
        index = next((i for i in range(len(before)) if i not in results.values()), None)  # of what is no result
        update: dict[str, Any] = {}
        if index is not None and kept.get(index) is not None:
            update = self._update(own, before[index], kept[index] or {})
        if results:
            rest = update.pop("content", None)
            if rest is None and index in kept:
                blocks = list(enumerate(own.content))  # unchanged blocks stay between the results
            else:
                texts = [{"type": "text", "text": rest}] if isinstance(rest, str) and rest else rest or []
                blocks = [(i, own.content[i]) for i in results] + [(-1, block) for block in texts]
            update["content"] = [
                _edited_result(block, before[results[i]], kept[results[i]]) if i in results else block
                for i, block in blocks
                if i not in results or results[i] in kept
            ]
        return own.model_copy(update=update)

    def _update(self, own: BaseMessage, before: dict[str, Any], wire: dict[str, Any]) -> dict[str, Any]:
        """Returns the changed fields of a message, without its results."""
        calls = {call["id"]: arguments_of(call["function"]["arguments"]) for call in wire.get("tool_calls") or []}
        content = wire.get("content") or ""
        if isinstance(own.content, list) and isinstance(content, list):
            content = self._content(own, content, calls)
        update: dict[str, Any] = {"content": content}
        if isinstance(own, AIMessage) and wire.get("tool_calls") != before.get("tool_calls"):
            update["tool_calls"] = [{**call, "args": calls[call["id"]]} for call in own.tool_calls if call["id"] in calls]
            update["additional_kwargs"] = {k: v for k, v in own.additional_kwargs.items() if k != "tool_calls"}
        return update

    def _content(self, own: BaseMessage, content: list[Any], calls: dict[str, Any]) -> list[Any]:
        """Returns edited blocks with the fields that only LangChain's have."""
        uses = [block for block in own.content if _is_type(block, "tool_use")]
        rest = [block for block in own.content if not _is_type(block, "tool_use") and not _is_type(block, "tool_result")]
        before = [self.to_wire(own.model_copy(update={"content": [block]}))[0]["content"] or [{}] for block in rest]
        blocks: list[Any] = []
        for block, (old, unchanged) in zip(content, match_blocks(content, [blocks[0] for blocks in before], rest)):
            blocks.append(old if unchanged else {**old, **block} if isinstance(old, dict) else block)
        return blocks + [{**block, "input": calls[block["id"]]} for block in uses if block["id"] in calls]


def _is_type(block: Any, kind: str) -> bool:
    return isinstance(block, dict) and block.get("type") == kind


def _results(own: BaseMessage, before: Sequence[dict[str, Any]]) -> dict[int, int]:
    """Returns the provider's message of each block of a message that is a result, which is a message of its own."""
    free = [i for i, wire in enumerate(before) if wire["role"] == "tool"]
    found: dict[int, int] = {}
    for position, block in enumerate(own.content if isinstance(own.content, list) else ()):
        if _is_type(block, "tool_result"):
            match = next((i for i in free if before[i].get("tool_call_id") == block.get("tool_use_id")), None)
            if match is not None:
                free.remove(match)
                found[position] = match
    return found


def _edited_result(block: Any, before: dict[str, Any], wire: Optional[dict[str, Any]]) -> Any:
    if wire is None:
        return block
    old, content = block.get("content"), wire.get("content") or ""
    if isinstance(content, list):
        if isinstance(old, list) and len(old) == len(before["content"]):
            matched = match_blocks(content, before["content"], old)
            content = [own if same else new for new, (own, same) in zip(content, matched)]
        elif isinstance(old, str) and len(content) == 1 and _is_type(content[0], "text"):
            content = content[0]["text"]
    return {**block, "content": content}


def _convertible(block: Any) -> Any:
    try:
        convert_to_openai_messages([AIMessage([block])], text_format="block")
        return block
    except Exception:
        return {"type": "text", "text": text_of(block)}
