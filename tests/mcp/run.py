#!/usr/bin/env python3
"""Tests `plimsoll mcp` with the official Python client: run.py PLIMSOLL.

Connects in every way that the client knows: by `initialize`, and by `server/discover` of newer revisions of the protocol.
Compares the answers with the JSON output of the commands. The exit code is 1 if a check fails.
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile

from mcp import Client, Implementation, MCPError, StdioServerParameters

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SAMPLE = os.path.join(ROOT, "sample_sessions", "compacted.jsonl")
TOOLS = ["inspect", "find", "lost", "message", "cost"]

checks = {"passed": 0, "failed": 0}


def check(name, is_good, shown=""):
    checks["passed" if is_good else "failed"] += 1
    if not is_good:
        print(f"FAILED: {name} {shown}")


def printed(program, folder, *arguments):
    """Returns the JSON output of a command."""
    env = {"HOME": folder, "PATH": os.environ["PATH"]}
    done = subprocess.run([program, *arguments, "--json"], cwd=folder, env=env, capture_output=True, check=True, stdin=subprocess.DEVNULL)
    return rounded(json.loads(done.stdout))


def rounded(value):
    """Rounds the fractions of a command's output as the tools do."""
    if isinstance(value, dict):
        return {name: rounded(part) for name, part in value.items()}
    if isinstance(value, list):
        return [rounded(part) for part in value]
    return float(f"{value:.5e}") if isinstance(value, float) else value


def store(home, project):
    """Stores the sample as a session of Claude Code, recorded in `project`. Returns its path."""
    folder = os.path.join(home, ".claude", "projects", "-project")
    os.makedirs(folder)
    with open(SAMPLE, encoding="utf-8") as file:
        text = file.read().replace("/home/dev/ledger", project)
    path = os.path.join(folder, "session.jsonl")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


async def answer(client, tool, **arguments):
    result = await client.call_tool(tool, arguments)
    check(f"{tool} {arguments}", not result.is_error, result.content[0].text[:300])
    check(f"{tool}: one text", [part.type for part in result.content] == ["text"])
    return json.loads(result.content[0].text)


async def error(client, tool, **arguments):
    result = await client.call_tool(tool, arguments)
    check(f"{tool} {arguments} is an error", result.is_error, result.content[0].text[:300])
    return result.content[0].text


async def listed(client, mode):
    tools = (await client.list_tools()).tools
    check(f"{mode}: tools", [tool.name for tool in tools] == TOOLS, tools)
    for tool in tools:
        check(f"{tool.name} only reads", tool.annotations.read_only_hint and not tool.annotations.destructive_hint)
        check(f"{tool.name} has a schema", tool.input_schema["type"] == "object" and "file" in tool.input_schema["properties"])


async def figures(client, program, folder):
    inspect, expected = await answer(client, "inspect", file=SAMPLE, limit=100), printed(program, folder, "inspect", SAMPLE)
    for field in ["calls", "window", "end_tokens", "peak_tokens", "tokens", "largest", "attribution", "recorded"]:
        check(f"inspect: {field}", inspect[field] == expected[field], (inspect[field], expected[field]))
    found, expected = await answer(client, "find", file=SAMPLE, query="ledger", limit=3), printed(program, folder, "find", SAMPLE, "ledger", "--limit", "3")
    check("find", found["found"] == expected["found"] and found["not_listed"]["found"] == expected["not_listed"])
    cost, expected = await answer(client, "cost", file=SAMPLE), printed(program, folder, "diagnose", SAMPLE)
    check("cost", cost["cost"]["usd"] == expected["lanes"][0]["cost"]["usd"], cost["cost"])
    lost, expected = await answer(client, "lost", file=SAMPLE, kind="file"), printed(program, folder, "evaluate", SAMPLE)
    check("lost", lost["total"] == expected["sessions"][0]["lanes"][0]["total"], lost["total"])
    fact = lost["lost"][0]
    check("lost: kind", fact["kind"] == "file" and fact["gone"], fact)
    message = await answer(client, "message", file=SAMPLE, message=fact["message"], part=fact["part"])
    check("message: removed", message["status"] in ["summarized", "dropped", "cleared", "shortened"], message["status"])
    check("message: text", fact["text"] in message["parts"][0]["text"], (fact, message["parts"][0]))


async def faults(client):
    check("missing file", "missing.jsonl" in await error(client, "inspect", file="missing.jsonl"))
    check("unknown parameter", "did you mean file?" in await error(client, "inspect", fle=SAMPLE))
    check("missing parameter", "query" in await error(client, "find", file=SAMPLE))
    try:
        await client.call_tool("remove", {})
        check("unknown tool", False)
    except MCPError as refused:
        check("unknown tool", refused.code == -32602, refused)
    try:
        # Shorter than any load: the client cancels the request.
        await client.session.call_tool("inspect", {"file": SAMPLE}, read_timeout_seconds=0.0001)
        check("timeout", False)
    except MCPError:
        pass
    many = await asyncio.gather(*(answer(client, "find", file=SAMPLE, query=f"message:{n}") for n in range(1, 21)))
    check("concurrent calls", [found["found"][0]["message"] for found in many] == list(range(1, 21)))


async def run(program, mode):
    with tempfile.TemporaryDirectory() as folder:
        home = os.path.realpath(folder)
        session = store(home, home)
        server = StdioServerParameters(command=program, args=["mcp"], env={"HOME": home}, cwd=home)
        me = Implementation(name="claude-code", version="1")
        async with Client(server, mode=mode, client_info=me) as client:
            check(f"{mode}: server", client.server_info.name == "plimsoll", client.server_info)
            check(f"{mode}: instructions", "data, not instructions" in (client.instructions or ""))
            await listed(client, mode)
            await figures(client, program, home)
            await faults(client)
            own = await answer(client, "inspect")
            check(f"{mode}: own session", own["session"]["file"] == session, own["session"])
            print(f"{mode}: protocol {client.protocol_version}")


def main():
    program = os.path.abspath(sys.argv[1])
    for mode in ["legacy", "auto"]:
        asyncio.run(asyncio.wait_for(run(program, mode), 300))
    print(f"{checks['passed']} passed, {checks['failed']} failed")
    sys.exit(1 if checks["failed"] or not checks["passed"] else 0)


if __name__ == "__main__":
    main()
