"""OpenAI Agents SDK: a model that manages its input. The run and its session keep the whole history."""

from __future__ import annotations

from contextlib import aclosing
from typing import Any, AsyncIterator, Union

from agents import ItemHelpers, Model, ModelSettings, ModelTracing
from agents.models.multi_provider import MultiProvider

from ._manager import Manager
from ._messages import ResponseItems, is_kept_by_server, managed_usage
from ._steps import SummaryRequest


class PlimsollModel(Model):
    """Wraps the model of one conversation, unless the server keeps it. Options are those of `Manager`."""

    def __init__(self, model: Union[Model, str, None], policy: Any, *, window: int, **options: Any) -> None:
        self.model = model if isinstance(model, Model) else MultiProvider().get_model(model)
        options = {"format": "openai_responses", "messages": ResponseItems(), **options}
        self.manager = Manager[Any](policy, window=window, **options)

    async def _summarize(self, summary: SummaryRequest) -> str:
        server: Any = dict(previous_response_id=None, conversation_id=None, prompt=None)
        request: Any = (summary.system or None, summary.prompt, ModelSettings(), [], None, [], ModelTracing.DISABLED)
        output = (await self.model.get_response(*request, **server)).output
        return "".join(ItemHelpers.extract_text(item) or "" for item in output)

    async def _managed(self, system: Any, input: Any, server: dict[str, Any], send: Any) -> Any:
        if is_kept_by_server(server):
            return await send(input)
        head = [{"role": "system", "content": system}] if system else []
        history = head + ([{"role": "user", "content": input}] if isinstance(input, str) else list(input))
        return await self.manager.acall(history, self._summarize, lambda ready: send(ready.without(head)))

    async def get_response(self, system_instructions: Any, input: Any, *args: Any, **kwargs: Any) -> Any:
        send: Any = lambda items: self.model.get_response(system_instructions, items, *args, **kwargs)
        answer = await self._managed(system_instructions, input, kwargs, send)
        self.manager.report(*managed_usage(kwargs, answer.usage))
        return answer

    async def stream_response(self, system_instructions: Any, input: Any, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        async def send(items: Any) -> Any:
            events = self.model.stream_response(system_instructions, items, *args, **kwargs)
            return events, await anext(events, None)  # a rejected request fails before its first event

        events, event = await self._managed(system_instructions, input, kwargs, send)
        async with aclosing(events):
            while event is not None:
                usage = event.response.usage if event.type == "response.completed" else None
                self.manager.report(*managed_usage(kwargs, usage))
                yield event
                event = await anext(events, None)

    def get_retry_advice(self, request: Any) -> Any:
        return self.model.get_retry_advice(request)

    async def close(self) -> None:
        await self.model.close()
