"""A model server for tests: records every request and streams one fixed answer in the API of the request."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ANSWER = "Resumed."


def anthropic(model):
    usage = {"input_tokens": 10, "output_tokens": 3, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": [],
               "stop_reason": None, "stop_sequence": None, "usage": usage}
    return [
        ("message_start", {"message": message}),
        ("content_block_start", {"index": 0, "content_block": {"type": "text", "text": ""}}),
        ("content_block_delta", {"index": 0, "delta": {"type": "text_delta", "text": ANSWER}}),
        ("content_block_stop", {"index": 0}),
        ("message_delta", {"delta": {"stop_reason": "end_turn", "stop_sequence": None}, "usage": {"output_tokens": 3}}),
        ("message_stop", {}),
    ]


def responses():
    item = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": ANSWER, "annotations": []}]}
    usage = {"input_tokens": 10, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 3,
             "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 13}
    return [
        ("response.created", {"response": {"id": "resp_1"}}),
        ("response.output_item.added", {"output_index": 0, "item": dict(item, content=[], status="in_progress")}),
        ("response.output_text.delta", {"item_id": "msg_1", "output_index": 0, "content_index": 0, "delta": ANSWER}),
        ("response.output_item.done", {"output_index": 0, "item": item}),
        ("response.completed", {"response": {"id": "resp_1", "status": "completed", "output": [item], "usage": usage}}),
    ]


def chat(model):
    base = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": model}
    usage = {"prompt_tokens": 10, "completion_tokens": 3, "total_tokens": 13}
    return [
        dict(base, choices=[{"index": 0, "delta": {"role": "assistant", "content": ANSWER}, "finish_reason": None}]),
        dict(base, choices=[{"index": 0, "delta": {}, "finish_reason": "stop"}], usage=usage),
    ]


def gemini():
    return {"candidates": [{"content": {"role": "model", "parts": [{"text": ANSWER}]}, "finishReason": "STOP", "index": 0}],
            "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 3, "totalTokenCount": 13}}


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        self.send_json({"data": [], "object": "list", "models": []})

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        try:
            body = json.loads(body or b"{}")
        except ValueError:
            body = {}
        path = self.path.split("?")[0]
        with self.server.lock:
            self.server.requests.append((path, body))
        if "count_tokens" in path or "countTokens" in path:
            self.send_json({"input_tokens": 10, "totalTokens": 10})
        elif path.endswith("/messages"):
            events = [(kind, dict(data, type=kind)) for kind, data in anthropic(body.get("model", ""))]
            if body.get("stream"):
                self.send_events(events)
            else:
                message = dict(events[0][1]["message"], content=[{"type": "text", "text": ANSWER}], stop_reason="end_turn")
                self.send_json(message)
        elif path.endswith("/responses"):
            self.send_events([(kind, dict(data, type=kind)) for kind, data in responses()])
        elif path.endswith("/chat/completions"):
            self.send_events([(None, chunk) for chunk in chat(body.get("model", ""))] + [(None, "[DONE]")])
        elif "streamGenerateContent" in path:
            self.send_events([(None, gemini())])
        elif "generateContent" in path:
            self.send_json(gemini())
        else:
            self.send_json({})

    def send_json(self, value):
        data = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def send_events(self, events):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for kind, data in events:
            text = data if isinstance(data, str) else json.dumps(data)
            self.wfile.write(((f"event: {kind}\n" if kind else "") + f"data: {text}\n\n").encode())
        self.close_connection = True


def start():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.lock, server.requests = threading.Lock(), []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server
