"""OpenAI's client, and servers with its API.

    chat = Chat(openai.OpenAI(), "summarize", window=128_000)
    completion = chat.create(model="gpt-5", messages=history)   # await chat.acreate(…) for AsyncOpenAI

The host keeps the whole history. Streams of chat completions have usage with `stream_options={"include_usage": True}`.
"""

from __future__ import annotations

from typing import Any, Callable, Optional

from ._clients import ManagedEndpoint
from ._messages import ResponseItems
from ._steps import SummaryRequest


class Chat(ManagedEndpoint):
    """`client.chat.completions.create` with a managed context."""

    format = "openai_chat"

    def endpoint(self) -> Callable[..., Any]:
        return self.client.chat.completions.create

    def summary(self, request: SummaryRequest) -> dict[str, Any]:
        return {"messages": request.plain}

    def text(self, answer: Any) -> str:
        return answer.choices[0].message.content or ""

    def tokens(self, usage: Any) -> tuple[int, Optional[int]]:
        return usage.prompt_tokens, usage.completion_tokens


class Responses(ManagedEndpoint):
    """`client.responses.create` with a managed context. `input` is the whole history, `instructions` the system prompt."""

    field, system, format, messages = "input", "instructions", "openai_responses", ResponseItems()

    def endpoint(self) -> Callable[..., Any]:
        return self.client.responses.create

    def summary(self, request: SummaryRequest) -> dict[str, Any]:
        return {"input": request.plain, "store": False}

    def text(self, answer: Any) -> str:
        return answer.output_text

    def tokens(self, usage: Any) -> tuple[int, Optional[int]]:
        return usage.input_tokens, usage.output_tokens
