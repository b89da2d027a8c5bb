"""Pydantic AI: a capability. Only the request changes; the run keeps the whole history."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from pydantic_ai import RetryModelRequest
from pydantic_ai.direct import model_request
from pydantic_ai.messages import ModelMessage, ModelRequest, SystemPromptPart

from ._conversations import Conversations
from ._manager import Manager
from ._pydantic_ai import PydanticMessages, RunCapability
from ._steps import SummaryRequest


@dataclass
class PlimsollContext(RunCapability):
    """Manages the context of every conversation of an agent.

    options: those of `Manager`. model: writes summaries [default: the agent's model].
    """

    policy: Any
    window: int
    options: dict[str, Any] = field(default_factory=dict)
    model: Any = None
    conversations: Conversations[ModelMessage] = field(default_factory=Conversations, repr=False)
    manager: Any = field(default=None, repr=False)  # of the run

    def create(self) -> Manager[ModelMessage]:
        options = {"format": "openai_chat", "messages": PydanticMessages(), **self.options}
        return Manager(self.policy, window=self.window, **options)

    async def prepare_model_request(self, ctx: Any, request_context: Any) -> Any:
        async def summarize(summary: SummaryRequest) -> str:
            prompt = [PydanticMessages().added(message) for message in summary.plain]
            return (await model_request(self.model or request_context.model, prompt)).text or ""

        parts = request_context.model_request_parameters.instruction_parts or []
        head: list[ModelMessage] = [ModelRequest([SystemPromptPart("\n\n".join(p.content for p in parts))])] if parts else []
        ready = await self.manager.amanage([*head, *request_context.messages], summarize)
        if ready.rejected and isinstance(self.manager.rejection, BaseException):
            raise self.manager.rejection
        return replace(request_context, messages=ready.without(head))

    async def after_model_request(self, ctx: Any, *, request_context: Any, response: Any) -> Any:
        self.manager.report(response.usage.input_tokens, response.usage.output_tokens)
        return response

    async def on_model_request_error(self, ctx: Any, *, request_context: Any, error: Exception) -> Any:
        raise RetryModelRequest if self.manager.rejected(error) else error
