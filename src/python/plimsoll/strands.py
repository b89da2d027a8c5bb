"""Strands Agents: a conversation manager. Replaces the agent's messages before each model call."""

from __future__ import annotations

from typing import Any, Optional

from strands.agent.conversation_manager import ConversationManager
from strands.hooks import AfterModelCallEvent, BeforeModelCallEvent
from strands.types.exceptions import ContextWindowOverflowException

from ._manager import Manager
from ._strands import StrandsMessages, total_input
from ._steps import SummaryRequest


class PlimsollConversationManager(ConversationManager):
    """Manages the context of one agent. Options are those of `Manager`. A session stores the whole conversation."""

    def __init__(self, policy: Any, *, window: int, **options: Any) -> None:
        super().__init__()
        options = {"format": "anthropic_messages", "messages": StrandsMessages(), **options}
        self.manager: Manager[Any] = Manager(policy, window=window, **options)

    def register_hooks(self, registry: Any, **kwargs: Any) -> None:
        super().register_hooks(registry, **kwargs)
        registry.add_callback(BeforeModelCallEvent, self._before)
        registry.add_callback(AfterModelCallEvent, self._after)

    async def _before(self, event: BeforeModelCallEvent) -> None:
        agent: Any = event.agent
        head = [{"role": "system", "content": [{"text": agent.system_prompt}]}] if agent.system_prompt else []

        async def summarize(summary: SummaryRequest) -> str:
            prompt = [StrandsMessages().added(message) for message in summary.prompt]
            events = agent.model.stream(prompt, None, summary.system or None)
            return "".join([e.get("contentBlockDelta", {}).get("delta", {}).get("text", "") async for e in events])

        ready = await self.manager.amanage([*head, *agent.messages], summarize)
        if ready.rejected and isinstance(self.manager.rejection, BaseException):
            raise self.manager.rejection
        agent.messages[:] = ready.without(head)

    def _after(self, event: AfterModelCallEvent) -> None:
        if event.stop_response:
            self.manager.report(*total_input(event.stop_response.message.get("metadata", {}).get("usage")))

    def apply_management(self, agent: Any, **kwargs: Any) -> None:
        pass  # `_before` manages each model call

    def reduce_context(self, agent: Any, e: Optional[Exception] = None, **kwargs: Any) -> None:
        self.manager.overflow_errors = (ContextWindowOverflowException,)
        if e is not None and not self.manager.rejected(e):
            raise e

    def get_state(self) -> dict[str, Any]:
        return {**super().get_state(), "plimsoll": self.manager.state()}

    def restore_from_session(self, state: dict[str, Any]) -> Optional[list[Any]]:
        self.manager = Manager.restore(state["plimsoll"], messages=StrandsMessages())
        return super().restore_from_session(state)
