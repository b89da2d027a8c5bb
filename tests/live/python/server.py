"""A model server on loopback with the APIs of OpenAI and Anthropic: records requests, answers as its script says."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from common import TOO_LONG


class Server:
    """Answers with text, summaries, and rejections. `requests` are the bodies that it received."""

    def __init__(self):
        self.requests, self.reject = [], 0
        self.http = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (Handler,), {"owner": self}))
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def main(self):
        """Returns the requests that are not for a summary."""
        return [body for body in self.requests if not is_summary(body)]

    def summaries(self):
        return [body for body in self.requests if is_summary(body)]

    def close(self):
        self.http.shutdown()
        self.http.server_close()


def is_summary(body):
    return "harbour agent" not in json.dumps(
        [body.get("system"), body.get("instructions"), (body.get("messages") or [{}])[0]]
    )


class Handler(BaseHTTPRequestHandler):
    owner = None

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        owner = self.owner
        owner.requests.append(body)
        self.stream = body.get("stream")
        if owner.reject and not is_summary(body):
            owner.reject -= 1
            return self.send(
                {"error": {"message": TOO_LONG, "type": "invalid_request_error", "code": "context_length_exceeded"}}, 400
            )
        n = len(owner.requests)
        text = f"summary {n}" if is_summary(body) else f"answer {n}"
        size = len(json.dumps(body)) // 4
        if self.path.endswith("/chat/completions"):
            message = {"role": "assistant", "content": text, "refusal": None, "annotations": []}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            usage = {"prompt_tokens": size, "completion_tokens": 5, "total_tokens": size + 5}
            return self.send(
                {"id": "c", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice], "usage": usage}
            )
        if self.path.endswith("/responses"):
            content = [{"type": "output_text", "text": text, "annotations": []}]
            item = {"type": "message", "id": f"m{n}", "role": "assistant", "status": "completed", "content": content}
            usage = {
                "input_tokens": size,
                "output_tokens": 5,
                "total_tokens": size + 5,
                "input_tokens_details": {"cached_tokens": 0},
                "output_tokens_details": {"reasoning_tokens": 0},
            }
            return self.send(
                {
                    "id": "r",
                    "object": "response",
                    "created_at": 0,
                    "model": "m",
                    "status": "completed",
                    "output": [item],
                    "parallel_tool_calls": True,
                    "tool_choice": "auto",
                    "tools": [],
                    "usage": usage,
                }
            )
        usage = {
            "input_tokens": 10,
            "cache_read_input_tokens": size - 10,
            "cache_creation_input_tokens": 0,
            "output_tokens": 5,
        }
        content = [{"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "text", "text": text}]
        self.send(
            {
                "id": "m",
                "type": "message",
                "role": "assistant",
                "model": "m",
                "content": content,
                "stop_reason": "end_turn",
                "stop_sequence": None,
                "usage": usage,
            }
        )

    def send(self, value, status=200):
        if self.stream and status == 200:
            return self.send_events(value)
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def send_events(self, value):
        """Sends an answer as the events of its API."""
        if value.get("object") == "chat.completion":
            base = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "m"}
            choice = {"index": 0, "delta": {"role": "assistant", "content": value["choices"][0]["message"]["content"]}}
            events = [
                (None, {**base, "choices": [choice]}),
                (None, {**base, "choices": [], "usage": value["usage"]}),
                (None, "[DONE]"),
            ]
        elif value.get("object") == "response":
            events = [("response.completed", {"type": "response.completed", "sequence_number": 0, "response": value})]
        else:
            start = {**value, "content": [], "usage": {**value["usage"], "output_tokens": 1}}
            block = {"type": "content_block_start", "index": 0, "content_block": value["content"][1]}
            delta = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 5}}
            events = [
                ("message_start", {"type": "message_start", "message": start}),
                ("content_block_start", block),
                ("content_block_stop", {"type": "content_block_stop", "index": 0}),
                ("message_delta", delta),
                ("message_stop", {"type": "message_stop"}),
            ]
        lines = [
            (f"event: {name}\n" if name else "") + f"data: {data if data == '[DONE]' else json.dumps(data)}\n\n"
            for name, data in events
        ]
        data = "".join(lines).encode()
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
