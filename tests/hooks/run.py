#!/usr/bin/env python3
"""Runs the hooks in the real programs, with a scripted server on loopback that forces a compaction.

    run.py PLIMSOLL FOLDER... [--only PROGRAM]

FOLDER contains the npm packages (node_modules). For every program, `plimsoll hook install` adds the hooks, the program
compacts once, and the requests are searched for the user's constraints. Then the same with a plimsoll that crashes, and with
one that never ends. The exit code is 1 if a check failed. Programs that are not in FOLDER are left out.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import compacting_server as server

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "resume"))
import agents

CONSTRAINT = "Never touch the file harbour.txt in the lighthouse folder."
TRIGGER = "Print one now."
# Longer than the user messages that Codex keeps.
LONG = "Here are the notes. " + "The tide was low and the sea was calm. " * 2_400
# Without it, Claude Code compacts only after a rejected request.
SETTINGS = {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "100000"}
# How a plimsoll ends that does not work. 2 would block a compaction, so plimsoll itself never returns it.
BROKEN = {"crashes": "kill -SEGV $$", "fails": "echo nonsense; echo trouble >&2; exit 1", "hangs": "exec sleep 60"}


def claude(exe):
    prompt = f"{CONSTRAINT} {TRIGGER}"
    return [[exe, "-p", prompt, "--allowedTools", "Bash(echo:*)"], [exe, "-p", "--continue", "And the next one?"]]


def codex(exe):
    options = ["exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", "-c", "model_auto_compact_token_limit=100000"]
    return [[exe, *options, CONSTRAINT], [exe, *options, "resume", "--last", f"{LONG} {TRIGGER}"],
            [exe, *options, "resume", "--last", "And the next one?"]]


def opencode(exe):
    run = [exe, "run", "-m", "stub/stub-model"]
    return [[*run, f"{CONSTRAINT} {TRIGGER}"], [*run, "--continue", "And the next one?"]]


class Case:
    """A program, and what its requests must contain."""

    def __init__(self, name, hook, commands, in_summary_request):
        self.name, self.hook, self.commands, self.in_summary_request = name, hook, commands, in_summary_request


CASES = [
    Case("claude", "claude-code", claude, True),
    Case("codex", "codex", codex, False),
    Case("opencode", "opencode", opencode, True),
]


def texts(body):
    """Returns all texts of a request that the model reads, in one."""
    found = []

    def collect(value):
        if isinstance(value, str):
            found.append(value)
        elif isinstance(value, list):
            [collect(item) for item in value]
        elif isinstance(value, dict):
            [collect(value[key]) for key in ("text", "content", "output") if key in value]

    collect(body.get("messages", []))
    collect(body.get("input", []))
    return "\n".join(found)


def plimsoll(program, arguments, project, env):
    done = subprocess.run([program, *arguments], cwd=project, env=env, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return done.stdout


def restore_packages(home, packages):
    """Copies the packages that OpenCode installs for its plugins, which takes most of a minute."""
    if os.path.exists(packages):
        shutil.copytree(packages, f"{home}/.config/opencode", dirs_exist_ok=True)


def keep_packages(home, packages):
    for name in ("node_modules", "package.json", "package-lock.json"):
        path = f"{home}/.config/opencode/{name}"
        if os.path.isdir(path):
            shutil.copytree(path, f"{packages}/{name}", dirs_exist_ok=True, symlinks=True)
        elif os.path.exists(path):
            os.makedirs(packages, exist_ok=True)
            shutil.copy(path, packages)


def run(case, target, executable, program, broken, packages):
    """Returns the failed checks of a run, and its figures."""
    with tempfile.TemporaryDirectory(prefix="hooks-") as folder:
        folder = os.path.realpath(folder)
        home, project = os.path.join(folder, "home"), os.path.join(folder, "project")
        os.makedirs(home)
        os.makedirs(project)
        scripted = server.start(case.name, TRIGGER)
        env = agents.environment(home, {**SETTINGS, **target.setup(home, project, f"http://127.0.0.1:{scripted.server_port}")})
        restore_packages(home, packages)
        changed = json.loads(plimsoll(program, ["hook", "install", case.hook, "--json"], project, env))
        if broken:
            fake = os.path.join(folder, "plimsoll")
            agents.write(fake, f"#!/bin/sh\n{BROKEN[broken]}\n")
            os.chmod(fake, 0o755)
            with open(changed["path"], encoding="utf-8") as file:
                text = file.read()
            agents.write(changed["path"], text.replace(program, fake))
        started = time.monotonic()
        output, ok = agents.run(case.commands(executable), project, env)
        took = time.monotonic() - started
        scripted.shutdown()
        keep_packages(home, packages)
        log = plimsoll(program, ["hook", "log"], project, env)
        if broken:
            agents.write(changed["path"], text)
        failures = check(case, scripted.requests, broken)
        if not ok:
            failures.append(output[-600:])
        if not broken and "1 constraint came back" not in log.replace("lost constraint", "constraint"):
            failures.append("nothing is logged")
        if "trouble" in output or "failed" in log:
            failures.append(f"not silent: {output[-300:]} {log}")
        plimsoll(program, ["hook", "uninstall", case.hook], project, env)
        if os.path.exists(changed["path"]):
            failures.append("the settings differ after the uninstallation")
        return failures, took, len(scripted.requests), log


def check(case, requests, broken):
    """Returns the checks of the requests that failed."""
    failures = []
    bodies = [body for _, body in requests]
    marks = [server.SUMMARY_REQUESTS[case.name] in json.dumps(body) for body in bodies]
    if sum(marks) != 1:
        return [f"{sum(marks)} summary requests: the compaction was blocked or repeated"]
    at = marks.index(True)
    asked = texts(bodies[at])
    # The constraint itself is in the conversation that is summarized.
    is_asked = "The user gave these instructions." in asked and f"- {CONSTRAINT}" in asked
    if is_asked != (case.in_summary_request and not broken):
        failures.append(f"in the summary request: {is_asked}")
    later = [texts(body) for body in bodies[at + 1:] if server.SUMMARY in texts(body)]
    if len(later) < 2:
        failures.append(f"{len(later)} requests after the compaction")
    for text in later:
        n = text.count(CONSTRAINT)
        if n != (0 if broken else 1):
            failures.append(f"after the compaction: {n} times")
    return failures


def main():
    arguments = sys.argv[1:]
    only = arguments[arguments.index("--only") + 1] if "--only" in arguments else None
    values = [a for a in arguments if not a.startswith("--") and a != only]
    program, folders = os.path.realpath(values[0]), values[1:]
    failed, packages = False, os.path.join(tempfile.mkdtemp(prefix="hooks-packages-"), "opencode")
    for case in CASES:
        target = next(agent for agent in agents.AGENTS if agent.name == case.name)
        executable = next(filter(None, (target.find(os.path.abspath(folder)) for folder in folders)), None)
        if not executable or only not in (None, case.name):
            print(f"{case.name}: not run")
            continue
        for broken in [None, *BROKEN]:
            failures, took, n, log = run(case, target, executable, program, broken, packages)
            failed |= bool(failures)
            state = f"plimsoll {broken}" if broken else "plimsoll works"
            print(f"{case.name:<9} {state:<17} {'FAILED' if failures else 'ok':<7} {n:>3} requests {took:6.1f} s", flush=True)
            for line in [*failures, *(log.splitlines() if failures else [])]:
                print(f"    {line}", flush=True)
    shutil.rmtree(os.path.dirname(packages))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    main()
