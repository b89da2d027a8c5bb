"""Makes replay cases of Hermes: runs its `ContextCompressor` where its conversation loop would.

Usage: python hermes-agent.py FOLDER [NUMBER OF RANDOM CASES]

Needs hermes-agent 0.19.0. Conversations are invented from a seed. The loop cannot run without a provider: `Run` decides
when to compress as `turn_context.py` and `conversation_loop.py` do, with the compressor's own methods. The date is unknown.
"""

import copy
import json
import random
import sys
from pathlib import Path
from types import SimpleNamespace

import agent.context_compressor as program
import hermes_time
from agent.context_compressor import ContextCompressor
from agent.conversation_compression import _ensure_compressed_has_user_turn
from agent.model_metadata import estimate_messages_tokens_rough, estimate_request_tokens_rough
from agent.turn_context import _compression_made_progress, _should_run_preflight_estimate

SUMMARY = "## Goal\nPlan the harbor.\n\n## Completed Actions\n1. READ tide table — 2 pilots free. 港 ✓"
SNAPSHOT = "## Historical Task Snapshot\nUser asked: 'x'\n\n" + SUMMARY
WORDS = "berth crane tide pilot ledger manifest anchor signal buoy harbor café 港 🚢 Straße it's".split()
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}


def no_date():
    raise OSError("no clock")


hermes_time.now = no_date


class Conversation:
    """An invented conversation in chat form."""

    def __init__(self, rng, turns, steps=2, parallel=1, output=(40, 300), system=True, silent=0.2, usage=1.0,
                 images=0.0, words=8, repeats=0.2):
        self.rng, self.n, self.silent, self.repeats, self.texts = rng, 0, silent, repeats, []
        self.messages = [{"role": "system", "content": f"You plan a {self.words(6)}"}] if system else []
        for _ in range(turns):
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

    def arguments(self, size):
        rng, path = self.rng, f"src/{self.words(1)}.md"
        return rng.choice([
            ("terminal", {"command": self.words(rng.randint(1, 20))}), ("read_file", {"path": path, "offset": 7}),
            ("read_file", {"path": path}), ("write_file", {"path": path, "content": self.words(size)}),
            ("search_files", {"pattern": self.words(1), "path": "src"}), ("patch", {"path": path, "mode": "replace"}),
            ("browser_click", {"ref": "@e3"}), ("browser_navigate", {"url": "https://x.example/a"}),
            ("web_search", {"query": self.words(3)}), ("web_extract", {"urls": ["https://x.example", "b"]}),
            ("delegate_task", {"goal": self.words(20)}), ("execute_code", {"code": "a = 1\n" + self.words(15)}),
            ("skill_view", {"name": "knots"}), ("vision_analyze", {"question": self.words(12)}),
            ("memory", {"action": "add", "target": "user"}), ("todo", {}), ("clarify", {"question": "?"}),
            ("cronjob", {"action": "list"}), ("process", {"action": "poll", "session_id": "p1"}),
            ("find_berth", {"pier": self.words(1), "deep": True, "n": 3}), ("find_berth", {"among": [1, "a"], "no": None})])

    def step(self, n_calls, output):
        calls = []
        for _ in range(n_calls):
            self.n += 1
            name, arguments = self.arguments(self.rng.choice([3, 200]))
            function = {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)}
            calls.append({"id": f"call_{self.n:03}", "type": "function", "function": function})
        text = None if self.rng.random() < self.silent else f"Step {len(self.messages)}: {self.words(5)}"
        self.add("assistant", text, tool_calls=calls)
        for call in calls:
            size = self.rng.randint(*output)
            text = (f"{call['id']}: " + self.words(size))[:size]
            if self.rng.random() < 0.3:
                text = json.dumps({"exit_code": self.n % 3, "total_count": self.n, "output": text}, indent=1)
            if self.texts and self.rng.random() < self.repeats:
                text = self.rng.choice(self.texts)
            self.texts.append(text)
            self.add("tool", text, tool_call_id=call["id"])


class Refused(Exception):
    """The failure of the model for summaries."""


class Run:
    """A conversation played through the compressor."""

    def __init__(self, conversation, config, window, summary, fails):
        self.recorded, self.reports, self.summary, self.fails = conversation.messages, conversation.reports, summary, fails
        self.usage, self.calls = [], []
        self.fired, self.believed, self.asked, self.n_asked = [], None, [], 0
        names = {"threshold": "threshold_percent", "target_ratio": "summary_target_ratio"}
        options = {names.get(name, name): value for name, value in config.items()}
        program.call_llm = self.summarize
        self.compressor = ContextCompressor(model="stub", quiet_mode=True, config_context_length=window, **options)
        # A failed summary does not block the next one for a minute.
        self.compressor._record_compression_failure_cooldown = lambda *_: None
        decide = self.compressor.should_compress

        def noted(tokens):
            self.believed = tokens
            return decide(tokens)

        self.compressor.should_compress = noted
        self.system = conversation.messages[0]["content"] if conversation.messages[0]["role"] == "system" else ""
        self.messages = []

    def summarize(self, messages, **_):
        self.n_asked += 1
        failure = "the stub refuses" if self.n_asked in self.fails else None
        self.asked.append({"messages": messages, "max_tokens": None, "failed": failure})
        if failure:
            raise Refused(failure)
        return SimpleNamespace(choices=[SimpleNamespace(message=SimpleNamespace(content=self.summary))])

    def request(self):
        """Returns the request's messages, without keys that are not sent."""
        sent = [{k: v for k, v in message.items() if not k.startswith("_")} for message in copy.deepcopy(self.messages)]
        return [{"role": "system", "content": self.system}] * bool(self.system) + sent

    def pressure(self):
        """Returns the tokens of the request, whose texts and arguments are normalized."""
        request = self.request()
        for message in request:
            message.pop("from", None)
            if isinstance(message["content"], str):
                message["content"] = message["content"].strip()
            for call in message.get("tool_calls", []):
                arguments = json.loads(call["function"]["arguments"])
                call["function"]["arguments"] = json.dumps(arguments, separators=(",", ":"), sort_keys=True)
        return estimate_messages_tokens_rough(request)

    def plain(self):
        return [{k: v for k, v in message.items() if k != "from"} for message in self.messages]

    def tokens(self):
        return estimate_request_tokens_rough(self.plain(), system_prompt=self.system)

    def compress(self, tokens):
        """Does what `compress_context` does."""
        plain = self.plain()
        compressed = self.compressor.compress(plain, current_tokens=tokens)
        if self.asked and self.asked[-1]["failed"]:
            self.fired.append(f"failed: {self.asked[-1]['failed']}")
        if self.compressor._last_compress_aborted or compressed == plain:
            return
        if "compress" not in self.fired:
            self.fired.append("compress")
        _ensure_compressed_has_user_turn(plain, compressed)
        self.messages = [{**m, "from": self.origin(m)} for m in compressed]
        self.compressor.last_compression_rough_tokens = self.tokens()
        self.compressor.last_prompt_tokens = -1
        self.compressor.awaiting_real_usage_after_compression = True
        if self.compressor._last_compression_made_progress:
            self.compressor.record_completed_compaction(used_fallback=self.compressor._last_summary_fallback_used)

    def origin(self, message):
        """Returns the recorded message that a message came from."""
        if message["role"] == "tool":
            return next(i for i, m in enumerate(self.recorded) if m.get("tool_call_id") == message["tool_call_id"])
        calls = [call["id"] for call in message.get("tool_calls", [])]
        text = program._content_text_for_contains(message["content"])
        for at, recorded in enumerate(self.recorded):
            if recorded["role"] != message["role"] or recorded["role"] == "tool":
                continue
            if calls and any(call["id"] in calls for call in recorded.get("tool_calls", [])):
                return at
            own = program._content_text_for_contains(recorded["content"])
            if own and not calls and (text == own or text.startswith(program._MERGED_PRIOR_CONTEXT_HEADER + "\n" + own)):
                return at
            if own and text.replace("[Attached image — stripped after compression]\n", "") == own:
                return at
        return None

    def answer(self, at):
        """Makes the call that led to an answer."""
        self.calls.append({"before": at, "sent": [self.sent(m) for m in self.request()], "fired": self.fired,
                           "believed": self.believed, "asked": self.asked})
        self.fired, self.believed, self.asked = [], None, []
        answer = self.recorded[at]
        usage = {"input": self.pressure(), "output": len(json.dumps(answer)) // 4}
        self.usage.append(usage if self.reports[len(self.usage)] else None)
        if usage := self.usage[-1]:
            self.compressor.update_from_response({"prompt_tokens": usage["input"], "completion_tokens": usage["output"]})
        elif self.compressor.awaiting_real_usage_after_compression:
            self.compressor.update_from_response({})
        self.messages.append({**answer, "from": at})

    def sent(self, message):
        return {**message, "from": message.get("from", 0 if message["role"] == "system" else None)}

    def turn_start(self):
        compressor, messages = self.compressor, self.plain()
        if not _should_run_preflight_estimate(messages, compressor.protect_first_n, compressor.protect_last_n,
                                              compressor.threshold_tokens):
            return
        tokens = self.tokens()
        deferred = compressor.should_defer_preflight_to_real_usage(tokens)
        if deferred:
            return
        if compressor.last_prompt_tokens >= 0 and tokens > compressor.last_prompt_tokens:
            compressor.last_prompt_tokens = tokens
        if not compressor.should_compress(tokens):
            return
        for _ in range(3):
            n, before = len(self.messages), tokens
            self.compress(tokens)
            tokens = self.tokens()
            if not _compression_made_progress(n, len(self.messages), before, tokens):
                break
            if not compressor.should_compress(tokens):
                break

    def before_call(self):
        compressor = self.compressor
        while len(self.messages) > 1 and self.attempts < 3:
            tokens = self.pressure()
            if compressor.should_defer_preflight_to_real_usage(tokens) or not compressor.should_compress(tokens):
                break
            self.attempts += 1
            self.compress(tokens)

    def after_tools(self):
        compressor = self.compressor
        tokens = max(compressor.last_prompt_tokens, 0)
        if compressor.last_prompt_tokens == 0:
            tokens = estimate_request_tokens_rough(self.plain())
        if compressor.should_compress(tokens):
            self.compress(compressor.last_prompt_tokens)

    def play(self):
        for at, message in enumerate(self.recorded):
            if message["role"] == "user":
                self.attempts = 0
                self.messages.append({**message, "from": at})
                self.turn_start()
            elif message["role"] == "assistant":
                if self.recorded[at - 1]["role"] == "tool":
                    self.after_tools()
                self.before_call()
                self.answer(at)
            elif message["role"] == "tool":
                self.messages.append({**message, "from": at})


def case(name, conversation, config, notes, window=1600, summary=SUMMARY, fails=()):
    """Returns a case."""
    run = Run(conversation, config, window, summary, fails)
    run.play()
    return name, {
        "system": "hermes",
        "preset": "hermes",
        "upstream": {"package": "hermes-agent", "version": "0.19.0",
                     "functions": ["ContextCompressor.compress", "ContextCompressor.should_compress",
                                   "ContextCompressor.update_from_response", "_ensure_compressed_has_user_turn"]},
        "config": config,
        "window": window,
        "max_output": 1024,
        "input": {"messages": conversation.messages, "usage": run.usage},
        "summary": summary,
        "calls": run.calls,
        "notes": f"{notes} `sent` is the history before neighbouring user messages are joined and spaces removed.",
    }


def chosen():
    """Makes the cases that are bundled."""
    def talk(seed, turns, **more):
        return Conversation(random.Random(seed), turns, **more)

    long, abort = {"output": (100, 500)}, {"abort_on_summary_failure": True}
    yield case("chat", talk(1, 26, steps=0, words=40), {}, "A chat without tools.")
    yield case("run", talk(2, 2, steps=14, parallel=2, **long), {}, "Compacted within a turn.")
    yield case("turns", talk(3, 10, steps=3, parallel=2, **long), {"threshold": 0.8, "protect_last_n": 3}, "Turns with tools.")
    yield case("no-usage", talk(4, 8, steps=4, usage=0, **long), {}, "Everything is estimated.")
    yield case("some-usage", talk(5, 8, steps=4, usage=0.5, system=False, **long), {"protect_first_n": 0},
               "Some answers report no usage; no system message.")
    yield case("images", talk(6, 10, steps=2, images=0.5, usage=1), {}, "Images.", window=9000)
    yield case("small-tail", talk(7, 6, steps=4, parallel=3, **long), {"target_ratio": 0.1, "protect_last_n": 1}, "A small tail.")
    yield case("large-tail", talk(8, 9, steps=4, parallel=2, **long), {"target_ratio": 0.8, "protect_last_n": 40}, "A large tail.")
    yield case("snapshot", talk(9, 8, steps=3, parallel=2, **long), {}, "The summary names a task, which is replaced.", summary=SNAPSHOT)
    yield case("aborts", talk(10, 8, steps=4, **long), abort, "The first and third request fail.", fails=(1, 3))
    yield case("long-summary", talk(11, 5, steps=5, **long), {}, "A summary above the threshold: compaction stops.",
               summary="## Goal\n" + "x" * 9000)
    yield case("large-messages", talk(12, 6, steps=3, output=(3000, 9000)), {"max_tokens": 2000},
               "Long results are shortened in the request.", window=12000)


def any_of(seed):
    """Makes a random case."""
    rng = random.Random(seed)
    config = {"threshold": rng.choice([0.5, 0.8, 0.95]), "target_ratio": rng.choice([0.1, 0.2, 0.5, 0.8]),
              "protect_first_n": rng.randint(0, 5), "protect_last_n": rng.choice([1, 3, 8, 20]), "abort_on_summary_failure": True}
    conversation = Conversation(
        rng, rng.randint(1, 14), steps=rng.randint(0, 8), parallel=rng.randint(1, 4), output=(20, rng.choice([100, 700, 3000])),
        system=rng.random() < 0.7, silent=rng.choice([0, 0.5, 1]), usage=rng.choice([1, 1, 0.5, 0]),
        images=rng.choice([0, 0, 0.3]), words=rng.choice([3, 20]))
    fails = rng.sample(range(1, 5), 1) if rng.random() < 0.2 else ()
    return case(f"random-{seed:04}", conversation, config, "Random.", rng.choice([1200, 2500, 6000]),
                rng.choice([SUMMARY, SNAPSHOT, "∅"]), fails)


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    n_random = int(sys.argv[2]) if len(sys.argv) > 2 else None
    cases = chosen() if n_random is None else map(any_of, range(n_random))
    for name, made in cases:
        (folder / f"{name}.json").write_text(json.dumps(made, ensure_ascii=False) + "\n", encoding="utf-8")


main()
