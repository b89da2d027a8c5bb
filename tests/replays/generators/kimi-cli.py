"""Makes replay cases of Kimi CLI: runs the turns of its `KimiSoul` with a model that answers as recorded.

Usage: python kimi-cli.py FOLDER [NUMBER OF RANDOM CASES]

Needs kimi-cli 1.52.0. Conversations are invented from a seed. Plan mode, notifications and background tasks are off.
"""

import asyncio
import json
import random
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import MagicMock

import kimi_cli.soul.kimisoul as kimisoul
from kimi_cli.config import LoopControl
from kimi_cli.soul.compaction import COMPACTION_SYSTEM_PROMPT
from kimi_cli.soul.context import Context
from kimi_cli.llm import LLM
from kosong.chat_provider import ChatProviderError, TokenUsage
from kosong.message import ImageURLPart, Message, TextPart, ToolCall
from kosong.tooling import ToolOk, ToolResult

SUMMARY = "SUMMARY OF EARLIER WORK: the tide table is imported; two pilots are free. 港 ✓"
TOOLS = ["ReadFile", "Shell", "Grep", "FetchURL"]
WORDS = "berth crane tide pilot ledger manifest anchor signal buoy harbor café 港 🚢 Straße".split()
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}


class Conversation:
    """An invented conversation in chat form."""

    def __init__(self, rng, turns, steps=2, parallel=1, output=(40, 300), system=True, silent=0.2, usage=1.0,
                 images=0.0, empty=0.0, words=8):
        self.rng, self.n, self.silent, self.empty = rng, 0, silent, empty
        self.messages = [{"role": "system", "content": f"You plan a {self.words(6)}"}] if system else []
        for _ in range(turns):
            for _ in range(2 if rng.random() < 0.1 else 1):
                text = f"Request {len(self.messages)}: {self.words(rng.randint(1, 2 * words))}"
                parts = [{"type": "text", "text": text}, IMAGE, {"type": "text", "text": self.words(2)}]
                self.add("user", parts if rng.random() < images else text)
            for _ in range(rng.randint(0, steps)):
                self.step(rng.randint(1, parallel), output)
            self.add("assistant", f"Answer {len(self.messages)}: {self.words(9)}")
        # Whether each answer reports its usage.
        self.reports = [rng.random() < usage for m in self.messages if m["role"] == "assistant"]

    def words(self, n):
        return " ".join(self.rng.choice(WORDS) for _ in range(n))

    def add(self, role, content, **more):
        self.messages.append({"role": role, "content": content, **more})

    def step(self, n_calls, output):
        calls = []
        for _ in range(n_calls):
            self.n += 1
            function = {"name": self.rng.choice(TOOLS), "arguments": json.dumps({"path": self.words(1)})}
            calls.append({"id": f"call_{self.n:03}", "type": "function", "function": function})
        text = None if self.rng.random() < self.silent else f"Step {len(self.messages)}: {self.words(5)}"
        self.add("assistant", text, tool_calls=calls)
        for call in calls:
            size = self.rng.randint(*output)
            text = "" if self.rng.random() < self.empty else (f"{call['id']}: " + self.words(size))[:size]
            self.add("tool", text, tool_call_id=call["id"])


class Answer:
    """A streamed answer of the model."""

    def __init__(self, parts, usage):
        self.parts, self.usage, self.id = parts, usage, None

    async def __aiter__(self):
        for part in self.parts:
            yield part


class Run:
    """A conversation played through the program. Stands in for the provider and the tools."""

    name = model_name = "stub"
    thinking_effort = None

    def __init__(self, conversation, config, window, summary, fails):
        self.messages, self.reports, self.summary, self.fails = conversation.messages, conversation.reports, summary, fails
        self.usage = []
        self.calls, self.fired, self.believed, self.asked, self.n_asked = [], [], None, [], 0
        self.origins, self.halt, self.at = {}, None, 0
        self.results = {m["tool_call_id"]: i for i, m in enumerate(self.messages) if m["role"] == "tool"}
        self.tools = []
        runtime = MagicMock()
        runtime.role = "subagent"
        runtime.config.loop_control = LoopControl(**config)
        runtime.config.skip_afk_prompt_injection = True
        runtime.session.state.plan_mode = False
        runtime.session.state.plan_session_id = None
        runtime.denwa_renji.fetch_pending_dmail.return_value = None
        runtime.skills = {}
        runtime.llm = LLM(chat_provider=self, max_context_size=window, capabilities={"image_in"})
        system = self.messages[0]["content"] if self.messages[0]["role"] == "system" else ""
        agent = SimpleNamespace(name="case", system_prompt=system, toolset=self, runtime=runtime)
        self.context = Context(Path(tempfile.mkdtemp()) / "context.jsonl")
        self.soul = kimisoul.KimiSoul(agent, context=self.context)
        append = self.context.append_message

        async def note_origins(messages):
            for message in [messages] if isinstance(messages, Message) else messages:
                self.origin_of(message)
            await append(messages)

        self.context.append_message = note_origins
        compact = self.soul.compact_context

        async def note_change():
            before = list(map(id, self.context.history))
            await compact()
            if before != list(map(id, self.context.history)):
                self.fired.append("compact")

        self.soul.compact_context = note_change
        decide = kimisoul.should_auto_compact

        def note_count(count, *arguments, **more):
            self.believed = count
            return decide(count, *arguments, **more)

        self.decide = note_count

    def origin_of(self, message):
        """Notes the recorded message that a message of the program came from."""
        if id(message) in self.origins:
            return
        origin = None
        if message.role == "tool":
            origin = self.results[message.tool_call_id]
        elif message.role == "assistant":
            origin = self.answer_at
        elif message is self.user[0]:
            origin = self.user[1]
        self.origins[id(message)] = (origin, message)

    # The tools.
    def handle(self, call):
        output = self.messages[self.results[call.id]]["content"]
        return ToolResult(tool_call_id=call.id, return_value=ToolOk(output=output))

    # The provider.
    async def generate(self, system_prompt, tools, history):
        if system_prompt == COMPACTION_SYSTEM_PROMPT:
            return self.summarize(system_prompt, history)
        self.note(self.context.history)
        answer, size = self.messages[self.at], len(system_prompt) + sum(len(json.dumps(self.chat(m))) for m in history)
        usage = {"input": size // 4, "output": len(json.dumps(answer)) // 4}
        self.usage.append(usage if self.reports[len(self.usage)] else None)
        self.answer_at, self.at, usage = self.at, self.at + 1, self.usage[-1]
        parts = [TextPart(text=answer["content"])] if answer["content"] else []
        parts += [ToolCall(**call) for call in answer.get("tool_calls", [])]
        while self.at < len(self.messages) and self.messages[self.at]["role"] == "tool":
            self.at += 1
        return Answer(parts, usage and TokenUsage(input_other=usage["input"], output=usage["output"]))

    def summarize(self, system_prompt, history):
        self.n_asked += 1
        messages = [{"role": "system", "content": system_prompt}] + [self.chat(m) for m in history]
        failure = "the stub refuses" if self.n_asked in self.fails else None
        self.asked.append({"messages": messages, "max_tokens": None, "failed": failure})
        if failure:
            raise ChatProviderError(failure)
        return Answer([TextPart(text=self.summary)], TokenUsage(input_other=1, output=len(self.summary) // 4))

    @staticmethod
    def chat(message):
        """Converts a message to chat form."""
        made = message.model_dump(exclude_none=True)
        for part in made["content"] if isinstance(made["content"], list) else []:
            if part["type"] == "image_url" and part["image_url"]["id"] is None:
                del part["image_url"]["id"]
        return made

    def note(self, history):
        sent = [{**self.chat(message), "from": self.origins[id(message)][0]} for message in history]
        if self.messages[0]["role"] == "system":
            sent.insert(0, {**self.messages[0], "from": 0})
        self.calls.append({"before": self.at, "sent": sent, "fired": self.fired, "believed": self.believed,
                           "asked": self.asked})
        self.fired, self.believed, self.asked = [], None, []

    async def play(self):
        while self.at < len(self.messages) and self.halt is None:
            recorded, at = self.messages[self.at], self.at
            self.at += 1
            if recorded["role"] != "user":
                continue
            content = recorded["content"]
            if isinstance(content, list):
                content = [ImageURLPart(**p) if p["type"] == "image_url" else TextPart(**p) for p in content]
            message = Message(role="user", content=content)
            self.user = (message, at)
            if self.messages[self.at]["role"] == "user":
                await self.context.append_message(message)
                continue
            try:
                await self.soul._turn(message)
            except ChatProviderError as error:
                self.fired.append(f"failed: {error}")
                self.halt = str(error)
                self.note(self.context.history)


def case(name, conversation, config, notes, window=1700, summary=SUMMARY, fails=()):
    """Returns a case."""
    run = Run(conversation, config, window, summary, fails)
    kimisoul.wire_send = lambda _: None
    decide, kimisoul.should_auto_compact = kimisoul.should_auto_compact, run.decide
    asyncio.run(run.play())
    kimisoul.should_auto_compact = decide
    made = {
        "system": "kimi-cli",
        "preset": "kimi-cli",
        "upstream": {"package": "kimi-cli", "version": "1.52.0", "with": {"kosong": "0.56.0"},
                     "functions": ["KimiSoul._turn", "KimiSoul.compact_context", "SimpleCompaction.compact", "Context"]},
        "config": config,
        "window": window,
        "max_output": 1024,
        "input": {"messages": conversation.messages, "usage": run.usage},
        "summary": summary,
        "calls": run.calls,
        "notes": f"{notes} `sent` is the history before neighbouring user messages are joined.",
    }
    if run.halt is not None:
        made["halt"] = run.halt
        made["notes"] += " The last entry shows the history of a call that was not made."
    return name, made


def chosen():
    """Makes the cases that are bundled."""
    def talk(seed, turns, **more):
        return Conversation(random.Random(seed), turns, **more)

    low = {"reserved_context_size": 1000, "compaction_trigger_ratio": 0.5}
    yield case("chat", talk(1, 14, steps=0, words=30), low, "A chat without tools.")
    yield case("run", talk(2, 2, steps=7, output=(100, 500)), low, "Long turns are cut between steps.")
    yield case("parallel", talk(3, 4, steps=3, parallel=4, output=(50, 300)), low, "Parallel calls stay with their results.")
    yield case("no-usage", talk(4, 9, steps=2, usage=0, output=(100, 500)), low, "Everything is estimated; no system prompt counts.")
    yield case("some-usage", talk(5, 6, steps=2, usage=0.5, output=(100, 500)), low, "Some answers report no usage.")
    yield case("no-system", talk(6, 6, steps=2, system=False, output=(100, 500)), low, "No system prompt.")
    yield case("reserved", talk(7, 4, steps=3, output=(100, 500)),
               {"reserved_context_size": 1100, "compaction_trigger_ratio": 0.99}, "The reserve acts first.")
    yield case("small-window", talk(8, 4, steps=2), {"reserved_context_size": 50000},
               "A window below the reserve acts before every call, and loses a history of one message.")
    yield case("images", talk(9, 8, steps=1, images=0.6, empty=0.3, words=50), low,
               "Images and several texts in a message; results without text.")
    yield case("summary-fails", talk(10, 5, steps=3, output=(100, 500)), low, "The second request fails.", fails=(2,))
    yield case("short-summary", talk(11, 6, steps=2, output=(100, 500)), low, "A short summary.", summary="∅")
    yield case("large-messages", talk(12, 6, steps=0, words=300), low,
               "Messages larger than the window: in the second call nothing is left to compact.")


def any_of(seed):
    """Makes a random case."""
    rng = random.Random(seed)
    config = {"reserved_context_size": rng.choice([1000, 1500, 2200]),
              "compaction_trigger_ratio": rng.choice([0.5, 0.7, 0.85, 0.99])}
    conversation = Conversation(
        rng, rng.randint(1, 12), steps=rng.randint(0, 7), parallel=rng.randint(1, 4),
        output=(20, rng.choice([100, 700, 2500])), system=rng.random() < 0.7, silent=rng.choice([0, 0.5, 1]),
        usage=rng.choice([1, 1, 0.5, 0]), images=rng.choice([0, 0.3]), empty=rng.choice([0, 0.3]),
        words=rng.choice([3, 20, 100]))
    fails = rng.sample(range(1, 5), 1) if rng.random() < 0.15 else ()
    return case(f"random-{seed:04}", conversation, config, "Random.", rng.choice([2000, 3000, 6000]), fails=fails)


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    n_random = int(sys.argv[2]) if len(sys.argv) > 2 else None
    cases = chosen() if n_random is None else map(any_of, range(n_random))
    for name, made in cases:
        text = json.dumps(made, ensure_ascii=False)
        (folder / f"{name}.json").write_text(text + "\n", encoding="utf-8")


main()
