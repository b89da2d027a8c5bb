"""Makes replay cases of Haystack: runs an `Agent` with a `CompactionHook`, whose model answers as recorded.

Usage: python haystack-ai.py FOLDER [NUMBER OF RANDOM CASES]

Needs haystack-ai 3.4.1. Conversations are invented from a seed. Each turn is a run that begins with the messages of the
run before it.
"""

import json
import logging
import random
import sys
import warnings
from pathlib import Path

from haystack import component
from haystack.components.agents import Agent
from haystack.dataclasses import ChatMessage, ImageContent, TextContent, ToolCall
from haystack.hooks.compaction import (
    CompactionHook, SlidingWindowCompactor, SummarizationCompactor, ToolResultPruningCompactor, hooks)
from haystack.token_counters.utils import _rendered_tools
from haystack.tools import Tool

warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)
SUMMARY = " SUMMARY OF EARLIER WORK: the tide table is imported. 港 ✓\n"
TOOLS = ["read_chart", "run_sheet", "find_berth", "fetch_log"]
WORDS = "berth crane tide pilot ledger manifest anchor signal buoy harbor café 港 🚢 Straße".split()
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
COMPACTORS = {"SlidingWindowCompactor": SlidingWindowCompactor, "SummarizationCompactor": SummarizationCompactor,
              "ToolResultPruningCompactor": ToolResultPruningCompactor}
STRATEGIES = {"SlidingWindowCompactor": "sliding_window", "SummarizationCompactor": "summarization",
              "ToolResultPruningCompactor": "tool_result_pruning"}


class Conversation:
    """An invented conversation in chat form."""

    def __init__(self, rng, turns, steps=2, parallel=1, output=(40, 300), system=True, silent=0.2, usage=1.0,
                 images=0.0, words=8):
        self.rng, self.n, self.silent = rng, 0, silent
        self.messages = [{"role": "system", "content": f"You plan a {self.words(6)}"}] if system else []
        for _ in range(turns):
            for _ in range(2 if rng.random() < 0.15 else 1):
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
            arguments = {"path": self.words(1), "n": self.n, "among": {"to": self.n, "from": 0}}
            function = {"name": self.rng.choice(TOOLS), "arguments": json.dumps(arguments)}
            calls.append({"id": f"call_{self.n:03}", "type": "function", "function": function})
        text = None if self.rng.random() < self.silent else f"Step {len(self.messages)}: {self.words(5)}"
        self.add("assistant", text, tool_calls=calls)
        for call in calls:
            size = self.rng.randint(*output)
            self.add("tool", (f"{call['id']}: " + self.words(size))[:size], tool_call_id=call["id"])


class Refused(Exception):
    """The failure of the generator of summaries."""


@component
class Recorded:
    """A generator that answers as recorded."""

    def __init__(self, run=None):
        self.of = run

    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage], tools: list | None = None):
        return {"replies": [self.of.answer(messages)]}


@component
class Summaries:
    """A generator of summaries."""

    def __init__(self, run=None):
        self.of = run

    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage]):
        return {"replies": [self.of.summarize(messages)]}


class Run:
    """A conversation played through an agent."""

    def __init__(self, conversation, config, window, summary, fails):
        self.messages, self.reports, self.summary, self.fails = conversation.messages, conversation.reports, summary, fails
        self.usage, self.calls, self.halt, self.error, self.at = [], [], None, None, 0
        self.fired, self.believed, self.asked, self.n_asked = [], None, [], 0
        self.origins = {self.key(m): at for at, m in enumerate(self.messages)}
        settings = dict(config)
        name, of_hook = settings.pop("compactor"), settings.pop("CompactionHook")
        if name == "SummarizationCompactor":
            settings["chat_generator"] = Summaries(self)
        compactor = COMPACTORS[name](**settings)
        self.note_changes(STRATEGIES[name], compactor)
        tools = [self.tool(name, " " * (4 - len(_rendered_tools([self.tool(n, "") for n in TOOLS])) % 4) if not i else "")
                 for i, name in enumerate(TOOLS)]
        config["tools_tokens"] = len(_rendered_tools(tools)) // 4
        hook = CompactionHook(compactor=compactor, context_window=window, **of_hook)
        self.agent = Agent(chat_generator=Recorded(self), tools=tools, hooks={"before_llm": [hook]}, max_agent_steps=500)

    def tool(self, name, description):
        def lookup(path, n, among):
            return self.messages[self.origins[f"call_{n:03}"]]["content"]

        names = ["path", "n", "among"]
        parameters = {"type": "object", "properties": {name: {} for name in names}, "required": names}
        return Tool(name=name, description=f"Reads.{description}", parameters=parameters, function=lookup)

    def note_changes(self, name, compactor):
        """Notes what the hook estimated, and whether its compactor changed or failed."""
        compact = compactor.compact

        def noted(messages, target_tokens, token_counter):
            self.history = messages
            compacted = compact(messages=messages, target_tokens=target_tokens, token_counter=token_counter)
            if compacted is not None:
                self.fired.append(name)
            return compacted

        compactor.compact = noted
        report = getattr(compactor, "_report_failure", None)

        def noted_failure(error):
            self.error = str(error).split(" Generator output")[0]
            self.fired.append(f"failed: {self.error}")
            report(error)

        compactor._report_failure = noted_failure
        self.estimate = hooks._estimated_context_tokens

        def noted_estimate(**arguments):
            self.believed = self.estimate(**arguments)
            return self.believed

        hooks._estimated_context_tokens = noted_estimate

    @staticmethod
    def key(message):
        """Returns what identifies a recorded message."""
        if message["role"] == "tool":
            return message["tool_call_id"]
        if message.get("tool_calls"):
            return "calls " + message["tool_calls"][0]["id"]
        content = message["content"]
        return content[0]["text"] if isinstance(content, list) else content

    @staticmethod
    def chat(messages):
        """Converts messages to chat form."""
        chat = []
        for message in messages:
            if results := message.tool_call_results:
                chat.append({"role": "tool", "tool_call_id": results[0].origin.id, "content": results[0].result})
                continue
            made = {"role": message.role.value, "content": message.text}
            if message.images:
                parts = [{"type": "text", "text": c.text} if isinstance(c, TextContent) else IMAGE for c in message._content]
                made["content"] = parts
            if message.tool_calls:
                made["tool_calls"] = [{"id": call.id, "type": "function", "function": {
                    "name": call.tool_name, "arguments": json.dumps(call.arguments)}} for call in message.tool_calls]
            chat.append(made)
        return chat

    def answer(self, messages):
        sent = self.chat(messages)
        for message in sent:
            message["from"] = self.origins.get(self.key(message))
        self.note(sent)
        answer = self.messages[self.at]
        usage = {"input": len(json.dumps(sent)) // 4, "output": len(json.dumps(answer)) // 4}
        self.usage.append(usage if self.reports[len(self.usage)] else None)
        self.at += 1
        while self.at < len(self.messages) and self.messages[self.at]["role"] == "tool":
            self.at += 1
        calls = [ToolCall(call["function"]["name"], json.loads(call["function"]["arguments"]), call["id"])
                 for call in answer.get("tool_calls", [])]
        usage = self.usage[-1]
        meta = {"usage": {"prompt_tokens": usage["input"], "completion_tokens": usage["output"]}} if usage else {}
        return ChatMessage.from_assistant(answer["content"], tool_calls=calls, meta=meta)

    def summarize(self, messages):
        self.n_asked += 1
        failure = "the stub refuses" if self.n_asked in self.fails else None
        self.asked.append({"messages": self.chat(messages), "max_tokens": None, "failed": failure})
        if failure:
            raise Refused(failure)
        return ChatMessage.from_assistant(self.summary)

    def note(self, sent):
        self.calls.append({"before": self.at, "sent": sent, "fired": self.fired, "believed": self.believed,
                           "asked": self.asked})
        self.fired, self.believed, self.asked = [], None, []

    def play(self):
        history = []
        while self.at < len(self.messages):
            while self.messages[self.at]["role"] in ("system", "user"):
                history.append(self.message(self.messages[self.at]))
                self.at += 1
            try:
                history = self.agent.run(messages=history)["messages"]
            except Exception:
                if self.error is None:
                    raise
                self.halt = self.error
                sent = self.chat(self.history)
                for message in sent:
                    message["from"] = self.origins.get(self.key(message))
                self.note(sent)
                break
        hooks._estimated_context_tokens = self.estimate

    @staticmethod
    def message(recorded):
        content = recorded["content"]
        if recorded["role"] == "system":
            return ChatMessage.from_system(content)
        if isinstance(content, str):
            return ChatMessage.from_user(content)
        image = ImageContent(base64_image="iVBORw0KGgo=", validation=False)
        return ChatMessage.from_user(content_parts=[c["text"] if c["type"] == "text" else image for c in content])


def case(name, conversation, config, notes, window=1500, summary=SUMMARY, fails=()):
    """Returns a case."""
    run = Run(conversation, config, window, summary, fails)
    run.play()
    made = {
        "system": "haystack",
        "preset": "haystack",
        "upstream": {"package": "haystack-ai", "version": "3.4.1",
                     "functions": ["Agent.run", "CompactionHook.run", f"{config['compactor']}.compact"]},
        "config": config,
        "window": window,
        "max_output": 1024,
        "input": {"messages": conversation.messages, "usage": run.usage},
        "summary": summary,
        "calls": run.calls,
        "notes": notes,
    }
    if run.halt is not None:
        made["halt"] = run.halt
        made["notes"] += " The last entry shows the history of a call that was not made."
    return name, made


def chosen():
    """Makes the cases that are bundled."""
    def talk(seed, turns, **more):
        return Conversation(random.Random(seed), turns, **more)

    def of(compactor, at=0.7, to=0.4, **settings):
        return {"compactor": compactor, **settings, "CompactionHook": {"compact_at": at, "compact_to": to}}

    slide, summarize, prune = COMPACTORS
    long = {"output": (100, 500)}
    yield case("defaults", talk(15, 5, steps=5, parallel=2, output=(200, 1500)), {"compactor": slide, "CompactionHook": {}},
               "The defaults of CompactionHook and SlidingWindowCompactor.", window=5000)
    yield case("slide-chat", talk(1, 14, steps=0, words=40), of(slide), "A chat without tools.")
    yield case("slide-run", talk(2, 2, steps=12, parallel=2, **long), of(slide), "The steps of the task itself are cut.")
    yield case("slide-turns", talk(3, 8, steps=3, parallel=2, **long), of(slide, 0.6, 0.3, min_keep_steps=2), "Turns and steps.")
    yield case("slide-none-kept", talk(4, 5, steps=4, **long), of(slide, 0.5, 0.05, min_keep_steps=0),
               "A target below the instructions: every step goes.")
    yield case("slide-no-usage", talk(5, 7, steps=3, usage=0.3, images=0.4, **long), of(slide), "Some answers report no usage; images.")
    yield case("summarize-chat", talk(6, 14, steps=0, words=40), of(summarize, approximate_summary_tokens=60), "A chat without tools.")
    yield case("summarize-run", talk(7, 2, steps=12, parallel=2, **long), of(summarize, approximate_summary_tokens=40),
               "The steps of the task itself are summarized, then its summaries.")
    yield case("summarize-turns", talk(8, 8, steps=3, parallel=2, system=False, **long),
               of(summarize, 0.5, 0.15, approximate_summary_tokens=20), "Several requests at once; no system message.")
    yield case("summarize-images", talk(9, 8, steps=2, images=0.6, usage=0, **long), of(summarize, approximate_summary_tokens=50),
               "No answer reports usage.")
    yield case("summarize-fails", talk(10, 8, steps=3, **long), of(summarize, approximate_summary_tokens=30),
               "The second request fails.", fails=(2,))
    yield case("summarize-raises", talk(11, 8, steps=3, **long),
               of(summarize, approximate_summary_tokens=30, raise_on_failure=True), "The third request fails.", fails=(3,))
    yield case("summarize-empty", talk(12, 6, steps=2, **long), of(summarize, min_keep_steps=0), "No usable text.", summary=" \n")
    yield case("prune", talk(13, 6, steps=4, parallel=3, **long), of(prune, min_tokens=60), "The oldest large results.")
    yield case("prune-all", talk(14, 4, steps=6, parallel=2, **long), of(prune, 0.5, 0.1, min_keep_steps=2, min_tokens=0),
               "The target is not reached.")


def any_of(seed):
    """Makes a random case."""
    rng = random.Random(seed)
    name = rng.choice(list(COMPACTORS))
    at = rng.choice([0.3, 0.5, 0.7, 1.0])
    config = {"compactor": name, "min_keep_steps": rng.randint(0, 3),
              "CompactionHook": {"compact_at": at, "compact_to": at * rng.choice([0.1, 0.5, 0.9])}}
    if name.startswith("Tool"):
        config |= {"min_tokens": rng.choice([0, 30, 100]), "min_keep_steps": rng.randint(1, 3)}
    if name.startswith("Summ"):
        config |= {"approximate_summary_tokens": rng.choice([1, 30, 200, 1024]), "raise_on_failure": rng.random() < 0.3}
    conversation = Conversation(
        rng, rng.randint(1, 14), steps=rng.randint(0, 8), parallel=rng.randint(1, 4), output=(20, rng.choice([100, 700])),
        system=rng.random() < 0.7, silent=rng.choice([0, 0.5, 1]), usage=rng.choice([1, 1, 0.5, 0]),
        images=rng.choice([0, 0.3]), words=rng.choice([3, 20]))
    fails = rng.sample(range(1, 5), 1) if rng.random() < 0.2 else ()
    summary = rng.choice([SUMMARY, SUMMARY, "∅", "x" * 900])
    return case(f"random-{seed:04}", conversation, config, "Random.", rng.choice([1000, 1500, 3000]), summary, fails)


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    n_random = int(sys.argv[2]) if len(sys.argv) > 2 else None
    cases = chosen() if n_random is None else map(any_of, range(n_random))
    for name, made in cases:
        (folder / f"{name}.json").write_text(json.dumps(made, ensure_ascii=False) + "\n", encoding="utf-8")


main()
