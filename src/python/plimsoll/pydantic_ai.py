"""Pydantic AI: a capability. Only the request changes; the run keeps the whole history."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Optional

from pydantic_ai import RetryModelRequest
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.direct import model_request
from pydantic_ai.messages import ModelMessage, ModelRequest, SystemPromptPart

from ._manager import Conversations, Manager, SummaryRequest
from ._pydantic_ai import PydanticMessages


@dataclass
class PlimsollContext(AbstractCapability[Any]):
    """Manages the context of every conversation of an agent.

    options: those of `Manager`. model: writes summaries [default: the agent's model].
    """

    policy: Any
    window: int
    options: dict[str, Any] = field(default_factory=dict)
    model: Any = None
    conversations: Conversations[ModelMessage] = field(default_factory=Conversations, repr=False)

    def _manager(self, ctx: Any) -> Manager[ModelMessage]:
        options = {"format": "openai_chat", "messages": PydanticMessages(), **self.options}
        return self.conversations.get(ctx.conversation_id, lambda: Manager(self.policy, window=self.window, **options))

    async def prepare_model_request(self, ctx: Any, request_context: Any) -> Any:
        async def summarize(summary: SummaryRequest) -> str:
            prompt = [PydanticMessages().added(message) for message in summary.plain]
            return (await model_request(self.model or request_context.model, prompt)).text or ""

        parts = request_context.model_request_parameters.instruction_parts or []
        head: list[ModelMessage] = [ModelRequest([SystemPromptPart("\n\n".join(p.content for p in parts))])] if parts else []
        manager = self._manager(ctx)
        ready = await manager.amanage([*head, *request_context.messages], summarize)
        if ready.rejected and isinstance(manager.rejection, BaseException):
            raise manager.rejection
        return replace(request_context, messages=ready.without(head))

    async def after_model_request(self, ctx: Any, *, request_context: Any, response: Any) -> Any:
        self._manager(ctx).report(response.usage.input_tokens, response.usage.output_tokens)
        return response

    async def on_model_request_error(self, ctx: Any, *, request_context: Any, error: Exception) -> Any:
        if self._manager(ctx).rejected(error):
            raise RetryModelRequest
        raise error

    @classmethod
    def get_serialization_name(cls) -> Optional[str]:
        return None
