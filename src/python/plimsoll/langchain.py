"""LangChain agents: a middleware. The graph's state keeps the whole history and, with a checkpointer, the decisions."""

from __future__ import annotations

from typing import Any

from langchain.agents.middleware.types import AgentMiddleware, ExtendedModelResponse
from langchain_core.exceptions import ContextOverflowError
from langchain_core.messages import convert_to_messages
from langgraph.types import Command

from ._conversations import Conversations
from ._langchain import CONFIG, LangChainMessages, PlimsollState
from ._manager import Manager
from ._steps import SummaryRequest


class PlimsollMiddleware(AgentMiddleware):
    """Manages the context of every thread. `model` writes summaries [default: the agent's]. Options are those of `Manager`."""

    state_schema = PlimsollState

    def __init__(self, policy: Any, *, window: int, model: Any = None, **options: Any) -> None:
        super().__init__()
        self.model, self.conversations, messages = model, Conversations[Any](), LangChainMessages()
        self.create = lambda: Manager(policy, window=window, format="openai_chat", messages=messages, **options)
        self.restore = lambda state: Manager.restore(state, messages=messages)

    def _start(self, request: Any) -> tuple[Manager[Any], list[Any], Any]:
        saved, info = request.state.get("plimsoll"), getattr(request.runtime, "execution_info", None)
        thread = (info.thread_id, info.checkpoint_ns.rpartition("|")[0]) if info and info.thread_id else None
        manager = self.conversations.get(thread, lambda: self.restore(saved) if saved else self.create())
        manager.overflow_errors = (ContextOverflowError,)
        head = [request.system_message] if request.system_message else []
        return manager, head + request.messages, lambda ready: request.override(messages=ready.without(head))

    def _finish(self, manager: Manager[Any], response: Any) -> Any:
        usage = (getattr(response.result[-1], "usage_metadata", None) if response.result else None) or {}
        manager.report(usage.get("input_tokens"), usage.get("output_tokens"))
        update = Command(update={"plimsoll": manager.state()}) if manager.unsaved else None
        return ExtendedModelResponse(response, update) if update else response

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        (manager, history, managed), model = self._start(request), self.model or request.model

        def summarize(summary: SummaryRequest) -> str:
            return model.invoke(convert_to_messages(summary.plain), CONFIG).text

        return self._finish(manager, manager.call(history, summarize, lambda ready: handler(managed(ready))))

    async def awrap_model_call(self, request: Any, handler: Any) -> Any:
        (manager, history, managed), model = self._start(request), self.model or request.model

        async def summarize(summary: SummaryRequest) -> str:
            return (await model.ainvoke(convert_to_messages(summary.plain), CONFIG)).text

        return self._finish(manager, await manager.acall(history, summarize, lambda ready: handler(managed(ready))))
