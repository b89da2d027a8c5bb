"""Shared part of the adapters of plain clients."""

from __future__ import annotations

from typing import Any, AsyncIterator, Callable, Iterator, Optional

from ._manager import Manager
from ._messages import Messages
from ._steps import Ready, SummaryRequest


class ManagedEndpoint:
    """A client's method that sends a conversation, with a managed context. One object serves one conversation."""

    #: The argument with the messages, that of the system prompt if it is separate, and the format of the messages.
    field = "messages"
    system: Optional[str] = None
    format: str
    messages: Messages[Any] = Messages()

    def __init__(
        self, client: Any, policy: Any, *, window: int, summary_model: Optional[str] = None, **options: Any
    ) -> None:
        self.client, self.summary_model = client, summary_model
        self.manager = Manager[Any](policy, window=window, format=self.format, messages=self.messages, **options)
        #: The last context.
        self.ready: Optional[Ready[Any]] = None

    def endpoint(self) -> Callable[..., Any]:
        """Returns the method of the client."""
        raise NotImplementedError

    def summary(self, request: SummaryRequest) -> dict[str, Any]:
        """Returns the arguments of a summary request, except the model."""
        raise NotImplementedError

    def text(self, answer: Any) -> str:
        """Returns the text of an answer."""
        raise NotImplementedError

    def tokens(self, usage: Any) -> tuple[Optional[int], Optional[int]]:
        """Returns input tokens, including cached ones, and output tokens."""
        raise NotImplementedError

    def _prepare(self, request: dict[str, Any]) -> tuple[list[Any], list[Any]]:
        system, history = request.get(self.system or ""), request[self.field]
        head = [{"role": "system", "content": system}] if isinstance(system, (str, list)) and system else []
        return head, head + ([{"role": "user", "content": history}] if isinstance(history, str) else list(history))

    def _asked(self, request: dict[str, Any], summary: SummaryRequest) -> dict[str, Any]:
        return {"model": self.summary_model or request["model"], **self.summary(summary)}

    def _answered(self, request: dict[str, Any], answer: Any) -> Any:
        if request.get("stream"):
            return _Stream(answer, self)
        self.manager.report(*self.tokens(answer.usage) if answer.usage else (None,))
        return answer

    def create(self, **request: Any) -> Any:
        """Same as the client's method. A context that is rejected as too long is sent again in a smaller form."""
        head, history = self._prepare(request)

        def send(ready: Ready[Any]) -> Any:
            self.ready = ready
            return self.endpoint()(**{**request, self.field: ready.without(head)})

        def summarize(summary: SummaryRequest) -> str:
            return self.text(self.endpoint()(**self._asked(request, summary)))

        return self._answered(request, self.manager.call(history, summarize, send))

    async def acreate(self, **request: Any) -> Any:
        """Same as `create`, for an asynchronous client."""
        head, history = self._prepare(request)

        async def send(ready: Ready[Any]) -> Any:
            self.ready = ready
            return await self.endpoint()(**{**request, self.field: ready.without(head)})

        async def summarize(summary: SummaryRequest) -> str:
            return self.text(await self.endpoint()(**self._asked(request, summary)))

        return self._answered(request, await self.manager.acall(history, summarize, send))


class _Stream:
    """A client's stream that reports the usage in its events."""

    def __init__(self, stream: Any, owner: ManagedEndpoint) -> None:
        self._stream, self._owner = stream, owner
        self._input: Optional[int] = None

    def _report(self, event: Any) -> Any:
        # In the chunk itself, in the final response, or (the input only) in the message at the start.
        holders = [event, getattr(event, "response", None), getattr(event, "message", None)]
        usage = next((holder.usage for holder in holders if getattr(holder, "usage", None)), None)
        if usage is not None:
            input_tokens, output_tokens = self._owner.tokens(usage)
            self._input = input_tokens or self._input
            if holders[2] is None:
                self._owner.manager.report(self._input, output_tokens)
        return event

    def __iter__(self) -> Iterator[Any]:
        return map(self._report, self._stream)

    def __next__(self) -> Any:
        return self._report(next(self._stream))

    async def __anext__(self) -> Any:
        return self._report(await self._stream.__anext__())

    async def __aiter__(self) -> AsyncIterator[Any]:
        async for event in self._stream:
            yield self._report(event)

    def __enter__(self) -> _Stream:
        self._stream.__enter__()
        return self

    def __exit__(self, *error: Any) -> Any:
        return self._stream.__exit__(*error)

    async def __aenter__(self) -> _Stream:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> Any:
        return await self._stream.__aexit__(*error)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
