"""Makes replay cases of Codex: runs its app server against a stub of the provider on this machine.

Usage: python codex.py PROGRAM FOLDER [NUMBER OF RANDOM CASES]

PROGRAM is the native program of npm's @openai/codex 0.169.0. Conversations are invented from a seed; this script is both
the model and the only tool. Skills, shell and Codex's own messages about the environment are off.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

VERSION = "0.169.0"
SUMMARY = "The harbor has two free berths. Next: ask the pilot. 港 ✓"
PROMPT = "You are performing a CONTEXT CHECKPOINT COMPACTION."
WORDS = "berth crane tide pilot ledger manifest anchor signal buoy harbor café 港 🚢 Straße".split()
OFF = ["shell_tool", "unified_exec", "view_image", "skill_search", "goals", "apps", "plugins", "sleep_tool", "enable_request_compression"]
CONFIG = """
model = "stub"
model_provider = "stub"
include_environment_context = false
include_permissions_instructions = false
include_apps_instructions = false
include_collaboration_mode_instructions = false
check_for_update_on_startup = false
analytics.enabled = false
skills.include_instructions = false
skills.bundled.enabled = false
model_providers.stub = {{ name = "stub", base_url = "http://127.0.0.1:{port}/v1", request_max_retries = 0, stream_max_retries = 0 }}
"""
TOOL = {"type": "function", "name": "read_file", "description": "Reads a file.",
        "inputSchema": {"type": "object", "properties": {"path": {"type": "string"}}}}


class Conversation:
    """An invented conversation in chat form."""

    def __init__(self, rng, turns, steps=2, parallel=1, output=(40, 300), silent=0.3, words=8):
        self.rng, self.silent = rng, silent
        self.n, self.messages = 0, [{"role": "system", "content": "You plan a harbor."}]
        for _ in range(turns):
            self.add("user", f"Request {len(self.messages)}: {self.words(rng.randint(1, 2 * words))}")
            for _ in range(rng.randint(0, steps) if isinstance(steps, int) else steps[0]):
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
            arguments = json.dumps({"path": f"{self.words(1)}.md"}, ensure_ascii=False)
            calls.append({"id": f"call_{self.n:03}", "type": "function", "function": {"name": "read_file", "arguments": arguments}})
        text = None if self.rng.random() < self.silent else f"Step {len(self.messages)}: {self.words(5)}"
        self.add("assistant", text, tool_calls=calls)
        for call in calls:
            size = self.rng.randint(*output)
            self.add("tool", (f"{call['id']}: " + self.words(size))[:size], tool_call_id=call["id"])


class Run:
    """A conversation played through the app server."""

    def __init__(self, conversation, config, summary, fails=(), usage=None):
        self.recorded, self.config, self.summary, self.fails, self.given = conversation.messages, config, summary, fails, usage
        self.results = {m["tool_call_id"]: m["content"] for m in self.recorded if m["role"] == "tool"}
        self.answers = [i for i, m in enumerate(self.recorded) if m["role"] == "assistant"]
        self.usage, self.calls, self.asked, self.n_asked, self.n = [], [], [], 0, 0
        self.compacted, self.halt = False, None

    def respond(self, request):
        """Answers a request as the model: returns output items and usage, or an error."""
        messages = chat(request["input"])
        if PROMPT in str(messages[-1]["content"]):
            self.n_asked += 1
            failure = "context_length_exceeded" if self.n_asked in self.fails else None
            self.asked.append({"messages": messages, "max_tokens": None, "failed": failure})
            self.compacted |= failure is None
            return (None, failure) if failure else ([text_item(self.summary)], (10, 10))
        at = self.answers[len(self.calls)]
        answer = self.recorded[at]
        items = [text_item(answer["content"])] * bool(answer["content"])
        for call in answer.get("tool_calls", []):
            items.append({"type": "function_call", "call_id": call["id"], **call["function"]})
        sent = [{**m, "from": self.origin(m)} for m in messages]
        cut = [m for m in sent if m["role"] == "tool" and m["content"] != self.results[m["tool_call_id"]]]
        since = self.answers[len(self.calls) - 1] if self.calls else 0
        fired = ["cut"] * sum(m["from"] > since for m in cut) + ["compact"] * self.compacted
        self.calls.append({"before": at, "sent": sent, "fired": fired, "asked": self.asked})
        self.asked, self.compacted = [], False
        input_tokens = len(json.dumps(messages, ensure_ascii=False).encode()) // 4
        output_tokens = len(json.dumps(answer, ensure_ascii=False).encode()) // 4
        if self.given:
            input_tokens = self.given.get(len(self.calls) - 1, input_tokens + output_tokens) - output_tokens
        self.usage.append({"input": input_tokens, "output": output_tokens})
        return items, (input_tokens, output_tokens)

    def origin(self, message):
        """Returns the recorded message that a message came from."""
        if message["role"] == "tool":
            return next(i for i, m in enumerate(self.recorded) if m.get("tool_call_id") == message["tool_call_id"])
        for at, recorded in enumerate(self.recorded):
            own = recorded["content"] or ""
            if recorded["role"] != message["role"]:
                continue
            if recorded == message or own and own == message["content"]:
                return at
            if recorded["role"] == "user" and "tokens truncated" in message["content"] and own[:20] == message["content"][:20]:
                return at
        return None

    def play(self, program):
        server = ThreadingHTTPServer(("127.0.0.1", 0), stub(self))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with tempfile.TemporaryDirectory() as home:
            folder = Path(home, ".codex")
            folder.mkdir()
            config = CONFIG.format(port=server.server_address[1])
            config += "".join(f"features.{name} = false\n" for name in OFF)
            config += "".join(f"{key} = {json.dumps(value)}\n" for key, value in self.config.items())
            Path(folder, "config.toml").write_text(config)
            errors = open(Path(home, "errors"), "w")
            self.server = subprocess.Popen([program, "app-server"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
                                           env={"HOME": home, "PATH": os.environ["PATH"]}, text=True)
            try:
                self.turns(home)
            finally:
                self.server.terminate()
                self.server.wait()
                server.shutdown()

    def turns(self, home):
        info = {"name": "generator", "version": "1"}
        self.request("initialize", {"clientInfo": info, "capabilities": {"experimentalApi": True}})
        self.write({"method": "initialized"})
        thread = self.request("thread/start", {"cwd": home, "baseInstructions": self.recorded[0]["content"],
                                               "approvalPolicy": "never", "dynamicTools": [TOOL]})["thread"]["id"]
        for message in self.recorded:
            if message["role"] == "user":
                turn = {"threadId": thread, "input": [{"type": "text", "text": message["content"]}]}
                self.request("turn/start", turn, "turn/completed")
                if self.halt:
                    return

    def write(self, message):
        self.server.stdin.write(json.dumps(message) + "\n")
        self.server.stdin.flush()

    def request(self, method, params, until=None):
        """Sends a request, and waits for its result or for a notification."""
        self.n += 1
        me, result = self.n, None
        self.write({"id": me, "method": method, "params": params})
        for line in self.server.stdout:
            message = json.loads(line)
            name = message.get("method")
            if name == "item/tool/call":
                text = {"type": "inputText", "text": self.results[message["params"]["callId"]]}
                self.write({"id": message["id"], "result": {"success": True, "contentItems": [text]}})
            elif name == "error" and not message["params"].get("willRetry"):
                self.halt = message["params"]["error"]["message"]
            elif message.get("id") == me and name is None:
                result = message["result"]
                if until is None:
                    return result
            if name is not None and name == until:
                return result
        raise RuntimeError("the program ended")


def text_item(text):
    return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}


def chat(items):
    """Converts items to messages in chat form."""
    messages = []
    for item in items:
        last = messages[-1] if messages else {}
        if item["type"] == "message":
            role = "system" if item["role"] == "developer" else item["role"]
            messages.append({"role": role, "content": "\n".join(part["text"] for part in item["content"])})
        elif item["type"] == "function_call":
            function = {"name": item["name"], "arguments": item["arguments"]}
            call = {"id": item["call_id"], "type": "function", "function": function}
            if last.get("role") != "assistant":
                messages.append({"role": "assistant", "content": None})
            messages[-1].setdefault("tool_calls", []).append(call)
        elif item["type"] == "function_call_output":
            messages.append({"role": "tool", "tool_call_id": item["call_id"], "content": output_text(item["output"])})
        else:
            raise ValueError(item)
    return messages


def output_text(output):
    return output if isinstance(output, str) else "\n".join(part["text"] for part in output)


def stub(run):
    """Returns the handler of a provider whose model is `run`."""
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def send(self, status, kind, text):
            data = text.encode()
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def do_GET(self):
            self.send(404, "text/plain", "")

        def do_POST(self):
            body = self.rfile.read(int(self.headers["content-length"]))
            items, told = run.respond(json.loads(body))
            if items is None:
                error = {"code": told, "message": "the stub refuses"}
                events = [{"type": "response.failed", "response": {"id": "r", "error": error}}]
            else:
                usage = {"input_tokens": told[0], "output_tokens": told[1], "total_tokens": sum(told)}
                events = [{"type": "response.created", "response": {"id": "r"}}]
                events += [{"type": "response.output_item.done", "item": item} for item in items]
                events.append({"type": "response.completed", "response": {"id": "r", "usage": usage}})
            self.send(200, "text/event-stream", "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events))

    return Handler


def case(name, conversation, config, notes, summary=SUMMARY, **more):
    """Returns a case."""
    run = Run(conversation, config, summary, **more)
    run.play(sys.argv[1])
    made = {
        "system": "codex",
        "preset": "codex",
        "upstream": {"package": "@openai/codex", "version": VERSION, "functions": ["app-server: thread/start, turn/start"]},
        "config": config,
        "window": config["model_context_window"],
        "max_output": 1024,
        "input": {"messages": conversation.messages, "usage": run.usage},
        "summary": summary,
        "calls": run.calls,
        "notes": notes,
    }
    return name, made | ({"halt": run.halt} if run.halt else {})


def settings(window, output=None, limit=None):
    config = {"model_context_window": window, "tool_output_token_limit": output, "model_auto_compact_token_limit": limit}
    return {key: value for key, value in config.items() if value is not None}


def chosen():
    """Makes the cases that are bundled."""
    def talk(seed, turns, **more):
        return Conversation(random.Random(seed), turns, **more)

    long = {"output": (200, 900)}
    yield case("chat", talk(1, 24, steps=0, words=20), settings(1200), "A chat without tools.")
    yield case("run", talk(2, 2, steps=(12,), parallel=2, **long), settings(3000), "Compacted within a turn.")
    yield case("turns", talk(3, 8, steps=3, parallel=2, **long), settings(2000), "Turns with tools.")
    yield case("outputs", talk(4, 3, steps=3, parallel=2, output=(100, 6000)), settings(9000, output=400), "Long outputs are cut.")
    yield case("long-messages", talk(6, 5, steps=0, words=4500), settings(60000, limit=16000),
               "The user's messages are longer than what is kept of them.")
    yield case("limit", talk(7, 6, steps=3, **long), settings(100000, limit=900), "A lower limit in tokens.")
    yield case("high-limit", talk(8, 6, steps=3, **long), settings(1500, limit=90000),
               "A limit above 90 % of the window has no effect.")
    yield case("at-the-limit", talk(9, 6, steps=0), settings(3000), "Usage right below and at the limit.",
               usage={0: 2564, 1: 2565, 2: 2699, 3: 2700, 4: 2701})
    yield case("overflow", talk(10, 5, steps=2, **long), settings(1000), "Some summary requests overflow.", fails=(1, 2, 4))
    yield case("no-summary", talk(11, 5, steps=2, **long), settings(1000), "Empty summaries.", summary="")


def any_of(seed):
    """Makes a random case."""
    rng = random.Random(seed)
    conversation = Conversation(rng, rng.randint(1, 10), steps=rng.randint(0, 8), parallel=rng.randint(1, 4),
                                output=(20, rng.choice([100, 700, 9000])), silent=rng.choice([0, 0.5, 1]), words=rng.choice([3, 20, 900]))
    config = settings(rng.choice([1500, 3000, 9000, 40000]), output=rng.choice([100, 700]), limit=rng.choice([None, 1000, 6000]))
    return case(f"random-{seed:04}", conversation, config, "Random.", rng.choice([SUMMARY, "∅", "x" * 9000]))


def main():
    folder = Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    n_random = int(sys.argv[3]) if len(sys.argv) > 3 else None
    cases = chosen() if n_random is None else map(any_of, range(n_random))
    for name, made in cases:
        (folder / f"{name}.json").write_text(json.dumps(made, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
