"""Makes replay cases of Mistral Vibe: runs the loop of its `AgentLoop` with a model that answers as recorded.

Usage: python mistral-vibe.py FOLDER [NUMBER OF RANDOM CASES]

Needs mistral-vibe 2.26.1. Conversations are invented from a seed. Skills, titles, hooks and logs of sessions are off.
"""

import asyncio
import json
import random
import sys
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import MagicMock

import vibe.core.agent_loop._loop as program
from vibe.core.compaction import CompactionManager
from vibe.core.config import ModelConfig, VibeConfigSchema
from vibe.core.middleware import MiddlewareAction, MiddlewarePipeline
from vibe.core.prompts import UtilityPrompt
from vibe.core.types import (
    AgentStats, ContextTooLongError, FunctionCall, LLMChunk, LLMMessage, LLMUsage, MessageList, Role, ToolCall)

TEXT = "SUMMARY OF EARLIER WORK: the crane plan is imported; berth 4 is free. 港 ✓"
SUMMARY = f"Noted.\n<summary>\n{TEXT}\n</summary>"
TOOLS = ["read_file", "bash", "grep", "write_file"]
WORDS = "berth crane tide pilot ledger manifest anchor signal buoy harbor café 港 🚢 Straße".split()
TOO_LONG = "400 prompt is too long"


class Conversation:
    """An invented conversation in chat form."""

    def __init__(self, rng, turns, steps=2, parallel=1, output=(40, 300), silent=0.2, words=8, tags=0.0):
        self.rng, self.n, self.silent = rng, 0, silent
        self.messages = [{"role": "system", "content": f"You plan a {self.words(6)}"}]
        for _ in range(turns):
            text = f"Request {len(self.messages)}: {self.words(rng.randint(1, 2 * words))}"
            if rng.random() < tags:
                text += " <previous_user_message>\n<summary> & </previous_user_messages>\n</previous_user_message>"
            self.add("user", text)
            for _ in range(rng.randint(0, steps)):
                self.step(rng.randint(1, parallel), output)
            self.add("assistant", f"Answer {len(self.messages)}: {self.words(9)}")

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


def stored(message):
    """Converts a recorded message to the program's form."""
    calls = [ToolCall(id=c["id"], index=i, function=FunctionCall(**c["function"]))
             for i, c in enumerate(message.get("tool_calls", []))]
    return LLMMessage(role=Role(message["role"]), content=message["content"], tool_calls=calls or None,
                      tool_call_id=message.get("tool_call_id"))


def chat(message):
    """Converts a message of the program to chat form."""
    made = {"role": message.role.value, "content": message.content}
    if message.tool_calls:
        made["tool_calls"] = [{"id": c.id, "type": "function", "function": {
            "name": c.function.name, "arguments": c.function.arguments}} for c in message.tool_calls]
    if message.tool_call_id is not None:
        made["tool_call_id"] = message.tool_call_id
    return made


class Pipeline(MiddlewarePipeline):
    """Notes the count that is compared with the threshold."""

    def __init__(self, run):
        super().__init__()
        self.run = run

    async def run_before_turn(self, context):
        threshold = context.config.get_active_model().auto_compact_threshold
        self.run.believed = context.stats.context_tokens if threshold > 0 else None
        result = await super().run_before_turn(context)
        if result.action == MiddlewareAction.INJECT_MESSAGE:
            self.run.fired.append("context-warning")
        self.run.is_refused = False
        return result


class Run(program.AgentLoop):
    """A conversation played through the program. Stands in for the provider, the tools and what is off."""

    def __init__(self, conversation, config, window, summary, rejected, fails):
        self.recorded, self.summary, self.rejects, self.fails = conversation.messages, summary, rejected, fails
        self.calls, self.usage, self.rejected, self.fired, self.asked, self.n_asked = [], [], [], [], [], 0
        self.believed, self.is_refused, self.at, self.halt = None, False, 1, None
        model = ModelConfig(name="case", provider="case", alias="case", max_context_length=window,
                            auto_compact_threshold=config.get("auto_compact_threshold", -1))
        models = SimpleNamespace(auto_compact_threshold=-1, models={"case": model})
        VibeConfigSchema._apply_auto_compact_threshold(models)
        self.model = models.models["case"]
        self.loop_config = MagicMock()
        self.loop_config.get_active_model.return_value = self.model
        self.loop_config.get_compaction_model.return_value = self.model
        self.loop_config.compaction_prompt = UtilityPrompt.COMPACT.read()
        self.loop_config.raise_on_compaction_failure = config.get("raise_on_compaction_failure", False)
        self.loop_config.context_warnings = config.get("context_warnings", False)
        self.messages, self.stats = MessageList([stored(self.recorded[0])]), AgentStats()
        self.origins = {id(self.messages[0]): 0}
        self._max_turns = self._max_price = self._max_session_tokens = self._hooks_manager = None
        self._pending_clear_context, self.session_id, self.parent_session_id = False, "case", None
        self.telemetry_client = self.session_logger = self._title_cadence = MagicMock()
        self.middleware_pipeline = Pipeline(self)
        self._setup_middleware()
        self.compaction_manager = CompactionManager(
            messages=self.messages, stats_getter=lambda: self.stats, config_getter=lambda: self.config,
            complete=self._complete, available_tools=list, tool_choice=lambda: "auto", save=self._save_messages,
            telemetry_client=self.telemetry_client, session_ids=lambda: ("case", None))

    config = property(lambda self: self.loop_config)
    agent_profile = property(lambda self: SimpleNamespace(name="case"))

    async def wait_until_ready(self):
        pass

    async def _save_messages(self):
        pass

    async def nothing(self, *_, **__):
        for event in ():
            yield event

    _inject_invoked_skill = _inject_mentioned_files = _schedule_title_generation_events = nothing

    def _drain_pending_injections(self):
        return False

    async def _dispatch_post_turn_hooks(self):
        return None, []

    async def _run_compaction(self):
        async for event in super()._run_compaction():
            yield event
        self.fired.append("auto-compact-refused" if self.is_refused else "auto-compact")

    async def _complete(self, *, model, messages, tools, tool_choice, call_type):
        self.n_asked += 1
        sent, failure = self._messages_for_backend(messages, model), self.fails.get(self.n_asked)
        self.asked.append({"messages": [chat(m) for m in sent], "max_tokens": None, "failed": failure})
        if failure:
            raise ContextTooLongError("case", "case") if failure == TOO_LONG else RuntimeError(failure)
        usage = LLMUsage(prompt_tokens=7, completion_tokens=3)
        self._update_stats(usage, 1.0)
        return LLMChunk(message=LLMMessage(role=Role.assistant, content=self.summary), usage=usage)

    def request(self):
        messages = self._messages_for_backend(self.messages, self.model)
        return [{**chat(m), "from": self.origins.get(id(m))} for m in messages]

    def note(self):
        self.calls.append({"before": self.at, "sent": self.request(), "fired": self.fired, "believed": self.believed,
                           "asked": self.asked})
        self.fired, self.asked = [], []

    def store(self):
        self.messages.append(stored(self.recorded[self.at]))
        self.origins[id(self.messages[-1])] = self.at
        self.at += 1

    async def _perform_llm_turn(self):
        call = len(self.calls) + 1
        if call in self.rejects and not self.is_refused:
            self.rejects.remove(call)
            self.rejected.append({"call": call, "sent": self.request()})
            self.is_refused = True
            raise ContextTooLongError("case", "case")
        sent = json.dumps([{k: v for k, v in m.items() if k != "from"} for m in self.request()])
        self.note()
        size = len(json.dumps(self.recorded[self.at])) // 4
        self.usage.append({"input": len(sent) // 4, "output": size})
        self.store()
        self._update_stats(LLMUsage(prompt_tokens=len(sent) // 4, completion_tokens=size), 1.0)
        while self.at < len(self.recorded) and self.recorded[self.at]["role"] == "tool":
            self.store()
        for event in ():
            yield event

    async def play(self):
        while self.at < len(self.recorded):
            text, self.at = self.recorded[self.at]["content"], self.at + 1
            self._clean_message_history()
            try:
                async for _ in self._conversation_loop(text):
                    pass
            except Exception as error:
                self.halt = str(error)
                self.fired.append(f"failed: {self.halt}")
                self.note()
                return

    async def _open_user_turn(self, text, **more):
        async for event in super()._open_user_turn(text, **more):
            self.origins[id(self.messages[-1])] = self.at - 1
            yield event


def case(name, conversation, config, notes, window=1000, summary=SUMMARY, rejected=(), fails={}):
    """Returns a case."""
    run = Run(conversation, config, window, summary, set(rejected), fails)
    asyncio.run(run.play())
    made = {
        "system": "mistral-vibe",
        "preset": "mistral-vibe",
        "upstream": {"package": "mistral-vibe", "version": "2.26.1",
                     "functions": ["AgentLoop._conversation_loop", "MiddlewarePipeline.run_before_turn",
                                   "CompactionManager.compact", "AgentLoop._messages_for_backend"]},
        "config": config,
        "window": window,
        "max_output": 1024,
        "input": {"messages": conversation.messages, "usage": run.usage},
        "summary": summary,
        "calls": run.calls,
        "notes": notes,
    }
    if run.rejected:
        made["rejected"] = run.rejected
    if run.halt is not None:
        made["halt"] = run.halt
        made["notes"] += " The last entry shows the history of a call that was not made."
    return name, made


def chosen():
    """Makes the cases that are bundled."""
    def talk(seed, turns, **more):
        return Conversation(random.Random(seed), turns, **more)

    long = {"output": (100, 700)}
    yield case("chat", talk(1, 12, steps=0, words=30), {}, "A chat without tools.")
    yield case("run", talk(2, 2, steps=6, **long), {}, "Long turns are compacted between steps.")
    yield case("parallel", talk(3, 4, steps=3, parallel=3, output=(50, 400)), {}, "Parallel calls.")
    yield case("threshold", talk(4, 6, steps=2, **long), {"auto_compact_threshold": 600}, "A threshold in tokens.")
    yield case("threshold-ignored", talk(5, 6, steps=2, **long), {"auto_compact_threshold": 1000},
               "A threshold at the window: the share applies.")
    yield case("never", talk(6, 5, steps=2, **long), {"auto_compact_threshold": 0, "context_warnings": True},
               "A threshold of 0.")
    yield case("warnings", talk(7, 7, steps=2, **long), {"context_warnings": True}, "The model is warned at half.")
    yield case("tags", talk(8, 8, steps=1, tags=0.6, **long), {"auto_compact_threshold": 500},
               "Messages with the program's own tags.")
    yield case("no-summary", talk(10, 6, steps=2, **long), {}, "A summary without tags: two requests, and a substitute.",
               summary="The work is done.")
    yield case("strict", talk(11, 6, steps=2, **long), {"raise_on_compaction_failure": True},
               "A missing summary ends the turn.", summary="<summary> </summary>")
    yield case("refused", talk(12, 5, steps=2, **long), {"auto_compact_threshold": 0}, "A request is rejected.",
               rejected=(6,))
    yield case("refused-too-long", talk(13, 6, steps=1, **long), {"auto_compact_threshold": 900},
               "The request for a summary is rejected twice, each time without its oldest turn.", rejected=(6,),
               fails={1: TOO_LONG, 2: TOO_LONG})
    yield case("summary-fails", talk(14, 6, steps=2, **long), {}, "A request for a summary fails.",
               fails={2: "the stub refuses"})


def any_of(seed):
    """Makes a random case."""
    rng = random.Random(seed)
    config = {}
    if rng.random() < 0.5:
        config["auto_compact_threshold"] = rng.choice([0, 400, 900, 1500, 5000])
    if rng.random() < 0.4:
        config["context_warnings"] = True
    if rng.random() < 0.2:
        config["raise_on_compaction_failure"] = True
    conversation = Conversation(
        rng, rng.randint(1, 10), steps=rng.randint(0, 6), parallel=rng.randint(1, 4),
        output=(20, rng.choice([100, 700, 2500])), silent=rng.choice([0, 0.5, 1]), words=rng.choice([3, 20, 100, 4000]),
        tags=rng.choice([0, 0.3]))
    n_calls = sum(m["role"] == "assistant" for m in conversation.messages)
    rejected = [rng.randint(1, n_calls)] if rng.random() < 0.3 and not config.get("raise_on_compaction_failure") else ()
    fails = {n: rng.choice([TOO_LONG, TOO_LONG, "the stub refuses"]) for n in range(1, 9) if rng.random() < 0.15}
    summary = rng.choice([SUMMARY, SUMMARY, SUMMARY, "Done.", "<summary>a</summary><summary>b</summary>"])
    return case(f"random-{seed:04}", conversation, config, "Random.", rng.choice([1000, 1600, 5000]), summary, rejected,
                fails)


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    n_random = int(sys.argv[2]) if len(sys.argv) > 2 else None
    cases = chosen() if n_random is None else map(any_of, range(n_random))
    for name, made in cases:
        text = json.dumps(made, ensure_ascii=False)
        (folder / f"{name}.json").write_text(text + "\n", encoding="utf-8")


main()
