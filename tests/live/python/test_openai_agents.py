"""The model wrapper in the OpenAI Agents SDK."""

import asyncio

import pytest
from agents import Agent, RunConfig, Runner, SQLiteSession, function_tool, set_tracing_disabled
from agents.items import ModelResponse
from agents.models.interface import Model
from agents.usage import Usage
from common import POLICY, PRUNE, RESULT, SETTINGS, WINDOW, Rejection
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
    ResponseUsage,
)
from plimsoll.openai_agents import PlimsollModel

set_tracing_disabled(True)


class Fake(Model):
    """Calls a tool twice, then answers. Writes summaries if it is asked for one."""

    def __init__(self):
        self.calls, self.summaries, self.reject = [], [], []

    def message(self, text):
        content = [ResponseOutputText(text=text, type="output_text", annotations=[])]
        return ResponseOutputMessage(
            id=f"m{len(self.calls)}", type="message", role="assistant", status="completed", content=content
        )

    def output(self, system, input, tools):
        if not tools:
            self.summaries.append(input)
            return [self.message(f"summary {len(self.summaries)}")]
        assert system == "You are a harbour agent."
        self.calls.append(list(input))
        n = len(self.calls)
        if self.reject and self.reject.pop():
            raise Rejection()
        if n % 3 == 0:
            return [self.message(f"answer {n}")]
        return [ResponseFunctionToolCall(id=f"fc{n}", call_id=f"c{n}", name="look", arguments="{}", type="function_call")]

    async def get_response(self, system_instructions, input, model_settings, tools, *args, **kwargs):
        output = self.output(system_instructions, input, tools)
        n = sum(len(str(item)) for item in input) // 4
        return ModelResponse(
            output=output, usage=Usage(requests=1, input_tokens=n, output_tokens=9, total_tokens=n + 9), response_id=None
        )

    async def stream_response(self, system_instructions, input, model_settings, tools, *args, **kwargs):
        output = self.output(system_instructions, input, tools)
        n = sum(len(str(item)) for item in input) // 4
        usage = ResponseUsage(
            input_tokens=n,
            output_tokens=9,
            total_tokens=n + 9,
            input_tokens_details={"cached_tokens": 0, "cache_write_tokens": 0},
            output_tokens_details={"reasoning_tokens": 0},
        )
        response = Response(
            id="r",
            created_at=0,
            model="fake",
            object="response",
            output=output,
            parallel_tool_calls=False,
            tool_choice="auto",
            tools=[],
            usage=usage,
        )
        yield ResponseCompletedEvent(response=response, sequence_number=0, type="response.completed")


@function_tool
def look() -> str:
    """Looks."""
    return RESULT


async def run(fake, model, turns, streamed=False, start=0, session=None, **config):
    agent = Agent(name="a", instructions="You are a harbour agent.", model="not used", tools=[look])
    session = session or SQLiteSession("s")
    for turn in range(start, start + turns):
        text = f"turn {turn}: never touch berth {turn}"
        if streamed:
            result = Runner.run_streamed(agent, text, session=session, run_config=RunConfig(model=model, **config))
            async for _ in result.stream_events():
                pass
        else:
            await Runner.run(agent, text, session=session, run_config=RunConfig(model=model, **config))
    return session


def managed(fake, policy=POLICY):
    return PlimsollModel(fake, policy, window=WINDOW, **({"settings": SETTINGS} if policy == POLICY else {}))


@pytest.mark.parametrize("streamed", [False, True])
def test_the_model_gets_the_managed_context_and_the_session_keeps_all(streamed):
    async def test():
        fake = Fake()
        session = await run(fake, managed(fake), 6, streamed)
        items = await session.get_items()
        assert len(items) == 36 and 1 <= len(fake.summaries) <= 4
        for sent in fake.calls:
            assert sum(len(str(item)) for item in sent) < 70_000
            for item in sent:
                assert item in items or "[Summary]" in str(item)
            calls = {item["call_id"] for item in sent if item.get("type") == "function_call"}
            assert calls == {item["call_id"] for item in sent if item.get("type") == "function_call_output"}
        assert "[Summary]" in str(fake.calls[-1])

    asyncio.run(test())


@pytest.mark.parametrize("streamed", [False, True])
def test_a_rejected_request_is_sent_again(streamed):
    async def test():
        fake = Fake()
        model = managed(fake)
        session = await run(fake, model, 1, streamed)
        fake.reject.append(True)
        await run(fake, model, 1, streamed, start=1, session=session)
        assert len(str(fake.calls[4])) < len(str(fake.calls[3])) and len(fake.summaries) == 1

    asyncio.run(test())


def test_a_rejection_that_nothing_can_help_is_raised():
    fake = Fake()
    fake.reject = [True] * 9
    with pytest.raises(Rejection):
        asyncio.run(run(fake, managed(fake, "truncate"), 1))
    assert len(fake.calls) == 1


def test_cleared_results_keep_their_other_fields():
    async def test():
        fake = Fake()
        session = await run(fake, managed(fake, PRUNE), 3)
        items = {item["call_id"]: item for item in await session.get_items() if item.get("type") == "function_call_output"}
        cleared = [item for item in fake.calls[-1] if item.get("output") == "[cleared]"]
        assert cleared
        for item in cleared:
            assert {**items[item["call_id"]], "output": "[cleared]"} == {
                **item,
                **({"id": items[item["call_id"]]["id"]} if "id" in items[item["call_id"]] else {}),
            }

    asyncio.run(test())


def test_a_conversation_of_the_server_is_left_alone():
    async def test():
        fake = Fake()
        model = managed(fake)
        await model.get_response(
            "You are a harbour agent.", "hi", None, [look], previous_response_id="r", conversation_id=None
        )
        assert fake.calls == [list("hi")] and not model.manager._known

    asyncio.run(test())


@pytest.mark.parametrize("streamed", [False, True])
def test_only_usage_of_managed_requests_is_reported(streamed):
    async def test():
        fake, reports = Fake(), []
        model = managed(fake)
        model.manager.report = lambda *usage: reports.append(usage)
        for server in ({}, {"previous_response_id": "r"}, {"conversation_id": "c"}):
            server = {"previous_response_id": None, "conversation_id": None, **server}
            request = ("You are a harbour agent.", "hi", None, [look])
            if streamed:
                assert [event async for event in model.stream_response(*request, **server)]
            else:
                await model.get_response(*request, **server)
        assert [usage for usage in reports if usage[0] is not None] == [reports[0]]

    asyncio.run(test())
