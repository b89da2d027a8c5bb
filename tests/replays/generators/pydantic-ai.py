"""Makes replay cases of Pydantic AI: runs an `Agent` whose model answers as recorded.

Usage: python pydantic-ai.py FOLDER [NUMBER OF RANDOM CASES]    (FOLDER is named after the preset)

Needs pydantic-ai-slim 2.68.0 and pydantic-ai-harness 0.62.0. Conversations are invented from a seed. The processors of
the preset pydantic-ai-history do what the page "Messages and chat history" of the documentation shows.
"""

import asyncio
import json
import random
import sys
from pathlib import Path

from pydantic_ai import Agent, Tool
from pydantic_ai.capabilities import ProcessHistory
from pydantic_ai.messages import (
    ModelRequest, ModelResponse, TextPart, ToolCallPart, ToolReturnPart, UserPromptPart, repair_messages)
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.usage import RequestUsage, UsageLimits
from pydantic_ai_harness.compaction import ClearToolResults, SlidingWindowCompaction
from pydantic_ai_harness.compaction import _clear_tool_results, _shared, _sliding_window_compaction

SUMMARY = "SUMMARY OF EARLIER WORK: the tide table is imported; two pilots are free. 港 ✓"
INSTRUCTIONS = """
Summarize this conversation, omitting small talk and unrelated topics.
Focus on the technical discussion and next steps.
"""
TOOLS = ["read_chart", "run_sheet", "find_berth", "fetch_log"]
WORDS = "berth crane tide pilot ledger manifest anchor signal buoy harbor café 港 🚢 Straße".split()
CAPABILITIES = {"SlidingWindowCompaction": SlidingWindowCompaction, "ClearToolResults": ClearToolResults}


class Conversation:
    """An invented conversation in chat form."""

    def __init__(self, rng, turns, steps=2, parallel=1, output=(40, 300), system=True, silent=0.2, usage=1.0, words=8):
        self.rng, self.n, self.silent = rng, 0, silent
        self.messages = [{"role": "system", "content": f"You plan a {self.words(6)}"}] if system else []
        for _ in range(turns):
            for _ in range(2 if rng.random() < 0.15 else 1):
                self.add("user", f"Request {len(self.messages)}: {self.words(rng.randint(1, 2 * words))}")
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
            self.add("tool", (f"{call['id']}: " + self.words(size))[:size], tool_call_id=call["id"])


class Refused(Exception):
    """The failure of the model for summaries."""


class Run:
    """A conversation played through an agent."""

    def __init__(self, conversation, config, fails):
        self.messages, self.reports, self.fails = conversation.messages, conversation.reports, fails
        self.usage, self.calls, self.halt = [], [], None
        self.fired, self.believed, self.asked, self.n_asked = [], None, [], 0
        self.origins = {self.key(m): at for at, m in enumerate(self.messages)}
        self.summarizer = Agent(FunctionModel(self.summarize), instructions=INSTRUCTIONS)
        self.system = self.messages[0]["content"] if self.messages[0]["role"] == "system" else None
        self.agent = Agent(FunctionModel(self.answer), instructions=self.system, retries=9,
                           tools=[Tool(self.tool, name=name, takes_ctx=True) for name in TOOLS],
                           capabilities=[self.capability(dict(config))])

    def capability(self, config):
        name = config.pop("capability", None)
        if name in CAPABILITIES:
            return self.noting(name, CAPABILITIES[name](**config))
        return ProcessHistory(self.processor(config["processor"], config.get("recent_messages")))

    def noting(self, name, capability):
        """Notes what a capability compared and whether it changed the history."""
        process = capability.before_model_request

        async def before_model_request(ctx, request_context):
            before = list(ctx.messages)
            request_context = await process(ctx, request_context)
            if before != list(ctx.messages):
                self.fired.append(name)
            return request_context

        capability.before_model_request = before_model_request
        estimate, compare = _shared.estimate_context_tokens, _shared.exceeds

        def exceeds(*arguments, **more):
            def note(*arguments, **more):
                self.believed = estimate(*arguments, **more)
                return self.believed

            _shared.estimate_context_tokens = note
            result = compare(*arguments, **more)
            _shared.estimate_context_tokens = estimate
            return result

        _sliding_window_compaction.exceeds = _clear_tool_results.exceeds = exceeds
        self.restore = lambda: [setattr(m, "exceeds", compare) for m in (_sliding_window_compaction, _clear_tool_results)]
        return capability

    restore = staticmethod(lambda: None)

    def processor(self, name, n):
        """Returns a processor of the documentation."""
        async def keep_recent_messages(messages):
            if len(messages) <= n:
                return messages
            self.fired.append(name)
            return messages[-n:]

        async def summarize_old_messages(messages):
            if len(messages) <= 10:
                return messages
            self.history = messages
            summary = await self.summarizer.run(message_history=messages[:10])
            self.fired.append(name)
            return summary.new_messages() + messages[-1:]

        return {"keep_recent_messages": keep_recent_messages, "summarize_old_messages": summarize_old_messages}[name]

    @staticmethod
    def key(message):
        """Returns what identifies a recorded message."""
        if message["role"] == "tool":
            return message["tool_call_id"]
        if message.get("tool_calls"):
            return "calls " + message["tool_calls"][0]["id"]
        return message["content"]

    def chat(self, messages, instructions):
        """Converts a request to chat form."""
        chat = []
        for message in messages:
            if isinstance(message, ModelResponse):
                texts = [part.content for part in message.parts if isinstance(part, TextPart)]
                made = {"role": "assistant", "content": "".join(texts) or None}
                calls = [part for part in message.parts if isinstance(part, ToolCallPart)]
                if calls:
                    made["tool_calls"] = [{"id": part.tool_call_id, "type": "function", "function": {
                        "name": part.tool_name, "arguments": part.args}} for part in calls]
                chat.append(made)
                continue
            for part in message.parts:
                if isinstance(part, UserPromptPart):
                    chat.append({"role": "user", "content": part.content})
                elif isinstance(part, ToolReturnPart):
                    chat.append({"role": "tool", "tool_call_id": part.tool_call_id, "content": part.model_response_str()})
                else:
                    raise TypeError(part)
        if instructions:
            chat.insert(0, {"role": "system", "content": instructions})
        return chat

    def sent(self, messages, instructions):
        """Converts a request to chat form with origins."""
        chat = self.chat(messages, instructions)
        return [{**message, "from": self.origins.get(self.key(message))} for message in chat]

    # The tools.
    async def tool(self, ctx, path: str):
        return self.messages[self.origins[ctx.tool_call_id]]["content"]

    # The models.
    async def answer(self, messages, info):
        sent = self.sent(messages, info.instructions)
        self.note(sent)
        answer = self.messages[self.at]
        usage = {"input": len(json.dumps(sent)) // 4, "output": len(json.dumps(answer)) // 4}
        self.usage.append(usage if self.reports[len(self.usage)] else None)
        self.at += 1
        while self.at < len(self.messages) and self.messages[self.at]["role"] == "tool":
            self.at += 1
        parts = [TextPart(answer["content"])] if answer["content"] else []
        parts += [ToolCallPart(call["function"]["name"], call["function"]["arguments"], tool_call_id=call["id"])
                  for call in answer.get("tool_calls", [])]
        usage = self.usage[-1]
        # Details, since the stub estimates a usage without any value.
        usage = RequestUsage(input_tokens=usage["input"], output_tokens=usage["output"]) if usage \
            else RequestUsage(details={"none": 1})
        return ModelResponse(parts=parts, usage=usage)

    async def summarize(self, messages, info):
        self.n_asked += 1
        failure = "the stub refuses" if self.n_asked in self.fails else None
        self.asked.append({"messages": self.chat(messages, info.instructions), "max_tokens": None, "failed": failure})
        if failure:
            raise Refused(failure)
        return ModelResponse(parts=[TextPart(SUMMARY)])

    def note(self, sent):
        self.calls.append({"before": self.at, "sent": sent, "fired": self.fired, "believed": self.believed,
                           "asked": self.asked})
        self.fired, self.believed, self.asked = [], None, []

    async def play(self):
        history, self.at = [], 0
        while self.at < len(self.messages):
            users = []
            while self.messages[self.at]["role"] in ("system", "user"):
                if self.messages[self.at]["role"] == "user":
                    users.append(UserPromptPart(self.messages[self.at]["content"]))
                self.at += 1
            limits = UsageLimits(request_limit=None)
            try:
                if len(users) == 1:
                    run = await self.agent.run(users[0].content, message_history=history, usage_limits=limits)
                else:
                    run = await self.agent.run(message_history=[*history, ModelRequest(parts=users)], usage_limits=limits)
            except Refused as error:
                self.halt = str(error)
                self.fired.append(f"failed: {error}")
                self.note(self.sent(repair_messages(self.history), self.system))
                return
            history = run.all_messages()


def case(name, conversation, config, notes, window=4000, fails=()):
    """Returns a case."""
    context = {}
    if "processor" not in config:
        config, context = {"max_fraction": None, **config}, {"context_window": window}
    run = Run(conversation, {**config, **context}, fails)
    asyncio.run(run.play())
    run.restore()
    is_documented = "processor" in config
    package = {"package": "pydantic-ai-slim", "version": "2.68.0", "functions": ["Agent.run", "ProcessHistory"]}
    if not is_documented:
        package = {"package": "pydantic-ai-harness", "version": "0.62.0", "with": {"pydantic-ai-slim": "2.68.0"},
                   "functions": ["Agent.run", f"{config['capability']}.before_model_request"]}
    made = {
        "system": "pydantic-ai",
        "preset": "pydantic-ai-history" if is_documented else "pydantic-ai",
        "upstream": package,
        "config": config,
        "window": window,
        "max_output": 1024,
        "input": {"messages": conversation.messages, "usage": run.usage},
        "summary": SUMMARY,
        "calls": run.calls,
        "notes": f"{notes} The system message is given as instructions.",
    }
    if run.halt is not None:
        made["halt"] = run.halt
        made["notes"] += " The last entry shows the history of a call that was not made."
    return name, made


def chosen(documented):
    """Makes the cases that are bundled."""
    def talk(seed, turns, **more):
        return Conversation(random.Random(seed), turns, **more)

    if documented:
        keep, summarize = {"processor": "keep_recent_messages", "recent_messages": 5}, {"processor": "summarize_old_messages"}
        yield case("keep-chat", talk(1, 9, steps=0), keep, "A chat without tools.")
        yield case("keep-run", talk(2, 3, steps=7, parallel=3), keep, "Results whose calls are cut are not sent.")
        yield case("keep-even", talk(3, 5, steps=4, parallel=2), {**keep, "recent_messages": 4}, "The request begins with an answer.")
        yield case("keep-two", talk(4, 5, steps=3, system=False), {**keep, "recent_messages": 2}, "No system message.")
        yield case("keep-many", talk(5, 12, steps=2), {**keep, "recent_messages": 15}, "More messages.")
        yield case("summarize-chat", talk(6, 22, steps=0), summarize, "A chat without tools.")
        yield case("summarize-run", talk(7, 3, steps=9, parallel=2), summarize,
                   "Within a turn, only the summary is sent; open calls become results of an unknown tool.")
        yield case("summarize-turns", talk(8, 14, steps=2, parallel=2), summarize, "Turns with and without tools.")
        yield case("summarize-no-system", talk(9, 8, steps=3, system=False), summarize, "No system message.")
        yield case("summarize-fails", talk(10, 12, steps=2), summarize, "The second request fails.", fails=(2,))
        return
    slide, clear = {"capability": "SlidingWindowCompaction"}, {"capability": "ClearToolResults"}
    long = {"output": (100, 600)}
    yield case("slide-messages", talk(11, 6, steps=3), {**slide, "max_messages": 12, "keep_messages": 5}, "By messages.")
    yield case("slide-tokens", talk(12, 6, steps=4, parallel=3, **long), {**slide, "max_tokens": 900, "keep_messages": 4},
               "By tokens, anchored at the usage of the newest answer.")
    yield case("slide-fraction", talk(13, 9, steps=3, parallel=2, **long), {**slide, "max_fraction": 0.35, "keep_messages": 6},
               "By a share of the window.", window=3000)
    yield case("slide-some-usage", talk(14, 7, steps=3, usage=0.4, **long), {**slide, "max_tokens": 700, "keep_messages": 5},
               "Some answers report no usage.")
    yield case("slide-no-usage", talk(15, 7, steps=3, usage=0, **long), {**slide, "max_tokens": 500, "keep_messages": 3},
               "Everything is estimated.")
    yield case("slide-forgets-first", talk(16, 6, steps=3), {**slide, "max_messages": 8, "keep_messages": 1,
               "preserve_first_user_message": False}, "Only the newest message stays, with its calls.")
    yield case("slide-both", talk(17, 8, steps=2, system=False, **long), {**slide, "max_messages": 14, "max_tokens": 800,
               "keep_messages": 7}, "Messages are compared first; no system message.")
    yield case("slide-below", talk(18, 3, steps=2), {**slide, "max_fraction": 0.9, "keep_messages": 40}, "Never acts.")
    yield case("clear-tokens", talk(19, 5, steps=4, parallel=3, **long), {**clear, "max_tokens": 900}, "By tokens.")
    yield case("clear-messages", talk(20, 4, steps=6), {**clear, "max_messages": 9, "keep_pairs": 2},
               "By messages since the last cleared result.")
    yield case("clear-inputs", talk(21, 5, steps=4, parallel=2, **long), {**clear, "max_fraction": 0.2, "keep_pairs": 1,
               "clear_tool_inputs": True}, "Arguments too.")
    yield case("clear-least", talk(22, 5, steps=5, **long), {**clear, "max_tokens": 500, "keep_pairs": 2,
               "min_clear_tokens": 120}, "Only if it saves enough.")
    yield case("clear-all", talk(23, 5, steps=3, usage=0.5, system=False, **long), {**clear, "max_tokens": 400,
               "keep_pairs": 0}, "No result is kept, not even the newest.")


def any_of(seed, documented):
    """Makes a random case."""
    rng = random.Random(seed)
    if documented:
        config = {"processor": rng.choice(["keep_recent_messages", "summarize_old_messages"])}
        if config["processor"].startswith("keep"):
            config["recent_messages"] = rng.randint(2, 16)
    else:
        config = {"capability": rng.choice(list(CAPABILITIES))}
        kinds = rng.choice([["max_messages"], ["max_tokens"], ["max_fraction"], ["max_messages", "max_tokens"]])
        values = {"max_messages": rng.randint(1, 25), "max_tokens": rng.randint(50, 2500), "max_fraction": rng.choice([0.05, 0.2, 0.6])}
        config |= {kind: values[kind] for kind in kinds}
        if config["capability"].startswith("Slid"):
            config |= {"keep_messages": rng.randint(0, 14), "preserve_first_user_message": rng.random() < 0.7}
        else:
            config |= {"keep_pairs": rng.randint(0, 6), "clear_tool_inputs": rng.random() < 0.4}
            if rng.random() < 0.4:
                config["min_clear_tokens"] = rng.randint(0, 300)
    conversation = Conversation(
        rng, rng.randint(1, 14), steps=rng.randint(0, 8), parallel=rng.randint(1, 4), output=(20, rng.choice([100, 700])),
        system=rng.random() < 0.7, silent=rng.choice([0, 0.5, 1]), usage=rng.choice([1, 1, 0.5, 0]), words=rng.choice([3, 20]))
    fails = rng.sample(range(1, 5), 1) if rng.random() < 0.15 else ()
    return case(f"random-{seed:04}", conversation, config, "Random.", rng.choice([2000, 4000]), fails)


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    documented = folder.name == "pydantic-ai-history"
    n_random = int(sys.argv[2]) if len(sys.argv) > 2 else None
    cases = chosen(documented) if n_random is None else (any_of(seed, documented) for seed in range(n_random))
    for name, made in cases:
        (folder / f"{name}.json").write_text(json.dumps(made, ensure_ascii=False) + "\n", encoding="utf-8")


main()
