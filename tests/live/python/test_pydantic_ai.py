"""The capability in Pydantic AI."""

import asyncio
import warnings

import pytest
from common import POLICY, PRUNE, RESULT, SETTINGS, WINDOW, Rejection
from plimsoll import Conversations
from plimsoll._pydantic_ai import PydanticMessages
from plimsoll.pydantic_ai import PlimsollContext
from pydantic_ai import Agent
from pydantic_ai.messages import (
    BinaryContent,
    ImageUrl,
    ModelRequest,
    ModelResponse,
    RetryPromptPart,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import DeltaToolCall, FunctionModel
from pydantic_ai.usage import RequestUsage


def size(messages):
    return sum(len(str(getattr(part, "content", ""))) for message in messages for part in message.parts)


class Fake:
    """Calls two tools at once, twice, then answers. Writes summaries if it is asked for one."""

    def __init__(self):
        self.calls, self.summaries, self.reject = [], [], []
        self.model = FunctionModel(self.answer, stream_function=self.stream)

    def parts(self, messages, info):
        if not info.function_tools:
            self.summaries.append(messages)
            return [TextPart(f"summary {len(self.summaries)}")]
        assert info.instructions == "You are a harbour agent."
        self.calls.append(list(messages))
        n = len(self.calls)
        if self.reject and self.reject.pop():
            raise Rejection()
        return [TextPart(f"answer {n}")] if n % 3 == 0 else [ToolCallPart("look", {}, f"c{n}{i}") for i in "ab"]

    def answer(self, messages, info):
        return ModelResponse(
            self.parts(messages, info), usage=RequestUsage(input_tokens=size(messages) // 4 + 200, output_tokens=9)
        )

    async def stream(self, messages, info):
        for i, part in enumerate(self.parts(messages, info)):
            yield (
                part.content
                if isinstance(part, TextPart)
                else {i: DeltaToolCall(name=part.tool_name, json_args="{}", tool_call_id=part.tool_call_id)}
            )


def agent_of(fake, policy=POLICY, **options):
    settings = {"settings": SETTINGS} if policy == POLICY else {}
    agent = Agent(
        fake.model,
        instructions="You are a harbour agent.",
        capabilities=[PlimsollContext(policy, WINDOW, settings, **options)],
    )

    @agent.tool_plain
    def look() -> str:
        """Looks."""
        return RESULT[: len(RESULT) // 2]

    return agent


def run(agent, turns, streamed=False, history=()):
    async def turn(text, history):
        if not streamed:
            return (await agent.run(text, message_history=history)).all_messages()
        async with agent.run_stream(text, message_history=history) as result:
            async for _ in result.stream_text():
                pass
            return result.all_messages()

    history = list(history)
    for n in range(turns):
        history = asyncio.run(turn(f"turn {n}: never touch berth {n}", history))
    return history


@pytest.mark.parametrize("streamed", [False, True])
def test_the_model_gets_the_managed_context_and_the_run_keeps_all(streamed):
    fake = Fake()
    history = run(agent_of(fake), 6, streamed)
    assert len(history) == 36 and 1 <= len(fake.summaries) <= 5
    parts = [part for message in history for part in message.parts]
    for sent in fake.calls:
        assert size(sent) < 70_000
        for part in (part for message in sent for part in message.parts):
            assert part in parts or "[Summary]" in str(part.content)
        calls = {part.tool_call_id for message in sent for part in message.parts if isinstance(part, ToolCallPart)}
        assert calls >= {part.tool_call_id for message in sent for part in message.parts if isinstance(part, ToolReturnPart)}
    assert "[Summary]" in str(fake.calls[-1])


@pytest.mark.parametrize("streamed", [False, True])
def test_a_rejected_request_is_sent_again(streamed):
    fake = Fake()
    agent = agent_of(fake)
    history = run(agent, 1, streamed)
    fake.reject.append(True)
    run(agent, 1, streamed, history)
    assert size(fake.calls[4]) < size(fake.calls[3]) and len(fake.summaries) == 1


def test_a_rejection_that_nothing_can_help_is_raised():
    fake = Fake()
    fake.reject = [True] * 9
    with pytest.raises(Rejection):
        run(agent_of(fake, "truncate"), 1)
    assert len(fake.calls) == 1


def test_a_model_for_summaries():
    fake, other = Fake(), Fake()
    run(agent_of(fake, model=other.model), 6)
    assert other.summaries and not fake.summaries


def test_cleared_results_keep_their_other_fields():
    fake = Fake()
    history = run(agent_of(fake, PRUNE), 3)
    own = {p.tool_call_id: p for m in history for p in m.parts if isinstance(p, ToolReturnPart)}
    sent = [p for m in fake.calls[-1] for p in m.parts if isinstance(p, ToolReturnPart)]
    cleared = [part for part in sent if part.content == "[cleared]"]
    assert cleared and len(cleared) < len(sent)
    for part in cleared:
        assert part.timestamp == own[part.tool_call_id].timestamp and part.tool_name == "look"


def test_conversations_are_separate():
    fake = Fake()
    agent = agent_of(fake)
    for _ in range(3):
        run(agent, 2)
    assert not fake.summaries


def test_parts_of_messages():
    convert = PydanticMessages()
    image, url = BinaryContent(b"png", media_type="image/png"), ImageUrl("https://example.com/a.png")
    own = ModelRequest(
        [
            SystemPromptPart("s"),
            UserPromptPart(["look", image, url]),
            ToolReturnPart("look", {"a": 1}, "c1"),
            ToolReturnPart("look", "x", "c2"),
        ],
        instructions="i",
        run_id="r",
        metadata={"m": 1},
    )
    wire = convert.to_wire(own)
    assert [message["role"] for message in wire] == ["system", "user", "tool", "tool"]
    assert [block["type"] for block in wire[1]["content"]] == ["text", "image_url", "image_url"]
    new = convert.edited(own, [(1, {**wire[1], "content": [wire[1]["content"][0], wire[1]["content"][2]]}), (3, None)])
    assert new.parts[0].content == ["look", url] and new.parts[1] is own.parts[3]
    assert (new.instructions, new.run_id, new.metadata) == ("i", "r", {"m": 1})
    answer = ModelResponse(
        [
            ThinkingPart("hm", signature="s"),
            TextPart("a", id="t", provider_name="p"),
            ToolCallPart("look", {"n": 1}, "c1"),
            ToolCallPart("look", "{}", "c2"),
        ],
        usage=RequestUsage(input_tokens=5),
        model_name="m",
    )
    (wire,) = convert.to_wire(answer)
    assert wire["reasoning_content"] == "hm" and len(wire["tool_calls"]) == 2
    assert convert.edited(answer, [(0, wire)]).parts == answer.parts
    shorter = {
        "role": "assistant",
        "content": "b",
        "tool_calls": [{**wire["tool_calls"][1], "function": {"name": "look", "arguments": '{"n": 2}'}}],
    }
    new = convert.edited(answer, [(0, shorter)])
    assert [type(part) for part in new.parts] == [TextPart, ToolCallPart]
    assert (new.parts[0].content, new.parts[0].id, new.parts[0].provider_name) == ("b", None, "p")
    assert new.parts[1].args == '{"n": 2}' and new.usage is answer.usage and new.model_name == "m"
    assert convert.added({"role": "user", "content": "x"}).parts[0].content == "x"
    assert convert.added(wire).parts[1].tool_call_id == "c1"


def test_a_request_to_repeat_a_call_is_its_result():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # deprecated, and part of stored histories
        answer, feedback = RetryPromptPart("wrong n", tool_name="look", tool_call_id="c1"), RetryPromptPart("no text")
    convert = PydanticMessages()
    own = ModelRequest([answer, feedback], run_id="r")
    result, user = convert.to_wire(own)
    assert (result["role"], result["tool_call_id"], result["name"]) == ("tool", "c1", "look")
    assert "wrong n" in result["content"] and user["role"] == "user" and "no text" in user["content"]
    new = convert.edited(own, [(0, {**result, "content": "[cleared]"}), (1, None)])
    assert isinstance(new.parts[0], ToolReturnPart) and new.parts[0].model_response_str() == "[cleared]"
    assert (new.parts[0].tool_call_id, new.parts[0].timestamp) == ("c1", answer.timestamp) and new.parts[1] is feedback


@pytest.mark.parametrize("role", ["user", "system", "assistant", "tool"])
def test_added_blocks_are_joined(role):
    wire = {"role": role, "tool_call_id": "c1", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}
    assert PydanticMessages().added(wire).parts[0].content == "a\nb"


def test_runs_of_one_conversation_do_not_mix():
    fake = Fake()
    managers = Conversations()
    agent = agent_of(fake, conversations=managers)
    history = run(agent, 3)
    n_summaries, sent = len(fake.summaries), []

    async def branch(name):
        options = {"message_history": history, "conversation_id": "one"}
        result = await agent.run(f"branch {name}", **options)
        sent.append(result.all_messages())

    async def both():
        await asyncio.gather(branch("a"), branch("b"))

    asyncio.run(both())
    names = [{name for name in "ab" if f"branch {name}" in str(call)} for call in fake.calls[9:]]
    assert names and all(len(found) == 1 for found in names)
    assert len(fake.summaries) - n_summaries <= 2 and len(sent) == 2
    # The next run continues with the decisions of an earlier one.
    assert managers.take("one", lambda: None)._known
