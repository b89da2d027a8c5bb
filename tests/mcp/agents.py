#!/usr/bin/env python3
"""Adds `plimsoll mcp` to real agents, each with the command that `plimsoll mcp --install` prints, and lets them call it.

    agents.py PLIMSOLL FOLDER...

FOLDER contains the npm packages (node_modules). A scripted model on loopback calls the tool `inspect` without a file. The next
request of the agent must contain the answer about the session that the agent is recording. Prints a line for each agent; the
exit code is 1 if one fails. Programs that are not in FOLDER are left out.
"""

import json
import os
import shlex
import sys
import tempfile
import threading
from http.server import ThreadingHTTPServer

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "resume"))
import agents  # noqa: E402
import server  # noqa: E402

PROMPT = "How full is your context window?"
LABELS = {"claude": "Claude Code", "codex": "Codex", "gemini": "Gemini CLI", "opencode": "OpenCode"}
# The agents ask before a tool is called, unless an option allows it.
RUNS = {
    "claude": lambda exe: [exe, "-p", PROMPT, "--allowedTools", "mcp__plimsoll"],
    "codex": lambda exe: [exe, "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", PROMPT],
    "gemini": lambda exe: [exe, "--skip-trust", "--approval-mode", "yolo", "-m", "gemini-2.5-pro", "-p", PROMPT],
    "opencode": lambda exe: [exe, "run", "-m", "stub/stub-model", PROMPT],
}


def tools(body):
    """Returns the names of the tools of a request; with their namespace, if they have one."""
    for tool in body.get("tools") or []:
        if "functionDeclarations" in tool:
            yield from ((None, declared["name"]) for declared in tool["functionDeclarations"])
        elif tool.get("type") == "namespace":
            yield from ((tool["name"], inner["name"]) for inner in tool.get("tools", []))
        else:
            yield None, tool.get("name") or tool.get("function", {}).get("name") or ""


class Handler(server.Handler):
    """Calls the tool once, then answers with the fixed text."""

    def send_events(self, events):
        path, body = self.server.requests[-1]
        named = [(space, name) for space, name in tools(body) if name.endswith("inspect") and "plimsoll" in f"{space}{name}"]
        if named and not self.server.called:
            self.server.called = True
            events = call(path, body, *named[0])
        super().send_events(events)


def call(path, body, space, name):
    """Returns the events of an answer that calls a tool without arguments."""
    if path.endswith("/messages"):
        events = [(kind, dict(data, type=kind)) for kind, data in server.anthropic(body.get("model", ""))]
        block = {"type": "tool_use", "id": "toolu_1", "name": name, "input": {}}
        delta = {"index": 0, "delta": {"type": "input_json_delta", "partial_json": "{}"}}
        events[1] = ("content_block_start", dict(events[1][1], content_block=block))
        events[2] = ("content_block_delta", dict(delta, type="content_block_delta"))
        events[4][1]["delta"]["stop_reason"] = "tool_use"
        return events
    if path.endswith("/responses"):
        item = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": name, "arguments": "{}", "status": "completed"}
        if space:
            item["namespace"] = space
        events = [(kind, dict(data, type=kind)) for kind, data in server.responses()]
        done = ("response.output_item.done", {"type": "response.output_item.done", "output_index": 0, "item": item})
        completed = dict(events[-1][1], response=dict(events[-1][1]["response"], output=[item]))
        return [events[0], done, (events[-1][0], completed)]
    if path.endswith("/chat/completions"):
        chunks = server.chat(body.get("model", ""))
        function = {"index": 0, "id": "call_1", "type": "function", "function": {"name": name, "arguments": "{}"}}
        chunks[0]["choices"][0]["delta"] = {"role": "assistant", "content": None, "tool_calls": [function]}
        chunks[1]["choices"][0]["finish_reason"] = "tool_calls"
        return [(None, chunk) for chunk in chunks] + [(None, "[DONE]")]
    answer = server.gemini()
    answer["candidates"][0]["content"]["parts"] = [{"functionCall": {"name": name, "args": {}}}]
    return [(None, answer)]


def start():
    scripted = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    scripted.daemon_threads = True
    scripted.lock, scripted.requests, scripted.called = threading.Lock(), [], False
    threading.Thread(target=scripted.serve_forever, daemon=True).start()
    return scripted


def answers(bodies):
    """Returns the answers of the tool in the requests, as text within JSON within JSON."""
    for body in bodies:
        text = json.dumps(body, ensure_ascii=False)
        while "\\\\" in text:
            text = text.replace("\\\\", "\\")
        if "end_tokens" in text and "session" in text:
            yield text.replace('\\"', '"')


def check(program, agent, executable):
    """Returns what is wrong with an agent."""
    with tempfile.TemporaryDirectory(prefix="mcp-") as folder:
        folder = os.path.realpath(folder)
        home, project = os.path.join(folder, "home"), os.path.join(folder, "project")
        os.makedirs(home)
        os.makedirs(project)
        scripted = start()
        extra = agent.setup(home, project, f"http://127.0.0.1:{scripted.server_port}")
        env = agents.environment(home, extra)
        env["PATH"] = os.pathsep.join([os.path.dirname(executable), os.path.dirname(program), env["PATH"]])
        printed, ok = agents.run([[program, "mcp", "--install", "--json"]], project, env)
        commands = {row["agent"]: row["command"] for row in json.loads(printed)["commands"]}
        install = shlex.split(commands[LABELS[agent.name]])
        output, ok = agents.run([install, RUNS[agent.name](executable)], project, env)
        scripted.shutdown()
        if not ok:
            return output[-600:]
        if not scripted.called:
            return f"no request has the tool: {output[-600:]}"
        found = list(answers(body for _, body in scripted.requests))
        if not found:
            last = json.dumps(scripted.requests[-1][1])[-600:]
            return f"no request has the answer: {last}"
        if f'"file":"{home}' not in found[0]:
            return f"another session: {found[0][found[0].find('session'):][:300]}"
        return ""


def main():
    program, folders = os.path.abspath(sys.argv[1]), sys.argv[2:]
    failed = False
    for agent in agents.AGENTS:
        if agent.name not in RUNS:
            continue
        executable = next(filter(None, (agent.find(os.path.abspath(folder)) for folder in folders)), None)
        if not executable:
            print(f"{agent.name}: not installed")
            continue
        wrong = check(program, agent, executable)
        failed |= bool(wrong)
        print(f"{agent.name}: {wrong or 'ok'}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
