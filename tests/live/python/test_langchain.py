"""The middleware in LangChain agents."""

import asyncio

import pytest
from common import POLICY, PRUNE, RESULT, SETTINGS, WINDOW, Rejection
from langchain.agents import create_agent
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from plimsoll._langchain import LangChainMessages
from plimsoll.langchain import PlimsollMiddleware


class Fake(BaseChatModel):
    """Calls a tool twice, then answers. Writes summaries if it is asked for one."""

    calls: list = []
    summaries: list = []
    reject: list = []
    usage: bool = True

    @property
    def _llm_type(self):
        return "fake"

    def bind_tools(self, tools, **kwargs):
        return self

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        if "harbour agent" not in str(messages[0].content):
            self.summaries.append(messages)
            return ChatResult(generations=[ChatGeneration(message=AIMessage(f"summary {len(self.summaries)}"))])
        self.calls.append(messages)
        n = len(self.calls)
        if self.reject and self.reject.pop():
            raise Rejection()
        calls = [] if n % 3 == 0 else [{"id": f"c{n}", "name": "look", "args": {"n": n}}]
        size = sum(len(str(message.content)) for message in messages) // 4
        usage = {"input_tokens": size + 200, "output_tokens": 9, "total_tokens": size + 209} if self.usage else None
        answer = AIMessage(f"answer {n}", tool_calls=calls, usage_metadata=usage, response_metadata={"model": "fake"})
        return ChatResult(generations=[ChatGeneration(message=answer)])


@tool
def look(n: int) -> str:
    """Looks."""
    return f"{n} {RESULT}"


def fake(**fields):
    return Fake(calls=[], summaries=[], **{"reject": [], **fields})


def agent_of(fake, policy=POLICY, checkpointer=None, **options):
    settings = {"settings": SETTINGS} if policy == POLICY else {}
    middleware = PlimsollMiddleware(policy, window=WINDOW, **settings, **options)
    return create_agent(
        fake, tools=[look], system_prompt="You are a harbour agent.", middleware=[middleware], checkpointer=checkpointer
    )


def run(agent, turns, asynchronous=False, thread="t1", start=0):
    config = {"configurable": {"thread_id": thread}}
    for turn in range(start, start + turns):
        messages = {"messages": [HumanMessage(f"turn {turn}: never touch berth {turn}")]}
        out = asyncio.run(agent.ainvoke(messages, config)) if asynchronous else agent.invoke(messages, config)
    return out["messages"]


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("usage", [False, True])
def test_the_model_gets_the_managed_context_and_the_state_keeps_all(asynchronous, usage):
    model = fake(usage=usage)
    history = run(agent_of(model, checkpointer=InMemorySaver()), 6, asynchronous)
    assert len(history) == 36 and 1 <= len(model.summaries) <= 4
    by_id = {message.id: message for message in history}
    for sent in model.calls:
        assert isinstance(sent[0], SystemMessage) and sent[0].content == "You are a harbour agent."
        assert sum(len(str(message.content)) for message in sent) < 70_000
        for message in sent[1:]:
            if not str(message.content).startswith("[Summary]"):
                assert by_id[message.id] == message
    assert any("[Summary]\nsummary" in str(message.content) for message in model.calls[-1])
    # Every call has its result.
    for sent in model.calls:
        asked = {call["id"] for message in sent for call in getattr(message, "tool_calls", [])}
        assert asked >= {message.tool_call_id for message in sent if isinstance(message, ToolMessage)}


def test_another_process_continues_with_the_decisions_of_the_checkpoint():
    sent = []
    for restarts in (False, True):
        saver, model = InMemorySaver(), fake(usage=False)
        agent = agent_of(model, checkpointer=saver)
        for turn in range(8):
            agent = agent_of(model, checkpointer=saver) if restarts else agent
            run(agent, 1, start=turn)
        sent.append([[message.content for message in call] for call in model.calls])
        assert model.summaries
    assert sent[0] == sent[1]


def test_without_a_checkpointer():
    model = fake()
    agent = agent_of(model)
    messages = [HumanMessage("turn 0")]
    for turn in range(6):
        messages = agent.invoke({"messages": messages})["messages"] + [HumanMessage(f"turn {turn + 1}")]
    assert model.summaries and len(messages) == 37


def test_threads_are_separate():
    model = fake()
    agent = agent_of(model, checkpointer=InMemorySaver())
    for thread in ("a", "b", "c"):
        history = run(agent, 2, thread=thread)
        assert {message.id for message in model.calls[-1][1:]} < {message.id for message in history}
    assert not model.summaries


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_rejected_request_is_sent_again(asynchronous):
    model = fake()
    agent = agent_of(model, checkpointer=InMemorySaver())
    run(agent, 1, asynchronous)
    model.reject.append(True)
    history = run(agent, 1, asynchronous, start=1)
    rejected, retried = model.calls[3], model.calls[4]
    assert len(retried) < len(rejected) and len(model.summaries) == 1 and len(history) == 10


def test_a_rejection_that_nothing_can_help_is_raised():
    model = fake(reject=[True] * 9)
    with pytest.raises(Rejection):
        run(agent_of(model, policy="truncate", checkpointer=InMemorySaver()), 1)
    assert len(model.calls) == 1


def test_the_summary_is_not_part_of_the_agents_stream():
    model = fake()
    agent = agent_of(model, checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "t"}}
    streamed = []
    for turn in range(6):
        streamed += [
            m for m, _ in agent.stream({"messages": [HumanMessage(f"turn {turn}")]}, config, stream_mode="messages")
        ]
    assert model.summaries and streamed
    assert not [message for message in streamed if "summary" in str(message.content)]


def test_a_model_for_summaries():
    model, other = fake(), fake()
    run(agent_of(model, model=other, checkpointer=InMemorySaver()), 6)
    assert other.summaries and not model.summaries


def test_cleared_results_keep_their_other_fields():
    model = fake()
    history = run(agent_of(model, policy=PRUNE, checkpointer=InMemorySaver()), 3)
    sent = {m.id: m for m in model.calls[-1] if isinstance(m, ToolMessage)}
    cleared = [m for m in sent.values() if m.content == "[cleared]"]
    assert cleared
    for message in cleared:
        (old,) = [m for m in history if m.id == message.id]
        assert message == old.model_copy(update={"content": "[cleared]"}) and old.content != "[cleared]"


THINKING = {"type": "thinking", "thinking": "hm", "signature": "s"}
TEXT = {"type": "text", "text": "Looking.", "cache_control": {"type": "ephemeral"}}
USES = [{"type": "tool_use", "id": f"t{n}", "name": "look", "input": {"n": n}, "extra": n} for n in range(2)]
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}


def test_blocks_of_anthropic():
    convert = LangChainMessages()
    calls = [{"id": f"t{n}", "name": "look", "args": {"n": n}, "type": "tool_call"} for n in range(2)]
    own = AIMessage([THINKING, TEXT, *USES], tool_calls=calls, id="m", response_metadata={"stop_reason": "tool_use"})
    (wire,) = convert.to_wire(own)
    assert [call["id"] for call in wire["tool_calls"]] == ["t0", "t1"]
    wire["tool_calls"] = wire["tool_calls"][1:]
    new = convert.edited(own, [(0, wire)])
    assert new.content == [THINKING, TEXT, USES[1]] and new.tool_calls == calls[1:]
    assert (new.id, new.response_metadata) == ("m", own.response_metadata)
    shorter = {**wire, "content": [block for block in wire["content"] if block["type"] == "text"]}
    shorter["content"] = [{"type": "text", "text": "L…"}]
    assert convert.edited(own, [(0, shorter)]).content == [{**TEXT, "text": "L…"}, USES[1]]
    results = HumanMessage([{"type": "tool_result", "tool_use_id": "t0", "content": "ok"}, {"type": "text", "text": "and?"}])
    assert [wire["role"] for wire in convert.to_wire(results)] == ["user", "tool"]
    picture = HumanMessage([IMAGE, {"type": "text", "text": "What is it?"}])
    (wire,) = convert.to_wire(picture)
    wire["content"] = [{"type": "text", "text": "[image]"}, wire["content"][1]]
    assert convert.edited(picture, [(0, wire)]).content[1] is picture.content[1]


def test_blocks_that_openai_does_not_know_are_no_error():
    convert = LangChainMessages()
    for block in (
        {"type": "media", "mime_type": "video/mp4", "data": "x"},
        {"type": "new", "x": 1},
        {"type": "text"},
        IMAGE | {"source": 1},
    ):
        assert convert.to_wire(HumanMessage([block]))


def test_results_in_a_user_message():
    convert = LangChainMessages()
    picture = [{"type": "text", "text": "seen"}, {**IMAGE, "cache_control": {"type": "ephemeral"}}]
    results = [
        {"type": "tool_result", "tool_use_id": "t0", "content": "long text", "is_error": True},
        {"type": "tool_result", "tool_use_id": "t1", "content": picture},
        {"type": "tool_result", "tool_use_id": "t2", "content": "kept"},
    ]
    text = {"type": "text", "text": "and?", "cache_control": {"type": "ephemeral"}}
    own = HumanMessage([*results, text], id="m", name="n")
    wires = convert.to_wire(own)
    assert [wire.get("tool_call_id") for wire in wires] == [None, "t0", "t1", "t2"]
    assert convert.edited(own, [(n, None) for n in range(4)]) == own
    # One result is cleared, a part of another removed; the rest is unchanged.
    shorter = {**wires[2], "content": wires[2]["content"][1:]}
    new = convert.edited(own, [(0, None), (1, {**wires[1], "content": "[cleared]"}), (2, shorter), (3, None)])
    assert (new.id, new.name) == ("m", "n")
    assert new.content == [
        {**results[0], "content": "[cleared]"},
        {**results[1], "content": picture[1:]},
        results[2],
        text,
    ]
    # The policy removed a result, or the text, or changed the text.
    assert convert.edited(own, [(0, None), (2, None), (3, None)]).content == [*results[1:], text]
    assert convert.edited(own, [(1, None), (3, None)]).content == [results[0], results[2]]
    edited = {**wires[0], "content": [{"type": "text", "text": "a…"}]}
    new = convert.edited(own, [(0, edited), (1, None), (2, None), (3, None)])
    assert new.content == [*results, {**text, "text": "a…"}]
    only = HumanMessage(results[:2])
    (first, second) = convert.to_wire(only)
    new = convert.edited(only, [(0, None), (1, {**second, "content": "[cleared]"})])
    assert new.content == [results[0], {**results[1], "content": "[cleared]"}]
    # A result that is a message of its own is none of these.
    tool_message = ToolMessage([{"type": "text", "text": "x"}], tool_call_id="a", id="i", artifact=1)
    (wire,) = convert.to_wire(tool_message)
    new = convert.edited(tool_message, [(0, {**wire, "content": "[cleared]"})])
    assert (new.content, new.tool_call_id, new.id, new.artifact) == ("[cleared]", "a", "i", 1)
