"""Makes replay cases of Qwen Code: runs its program without a terminal against a stub of the provider on this machine.

Usage: python qwen-code.py PROGRAM FOLDER [NUMBER OF RANDOM CASES]

PROGRAM is `cli.js` of npm's @qwen-code/qwen-code 0.24.4. Conversations are invented from a seed; this script is both the model
and the only tool (an MCP server). Reported usage is made up, so that short conversations reach the trigger. The cases
leave out Qwen Code's reminders. Summary requests report no usage.
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

from codex import WORDS, Conversation

VERSION = "0.24.4"
SUMMARY = "<state_snapshot>The harbor has two free berths. Next: ask the pilot. 港 ✓</state_snapshot>"
DIRECTIVE = "First, reason in your <analysis> block. Then, produce the <state_snapshot> XML."
ACKNOWLEDGED = "Got it. Thanks for the additional context!"
COUNT = re.compile(r"token-count provenance: .*originalTokenCount=(\d+)")
HALT = re.compile(r"\[API Error: (.*)\]", re.S)
TOOL = "mcp__harbor__read_file"


class Run:
    """A conversation played through the program."""

    def __init__(self, conversation, config, window, usage, summary, fails=(), rejects=()):
        self.recorded, self.config, self.window, self.given = conversation.messages, config, window, usage
        self.summary, self.fails, self.rejects = summary, fails, list(rejects)
        self.answers = [i for i, m in enumerate(self.recorded) if m["role"] == "assistant"]
        self.usage, self.calls, self.asked, self.rejected, self.n_asked = [], [], [], [], 0
        self.halt, self.counts = None, []

    def respond(self, request):
        """Answers a request as the model: returns a message and usage, or no message and an error."""
        messages = list(apart(map(plain, request["messages"])))
        if str(messages[-1]["content"]).endswith(DIRECTIVE):
            self.n_asked += 1
            failure = "the stub refuses" if self.n_asked in self.fails else None
            self.asked.append({"messages": messages, "max_tokens": request["max_tokens"], "failed": failure})
            return (None, failure) if failure else ({"content": self.summary}, None)
        nth = len(self.calls)
        at = self.answers[nth]
        self.recorded[0]["content"] = messages[0]["content"]
        sent = [{**message, "from": self.origin(message)} for message in messages]
        if nth + 1 in self.rejects:
            self.rejects.remove(nth + 1)
            self.rejected.append({"call": nth + 1, "sent": sent})
            return None, "prompt is too long: context_length_exceeded"
        # After a summary, nothing before the last answer is left.
        oldest = min((m["from"] for m in sent if m["from"]), default=at)
        is_compressed = bool(self.asked) and oldest >= self.answers[nth - 1]
        self.calls.append({"before": at, "sent": sent, "fired": ["compress"] * is_compressed, "asked": self.asked})
        self.asked = []
        self.usage.append(self.given(nth))
        return self.recorded[at], self.usage[-1]

    def origin(self, message):
        """Returns the recorded message that a message came from."""
        for at, recorded in enumerate(self.recorded):
            if recorded == message:
                return at
            if message.get("tool_calls") and recorded.get("tool_calls") == message["tool_calls"]:
                return at
            if message["role"] == "tool" and recorded.get("tool_call_id") == message["tool_call_id"]:
                return at
        return None

    def play(self, program):
        server = ThreadingHTTPServer(("127.0.0.1", 0), stub(self))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with tempfile.TemporaryDirectory() as home:
            results, folder = Path(home, "results.json"), Path(home, ".qwen")
            folder.mkdir()
            results.write_text(json.dumps({m["tool_call_id"]: m["content"] for m in self.recorded if m["role"] == "tool"}))
            skills = [skill.name for skill in Path(program).parent.glob("bundled/*")]
            Path(folder, "settings.json").write_text(json.dumps({"skills": {"disabled": skills}, **self.settings()}))
            work = Path(home, "work")
            work.mkdir()
            script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "claude-code.py")
            tool = {"command": sys.executable, "args": [script, "--tool", str(results)], "trust": True}
            options = {"--input-format": "stream-json", "--output-format": "stream-json", "--auth-type": "openai", "--model": "stub",
                       "--openai-base-url": f"http://127.0.0.1:{server.server_address[1]}/v1", "--openai-api-key": "stub",
                       "--system-prompt": self.recorded[0]["content"], "--mcp-config": json.dumps({"mcpServers": {"harbor": tool}})}
            command = ["node", program, "--yolo", "--debug"] + [word for option in options.items() for word in option]
            environment = {"HOME": home, "PATH": os.environ["PATH"], "QWEN_DEBUG_LOG_FILE": "1"}
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                       env=environment, text=True, cwd=work)
            try:
                self.turns(process)
            finally:
                process.stdin.close()
                process.wait()
                server.shutdown()
            logs = "".join(log.read_text() for log in folder.glob("**/debug/*.txt") if not log.is_symlink())
            self.counts = [int(count) for count in COUNT.findall(logs)]

    def settings(self):
        settings = {"model": {"name": "stub", "skipStartupContext": True, "generationConfig": {"contextWindowSize": self.window, "maxRetries": 0}},
                    "privacy": {"usageStatisticsEnabled": False}, "general": {"enableAutoUpdate": False},
                    "memory": {"enableManagedAutoMemory": False, "enableManagedAutoDream": False}}
        for key, value in self.config.items():
            *path, name = key.split(".")
            inner = settings
            for part in path:
                inner = inner.setdefault(part, {})
            inner[name] = value
        return settings

    def turns(self, process):
        for message in list(self.recorded):
            if message["role"] == "user":
                sent = {"type": "user", "session_id": "s", "parent_tool_use_id": None, "message": message}
                process.stdin.write(json.dumps(sent) + "\n")
                process.stdin.flush()
                ends = (end for end in map(json.loads, process.stdout) if end.get("type") == "result")
                end = next(ends)
                if end["is_error"]:
                    self.halt = HALT.search(end["error"]["message"])[1]
                    self.note_halt()
                    return

    def note_halt(self):
        """Adds an entry for the call that was not made, with the history of its summary request."""
        before = self.answers[len(self.calls)]
        history = self.asked[-1]["messages"][1:-1]
        if history[-1]["role"] != "tool":
            history.append(self.recorded[before - 1])
        sent = [{**message, "from": self.origin(message)} for message in [self.recorded[0], *history]]
        self.calls.append({"before": before, "sent": sent, "fired": [], "asked": self.asked})


def plain(message):
    """Returns a message without reminders. Its content is a text if it is one block."""
    content = message["content"]
    if isinstance(content, list):
        content = [block for block in content if not block.get("text", "").startswith("<system-reminder>")]
        text = len(content) == 1 and content[0].get("text")
        message = {**message, "content": text or content}
    return message


def apart(messages):
    """Splits answers that are sent as one message: Qwen Code's own after a rejected request, and the next one."""
    for message in messages:
        text = message["content"] or ""
        if message["role"] == "assistant" and ACKNOWLEDGED in text and text != ACKNOWLEDGED:
            yield {"role": "assistant", "content": ACKNOWLEDGED}
            message = {**message, "content": text.removeprefix(ACKNOWLEDGED)}
        yield message


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
            answer, told = run.respond(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            if answer is None:
                error = {"error": {"message": told, "type": "invalid_request_error", "code": None}}
                return self.send(400, "application/json", json.dumps(error))
            calls = [{"index": i, **call} for i, call in enumerate(answer.get("tool_calls", []))]
            delta = {"role": "assistant", "content": answer["content"]} | ({"tool_calls": calls} if calls else {})
            chunk = {"id": "r", "object": "chat.completion.chunk", "created": 1, "model": "stub"}
            reason = "tool_calls" if calls else "stop"
            chunks = [{**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
                      {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}]
            if told:
                n_in, n_out = told["input"], told["output"]
                usage = {"prompt_tokens": n_in, "completion_tokens": n_out, "total_tokens": n_in + n_out}
                chunks.append({**chunk, "choices": [], "usage": usage})
            self.send(200, "text/event-stream", "".join(f"data: {json.dumps(c)}\n\n" for c in chunks) + "data: [DONE]\n\n")

    return Handler


def talk(seed, turns, **more):
    """Returns a conversation whose calls name their id, by which the tool finds their result."""
    conversation = Conversation(random.Random(seed), turns, **more)
    for message in conversation.messages:
        for call in message.get("tool_calls", []):
            arguments = json.loads(call["function"]["arguments"]) | {"call": call["id"]}
            call["function"] = {"name": TOOL, "arguments": json.dumps(arguments, ensure_ascii=False, separators=(",", ":"))}
    return conversation


def case(name, conversation, notes, usage, window=100000, summary=SUMMARY, fails=(), rejects=(), **config):
    """Returns a case. `usage` gives the reported usage of each call."""
    config = {key.replace("__", "."): value for key, value in config.items()}
    run = Run(conversation, config, window, usage, summary, fails, rejects)
    run.play(sys.argv[1])
    if run.halt:
        notes += " The last entry shows the history of a call that was not made."
    if not run.rejected:
        for call, count in list(zip(run.calls, run.counts, strict=True))[1:]:
            call["believed"] = count
    made = {
        "system": "qwen-code",
        "preset": "qwen-code",
        "upstream": {"package": "@qwen-code/qwen-code", "version": VERSION, "functions": ["qwen --input-format stream-json"]},
        "config": config,
        "window": window,
        "max_output": 32000,
        "input": {"messages": conversation.messages, "usage": run.usage},
        "summary": summary,
        "calls": run.calls,
        "notes": notes,
    }
    made |= {"rejected": run.rejected} if run.rejected else {}
    return name, made | ({"halt": run.halt} if run.halt else {})


def at(high, *calls, low=9000):
    """Returns usage that is high at some calls."""
    return lambda nth: {"input": high - 20 if nth in calls else low + 10 * nth, "output": 20}


def chosen():
    """Makes the cases that are bundled."""
    long = {"output": (200, 900)}
    cold = {"model__generationConfig__enableCacheControl": False}
    yield case("chat", talk(1, 9, steps=0), "A chat without tools.", at(70000, 3, 6))
    yield case("run", talk(2, 1, steps=(9,), parallel=3, **long), "Compacted within a turn.", at(69000, 3, 6))
    yield case("turns", talk(3, 6, steps=3, parallel=2, **long), "Turns with tools.",
               lambda nth: {"input": 20000 + nth % 6 * 10000, "output": 50})
    yield case("below", talk(4, 4, steps=2), "Never reaches the trigger.", at(66000, 2, 3, 5))
    yield case("again", talk(5, 5, steps=(3,)), "Compacted again soon.", at(70000, 4, 5, 6, 9, 11, 12, 15, 17))
    yield case("own-request", talk(6, 6, steps=2, **long), "Requests that do not share the cache.", at(70000, 4, 7), **cold)
    yield case("small-window", talk(7, 6, steps=2, **long), "The shared request would not fit.", at(28000, 3, 6), window=32768)
    yield case("share", talk(8, 6, steps=2, **long), "A lower share of the window.", at(42000, 4, 7), context__autoCompactThreshold=0.4)
    yield case("refused", talk(9, 8, steps=2), "Refused requests: the shared one, then both, three times in a row.", at(70000, *range(2, 30)),
               fails=(1, 4, 5, 6, 7, 8, 9, 10, 11))
    yield case("refused-own", talk(10, 8, steps=2), "Refused requests, three times in a row.", at(70000, *range(2, 30)),
               fails=(2, 3, 4), **cold)
    yield case("hard", talk(11, 6, steps=(2,), output=(3000, 6000)), "Above the hard limit.", at(78000, 6, 12))
    yield case("hard-fails", talk(12, 6, steps=(2,), output=(3000, 6000)), "A failed summary above the hard limit.", at(78000, 6, 12),
               fails=(2,))
    yield case("overflow", talk(13, 6, steps=3, **long), "Two requests are rejected.", at(9000), rejects=(4, 9))
    yield case("inflated", talk(14, 6, steps=1), "A summary that is longer than the history.", at(70000, 3, 5),
               summary="<state_snapshot>" + "x" * 30000 + "</state_snapshot>")
    yield case("analysis", talk(15, 5, steps=2), "An answer with an analysis.", at(70000, 3),
               summary=f"<analysis>Two berths.</analysis>\n{SUMMARY}")


def any_of(seed):
    """Makes a random case."""
    rng = random.Random(seed)
    conversation = talk(rng.random(), rng.randint(2, 8), steps=rng.randint(0, 5), parallel=rng.randint(1, 3), output=(20, 900),
                        silent=rng.choice([0, 0.5, 1]))
    totals = [9000, 9000] + [rng.choice([9000, 30000, 60000, 70000, 75000]) for _ in conversation.messages]
    return case(f"random-{seed:04}", conversation, "Random.", lambda nth: {"input": totals[nth], "output": 20})


def main():
    folder = Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    n_random = int(sys.argv[3]) if len(sys.argv) > 3 else None
    cases = chosen() if n_random is None else map(any_of, range(n_random))
    for name, made in cases:
        (folder / f"{name}.json").write_text(json.dumps(made, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
