"""Makes replay cases of Goose: runs its program as an ACP agent against a stub of the provider on this machine.

Usage: python goose.py PROGRAM FOLDER [NUMBER OF RANDOM CASES]

PROGRAM is the native program of npm's @aaif/goose-binary-linux-x64 0.20.2 (Goose 1.37.0). Conversations are invented from a
seed; this script is both the model and the only tool (an MCP server). Reported usage is made up, so that short conversations
reach the trigger. Titles of calls and summaries of single calls are off. The cases leave out Goose's instructions, the status
that it adds to the newest message, and repetitions of refused requests. They list parallel calls as the model made them.
"""

import json
import os
import random
import re
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from codex import SUMMARY, Conversation

VERSION = "1.37.0"
STATUS = re.compile(r"\n?<info-msg>.*?</info-msg>\n?", re.S)
REQUEST = "Please summarize the conversation history provided in the system prompt."
REFUSED = "Request failed: Bad request (400): "
FAILED = "Ran into this error trying to compact: "
TOOL = "harbor__read_file"
OVERFLOW = "This model's maximum context length is 1000 tokens (context_length_exceeded)"
SETTINGS = {"GOOSE_PROVIDER": "openai", "GOOSE_MODEL": "stub", "OPENAI_API_KEY": "stub", "GOOSE_DISABLE_KEYRING": "1", "GOOSE_MODE": "auto",
            "GOOSE_DISABLE_SESSION_NAMING": "true", "GOOSE_TELEMETRY_OFF": "1", "GOOSE_DISABLE_TOOL_CALL_SUMMARY": "true",
            "GOOSE_TOOL_PAIR_SUMMARIZATION": "false", "GOOSE_PROVIDER_SKIP_BACKOFF": "true"}


class Run:
    """A conversation played through the program."""

    def __init__(self, conversation, config, window, usage, summary, fails=(), overflows=(), rejects=()):
        self.recorded, self.config, self.window, self.given = conversation.messages, config, window, usage
        self.summary, self.fails, self.overflows, self.rejects = summary, fails, overflows, list(rejects)
        self.answers = [i for i, m in enumerate(self.recorded) if m["role"] == "assistant"]
        self.usage, self.calls, self.asked, self.rejected, self.n_asked, self.n = [], [], [], [], 0, 0
        self.compacted, self.halt = False, None

    def respond(self, request):
        """Answers a request as the model: returns a message and usage, or no message and an error."""
        messages = self.joined(self.plain(request["messages"]))
        if messages[-1]["content"] == REQUEST:
            self.n_asked += 1
            failure = "the stub refuses" if self.n_asked in self.fails else OVERFLOW if self.n_asked in self.overflows else None
            messages[0] = request["messages"][0]
            asked = {"messages": messages, "max_tokens": None, "failed": failure}
            is_again = self.n_asked in self.fails and self.asked and self.asked[-1] == asked
            self.asked += [asked] * (not is_again)
            self.compacted |= failure is None
            return (None, failure) if failure else ({"content": self.summary}, {"input": 10, "output": 10})
        if "tools" not in request:  # The title of a call.
            return {"content": "reads a file"}, {"input": 1, "output": 1}
        nth = len(self.calls)
        at = self.answers[nth]
        sent = [{**message, "from": self.origin(message)} for message in messages]
        if nth + 1 in self.rejects:
            self.rejects.remove(nth + 1)
            self.rejected.append({"call": nth + 1, "sent": sent})
            return None, OVERFLOW
        self.calls.append({"before": at, "sent": sent, "fired": ["compact"] * self.compacted, "asked": self.asked})
        self.asked, self.compacted = [], False
        self.usage.append(self.given(nth))
        return self.recorded[at], self.usage[-1]

    def plain(self, messages):
        """Returns messages without status and with the recorded instructions."""
        yield self.recorded[0]
        for message in messages[1:]:
            if message["role"] == "user":
                message = {**message, "content": STATUS.sub("", message["content"])}
            if message["content"] != "":
                yield message

    def joined(self, messages):
        """Joins the parts of recorded answers: Goose sends each call apart, with its result behind it."""
        joined, by_answer = [], {}
        for message in messages:
            answer = self.answer_of(message)
            if answer in by_answer:
                whole = by_answer[answer]
                whole["content"] = whole["content"] or message["content"]
                whole["tool_calls"] = whole.get("tool_calls", []) + message.get("tool_calls", [])
                continue
            message = dict(message)
            joined.append(message)
            if answer is not None:
                by_answer[answer] = message
        return joined

    def answer_of(self, message):
        """Returns the recorded answer that a message is a part of."""
        if message["role"] != "assistant":
            return None
        ids = {call["id"] for call in message.get("tool_calls", [])}
        for at in self.answers:
            recorded = self.recorded[at]
            if ids & {call["id"] for call in recorded.get("tool_calls", [])} or not ids and recorded["content"] == message["content"]:
                return at
        return None

    def origin(self, message):
        """Returns the recorded message that a message came from."""
        for at, recorded in enumerate(self.recorded):
            if recorded["role"] != message["role"] or recorded.get("tool_call_id") != message.get("tool_call_id"):
                continue
            ids = [[call["id"] for call in m.get("tool_calls", [])] for m in (recorded, message)]
            if recorded["content"] == message["content"] and ids[0] == ids[1]:
                return at
        return None

    def play(self, program):
        server = ThreadingHTTPServer(("127.0.0.1", 0), stub(self))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with tempfile.TemporaryDirectory() as home:
            results, work = Path(home, "results.json"), Path(home, "work")
            work.mkdir()
            results.write_text(json.dumps({m["tool_call_id"]: m["content"] for m in self.recorded if m["role"] == "tool"}))
            environment = SETTINGS | {"HOME": home, "PATH": os.environ["PATH"], "GOOSE_PATH_ROOT": str(Path(home, "goose")),
                                      "OPENAI_HOST": f"http://127.0.0.1:{server.server_address[1]}",
                                      "GOOSE_CONTEXT_LIMIT": str(self.window)}
            environment |= {key: str(value) for key, value in self.config.items()}
            self.agent = subprocess.Popen([program, "acp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                          env=environment, text=True, cwd=work)
            try:
                self.turns(str(work), str(results))
            finally:
                self.agent.terminate()
                self.agent.wait()
                server.shutdown()

    def turns(self, work, results):
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "claude-code.py")
        tool = {"name": "harbor", "command": sys.executable, "args": [script, "--tool", results], "env": []}
        self.request("initialize", {"protocolVersion": 1, "clientCapabilities": {}})
        session = self.request("session/new", {"cwd": work, "mcpServers": [tool]})["sessionId"]
        for message in self.recorded:
            if message["role"] == "user":
                prompt = [{"type": "text", "text": message["content"]}]
                self.request("session/prompt", {"sessionId": session, "prompt": prompt})
                if FAILED in self.said:
                    self.halt = self.said.split("\n\n")[0].removeprefix(FAILED).removeprefix(REFUSED).removesuffix(".")
                    self.note_halt(message)
                    return

    def note_halt(self, message):
        """Adds an entry for the call that was not made, with the history before it."""
        before = self.answers[len(self.calls)]
        sent = [{key: value for key, value in m.items() if key != "from"} for m in self.calls[-1]["sent"]]
        sent += self.recorded[self.calls[-1]["before"]:before]
        sent = [{**message, "from": self.origin(message)} for message in sent]
        self.calls.append({"before": before, "sent": sent, "fired": [f"failed: {self.halt}"], "asked": self.asked})

    def request(self, method, params):
        """Sends a request, and waits for its result."""
        self.n += 1
        self.agent.stdin.write(json.dumps({"jsonrpc": "2.0", "id": self.n, "method": method, "params": params}) + "\n")
        self.agent.stdin.flush()
        self.said = ""
        for line in self.agent.stdout:
            message = json.loads(line)
            if message.get("id") == self.n and "method" not in message:
                return message.get("result")
            update = message.get("params", {}).get("update", {})
            if update.get("sessionUpdate") == "agent_message_chunk":
                self.said += update["content"].get("text", "")
        raise RuntimeError("the program ended")


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
            answer, told = run.respond(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            if answer is None:
                error = {"error": {"message": told, "type": "invalid_request_error", "code": None}}
                return self.send(400, "application/json", json.dumps(error))
            calls = [{"index": i, **call} for i, call in enumerate(answer.get("tool_calls", []))]
            deltas = [{"role": "assistant", "content": answer["content"]}] * bool(answer["content"])
            deltas += [{"role": "assistant", "tool_calls": calls}] * bool(calls)
            chunk = {"id": f"r{len(run.calls)}_{run.n_asked}", "object": "chat.completion.chunk", "created": 1, "model": "stub"}
            n_in, n_out = told["input"], told["output"]
            usage = {"prompt_tokens": n_in, "completion_tokens": n_out, "total_tokens": n_in + n_out}
            chunks = [{**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
            chunks += [{**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls" if calls else "stop"}]},
                       {**chunk, "choices": [], "usage": usage}]
            self.send(200, "text/event-stream", "".join(f"data: {json.dumps(c)}\n\n" for c in chunks) + "data: [DONE]\n\n")

    return Handler


def talk(seed, turns, **more):
    """Returns a conversation whose calls name their id, by which the tool finds their result."""
    conversation = Conversation(random.Random(seed), turns, **more)
    for message in conversation.messages:
        for call in message.get("tool_calls", []):
            arguments = json.loads(call["function"]["arguments"]) | {"call": call["id"]}
            call["function"] = {"name": TOOL, "arguments": json.dumps(arguments, ensure_ascii=False)}
    return conversation


def case(name, conversation, notes, usage, window=100000, summary=SUMMARY, fails=(), overflows=(), rejects=(), **config):
    """Returns a case. `usage` gives the reported usage of each call."""
    run = Run(conversation, config, window, usage, summary, fails, overflows, rejects)
    run.play(sys.argv[1])
    if run.halt:
        notes += " The last entry shows the history of a call that was not made."
    made = {
        "system": "goose",
        "preset": "goose",
        "upstream": {"package": "@aaif/goose-binary-linux-x64", "version": VERSION, "functions": ["goose acp"]},
        "config": config,
        "window": window,
        "max_output": 16384,
        "input": {"messages": conversation.messages, "usage": run.usage},
        "summary": summary,
        "calls": run.calls,
        "notes": f"{notes} Goose's instructions and status are left out.",
    }
    made |= {"rejected": run.rejected} if run.rejected else {}
    return name, made | ({"halt": run.halt} if run.halt else {})


def at(high, *calls, low=9000):
    """Returns usage that is high at some calls."""
    return lambda nth: {"input": high - 20 if nth in calls else low + 10 * nth, "output": 20}


def chosen():
    """Makes the cases that are bundled."""
    long = {"output": (200, 900)}
    yield case("chat", talk(1, 9, steps=0), "A chat without tools.", at(81000, 3, 6))
    yield case("run", talk(2, 2, steps=(9,), parallel=3, **long), "High usage within a turn.", at(95000, 3, 6, 9))
    yield case("turns", talk(3, 6, steps=3, parallel=2, **long), "Turns with tools.",
               lambda nth: {"input": 20000 + nth % 7 * 12000, "output": 50})
    yield case("below", talk(4, 4, steps=2), "Exactly at the trigger, never above it.", at(80000, *range(20)))
    yield case("above", talk(5, 5, steps=1), "One token above the trigger.", at(80001, *range(20)))
    yield case("share", talk(6, 6, steps=2, **long), "A lower share of the window.", at(51000, *range(20)), GOOSE_AUTO_COMPACT_THRESHOLD=0.5)
    yield case("off", talk(7, 5, steps=1), "Turned off.", at(99000, *range(20)), GOOSE_AUTO_COMPACT_THRESHOLD=1.0)
    yield case("refused", talk(8, 6, steps=1), "The second summary is refused.", at(90000, *range(20)), fails=(2, 3, 4, 5))
    yield case("too-long", talk(12, 6, steps=2), "The second summary overflows without any results.", at(90000, *range(20)),
               overflows=(2, 3, 4, 5, 6))
    yield case("overflow", talk(9, 4, steps=3, **long), "Two requests are rejected.", at(9000), rejects=(4, 8))
    yield case("overflow-first", talk(10, 4, steps=(3,), **long), "The first request of a turn is rejected.", at(9000), rejects=(5, 9))
    yield case("long-requests", talk(11, 4, steps=(6,), parallel=2, **long), "Summary requests overflow.", at(90000, *range(99)),
               overflows=(1, 2, 3, 4, 6, 8, 9))


def any_of(seed):
    """Makes a random case."""
    rng = random.Random(seed)
    conversation = talk(rng.random(), rng.randint(2, 8), steps=rng.randint(0, 5), parallel=rng.randint(1, 3), output=(20, 900),
                        silent=rng.choice([0, 0.5, 1]))
    totals = [rng.choice([9000, 60000, 80000, 80001, 95000]) for _ in conversation.messages]
    return case(f"random-{seed:04}", conversation, "Random.", lambda nth: {"input": totals[nth], "output": 0},
                overflows=rng.choice([(), (), (1,), (1, 2, 3)]))


def main():
    folder = Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    n_random = int(sys.argv[3]) if len(sys.argv) > 3 else None
    cases = chosen() if n_random is None else map(any_of, range(n_random))
    for name, made in cases:
        (folder / f"{name}.json").write_text(json.dumps(made, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
