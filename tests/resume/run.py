#!/usr/bin/env python3
"""Resumes sessions of every agent in every other agent, with the real programs and a scripted server on loopback.

    run.py PLIMSOLL FOLDER... [--only SOURCE:TARGET] [--compact]

FOLDER contains the npm packages (node_modules). For every source session in tests/pairs and every target, the session
is converted with `plimsoll convert --resumable`, resumed with the real program, and every text, every call and every
result of the source is searched in the first request of the program. Prints a table; the exit code is 1 if something is
missing. Programs that are not in FOLDER are left out.
"""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile

import agents
import server

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAIRS = os.path.join(ROOT, "pairs")
SOURCES = {"claude": "claude-code", "codex": "codex", "opencode": "opencode", "gemini": "gemini-cli", "pi": "pi"}
CASES = ["smoke", "parallel", "two-compactions"]
PROJECT = "/home/user/project"


def source_file(agent, case, folder, project):
    """Copies the session of a case, with the project's path replaced. Returns its path."""
    pair = os.path.join(PAIRS, SOURCES[agent], case)
    names = sorted(name for name in os.listdir(pair) if name.endswith((".jsonl", ".db")) and name != "requests.jsonl")
    # A resume of Gemini CLI at another minute leaves a small file.
    name = max(names, key=lambda name: os.path.getsize(os.path.join(pair, name)))
    path = os.path.join(folder, name)
    if name.endswith(".db"):
        shutil.copy(os.path.join(pair, name), path)
        with sqlite3.connect(path) as database:
            database.execute("update session set directory = ?", (project,))
            database.execute("update message set data = replace(data, ?, ?)", (PROJECT, project))
        return path
    with open(os.path.join(pair, name), encoding="utf-8") as file:
        text = file.read()
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace(PROJECT, project))
    return path


def plimsoll(program, arguments, env, project):
    done = subprocess.run([program, *arguments, "--json", "--no-state"], cwd=project, env=env, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL)
    try:
        return json.loads(done.stdout), done.stderr
    except ValueError:
        return None, done.stderr


def contents(path):
    """Returns the texts, and the calls with their results, of an openai_chat file, without instructions at its start."""
    with open(path, encoding="utf-8") as file:
        messages = json.load(file)["messages"]
    os.remove(path)
    started, texts, calls = False, [], {}
    for message in messages:
        started = started or message["role"] not in ("system", "developer")
        if not started:
            continue
        if message["role"] == "tool":
            calls[message["tool_call_id"]][2].append(message["content"])
            continue
        content = message.get("content")
        texts += [content] if isinstance(content, str) else [b["text"] for b in content or [] if b.get("type") == "text"]
        for call in message.get("tool_calls", []):
            arguments = json.loads(call["function"]["arguments"] or "{}")
            calls[call["id"]] = (call["function"]["name"], arguments, [])
    return [text for text in texts if text.strip()], list(calls.values())


def whole_history(program, path, env, project):
    """Returns the contents of the whole history."""
    out = path + ".expected.json"
    result, error = plimsoll(program, ["convert", path, "--to", "openai_chat", "-o", out], env, project)
    if not result:
        raise RuntimeError(error)
    return contents(out)


def last_context(program, path, env, project):
    """Returns the contents of the last context, with the answer to it."""
    texts, _ = whole_history(program, path, env, project)
    calls = plimsoll(program, ["inspect", path], env, project)[0]["calls"]
    out = path + ".context.json"
    arguments = ["context", path, "--at-call", str(calls), "--format", "openai_chat", "-o", out]
    result, error = plimsoll(program, arguments, env, project)
    if not result:
        raise RuntimeError(error)
    context = contents(out)
    return context[0] + texts[-1:], context[1]


def flat(content):
    """Returns the text of a content in any notation."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(flat(block) for block in content)
    if isinstance(content, dict):
        for key in ("text", "content", "output", "error"):
            if key in content:
                return flat(content[key])
    return ""


def sent(body):
    """Returns all texts of a request, and its calls with their results."""
    texts, calls, results = [], {}, {}
    for message in body.get("messages", []):
        content = message.get("content")
        if message.get("role") == "tool":
            results.setdefault(message["tool_call_id"], flat(content))
            continue
        for call in message.get("tool_calls") or []:
            calls[call["id"]] = (call["function"]["name"], json.loads(call["function"]["arguments"]))
        for block in [content] if isinstance(content, str) else content or []:
            if isinstance(block, str):
                texts.append(block)
            elif block.get("type") == "tool_use":
                calls[block["id"]] = (block["name"], block["input"])
            elif block.get("type") == "tool_result":
                results.setdefault(block["tool_use_id"], flat(block.get("content", "")))
            else:
                texts.append(block.get("text", ""))
    for item in body.get("input", []):
        if item.get("type") in ("function_call", "custom_tool_call"):
            text = item.get("arguments") or item.get("input")
            try:
                arguments = json.loads(text)
            except ValueError:
                arguments = {"_raw": text}
            calls[item["call_id"]] = (item["name"], arguments)
        elif item.get("type") in ("function_call_output", "custom_tool_call_output"):
            results.setdefault(item["call_id"], flat(item.get("output")))
        else:
            texts += [block.get("text", "") for block in item.get("content", [])]
    for content in body.get("contents", []):
        for part in content.get("parts", []):
            if "functionCall" in part:
                call = part["functionCall"]
                calls[call.get("id") or call["name"]] = (call["name"], call["args"])
            elif "functionResponse" in part:
                answer = part["functionResponse"]
                results.setdefault(answer.get("id") or answer["name"], flat(answer["response"]))
            else:
                texts.append(part.get("text", ""))
    return texts, [(name, arguments, results.get(id)) for id, (name, arguments) in calls.items()]


def missing(wanted, body):
    """Returns what of the source a request lacks."""
    (wanted_texts, wanted_calls), (texts, calls) = wanted, sent(body)
    whole = "\n".join(texts)
    lacks = [f"text {text[:60]!r}" for text in wanted_texts if text.strip() not in whole]
    for name, arguments, results in wanted_calls:
        alike = [call for call in calls if call[:2] == (name, arguments)]
        if not alike:
            lacks.append(f"call {name} {str(arguments)[:60]}")
        elif results and not any((result or "").strip().startswith(results[0].strip()) for _, _, result in alike):
            lacks.append(f"result of {name} {results[0][:60]!r}, but {alike[0][2]!r:.60}")
    return lacks


def direction(program, source, target, executable, case, compact):
    """Returns (number of texts, number of calls, what is missing) of one direction."""
    with tempfile.TemporaryDirectory(prefix="resume-") as folder:
        folder = os.path.realpath(folder)
        home, project = os.path.join(folder, "home"), os.path.join(folder, "project")
        os.makedirs(home)
        os.makedirs(project)
        scripted = server.start()
        env = agents.environment(home, target.setup(home, project, f"http://127.0.0.1:{scripted.server_port}"))
        path = source_file(source, case, folder, project)
        arguments = ["convert", path, "--to", target.name, "--resumable"]
        if compact:
            arguments = ["compact", path, "--policy", "none", "--to", target.name, "--resumable"]
        result, error = plimsoll(program, arguments, env, project)
        if not result or not result.get("resumable"):
            return 0, 0, [f"nothing written: {result or error}"]
        # A copy holds its compactions: the last context is sent.
        read = last_context if source == target.name or compact else whole_history
        wanted = read(program, path, env, project)
        own = {"claude": "<system-reminder>", "gemini": "<session_context>"}.get(source)
        if source == target.name and own:
            # The program renders its reminders anew, also those within results.
            texts = [text for text in wanted[0] if not text.startswith(own)]
            bare = lambda results: results and [text.split(own)[0] for text in results]
            wanted = texts, [(name, given, bare(results)) for name, given, results in wanted[1]]
        resumed = result["resumable"]
        output, ok = agents.run(target.resume(executable, resumed["id"], resumed["path"]), project, env)
        bodies = [body for _, body in scripted.requests if agents.PROMPT in json.dumps(body, ensure_ascii=False)]
        # Programs may also ask for a title.
        bodies = [body for body in bodies if len(json.dumps(body)) > 2000] or bodies
        scripted.shutdown()
        if not bodies:
            return len(wanted[0]), len(wanted[1]), [f"no request: {output[-600:]}"]
        body = max(bodies[:2], key=lambda body: len(json.dumps(body)))
        lacks = missing(wanted, body)
        if not ok:
            lacks.append(output[-300:])
        return len(wanted[0]), len(wanted[1]), lacks


def main():
    arguments = sys.argv[1:]
    compact = "--compact" in arguments
    only = arguments[arguments.index("--only") + 1] if "--only" in arguments else None
    values = [a for a in arguments if not a.startswith("--") and a != only]
    program, folders = os.path.abspath(values[0]), values[1:]
    failed = False
    for target in agents.AGENTS:
        executable = next(filter(None, (target.find(os.path.abspath(folder)) for folder in folders)), None)
        if not executable:
            print(f"{target.name}: not installed")
            continue
        # In its own agent, a conversation from which nothing is removed is not written.
        for source in [name for name in SOURCES if not compact or name != target.name]:
            for case in CASES:
                if only and f"{source}:{target.name}".find(only.strip()) < 0:
                    continue
                n_texts, n_calls, lacks = direction(program, source, target, executable, case, compact)
                failed |= bool(lacks)
                verdict = "ok" if not lacks else "FAILED"
                print(f"{source:>9} -> {target.name:<9} {case:<16} {verdict:<7} {n_texts:>4} texts {n_calls:>4} calls", flush=True)
                for lack in lacks[:5]:
                    print(f"    {lack}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
