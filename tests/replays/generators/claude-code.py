"""Makes replay cases of Claude Code: runs its program without a terminal against a stub of the provider on this machine.

Usage: python claude-code.py PROGRAM FOLDER [NUMBER OF RANDOM CASES]

PROGRAM is the native program of npm's @anthropic-ai/claude-code-linux-x64 2.1.332. Conversations are invented from a seed;
this script is both the model and the only tool (an MCP server). Reported usage is made up, so that short conversations reach
the trigger. The cases leave out Claude Code's own words: reminders, the text around a summary, and the summary request.
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

VERSION = "2.1.332"
REMINDER = re.compile(r"\s*<system-reminder>.*?</system-reminder>\s*", re.S)
REQUEST = "CRITICAL: Respond with TEXT ONLY"
CONTINUED = "This session is being continued from a previous conversation that ran out of context."
OURS = CONTINUED + " The conversation is summarized below:\n"
TOOL = "mcp__harbor__read_file"
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}, "call": {"type": "string"}}}
TOOLS = [{"name": "read_file", "description": "Reads a file.", "inputSchema": SCHEMA, "annotations": {"readOnlyHint": True}}]


class Run:
    """A conversation played through the program."""

    def __init__(self, conversation, config, usage, summary, rejects):
        self.rejects, self.rejected = list(rejects), []
        self.recorded, self.config, self.given, self.summary = conversation.messages, config, usage, summary
        self.results = {m["tool_call_id"]: m["content"] for m in self.recorded if m["role"] == "tool"}
        self.answers = [i for i, m in enumerate(self.recorded) if m["role"] == "assistant"]
        self.usage, self.calls, self.n_asked = [], [], 0

    def respond(self, request):
        """Answers a request as the model: returns blocks and usage, or no blocks for a request that is too long."""
        messages = self.chat(request["messages"])
        if messages[-1]["content"].startswith(REQUEST):
            self.n_asked += 1
            return [{"type": "text", "text": f"<summary>\n{self.summary}\n</summary>"}], (10, 10)
        nth, at = len(self.calls), self.answers[len(self.calls)]
        if nth + 1 in self.rejects:
            self.rejects.remove(nth + 1)
            sent = [{"role": "system", "content": request["system"][-1]["text"]}] + messages
            self.rejected.append({"call": nth + 1, "sent": sent})
            return [], (0, 0)
        answer = self.recorded[at]
        blocks = [{"type": "text", "text": answer["content"]}] * bool(answer["content"])
        for call in answer.get("tool_calls", []):
            blocks.append({"type": "tool_use", "id": call["id"], "name": TOOL, "input": json.loads(call["function"]["arguments"])})
        sent = [{"role": "system", "content": request["system"][-1]["text"], "from": 0}]
        sent += [{**m, "from": self.origin(m)} for m in messages]
        asked = [{"messages": [], "max_tokens": None}] * self.n_asked
        self.calls.append({"before": at, "sent": sent, "fired": ["compact"] * bool(asked), "asked": asked})
        self.n_asked = 0
        total = self.given(nth)
        self.usage.append({"input": total - 20, "output": 20})
        return blocks, (total - 20, 20)

    def chat(self, messages):
        """Converts messages to chat form, without reminders and the text around a summary."""
        chat = []
        for message in messages:
            content = message["content"]
            blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
            texts = [REMINDER.sub("", block["text"]) for block in blocks if block["type"] == "text"]
            texts = [OURS + self.summary if text.startswith(CONTINUED) else text for text in texts if text]
            for block in blocks:
                if block["type"] == "tool_result":
                    parts = block["content"]
                    parts = [parts] if isinstance(parts, str) else [part["text"] for part in parts]
                    text = "".join(REMINDER.sub("", part) for part in parts).rstrip("\n")
                    chat.append({"role": "tool", "tool_call_id": block["tool_use_id"], "content": text})
            if message["role"] == "assistant":
                calls = [{"id": block["id"], "type": "function", "function": self.function(block)}
                         for block in blocks if block["type"] == "tool_use"]
                chat.append({"role": "assistant", "content": "".join(texts) or None} | ({"tool_calls": calls} if calls else {}))
            else:
                chat += [{"role": "user", "content": text.rstrip("\n")} for text in texts]
        return chat

    def function(self, block):
        return {"name": "read_file", "arguments": json.dumps(block["input"], ensure_ascii=False)}

    def origin(self, message):
        """Returns the recorded message that a message came from."""
        for at, recorded in enumerate(self.recorded):
            if recorded == message:
                return at
        if message["content"] != OURS + self.summary:
            raise ValueError(message)
        return None

    def play(self, program):
        server = ThreadingHTTPServer(("127.0.0.1", 0), stub(self))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with tempfile.TemporaryDirectory() as home:
            results, servers = Path(home, "results.json"), Path(home, "servers.json")
            results.write_text(json.dumps(self.results))
            tool = {"command": sys.executable, "args": [os.path.abspath(__file__), "--tool", str(results)]}
            servers.write_text(json.dumps({"mcpServers": {"harbor": tool}}))
            address = f"http://127.0.0.1:{server.server_address[1]}"
            off = ["DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_AUTOUPDATER"]
            environment = {"HOME": home, "PATH": os.environ["PATH"], "ANTHROPIC_BASE_URL": address, "ANTHROPIC_API_KEY": "stub"}
            environment |= {name: "1" for name in off} | {key: str(value) for key, value in self.config.items()}
            options = {"--input-format": "stream-json", "--output-format": "stream-json", "--model": "claude-sonnet-4-5", "--tools": "",
                       "--system-prompt": self.recorded[0]["content"], "--mcp-config": str(servers), "--allowedTools": TOOL}
            command = [program, "-p", "--verbose", "--strict-mcp-config"] + [word for option in options.items() for word in option]
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                       env=environment, text=True, cwd=home)
            try:
                self.turns(process)
            finally:
                process.terminate()
                process.wait()
                server.shutdown()

    def turns(self, process):
        for message in self.recorded:
            if message["role"] == "user":
                process.stdin.write(json.dumps({"type": "user", "message": message}) + "\n")
                process.stdin.flush()
                ends = (line for line in process.stdout if json.loads(line).get("type") == "result")
                if json.loads(next(ends))["is_error"]:
                    raise RuntimeError("the program failed")


def stub(run):
    """Returns the handler of a provider whose model is `run`."""
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def send(self, kind, text, status=200):
            data = text.encode()
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def do_POST(self):
            request = json.loads(self.rfile.read(int(self.headers["content-length"])))
            if "count_tokens" in self.path:
                return self.send("application/json", '{"input_tokens": 100}')
            blocks, (n_in, n_out) = run.respond(request)
            if not blocks:
                error = {"type": "invalid_request_error", "message": "prompt is too long: 200001 tokens > 200000 maximum"}
                return self.send("application/json", json.dumps({"type": "error", "error": error}), 400)
            message = {"id": f"msg_{len(run.calls)}_{run.n_asked}", "type": "message", "role": "assistant", "model": request["model"],
                       "content": [], "stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": n_in, "output_tokens": 1}}
            events = [{"type": "message_start", "message": message}]
            for index, block in enumerate(blocks):
                is_text = block["type"] == "text"
                delta = ({"type": "text_delta", "text": block["text"]} if is_text
                         else {"type": "input_json_delta", "partial_json": json.dumps(block["input"])})
                begun = {**block, "text": ""} if is_text else {**block, "input": {}}
                events.append({"type": "content_block_start", "index": index, "content_block": begun})
                events.append({"type": "content_block_delta", "index": index, "delta": delta})
                events.append({"type": "content_block_stop", "index": index})
            stop = {"stop_reason": "end_turn" if blocks[-1]["type"] == "text" else "tool_use", "stop_sequence": None}
            events.append({"type": "message_delta", "delta": stop, "usage": {"output_tokens": n_out}})
            events.append({"type": "message_stop"})
            self.send("text/event-stream", "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events))

    return Handler


def tool(results):
    """Serves the results of calls as an MCP server."""
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        result = {}
        if message["method"] == "initialize":
            result = {"protocolVersion": message["params"]["protocolVersion"], "capabilities": {"tools": {}},
                      "serverInfo": {"name": "harbor", "version": "1"}}
        elif message["method"] == "tools/list":
            result = {"tools": TOOLS}
        elif message["method"] == "tools/call":
            result = {"content": [{"type": "text", "text": results[message["params"]["arguments"]["call"]]}]}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)


def talk(seed, turns, **more):
    """Returns a conversation whose calls name their id, by which the tool finds their result."""
    conversation = Conversation(random.Random(seed), turns, **more)
    for message in conversation.messages:
        for call in message.get("tool_calls", []):
            arguments = json.loads(call["function"]["arguments"]) | {"call": call["id"]}
            call["function"]["arguments"] = json.dumps(arguments, ensure_ascii=False)
    return conversation


def case(name, conversation, notes, usage, summary=SUMMARY, window=100000, rejects=(), **config):
    """Returns a case. `usage` gives the reported tokens of each call, `rejects` the calls whose first request is too long."""
    config = {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": window, **config} if window else config
    run = Run(conversation, config, usage, summary, rejects)
    run.play(sys.argv[1])
    return name, {
        "system": "claude-code",
        "preset": "claude-code",
        "upstream": {"package": "@anthropic-ai/claude-code", "version": VERSION, "functions": ["claude -p"]},
        "config": config,
        "window": 200000,
        "max_output": 32000,
        "input": {"messages": conversation.messages, "usage": run.usage},
        "summary": summary,
        "calls": run.calls,
        **({"rejected": run.rejected} if run.rejected else {}),
        "notes": f"{notes} Reminders, the text around a summary and the summary request are left out.",
    }


def at(high, *calls, low=9000):
    """Returns usage that is high at some calls."""
    return lambda nth: high if nth in calls else low + 10 * nth


def chosen():
    """Makes the cases that are bundled."""
    long = {"output": (200, 900)}
    yield case("chat", talk(1, 9, steps=0), "A chat without tools.", at(70000, 3, 6))
    yield case("run", talk(2, 1, steps=(9,), parallel=3, **long), "Compacted within a turn.", at(80000, 3, 6))
    yield case("turns", talk(3, 6, steps=3, parallel=2, **long), "Turns with tools.", lambda nth: 20000 + nth % 6 * 10000)
    yield case("below", talk(4, 4, steps=2), "Never reaches the trigger.", at(66000, 2, 3, 5))
    yield case("again", talk(5, 5, steps=(3,)), "Compacted again soon.", at(90000, 4, 5, 6, 9, 11, 12, 15, 17))
    yield case("share", talk(6, 6, steps=2, **long), "A lower share of the window.", at(42000, 4, 7), CLAUDE_AUTOCOMPACT_PCT_OVERRIDE=50)
    yield case("high-share", talk(7, 6, steps=2, **long), "A share above the usual limit has no effect.", at(68000, 4, 7),
               CLAUDE_AUTOCOMPACT_PCT_OVERRIDE=95)
    yield case("short-answers", talk(8, 6, steps=2, **long), "Less is reserved for shorter answers.", at(75000, 3, 6),
               CLAUDE_CODE_MAX_OUTPUT_TOKENS=8000)
    yield case("reached", talk(9, 6, steps=2, **long), "Reached with a shorter answer.", at(80000, 3, 6),
               CLAUDE_CODE_MAX_OUTPUT_TOKENS=8000)
    yield case("defaults", talk(11, 6, steps=3, **long), "Without settings it never acts before a rejection.",
               lambda nth: 30000 + 9000 * nth, window=None)
    yield case("defaults-rejected", talk(12, 7, steps=3, **long), "Without settings, a call is rejected.", at(150000, 9, 15),
               window=None, rejects=(11,))
    yield case("defaults-run", talk(13, 1, steps=(16,), **long), "Without settings, a call of one long turn is rejected.",
               at(150000, 9, 15), window=None, rejects=(11,))
    yield case("defaults-short", talk(14, 2, steps=(2,), **long), "Rejected early, with little to summarize.", at(150000, 1),
               window=None, rejects=(4,))
    yield case("larger-window", talk(10, 6, steps=2, **long), "Another window.", at(118000, 3, 6), window=150000)


def any_of(seed):
    """Makes a random case."""
    rng = random.Random(seed)
    conversation = talk(rng.random(), rng.randint(2, 8), steps=rng.randint(0, 5), parallel=rng.randint(1, 3), output=(20, 900),
                        silent=rng.choice([0, 0.5, 1]))
    totals = [rng.choice([9000, 30000, 60000, 75000, 90000]) for _ in conversation.messages]
    config = {"CLAUDE_CODE_MAX_OUTPUT_TOKENS": 4000} if rng.random() < 0.3 else {}
    return case(f"random-{seed:04}", conversation, "Random.", lambda nth: totals[nth], **config)


def main():
    folder = Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    n_random = int(sys.argv[3]) if len(sys.argv) > 3 else None
    cases = chosen() if n_random is None else map(any_of, range(n_random))
    for name, made in cases:
        (folder / f"{name}.json").write_text(json.dumps(made, ensure_ascii=False) + "\n", encoding="utf-8")


if sys.argv[1] == "--tool":
    tool(json.loads(Path(sys.argv[2]).read_text()))
else:
    main()
