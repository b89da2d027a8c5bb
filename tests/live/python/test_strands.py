"""The conversation manager in Strands Agents."""

import asyncio

import pytest
from common import POLICY, PRUNE, RESULT, SETTINGS, WINDOW
from plimsoll._strands import StrandsMessages
from plimsoll.strands import PlimsollConversationManager
from strands import Agent, tool
from strands.models import Model
from strands.session.file_session_manager import FileSessionManager
from strands.types.exceptions import ContextWindowOverflowException


class Fake(Model):
    """Calls a tool twice, then answers. Writes summaries if it is asked for one."""

    def __init__(self):
        self.calls, self.summaries, self.reject = [], [], []

    def update_config(self, **config):
        pass

    def get_config(self):
        return {}

    def structured_output(self, *args, **kwargs):
        raise NotImplementedError

    async def stream(self, messages, tool_specs=None, system_prompt=None, **kwargs):
        n = len(str(messages)) // 4
        if not tool_specs:
            self.summaries.append((system_prompt, messages))
            text, calls = f"summary {len(self.summaries)}", False
        else:
            self.calls.append(messages)
            text, calls = f"answer {len(self.calls)}", len(self.calls) % 3 != 0
            if self.reject and self.reject.pop():
                raise ContextWindowOverflowException("Input Tokens Exceeded")
        yield {"messageStart": {"role": "assistant"}}
        if calls:
            yield {"contentBlockStart": {"start": {"toolUse": {"name": "look", "toolUseId": f"c{len(self.calls)}"}}}}
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": "{}"}}}}
        else:
            yield {"contentBlockStart": {"start": {}}}
            yield {"contentBlockDelta": {"delta": {"text": text}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "tool_use" if calls else "end_turn"}}
        yield {
            "metadata": {"usage": {"inputTokens": n, "outputTokens": 9, "totalTokens": n + 9}, "metrics": {"latencyMs": 1}}
        }


@tool
def look() -> str:
    """Looks."""
    return RESULT


def agent_of(fake, policy=POLICY, **options):
    settings = {"settings": SETTINGS} if policy == POLICY else {}
    manager = PlimsollConversationManager(policy, window=WINDOW, **settings)
    prompt = "You are a harbour agent."
    return Agent(
        model=fake, tools=[look], system_prompt=prompt, conversation_manager=manager, callback_handler=None, **options
    )


def run(agent, turns, start=0, asynchronous=False):
    for turn in range(start, start + turns):
        text = f"turn {turn}: never touch berth {turn}"
        asyncio.run(agent.invoke_async(text)) if asynchronous else agent(text)


@pytest.mark.parametrize("asynchronous", [False, True])
def test_the_agents_messages_are_the_managed_context(asynchronous):
    fake = Fake()
    agent = agent_of(fake)
    run(agent, 6, asynchronous=asynchronous)
    assert 1 <= len(fake.summaries) <= 4 and len(agent.messages) < 36
    for sent in fake.calls:
        assert len(str(sent)) < 70_000
        uses = [b["toolUse"]["toolUseId"] for m in sent for b in m["content"] if "toolUse" in b]
        assert uses == [b["toolResult"]["toolUseId"] for m in sent for b in m["content"] if "toolResult" in b]
    assert "[Summary]" in str(fake.calls[-1])
    # Fields that the model is not sent survive.
    assert all(m["metadata"]["usage"] for m in agent.messages if m["role"] == "assistant" and "summary" not in str(m))


def test_a_rejected_request_is_sent_again():
    fake = Fake()
    agent = agent_of(fake)
    run(agent, 1)
    fake.reject.append(True)
    run(agent, 1, start=1)
    assert len(str(fake.calls[4])) < len(str(fake.calls[3])) and len(fake.summaries) == 1


def test_a_rejection_that_nothing_can_help_is_raised():
    fake = Fake()
    fake.reject = [True] * 9
    with pytest.raises(ContextWindowOverflowException):
        run(agent_of(fake, "truncate"), 1)
    assert len(fake.calls) == 1


def test_a_session_continues_with_the_decisions(tmp_path):
    sent = []
    for restarts in (False, True):
        fake = Fake()
        folder = str(tmp_path / str(restarts))

        def create():
            return agent_of(fake, agent_id="a", session_manager=FileSessionManager("s", storage_dir=folder))

        agent = create()
        for turn in range(8):
            agent = create() if restarts else agent
            run(agent, 1, turn)
        assert fake.summaries
        sent.append([[message["content"] for message in call] for call in fake.calls])
    assert sent[0] == sent[1]


def test_a_snapshot_continues_with_the_decisions():
    fake, again = Fake(), Fake()
    agent = agent_of(fake)
    run(agent, 6)
    other = agent_of(again)
    other.load_snapshot(agent.take_snapshot(preset="session"))
    assert other.messages == agent.messages
    asked = len(fake.summaries)
    run(agent, 1, 6)
    again.calls, again.summaries = fake.calls[:18], fake.summaries[:asked]
    run(other, 1, 6)
    assert [[m["content"] for m in c] for c in again.calls[18:]] == [[m["content"] for m in c] for c in fake.calls[18:]]


def test_cleared_results_keep_their_other_fields():
    fake = Fake()
    agent = agent_of(fake, PRUNE)
    run(agent, 3)
    results = [(m, b["toolResult"]) for m in agent.messages for b in m["content"] if "toolResult" in b]
    cleared = [(m, r) for m, r in results if r["content"] == [{"text": "[cleared]"}]]
    assert cleared and len(cleared) < len(results)
    for message, result in cleared:
        assert message["tracking_id"] and result["status"] == "success" and result["toolUseId"]


def test_blocks():
    convert = StrandsMessages()
    content = [
        {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "s"}}},
        {"text": "a"},
        {"cachePoint": {"type": "default"}},
        {"image": {"format": "png", "source": {"bytes": b"png"}}},
        {"document": {"format": "txt", "name": "d", "source": {"bytes": b"x"}}},
        {"toolUse": {"toolUseId": "c", "name": "look", "input": {"n": 1}}},
    ]
    own = {"role": "assistant", "content": content, "tracking_id": "t", "metadata": {"custom": {}}}
    (wire,) = convert.to_wire(own)
    assert [block["type"] for block in wire["content"]] == ["thinking", "text", "image", "text", "tool_use"]
    same = convert.edited(own, [(0, wire)])
    assert same["content"] == content[:2] + content[3:] + content[2:3] and same["tracking_id"] == "t"
    wire["content"] = [{"type": "text", "text": "b"}, {**wire["content"][4], "input": {}}]
    assert convert.edited(own, [(0, wire)])["content"] == [
        {"text": "b"},
        {"toolUse": {"toolUseId": "c", "name": "look", "input": {}}},
        content[2],
    ]
    result = {"toolUseId": "c", "status": "error", "content": [{"json": {"a": 1}}, {"text": "x"}]}
    own = {"role": "user", "content": [{"toolResult": result}]}
    (wire,) = convert.to_wire(own)
    assert wire["content"][0]["is_error"] and wire["content"][0]["content"][0] == {"type": "text", "text": '{"a": 1}'}
    wire["content"][0]["content"] = wire["content"][0]["content"][:1]
    assert convert.edited(own, [(0, wire)])["content"] == [{"toolResult": {**result, "content": [{"json": {"a": 1}}]}}]
    assert convert.added({"role": "user", "content": "x"}) == {"role": "user", "content": [{"text": "x"}]}
