"""Makes replay cases of Strands Agents: python strands.py FOLDER [SEED [COUNT]]

Without SEED it makes the case with the defaults of Strands Agents.

Runs a real `Agent` (strands-agents 1.62.0) over invented conversations. Its model returns the recorded answers, its
tools the recorded results. Each case records what the model received.
"""

import copy
import json
import logging
import math
import random
import sys
from pathlib import Path

# This file has the name of the package.
sys.path.pop(0)

from strands import Agent
from strands.agent.conversation_manager import (
    NullConversationManager,
    SlidingWindowConversationManager,
    SummarizingConversationManager,
)
from strands.hooks import BeforeToolCallEvent
from strands.models import Model
from strands.tools.executors import SequentialToolExecutor
from strands.tools.tools import PythonAgentTool
from strands.types.exceptions import ContextWindowOverflowException

logging.disable(logging.CRITICAL)
REFUSAL = "HTTP 400: the prompt is too long: context_length_exceeded"
SUMMARY = "SUMMARY: the importer reads invoices; two checks are open."
WORDS = "the ledger imports invoices before a check of late entries closes and every batch is sent again café 日本語 🚢".split()
TOOLS = ["read_log", "run_check", "find_text"]


def words(rng, n):
    return " ".join(rng.choice(WORDS) for _ in range(n))


def conversation(rng, n_turns, n_steps, parallel=0.3, long=0.1, system=True, broken=0.0):
    """Returns messages in OpenAI's form: turns of calls with results."""
    messages = [{"role": "system", "content": words(rng, 30)}] if system else []
    n_calls = 0
    for turn in range(n_turns):
        messages.append({"role": "user", "content": f"Task {turn}: {words(rng, rng.randint(3, 40))}"})
        for _ in range(rng.randint(0, n_steps)):
            calls, results = [], []
            for _ in range(rng.randint(2, 3) if rng.random() < parallel else 1):
                n_calls += 1
                call = f"call_{n_calls:03}"
                arguments = {"path": words(rng, 2), "depth": n_calls}
                function = {"name": rng.choice(TOOLS), "arguments": json.dumps(arguments)}
                calls.append({"id": call, "type": "function", "function": function})
                size = 400 if rng.random() < long else rng.randint(1, 60)
                text = rng.choice([words(rng, size), words(rng, size)[:400], words(rng, 90)[:401]])
                results.append({"role": "tool", "tool_call_id": call, "content": text})
            text = f"Step {n_calls}: {words(rng, 4)}" if rng.random() < 0.8 else None
            messages.append({"role": "assistant", "content": text, "tool_calls": calls})
            if rng.random() < broken:
                break
            messages += results
        if messages[-1].get("tool_calls") is None:
            messages.append({"role": "assistant", "content": f"Done {turn}: {words(rng, rng.randint(3, 30))}"})
    return messages


class Recorder(Model):
    """Returns the recorded answers and records the requests."""

    def __init__(self, run, limit):
        self.run, self.limit = run, limit

    def update_config(self, **_):
        pass

    def get_config(self):
        return {"context_window_limit": self.limit}

    def structured_output(self, *_, **__):
        raise NotImplementedError

    async def stream(self, messages, tool_specs=None, system_prompt=None, **_):
        if messages and messages[-1]["content"] == [{"text": "Please summarize this conversation."}]:
            answer, usage = self.run.summarize(messages, system_prompt), None
        else:
            answer, usage = self.run.answer(messages, system_prompt)
        yield {"messageStart": {"role": "assistant"}}
        if answer.get("content"):
            yield {"contentBlockStart": {"start": {}}}
            yield {"contentBlockDelta": {"delta": {"text": answer["content"]}}}
            yield {"contentBlockStop": {}}
        for call in answer.get("tool_calls") or []:
            start = {"toolUseId": call["id"], "name": call["function"]["name"]}
            yield {"contentBlockStart": {"start": {"toolUse": start}}}
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": call["function"]["arguments"]}}}}
            yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "tool_use" if answer.get("tool_calls") else "end_turn"}}
        if usage:
            total = {"inputTokens": usage["input"], "outputTokens": usage["output"]}
            total["totalTokens"] = sum(total.values())
            yield {"metadata": {"usage": total, "metrics": {"latencyMs": 0}}}


class Case:
    """One run of an agent over a conversation."""

    def __init__(self, messages, config, window, options):
        self.messages, self.config, self.options = messages, config, options
        self.calls, self.rejected, self.usage = [], [], []
        self.fired, self.asked, self.believed, self.halt = [], [], None, None
        self.answers = [at for at, m in enumerate(messages) if m["role"] == "assistant"]
        self.n_refused = {}
        self.results = {m["tool_call_id"]: m["content"] for m in messages if m["role"] == "tool"}
        kind = config["conversation_manager"]
        keys = ["window_size", "should_truncate_results", "per_turn", "pin_first"]
        if kind == "SummarizingConversationManager":
            keys = ["summary_ratio", "preserve_recent_messages", "pin_first"]
        given = {key: config[key] for key in [*keys, "proactive_compression"] if key in config}
        makers = {
            "SlidingWindowConversationManager": SlidingWindowConversationManager,
            "SummarizingConversationManager": SummarizingConversationManager,
            "NullConversationManager": NullConversationManager,
        }
        self.manager = makers[kind](**given)
        self.watch()
        names = sorted({c["function"]["name"] for m in messages for c in m.get("tool_calls") or []})
        system = messages[0]["content"] if messages[0]["role"] == "system" else None
        self.agent = Agent(
            model=Recorder(self, config["context_window_limit"]),
            system_prompt=system,
            tools=[self.tool(name) for name in names],
            conversation_manager=self.manager,
            tool_executor=SequentialToolExecutor(),
            callback_handler=None,
        )
        self.agent.hooks.add_callback(BeforeToolCallEvent, self.before_tool)
        specs = self.agent.tool_registry.get_all_tool_specs()
        config["tools_tokens"] = sum(math.ceil(len(json.dumps(spec)) / 2) for spec in specs)
        self.window = window

    def watch(self):
        """Records the names of the mechanisms and the counts that they compare."""
        manager, reduce = self.manager, self.manager.reduce_context
        threshold = manager._on_before_model_call_threshold
        state = {"at": "management"}

        def watched_reduce(agent, e=None, **more):
            before = copy.deepcopy(agent.messages)
            if e:
                self.fired.append("ContextWindowOverflowException")
            try:
                return reduce(agent, e=e, **more)
            finally:
                if before != agent.messages:
                    self.fired.append("overflow" if e else state["at"])

        def watched_threshold(event):
            tokens = event.projected_input_tokens
            proactive = self.config.get("proactive_compression")
            self.believed = tokens if proactive else len(event.agent.messages)
            state["at"] = "proactive"
            threshold(event)
            state["at"] = "management"

        manager.reduce_context = watched_reduce
        manager._on_before_model_call_threshold = watched_threshold

    def tool(self, name):
        spec = {"name": name, "description": f"Runs {name}.", "inputSchema": {"json": {"type": "object", "properties": {"path": {"type": "string"}, "depth": {"type": "integer"}}}}}

        def run(use, **_):
            return {"toolUseId": use["toolUseId"], "status": "success", "content": [{"text": self.results[use["toolUseId"]]}]}

        return PythonAgentTool(name, spec, run)

    def before_tool(self, event):
        if event.tool_use["toolUseId"] not in self.results:
            raise KeyboardInterrupt

    def run(self):
        users = [m["content"] for m in self.messages if m["role"] == "user"]
        for text in users:
            try:
                self.agent(text)
            except KeyboardInterrupt:
                pass
            except Exception as error:  # The system stops.
                self.halt = str(error)
                break
        return self

    def answer(self, messages, system):
        nth = len(self.calls)
        refusals = self.options.get("overflow_at", {}).get(str(nth + 1), 0)
        if self.n_refused.get(nth, 0) < refusals:
            self.n_refused[nth] = self.n_refused.get(nth, 0) + 1
            self.rejected.append({"call": nth + 1, "sent": self.sent(messages, system)})
            raise ContextWindowOverflowException(REFUSAL)
        before = self.answers[nth]
        sent = self.sent(messages, system)
        self.calls.append({"before": before, "sent": sent, "fired": self.fired, "believed": self.believed, "asked": self.asked})
        self.fired, self.asked = [], []
        size = sum(len(json.dumps(m)) for m in sent) // 4
        answer = self.messages[before]
        usage = {"input": size, "output": len(json.dumps(answer)) // 4}
        if nth in self.options.get("without_usage", []):
            usage = None
        self.usage.append(usage)
        return answer, usage

    def summarize(self, messages, system):
        sent = [{k: v for k, v in m.items() if k != "from"} for m in self.sent(messages, system)]
        self.asked.append({"messages": sent, "max_tokens": None})
        return {"content": self.options.get("summary", SUMMARY)}

    def sent(self, messages, system):
        """Returns a request in OpenAI's form with the origin of each message."""
        out = []
        if system is not None:
            own = self.messages[0]
            out.append({"role": "system", "content": system, "from": 0 if own["content"] == system else None})
        for message in messages:
            texts = [b["text"] for b in message["content"] if "text" in b]
            uses = [b["toolUse"] for b in message["content"] if "toolUse" in b]
            for result in (b["toolResult"] for b in message["content"] if "toolResult" in b):
                text = "\n".join(b["text"] for b in result["content"])
                one = {"role": "tool", "tool_call_id": result["toolUseId"], "content": text}
                out.append({**one, "from": self.origin(lambda m: m.get("tool_call_id") == result["toolUseId"])})
            if uses:
                calls = [{"id": u["toolUseId"], "type": "function", "function": {"name": u["name"], "arguments": json.dumps(u["input"])}} for u in uses]
                origin = self.origin(lambda m: any(c["id"] == uses[0]["toolUseId"] for c in m.get("tool_calls") or []))
                out.append({"role": "assistant", "content": "".join(texts) or None, "tool_calls": calls, "from": origin})
            elif texts:
                origin = self.origin(lambda m: m["role"] == message["role"] and m["content"] == texts[0])
                out.append({"role": message["role"], "content": "".join(texts), "from": origin})
        return out

    def origin(self, is_it):
        return next((at for at, m in enumerate(self.messages) if is_it(m)), None)

    def written(self, name):
        stopped = {"halt": self.halt} if self.halt else {}
        unit = "projected input tokens" if self.config.get("proactive_compression") else "messages"
        at = {"overflow_at": self.options["overflow_at"]} if "overflow_at" in self.options else {}
        return {
            "system": "strands",
            "preset": "strands",
            "upstream": {"package": "strands-agents", "version": "1.62.0", "functions": ["Agent.__call__", self.config["conversation_manager"]]},
            "config": {**self.config, "believed_unit": unit, **at},
            "window": self.window,
            "max_output": 1024,
            "input": {"messages": self.messages, "usage": self.usage},
            "summary": self.options.get("summary", SUMMARY),
            "calls": self.calls,
            "rejected": self.rejected,
            **stopped,
            "notes": f"Made by generators/strands.py: {name}.",
        }


def random_case(rng):
    """Returns a conversation, a configuration, a window and options."""
    n_turns, n_steps = rng.choice([(1, 16), (3, 6), (8, 3), (16, 0), (5, 5)])
    broken = rng.choice([0, 0, 0, 0.08])
    messages = conversation(rng, n_turns, n_steps, rng.choice([0, 0.3, 0.8]), rng.choice([0, 0.1, 0.5]), rng.random() < 0.7, broken)
    window = rng.choice([1200, 2000, 4000, 8000])
    config = {"conversation_manager": rng.choice(["SlidingWindowConversationManager"] * 4 + ["SummarizingConversationManager"] * 4 + ["NullConversationManager"])}
    config["context_window_limit"] = window
    optional = {"pin_first": lambda: rng.choice([1, 2, 3, 5, 0])}
    if config["conversation_manager"].startswith("Sliding"):
        optional["window_size"] = lambda: rng.choice([0, 1, 2, 3, 5, 8, 12])
        optional["should_truncate_results"] = lambda: rng.random() < 0.5
        optional["per_turn"] = lambda: rng.choice([True, False, 1, 2, 3, 4])
    elif config["conversation_manager"].startswith("Summ"):
        optional["summary_ratio"] = lambda: rng.choice([0.05, 0.1, 0.3, 0.5, 0.77, 0.9])
        optional["preserve_recent_messages"] = lambda: rng.choice([0, 1, 2, 3, 4, 6, 10])
    else:
        optional = {}
    if optional:
        optional["proactive_compression"] = lambda: rng.choice([True, False, {"compression_threshold": rng.choice([0.1, 0.3, 0.5, 1.0])}])
    for key, value in optional.items():
        if rng.random() < 0.6:
            config[key] = value()
    n_answers = sum(m["role"] == "assistant" for m in messages)
    options = {}
    if rng.random() < 0.5:
        at = rng.sample(range(1, n_answers + 1), min(n_answers, rng.randint(1, 3)))
        options["overflow_at"] = {str(n): rng.choice([1, 1, 2, 3]) for n in sorted(at)}
    if rng.random() < 0.3:
        options["without_usage"] = [n for n in range(n_answers) if rng.random() < rng.choice([0.3, 1.0])]
    if rng.random() < 0.1:
        options["summary"] = ""
    return messages, config, window, options


def default_case():
    """Returns a conversation, the manager that an `Agent` has by default, a window and a request that is rejected."""
    window = 8000
    messages = conversation(random.Random(2), 11, 4, 0.3, 0.02)
    manager = Agent(model=Recorder(None, window), callback_handler=None).conversation_manager
    config = {"conversation_manager": type(manager).__name__, "context_window_limit": window}
    return messages, config, window, {"overflow_at": {"20": 1}}


def main():
    folder, seed, count = Path(sys.argv[1]), int((sys.argv[2:] or [1])[0]), int((sys.argv[3:] or [40])[0])
    folder.mkdir(parents=True, exist_ok=True)
    if len(sys.argv) == 2:
        text = json.dumps(Case(*default_case()).run().written("the defaults"), ensure_ascii=False)
        (folder / "defaults.json").write_text(text + "\n")
        return
    for nth in range(seed, seed + count):
        case = Case(*random_case(random.Random(nth))).run()
        if case.calls:
            text = json.dumps(case.written(f"seed {nth}"), ensure_ascii=False)
            (folder / f"seed-{nth}.json").write_text(text + "\n")


main()
