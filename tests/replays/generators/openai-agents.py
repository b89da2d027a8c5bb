"""Makes replay cases of the OpenAI Agents SDK: runs its `Runner` with a model that answers as recorded.

Usage: python openai-agents.py FOLDER [NUMBER OF RANDOM CASES]

Needs openai-agents 0.24.0 and openai 3.54.0. Conversations are invented from a seed. The endpoint `responses.compact` is
stood in for: it returns the user messages of what it was given and one item.
"""

import asyncio
import json
import random
import sys
from pathlib import Path

from agents import Agent, FunctionTool, Model, ModelResponse, RunConfig, Runner, SQLiteSession
from agents.extensions import ToolOutputTrimmer
from agents.memory import OpenAIResponsesCompactionSession, SessionSettings
from agents.usage import Usage
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

SUMMARY = "SUMMARY OF EARLIER WORK: the harbor schedule is imported; two berths are free."
TOOLS = ["read_log", "run_shell", "search_code", "load_sheet"]
WORDS = "berth crane tide pilot ledger manifest anchor signal buoy harbor café 港 🚢 Straße".split()


class Conversation:
    """An invented conversation in chat form."""

    def __init__(self, rng, turns, steps=2, parallel=1, output=(40, 300), system=True, silent=0.2, lost=0.0):
        self.rng, self.n = rng, 0
        self.messages = [{"role": "system", "content": f"You plan a {self.words(6)}"}] if system else []
        for turn in range(turns):
            for _ in range(2 if rng.random() < 0.1 else 1):
                self.add("user", f"Request {len(self.messages)}: {self.words(8)}")
            for _ in range(rng.randint(0, steps)):
                is_lost = turn + 1 < turns and rng.random() < lost
                if self.step(rng.randint(1, parallel), output, silent, is_lost):
                    break
            else:
                self.add("assistant", f"Answer {len(self.messages)}: {self.words(9)}")

    def words(self, n):
        return " ".join(self.rng.choice(WORDS) for _ in range(n))

    def add(self, role, content, **more):
        self.messages.append({"role": role, "content": content, **more})

    def step(self, n_calls, output, silent, is_lost):
        calls = []
        for _ in range(n_calls):
            self.n += 1
            function = {"name": self.rng.choice(TOOLS), "arguments": json.dumps({"path": self.words(1)})}
            calls.append({"id": f"call_{self.n:03}", "type": "function", "function": function})
        text = None if self.rng.random() < silent else f"Step {len(self.messages)}: {self.words(5)}"
        self.add("assistant", text, tool_calls=calls)
        for call in calls[1:] if is_lost else calls:
            size = self.rng.randint(*output)
            text = f"{call['id']}: " + self.words(size)
            self.add("tool", text[:size], tool_call_id=call["id"])
        return is_lost


class Lost(Exception):
    """The tool that ends a run."""


class Run:
    """A conversation played through the SDK."""

    def __init__(self, messages, config, fails):
        self.messages, self.fails = messages, set(fails)
        self.calls, self.fired, self.believed, self.asked = [], [], None, []
        self.inputs, self.n_asked, self.at = {}, 0, 0
        self.by_text = {m["content"]: i for i, m in enumerate(messages) if m["role"] != "tool" and m["content"]}
        self.by_call = {c["id"]: i for i, m in enumerate(messages) for c in m.get("tool_calls", [])}
        self.results = {m["tool_call_id"]: i for i, m in enumerate(messages) if m["role"] == "tool"}
        self.limit = config.get("SessionSettings.limit")
        self.session = SQLiteSession("case")
        self.stored = self.session
        compaction = config.get("compaction")
        if compaction is not None:
            self.threshold = compaction.get("threshold", 10)
            self.session = OpenAIResponsesCompactionSession(
                "case", self.stored, client=Client(self), should_trigger_compaction=self.decide,
                compaction_mode=compaction.get("compaction_mode", "auto"))
        trimmer = config.get("ToolOutputTrimmer")
        self.run_config = RunConfig(
            tracing_disabled=True,
            session_settings=SessionSettings(limit=self.limit) if self.limit is not None else None,
            call_model_input_filter=ToolOutputTrimmer(**trimmer) if trimmer is not None else None)
        system = messages[0]["content"] if messages[0]["role"] == "system" else None
        self.agent = Agent(name="case", instructions=system, model=Recorded(self), tools=[self.tool(t) for t in TOOLS])

    def decide(self, context):
        self.believed = len(context["compaction_candidate_items"])
        return self.believed >= self.threshold

    def tool(self, name):
        async def invoke(context, _):
            at = self.results.get(context.tool_call_id)
            if at is None:
                raise Lost(context.tool_call_id)
            return self.messages[at]["content"]

        return FunctionTool(name=name, description=name, params_json_schema={"type": "object", "properties": {}},
                            on_invoke_tool=invoke, strict_json_schema=False)

    def chat(self, items):
        """Converts items to chat messages with their origins."""
        sent = []
        for item in items:
            kind = item.get("type", "message")
            if kind == "function_call":
                origin = self.by_call[item["call_id"]]
                if not sent or sent[-1]["role"] != "assistant" or sent[-1]["from"] != origin:
                    sent.append({"role": "assistant", "content": None, "from": origin})
                function = {"name": item["name"], "arguments": item["arguments"]}
                calls = sent[-1].setdefault("tool_calls", [])
                calls.append({"id": item["call_id"], "type": "function", "function": function})
            elif kind == "function_call_output":
                sent.append({"role": "tool", "tool_call_id": item["call_id"], "content": item["output"],
                             "from": self.results[item["call_id"]]})
            elif kind == "compaction":
                sent.append({"role": "assistant", "content": SUMMARY, "item": "compaction", "from": None})
            else:
                content = item["content"]
                text = content if isinstance(content, str) else content[0]["text"]
                sent.append({"role": item["role"], "content": text, "from": self.by_text[text]})
        return sent

    def note(self, instructions, items):
        sent = self.chat(items)
        trimmed = [m for m in sent if m["role"] == "tool" and m["content"] != self.messages[m["from"]]["content"]]
        fired = self.fired + (["ToolOutputTrimmer"] if trimmed else [])
        if instructions is not None:
            sent.insert(0, {"role": "system", "content": instructions, "from": 0})
        self.calls.append({"before": self.at, "sent": sent, "fired": fired, "believed": self.believed,
                           "asked": self.asked})
        self.fired, self.believed, self.asked = [], None, []

    async def play(self):
        while self.at < len(self.messages):
            if self.messages[self.at]["role"] != "user":
                self.at += 1
                continue
            users = []
            while self.at < len(self.messages) and self.messages[self.at]["role"] == "user":
                users.append({"role": "user", "content": self.messages[self.at]["content"]})
                self.at += 1
            n_stored = len(await self.stored.get_items())
            if self.limit is not None and 0 <= self.limit < n_stored:
                self.fired.append("SessionSettings.limit")
            try:
                await Runner.run(self.agent, users, session=self.session, run_config=self.run_config, max_turns=500)
            except Exception as error:
                if not isinstance(error, Refused) and "call_" not in str(error):
                    raise
            if self.at < len(self.messages) and self.messages[self.at]["role"] != "user":
                # The turn died in a tool.
                while self.at < len(self.messages) and self.messages[self.at]["role"] != "user":
                    self.at += 1


class Recorded(Model):
    """A model that answers as recorded."""

    def __init__(self, run):
        self.run = run

    async def get_response(self, system_instructions, input, *_, **__):
        run = self.run
        run.note(system_instructions, input)
        answer = run.messages[run.at]
        run.at += 1
        while run.at < len(run.messages) and run.messages[run.at]["role"] == "tool":
            run.at += 1
        output, name = [], f"resp_{run.at}"
        if answer["content"]:
            text = ResponseOutputText(type="output_text", text=answer["content"], annotations=[])
            output.append(ResponseOutputMessage(id=f"msg_{run.at}", type="message", role="assistant",
                                                status="completed", content=[text]))
        for call in answer.get("tool_calls", []):
            output.append(ResponseFunctionToolCall(type="function_call", id="fc_" + call["id"], call_id=call["id"],
                                                   **call["function"]))
        run.inputs[name] = list(input) + [item.model_dump(exclude_unset=True) for item in output]
        return ModelResponse(output=output, usage=Usage(), response_id=name)

    def stream_response(self, *_, **__):
        raise NotImplementedError


class Refused(Exception):
    """The failure of the endpoint."""


class Client:
    """Stands in for the endpoint."""

    def __init__(self, run):
        self.run, self.responses = run, self

    async def compact(self, model, previous_response_id=None, input=None):
        run = self.run
        items = run.inputs[previous_response_id] if input is None else input
        asked = [{k: v for k, v in m.items() if k != "from"} for m in run.chat(items)]
        mode = "input" if input is not None else "previous_response_id"
        run.asked.append({"messages": asked, "max_tokens": None, "mode": mode, "model": model})
        run.n_asked += 1
        if run.n_asked in run.fails:
            run.fired.append("failed: responses.compact")
            raise Refused("the stub refuses")
        run.fired.append("responses.compact")
        users = [item for item in items if item.get("role") == "user"]
        item = {"type": "compaction", "id": f"cmp_{run.n_asked}", "encrypted_content": SUMMARY}
        return type("Compacted", (), {"output": users + [item], "usage": None})


def case(name, conversation, config, notes, fails=()):
    """Returns a case."""
    run = Run(conversation.messages, config, fails)
    asyncio.run(run.play())
    functions = ["Runner.run", "SQLiteSession"]
    functions += ["OpenAIResponsesCompactionSession"] if "compaction" in config else []
    functions += ["ToolOutputTrimmer"] if "ToolOutputTrimmer" in config else []
    return name, {
        "system": "openai-agents",
        "preset": "openai-agents",
        "upstream": {"package": "openai-agents", "version": "0.24.0", "with": {"openai": "3.54.0"},
                     "functions": functions},
        "config": config,
        "window": 100000,
        "max_output": 1024,
        "input": {"messages": conversation.messages, "usage": [None] * len(run.calls)},
        "summary": SUMMARY,
        "calls": run.calls,
        "notes": notes,
    }


def chosen():
    """Makes the cases that are bundled."""
    def talk(seed, turns, **more):
        return Conversation(random.Random(seed), turns, **more)

    long = {"output": (100, 900)}
    yield case("limit-parallel", talk(1, 6, steps=3, parallel=4), {"SessionSettings.limit": 9},
               "Parallel calls are cut in the middle; answers without text.")
    yield case("limit-zero", talk(2, 4, steps=2, system=False), {"SessionSettings.limit": 0}, "Nothing is loaded.")
    yield case("limit-lost", talk(3, 7, steps=2, parallel=2, lost=0.4), {"SessionSettings.limit": 5},
               "Turns that die in a tool lose that answer with its results.")
    yield case("trimmer-unicode", talk(4, 4, steps=3, parallel=2, **long),
               {"ToolOutputTrimmer": {"recent_turns": 1, "max_output_chars": 300, "preview_chars": 33}},
               "Characters, not bytes.")
    yield case("limit-trimmer", talk(5, 6, steps=2, parallel=2, **long),
               {"SessionSettings.limit": 8,
                "ToolOutputTrimmer": {"recent_turns": 2, "max_output_chars": 200, "preview_chars": 20,
                                      "trimmable_tools": ["read_log", "load_sheet"]}},
               "Both: only some tools are trimmed.")
    yield case("compact-trimmer", talk(28, 8, steps=2, parallel=2, **long),
               {"compaction": {"threshold": 4},
                "ToolOutputTrimmer": {"recent_turns": 1, "max_output_chars": 250, "preview_chars": 10}},
               "The history from the first user message behind the newest trimmed output is compacted.")
    yield case("compact-limit", talk(14, 10, steps=2, parallel=2),
               {"compaction": {"threshold": 5}, "SessionSettings.limit": 7},
               "Only the part that was loaded is compacted, from a user message on; older items stay stored.")
    yield case("compact-by-response", talk(24, 9, steps=2, parallel=2),
               {"compaction": {"threshold": 5, "compaction_mode": "previous_response_id"},
                "SessionSettings.limit": 7},
               "A response chain is not compacted once the limit cut it.")
    yield case("compact-lost", talk(9, 9, steps=2, parallel=2, lost=0.3), {"compaction": {"threshold": 7}},
               "A deferred compaction outlives a turn that dies in a tool.")
    yield case("compact-refused", talk(10, 8, steps=2, parallel=2), {"compaction": {"threshold": 6}},
               "The endpoint fails twice: the run ends after its answer, the history stays.", fails=(1, 2))


def any_of(seed):
    """Makes a random case."""
    rng = random.Random(seed)
    config = {}
    if rng.random() < 0.6:
        config["compaction"] = {"threshold": rng.randint(1, 14)}
        if rng.random() < 0.5:
            config["compaction"]["compaction_mode"] = rng.choice(["auto", "input", "previous_response_id"])
    if rng.random() < 0.5:
        config["SessionSettings.limit"] = rng.randint(0, 25)
    if rng.random() < 0.5:
        trimmer = config["ToolOutputTrimmer"] = {"recent_turns": rng.randint(1, 4)}
        trimmer["max_output_chars"] = rng.choice([50, 120, 500])
        trimmer["preview_chars"] = rng.choice([0, 20, 45, 200])
        if rng.random() < 0.3:
            trimmer["trimmable_tools"] = rng.sample(TOOLS, 2)
    conversation = Conversation(
        rng, rng.randint(2, 14), steps=rng.randint(0, 5), parallel=rng.randint(1, 4),
        output=(20, rng.choice([100, 700])), system=rng.random() < 0.7, silent=rng.choice([0, 0.5, 1]),
        lost=rng.choice([0, 0, 0.2]))
    fails = rng.sample(range(1, 5), 2) if rng.random() < 0.15 else ()
    return case(f"random-{seed:04}", conversation, config, "Random.", fails)


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    n_random = int(sys.argv[2]) if len(sys.argv) > 2 else None
    cases = chosen() if n_random is None else map(any_of, range(n_random))
    for name, made in cases:
        text = json.dumps(made, ensure_ascii=False)
        (folder / f"{name}.json").write_text(text + "\n", encoding="utf-8")


main()
