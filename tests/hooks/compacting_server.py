"""A model server whose answers force a compaction: reports a full context, and a summary without the constraints."""

import itertools
import json
import os
import sys
import threading
from http.server import ThreadingHTTPServer

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "resume"))
import server as resume_server

SUMMARY = "The agent ran one command. Everything else is still to do."
# Reported tokens of the answers with a tool call.
USED = {1: 20_000, 2: 195_000}
# Claude Code compares them with the size of the messages: a compaction must promise to help.
CLAUDE_USED = {1: 20_000, 2: 68_500}
IDS = itertools.count(1)
# Text of the summary requests of the programs.
SUMMARY_REQUESTS = {"claude": "detailed summary of the conversation", "codex": "CONTEXT CHECKPOINT COMPACTION",
                    "opencode": "anchored summary"}


class Handler(resume_server.Handler):
    """Answers with two tool calls, the summary, and a text."""

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
        path, text = self.path.split("?")[0], json.dumps(body)
        is_summary = self.server.summary_request in text
        with self.server.lock:
            self.server.requests.append((path, body))
            # Claude Code does not compact a conversation with a single call.
            is_call = not is_summary and bool(body.get("tools")) and self.server.calls < 2 and self.server.trigger in text
            self.server.calls += is_call
            call = self.server.calls if is_call else 0
        if "count_tokens" in path:
            self.send_json({"input_tokens": 10})
        elif path.endswith("/messages"):
            answer = anthropic(body, SUMMARY if is_summary else None, call)
            self.send_events([(kind, dict(data, type=kind)) for kind, data in answer])
        elif path.endswith("/responses"):
            answer = responses(SUMMARY if is_summary else None, call)
            self.send_events([(kind, dict(data, type=kind)) for kind, data in answer])
        elif path.endswith("/chat/completions"):
            self.send_events([(None, chunk) for chunk in chat(body, SUMMARY if is_summary else None, call)] + [(None, "[DONE]")])
        else:
            self.send_json({})


def anthropic(body, text, call):
    events = resume_server.anthropic(body.get("model", ""))
    message = events[0][1]["message"]
    # Messages with one id are one message.
    message["id"] = f"msg_{next(IDS)}"
    usage = message["usage"]
    if call:
        usage["input_tokens"] = CLAUDE_USED[call]
        block = {"type": "tool_use", "id": f"toolu_{call}", "name": "Bash", "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps({"command": "echo one", "description": "Prints one"})}
        events[1] = ("content_block_start", {"index": 0, "content_block": block})
        events[2] = ("content_block_delta", {"index": 0, "delta": delta})
        events[4][1]["delta"]["stop_reason"] = "tool_use"
    elif text:
        events[2][1]["delta"]["text"] = f"<summary>{text}</summary>"
    return events


def responses(text, call):
    events = resume_server.responses()
    item = {"type": "message", "id": f"msg_{next(IDS)}", "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": text or resume_server.ANSWER, "annotations": []}]}
    usage = events[-1][1]["response"]["usage"]
    if call:
        usage.update(input_tokens=USED[call], total_tokens=USED[call] + 3)
        arguments = json.dumps({"cmd": "echo one"})
        item = {"type": "function_call", "id": f"fc_{call}", "call_id": f"call_{call}", "name": "exec_command", "arguments": arguments}
    done = dict(events[-1][1]["response"], output=[item])
    return [events[0], ("response.output_item.done", {"output_index": 0, "item": item}), ("response.completed", {"response": done})]


def chat(body, text, call):
    first, last = resume_server.chat(body.get("model", ""))
    if call:
        made = {"index": 0, "id": f"call_{call}", "type": "function", "function": {
            "name": "bash", "arguments": json.dumps({"command": "echo one", "description": "Prints one"})}}
        first["choices"][0]["delta"] = {"role": "assistant", "tool_calls": [made]}
        last["choices"][0]["finish_reason"] = "tool_calls"
        last["usage"] = {"prompt_tokens": USED[call], "completion_tokens": 3, "total_tokens": USED[call] + 3}
    elif text:
        first["choices"][0]["delta"]["content"] = text
    return [first, last]


def start(program, trigger):
    """Starts a server that answers the first two requests with the text `trigger` with tool calls."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.lock, server.requests = threading.Lock(), []
    server.summary_request, server.trigger, server.calls = SUMMARY_REQUESTS[program], trigger, 0
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server
