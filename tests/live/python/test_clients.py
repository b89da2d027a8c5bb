"""The plain clients of OpenAI and Anthropic against a server on loopback."""

import asyncio
import inspect
import json

import anthropic
import openai
import plimsoll.anthropic
import plimsoll.openai
import pytest
from common import POLICY, SETTINGS, WINDOW
from server import Server

SYSTEM = "You are a harbour agent."


@pytest.fixture
def server():
    server = Server()
    yield server
    server.close()


class Chat:
    """A chat with one of the clients. `say` sends the whole history and appends the answer."""

    def __init__(self, kind, server, asynchronous, policy=POLICY):
        self.kind, self.asynchronous, self.history = kind, asynchronous, []
        options = {"window": WINDOW, "settings": SETTINGS} if policy == POLICY else {"window": WINDOW}
        if kind == "anthropic":
            client = (anthropic.AsyncAnthropic if asynchronous else anthropic.Anthropic)(
                base_url=server.url, api_key="x", max_retries=0
            )
            self.chat = plimsoll.anthropic.Chat(client, policy, **options)
            self.request = {"model": "m", "max_tokens": 100, "system": SYSTEM}
        else:
            client = (openai.AsyncOpenAI if asynchronous else openai.OpenAI)(
                base_url=server.url + "/v1", api_key="x", max_retries=0
            )
            wrapper = plimsoll.openai.Chat if kind == "chat" else plimsoll.openai.Responses
            self.chat = wrapper(client, policy, **options)
            self.request = {"model": "m"} if kind == "chat" else {"model": "m", "instructions": SYSTEM}
            if kind == "chat":
                self.history.append({"role": "system", "content": SYSTEM})

    async def say(self, text):
        self.history.append({"role": "user", "content": text})
        create = self.chat.acreate if self.asynchronous else self.chat.create
        answer = create(**self.request, **{self.chat.field: self.history})
        answer = await answer if inspect.isawaitable(answer) else answer
        if self.kind == "chat":
            self.history.append(answer.choices[0].message)
        elif self.kind == "responses":
            self.history += answer.output
        else:
            self.history.append({"role": "assistant", "content": answer.content})
        return answer


KINDS = pytest.mark.parametrize("kind", ["chat", "responses", "anthropic"])
BOTH = pytest.mark.parametrize("asynchronous", [False, True])


@KINDS
@BOTH
def test_the_server_gets_the_managed_context(server, kind, asynchronous):
    async def test():
        chat = Chat(kind, server, asynchronous)
        for turn in range(16):
            await chat.say(f"turn {turn} " + "berth " * 1200)
        return chat

    chat = asyncio.run(test())
    sent, summaries = server.main(), server.summaries()
    assert len(sent) == 16 and 1 <= len(summaries) <= 5
    counts = [len(body[chat.chat.field]) for body in sent]
    assert max(counts) < 20 and "[Summary]" in json.dumps(sent[-1])
    for turn, body in enumerate(sent):
        assert f"turn {turn} " in json.dumps(body[chat.chat.field][-1]) and len(json.dumps(body)) < 80_000
        if kind != "chat":
            assert body["system" if kind == "anthropic" else "instructions"] == SYSTEM
    if kind == "anthropic":
        assert '"signature": "s"' in json.dumps(sent[-1])
    assert len(chat.history) == 33 if kind == "chat" else 32
    assert chat.chat.ready.accuracy in ("calibrated", "reported")


@KINDS
@BOTH
def test_a_rejected_request_is_sent_again(server, kind, asynchronous):
    async def test():
        chat = Chat(kind, server, asynchronous)
        for turn in range(3):
            await chat.say(f"turn {turn} " + "berth " * 900)
        server.reject = 1
        await chat.say("last")

    asyncio.run(test())
    sent = server.main()
    assert len(sent) == 5 and len(server.summaries()) == 1
    assert len(json.dumps(sent[4])) < len(json.dumps(sent[3]))


@KINDS
def test_a_rejection_that_nothing_can_help_is_raised(server, kind):
    server.reject = 9
    with pytest.raises((openai.BadRequestError, anthropic.BadRequestError)):
        asyncio.run(Chat(kind, server, False, policy="truncate").say("hello"))
    assert len(server.requests) == 1


def test_text_as_input(server):
    chat = Chat("responses", server, False)
    assert chat.chat.create(model="m", instructions=SYSTEM, input="hello").output_text == "answer 1"
    assert server.requests[0]["input"] == [{"role": "user", "content": "hello"}]


@KINDS
@BOTH
def test_streams_report_their_usage(server, kind, asynchronous):
    chat = Chat(kind, server, asynchronous)
    reports = []
    chat.chat.manager.report = lambda *usage: reports.append(usage)
    history = chat.history + [{"role": "user", "content": "hello"}]

    async def test():
        request = {**chat.request, chat.chat.field: history, "stream": True}
        if not asynchronous:
            with chat.chat.create(**request) as stream:
                return list(stream), stream.response
        async with await chat.chat.acreate(**request) as stream:
            return [event async for event in stream], stream.response

    events, response = asyncio.run(test())
    assert "answer 1" in str(events) and response.status_code == 200
    size = len(json.dumps(server.requests[0])) // 4
    assert [usage for usage in reports if usage[0]] == [(size, 5)]


@KINDS
@BOTH
def test_events_one_by_one(server, kind, asynchronous):
    chat = Chat(kind, server, asynchronous)
    reports = []
    chat.chat.manager.report = lambda *usage: reports.append(usage)
    request = {**chat.request, chat.chat.field: chat.history + [{"role": "user", "content": "hello"}], "stream": True}

    async def test():
        events = []
        if not asynchronous:
            stream = chat.chat.create(**request)
            while (event := next(stream, None)) is not None:
                events.append(event)
        else:
            stream = await chat.chat.acreate(**request)
            while (event := await anext(stream, None)) is not None:
                events.append(event)
        return events

    assert "answer 1" in str(asyncio.run(test()))
    assert [usage for usage in reports if usage[0]] == [(len(json.dumps(server.requests[0])) // 4, 5)]
