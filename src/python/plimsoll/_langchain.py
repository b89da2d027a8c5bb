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
        index, wire = parts[0]
        before = self.to_wire(own)[index]
        if wire is None:
            return self.added(before)  # a user message with results is several messages of the provider
        calls = {call["id"]: arguments_of(call["function"]["arguments"]) for call in wire.get("tool_calls") or []}
        content = wire.get("content") or ""
        if isinstance(own.content, list) and isinstance(content, list):
            content = self._content(own, content, calls)
        update: dict[str, Any] = {"content": content}
        if isinstance(own, AIMessage) and wire.get("tool_calls") != before.get("tool_calls"):
            update["tool_calls"] = [{**call, "args": calls[call["id"]]} for call in own.tool_calls if call["id"] in calls]
            update["additional_kwargs"] = {k: v for k, v in own.additional_kwargs.items() if k != "tool_calls"}
        return own.model_copy(update=update)

    def _content(self, own: BaseMessage, content: list[Any], calls: dict[str, Any]) -> list[Any]:
        """Returns edited blocks with the fields that only LangChain's have."""
        uses = [block for block in own.content if isinstance(block, dict) and block.get("type") == "tool_use"]
        rest = [block for block in own.content if block not in uses]
        before = [self.to_wire(own.model_copy(update={"content": [block]}))[0]["content"] or [{}] for block in rest]
        blocks: list[Any] = []
        for block, (old, unchanged) in zip(content, match_blocks(content, [blocks[0] for blocks in before], rest)):
            blocks.append(old if unchanged else {**old, **block} if isinstance(old, dict) else block)
        return blocks + [{**block, "input": calls[block["id"]]} for block in uses if block["id"] in calls]


def _convertible(block: Any) -> Any:
    try:
        convert_to_openai_messages([AIMessage([block])], text_format="block")
        return block
    except Exception:
        return {"type": "text", "text": text_of(block)}
