"""Makes replay cases of OpenCode's second engine: runs its server against a stub of the provider on this machine.

Usage: python opencode-v2.py PROGRAM FOLDER [NUMBER OF RANDOM CASES]

PROGRAM is the native program of npm's opencode-linux-x64 1.18.33, which serves this engine under `/api/session`. Conversations
are invented from a seed; this script is the model, and the tool is OpenCode's own `bash`, which prints files. The cases leave
out OpenCode's instructions. `tools_tokens` is what the program counts for instructions and tools.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from codex import SUMMARY, Conversation

VERSION = "1.18.33"
TOOLS_TOKENS = 4590
END = "\nCommand exited with code 0."
# Names of the engine's settings in the configuration file.
NAMES = {"compaction.buffer": "compaction.reserved", "compaction.keep.tokens": "compaction.preserve_recent_tokens"}
QUESTIONS = ("Create a new anchored summary from the conversation history", "The <prior-summary> summarizes everything")
SAVED = "... output truncated; full content saved to "
OVERFLOW = "This model's maximum context length is 1000 tokens (context_length_exceeded)"


class Run:
    """A conversation played through the program."""

    def __init__(self, conversation, config, window, output, summary, fails=(), rejects=()):
        self.recorded, self.config, self.window, self.output = conversation.messages, config, window, output
        self.summary, self.fails, self.rejects = summary, fails, list(rejects)
        self.answers = [i for i, m in enumerate(self.recorded) if m["role"] == "assistant"]
        self.usage, self.calls, self.asked, self.rejected, self.n_asked = [], [], [], [], 0
        self.compacted, self.failed = False, threading.Event()

    def respond(self, request):
        """Answers a request as the model: returns a message, or no message and an error."""
        messages = request["messages"]
        if any(question in str(messages[-1]["content"]) for question in QUESTIONS):
            self.n_asked += 1
            failure = "the stub refuses" if self.n_asked in self.fails else None
            self.asked.append({"messages": messages, "max_tokens": request["max_tokens"], "failed": failure})
            self.compacted |= failure is None and self.summary != ""
            return (None, failure) if failure else ({"content": self.summary}, None)
        nth = len(self.calls)
        at = self.answers[nth]
        messages = [self.recorded[0], *(m for m in messages if m["role"] != "system")]
        sent = [{**message, "from": self.origin(message)} for message in messages]
        if nth + 1 in self.rejects:
            self.rejects.remove(nth + 1)
            self.rejected.append({"call": nth + 1, "sent": sent})
            return None, OVERFLOW
        since = self.answers[nth - 1] if nth else 0
        spilled = sum(message["role"] == "tool" and SAVED in message["content"] and message["from"] > since for message in sent)
        fired = ["spill"] * spilled + ["compact"] * self.compacted
        self.calls.append({"before": at, "sent": sent, "fired": fired, "asked": self.asked})
        self.asked, self.compacted = [], False
        return self.recorded[at], None

    def origin(self, message):
        """Returns the recorded message that a message came from."""
        for at, recorded in enumerate(self.recorded):
            if recorded["role"] != message["role"] or recorded.get("tool_call_id") != message.get("tool_call_id"):
                continue
            ids = [[call["id"] for call in m.get("tool_calls", [])] for m in (recorded, message)]
            is_same = recorded["content"] == message["content"] or SAVED in (message["content"] or "")
            if is_same and ids[0] == ids[1]:
                return at
        return None

    def play(self, program):
        server = ThreadingHTTPServer(("127.0.0.1", 0), stub(self))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with tempfile.TemporaryDirectory() as home:
            work = Path(home, "work")
            work.mkdir()
            for message in self.recorded:
                if message["role"] == "tool":
                    Path(work, f"{message['tool_call_id']}.txt").write_text(message["content"].removesuffix(END))
            limit = {"context": self.window, "output": self.output}
            options = {"baseURL": f"http://127.0.0.1:{server.server_address[1]}/v1", "apiKey": "stub"}
            provider = {"npm": "@ai-sdk/openai-compatible", "name": "Stub", "options": options,
                        "models": {"stub": {"name": "Stub", "limit": limit, "tool_call": True}}}
            settings = {"provider": {"stub": provider}, "permission": "allow", **nested({NAMES.get(key, key): value for key, value in self.config.items()})}
            Path(work, "opencode.json").write_text(json.dumps(settings))
            environment = {"HOME": home, "PATH": os.environ["PATH"], "OPENCODE_DISABLE_AUTOUPDATE": "1",
                           "OPENCODE_DISABLE_MODELS_FETCH": "1"}
            self.program = subprocess.Popen([program, "serve", "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                            env=environment, text=True, cwd=work)
            try:
                self.url = next(line.split()[-1] for line in self.program.stdout if "listening" in line)
                self.turns(str(work))
            finally:
                self.program.terminate()
                self.program.wait()
                server.shutdown()

    def turns(self, work):
        model = {"id": "stub", "providerID": "stub"}
        place = urllib.parse.urlencode({"location[directory]": work})
        self.wait(lambda: '"stub"' in json.dumps(self.request(f"/api/model?{place}")))
        session = self.request("/api/session", {"model": model, "location": {"directory": work}})["data"]["id"]
        for at, message in enumerate(self.recorded):
            if message["role"] == "user":
                n_answers = sum(1 for m in turn(self.recorded, at) if m["role"] == "assistant")
                until = len(self.calls) + n_answers
                self.request(f"/api/session/{session}/prompt", {"prompt": {"text": message["content"]}})
                self.wait(lambda: len(self.calls) >= until and session not in self.request("/api/session/active")["data"])

    def wait(self, is_done):
        for _ in range(400):
            if is_done():
                return
            time.sleep(0.05)
        raise RuntimeError("the program does not answer")

    def request(self, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data=data, headers={"content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as response:
            return json.load(response)


def turn(messages, at):
    """Returns the messages of the turn that begins at a user message."""
    ends = (i for i in range(at + 1, len(messages)) if messages[i]["role"] == "user")
    return messages[at:next(ends, len(messages))]


def nested(config):
    """Returns a configuration whose keys are paths as objects."""
    whole = {}
    for key, value in config.items():
        *path, name = key.split(".")
        inner = whole
        for part in path:
            inner = inner.setdefault(part, {})
        inner[name] = value
    return whole


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

        def do_POST(self):
            answer, error = run.respond(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            if answer is None:
                error = {"error": {"message": error, "type": "invalid_request_error", "code": None}}
                return self.send(400, "application/json", json.dumps(error))
            calls = [{"index": i, **call} for i, call in enumerate(answer.get("tool_calls", []))]
            deltas = [{"role": "assistant", "content": answer["content"]}] * bool(answer["content"])
            deltas += [{"role": "assistant", "tool_calls": calls}] * bool(calls)
            chunk = {"id": "r", "object": "chat.completion.chunk", "created": 1, "model": "stub"}
            usage = {"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20}
            chunks = [{**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
            chunks += [{**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls" if calls else "stop"}]},
                       {**chunk, "choices": [], "usage": usage}]
            self.send(200, "text/event-stream", "".join(f"data: {json.dumps(c)}\n\n" for c in chunks) + "data: [DONE]\n\n")

    return Handler


def talk(seed, turns, **more):
    """Returns a conversation whose calls print a file."""
    conversation = Conversation(random.Random(seed), turns, **more)
    for message in conversation.messages:
        if message["role"] == "tool":
            message["content"] += END
        for call in message.get("tool_calls", []):
            call["function"] = {"name": "bash", "arguments": json.dumps({"command": f"cat {call['id']}.txt"})}
    return conversation


def case(name, conversation, notes, window=9000, output=500, summary=SUMMARY, fails=(), rejects=(), **config):
    """Returns a case."""
    config = {"compaction__buffer": 1000, "compaction__keep__tokens": 200} | config
    config = {key.replace("__", "."): value for key, value in config.items() if value is not None}
    run = Run(conversation, config, window, output, summary, fails, rejects)
    run.play(sys.argv[1])
    made = {
        "system": "opencode-v2",
        "preset": "opencode-v2",
        "upstream": {"package": "opencode-ai", "version": VERSION, "functions": ["opencode serve: /api/session"]},
        "config": config | {"tools_tokens": TOOLS_TOKENS},
        "window": window,
        "max_output": output,
        "input": {"messages": conversation.messages},
        "summary": summary,
        "calls": run.calls,
        "notes": f"{notes} OpenCode's instructions are left out.",
    }
    return name, made | ({"rejected": run.rejected} if run.rejected else {})


def chosen():
    """Makes the cases that are bundled."""
    long = {"output": (200, 900)}
    defaults = talk(13, 3, steps=(4,), parallel=3, output=(1500, 2200))
    # A result with more lines than OpenCode leaves in a request.
    lines = next(message for message in defaults.messages if message["role"] == "tool")
    lines["content"] = "\n".join(str(n % 10) for n in range(2010)) + END
    yield case("defaults", defaults, "OpenCode's defaults.", window=36000, compaction__buffer=None, compaction__keep__tokens=None)
    yield case("chat", talk(1, 16, steps=0, words=20), "A chat without tools.", window=6600)
    yield case("run", talk(2, 1, steps=(12,), parallel=2, **long), "Compacted within a turn.", window=7600)
    yield case("turns", talk(3, 7, steps=3, parallel=2, **long), "Turns with tools.", window=7600)
    yield case("below", talk(4, 4, steps=2), "Never reaches the trigger.", window=9000)
    yield case("nothing-kept", talk(5, 6, steps=2, **long), "No recent text.", window=7000, compaction__keep__tokens=0)
    yield case("much-kept", talk(6, 6, steps=2, **long), "Everything is recent: not compacted.", window=6500,
               compaction__keep__tokens=8000)
    yield case("long-answers", talk(7, 7, steps=2, **long), "The answer is longer than the buffer.", window=9000, output=3000)
    yield case("long-results", talk(9, 3, steps=(2,), output=(1500, 4000)), "Long results are cut in the text.", window=8000,
               compaction__keep__tokens=900)
    yield case("off", talk(9, 5, steps=2, **long), "Turned off.", window=6000, compaction__auto=False)
    yield case("refused", talk(10, 6, steps=2, **long), "The first requests are refused.", window=6800, fails=(1, 2))
    yield case("no-summary", talk(11, 5, steps=2, **long), "Empty summaries.", window=6800, summary="")
    yield case("overflow", talk(12, 5, steps=2, **long), "Two requests are rejected.", window=20000, rejects=(4, 8))


def any_of(seed):
    """Makes a random case."""
    rng = random.Random(seed)
    conversation = talk(rng.random(), rng.randint(2, 8), steps=rng.randint(0, 5), parallel=rng.randint(1, 3), output=(20, 900),
                        silent=rng.choice([0, 0.5, 1]))
    return case(f"random-{seed:04}", conversation, "Random.", window=rng.choice([6200, 7000, 8000]), summary=rng.choice([SUMMARY, "∅"]),
                compaction__keep__tokens=rng.choice([0, 100, 500]))


def main():
    folder = Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    n_random = int(sys.argv[3]) if len(sys.argv) > 3 else None
    cases = chosen() if n_random is None else map(any_of, range(n_random))
    for name, made in cases:
        (folder / f"{name}.json").write_text(json.dumps(made, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
