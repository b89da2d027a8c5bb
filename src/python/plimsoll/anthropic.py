"""Anthropic's client.

    chat = Chat(anthropic.Anthropic(), "summarize", window=200_000)
    message = chat.create(model="claude-sonnet-4-5", max_tokens=8_000, messages=history)   # await chat.acreate(…)

The host keeps the whole history.
"""

from __future__ import annotations

from typing import Any, Callable, Optional

from ._clients import ManagedEndpoint
from ._steps import SummaryRequest


class Chat(ManagedEndpoint):
    """`client.messages.create` with a managed context."""

    system, format = "system", "anthropic_messages"

    def endpoint(self) -> Callable[..., Any]:
        return self.client.messages.create

    def summary(self, request: SummaryRequest) -> dict[str, Any]:
        system = {"system": request.system} if request.system else {}
        return {"messages": request.prompt, "max_tokens": request.max_tokens, **system}

    def text(self, answer: Any) -> str:
        return "".join(block.text for block in answer.content if block.type == "text")

    def tokens(self, usage: Any) -> tuple[int, Optional[int]]:
        cached = (usage.cache_creation_input_tokens or 0) + (usage.cache_read_input_tokens or 0)
        return (usage.input_tokens or 0) + cached, usage.output_tokens
