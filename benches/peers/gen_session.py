"""A made-up session as Claude Code writes one: python3 gen_session.py OUT MB SEED, beside the corpus of mkcorpus.py."""

import base64
import datetime
import json
import random
import sys

out, megabytes, seed = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
dice = random.Random(seed)


def corpus(name):
    with open(f"corpus/{name}.txt", encoding="utf-8", errors="ignore") as file:
        return file.read().split("\0")


PROSE, CODE, CJK = corpus("prose"), corpus("code"), corpus("cjk")


def uuid():
    bits = dice.getrandbits
    return f"{bits(32):08x}-{bits(16):04x}-4{bits(12):03x}-a{bits(12):03x}-{bits(48):012x}"


def words(low, high):
    texts = PROSE if dice.random() < 0.93 else CJK
    return dice.choice(texts)[: dice.randint(low, high)]


class File:
    def __init__(self, file):
        self.file, self.parent, self.size = file, None, 0
        self.time, self.session = datetime.datetime(2026, 1, 5, 9), uuid()

    def record(self, fields):
        self.time += datetime.timedelta(seconds=dice.randint(1, 40))
        record = {"parentUuid": self.parent, "isSidechain": False, "userType": "external", "cwd": "/home/u/proj"}
        record |= {"sessionId": self.session, "version": "2.0.14", "gitBranch": "main"} | fields
        record["uuid"] = self.parent = uuid()
        record["timestamp"] = f"{self.time:%Y-%m-%dT%H:%M:%S}.{dice.randint(0, 999):03d}Z"
        line = json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n"
        self.file.write(line)
        self.size += len(line.encode())


def call(tool, path):
    if tool == "Bash":
        return {"command": "cargo test --all 2>&1 | tail -50", "description": "run tests"}
    if tool == "Edit":
        old, new = dice.choice(CODE)[: dice.randint(50, 600)], dice.choice(CODE)[: dice.randint(50, 900)]
        return {"file_path": path, "old_string": old, "new_string": new}
    return {"file_path": path} if tool == "Read" else {"pattern": "fn main", "path": "src"}


def result():
    if dice.random() < 0.02:
        return "data:image/png;base64," + base64.b64encode(dice.randbytes(dice.randint(20_000, 90_000))).decode()
    return dice.choice(CODE)


def answer(is_last, tool_id):
    content = []
    if dice.random() < 0.3:
        content.append({"type": "thinking", "thinking": words(100, 1500), "signature": f"{dice.getrandbits(2048):0512x}"})
    if dice.random() < 0.6 or is_last:
        content.append({"type": "text", "text": words(50, 800)})
    if not is_last:
        tool = dice.choice(["Bash", "Read", "Edit", "Grep"])
        given = call(tool, f"/home/u/proj/src/{dice.randint(1, 99)}.rs")
        content.append({"type": "tool_use", "id": tool_id, "name": tool, "input": given})
    return content


def message(content, context, output):
    usage = {"input_tokens": dice.randint(3, 20), "cache_creation_input_tokens": dice.randint(100, 4000)}
    usage |= {"cache_read_input_tokens": context, "output_tokens": output, "service_tier": "standard"}
    said = {"id": f"msg_{dice.getrandbits(96):024x}", "type": "message", "role": "assistant"}
    said |= {"model": "claude-sonnet-4-5-20250929", "content": content}
    return said | {"stop_reason": None, "stop_sequence": None, "usage": usage}


with open(out, "w", encoding="utf-8") as opened:
    file, context = File(opened), 18_000
    file.record({"type": "user", "message": {"role": "user", "content": words(200, 2000)}})
    while file.size < megabytes * 1e6:
        is_last, tool_id = dice.random() < 0.07, f"toolu_{dice.getrandbits(96):024x}"
        content = answer(is_last, tool_id)
        output = sum(len(json.dumps(block)) for block in content) // 4
        request = f"req_{dice.getrandbits(96):024x}"
        file.record({"type": "assistant", "requestId": request, "message": message(content, context, output)})
        context = context + output if context < 160_000 else 18_000
        if is_last:
            file.record({"type": "user", "message": {"role": "user", "content": words(20, 600)}})
            continue
        body = result()
        shown = body if dice.random() < 0.6 else [{"type": "text", "text": body}]
        block = {"tool_use_id": tool_id, "type": "tool_result", "content": shown, "is_error": False}
        beside = {"stdout": body[:4000], "stderr": "", "interrupted": False, "isImage": False}
        file.record({"type": "user", "message": {"role": "user", "content": [block]}, "toolUseResult": beside})
        context += len(body) // 4
