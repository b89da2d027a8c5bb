"""Makes replay cases of docker-agent: builds its session and compaction packages and calls them as its loop does.

Usage: python docker-agent.py REPOSITORY GO FOLDER [NUMBER OF RANDOM CASES]

Needs docker/docker-agent at 0d76412a and a Go toolchain (1.26 or later). Its runtime needs packages that are not built
here: agents and tools are replaced by types of the same names, and the program calls the functions that change messages
where `RunStream` does. Conversations are invented from a seed.
"""

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

MODULE = "github.com/docker/docker-agent"
FILES = ["pkg/compaction/compaction.go", "pkg/compaction/prompts/compaction-system.txt",
         "pkg/compaction/prompts/compaction-user.txt", "pkg/chat/chat.go", "pkg/session/session.go",
         "pkg/session/environment.go", "pkg/session/git.go", "pkg/session/prompt_file.go"]

UUID = """package uuid
type UUID string
func New() UUID { return "id" }
func (u UUID) String() string { return string(u) }
"""

TOOLS = """package tools
type FunctionCall struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}
type ToolCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function FunctionCall `json:"function"`
}
type Tool struct{ Name string }
type ToolSet any
func GetInstructions(ToolSet) string { return "" }
"""

AGENT = """package agent
import "MODULE/pkg/tools"
type Agent struct {
	Prompt string
	Items  int
}
func (a *Agent) Name() string               { return "root" }
func (a *Agent) Description() string        { return "" }
func (a *Agent) HasSubAgents() bool         { return false }
func (a *Agent) SubAgents() []*Agent        { return nil }
func (a *Agent) Handoffs() []*Agent         { return nil }
func (a *Agent) Instruction() string        { return a.Prompt }
func (a *Agent) ToolSets() []tools.ToolSet  { return nil }
func (a *Agent) AddDate() bool              { return false }
func (a *Agent) AddEnvironmentInfo() bool   { return false }
func (a *Agent) AddPromptFiles() []string   { return nil }
func (a *Agent) NumHistoryItems() int       { return a.Items }
"""

IMAGE = "package chat\nfunc DetectMimeTypeByContent([]byte) string { return \"\" }\n"

# Reads a conversation. Per call of the model it writes what is sent, the counts that were compared and the requests.
MAIN = """package main
import (
	"encoding/json"
	"os"
	"MODULE/pkg/agent"
	"MODULE/pkg/chat"
	"MODULE/pkg/compaction"
	"MODULE/pkg/session"
)
type input struct {
	Messages []chat.Message
	Usage    []*struct{ Input, Output int64 }
	Window   int64
	Items    int
	Summary  string
	Output   int64
	Fails    map[int]bool
}
type call struct {
	Sent     []chat.Message
	All      int
	Compared int64
	Asked    [][]chat.Message
	Failed   []bool
}
func main() {
	var in input
	if err := json.NewDecoder(os.Stdin).Decode(&in); err != nil { panic(err) }
	a := &agent.Agent{Items: in.Items}
	if in.Messages[0].Role == chat.MessageRoleSystem {
		a.Prompt = in.Messages[0].Content
		in.Messages = in.Messages[1:]
	}
	sess := session.New()
	var calls []call
	var now call
	asked := 0
	compact := func() {
		messages := sess.GetMessages(a)
		if !compaction.HasConversationMessages(messages) { return }
		sub := session.New()
		for _, m := range compaction.BuildPrompt(messages, "") {
			sub.AddMessage(&session.Message{Message: m})
		}
		now.Asked = append(now.Asked, sub.GetMessages(&agent.Agent{Prompt: compaction.SystemPrompt}))
		asked++
		now.Failed = append(now.Failed, in.Fails[asked])
		if in.Fails[asked] || in.Summary == "" { return }
		sess.Messages = append(sess.Messages, session.Item{Summary: in.Summary})
		sess.InputTokens, sess.OutputTokens = in.Output, 0
	}
	check := func(added int64) {
		total := sess.InputTokens + sess.OutputTokens + added
		if now.Compared == 0 { now.Compared = total }
		if compaction.ShouldCompact(sess.InputTokens, sess.OutputTokens, added, in.Window) { compact() }
	}
	for at := 0; at < len(in.Messages); {
		for at < len(in.Messages) && in.Messages[at].Role != chat.MessageRoleAssistant {
			sess.AddMessage(&session.Message{Message: in.Messages[at]})
			at++
		}
		if at == len(in.Messages) { break }
		for stopped := false; !stopped; {
			check(0)
			now.Sent = sess.GetMessages(a)
			now.All = len(sess.GetMessages(&agent.Agent{Prompt: a.Prompt}))
			if usage := in.Usage[len(calls)]; usage != nil {
				sess.InputTokens, sess.OutputTokens = usage.Input, usage.Output
			}
			calls = append(calls, now)
			now = call{}
			answer := in.Messages[at]
			at++
			sess.AddMessage(&session.Message{Message: answer})
			before := len(sess.GetAllMessages())
			for range answer.ToolCalls {
				sess.AddMessage(&session.Message{Message: in.Messages[at]})
				at++
			}
			stopped = len(answer.ToolCalls) == 0
			if stopped { break }
			var added int64
			for _, m := range sess.GetAllMessages()[before:] {
				added += compaction.EstimateMessageTokens(&m.Message)
			}
			check(added)
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(calls); err != nil { panic(err) }
}
"""

SUMMARY = "SUMMARY OF EARLIER WORK: the tide table is imported; two pilots are free. 港 ✓"
WORDS = "berth crane tide pilot ledger manifest anchor signal buoy harbor café 港 🚢 Straße".split()


def build(repository, go, folder):
    """Builds the program in a folder."""
    for name in FILES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        text = subprocess.run(["git", "-C", repository, "show", f"HEAD:{name}"], check=True, capture_output=True).stdout
        (folder / name).write_bytes(text)
    sources = {"pkg/agent/agent.go": AGENT, "pkg/tools/tools.go": TOOLS, "pkg/chat/image.go": IMAGE, "main.go": MAIN, "uuid/uuid.go": UUID,
               "uuid/go.mod": "module github.com/google/uuid\n",
               "go.mod": f"module {MODULE}\ngo 1.26\nrequire github.com/google/uuid v1.0.0\n"
                         "replace github.com/google/uuid => ./uuid\n"}
    for name, text in sources.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text.replace("MODULE", MODULE), encoding="utf-8")
    env = {**os.environ, "GOROOT": str(Path(go).resolve().parent.parent), "GOFLAGS": "-mod=mod", "GOPROXY": "off",
           "GOTOOLCHAIN": "local"}
    subprocess.run([str(Path(go).resolve()), "build", "-o", "program", "."], cwd=folder, check=True, env=env)
    return folder / "program"


def conversation(rng, turns, steps=3, parallel=2, output=60, silent=0.3, system=True):
    """Returns an invented conversation in chat form."""
    def words(n):
        return " ".join(rng.choice(WORDS) for _ in range(n))

    messages, n = ([{"role": "system", "content": f"You plan a {words(6)}"}] if system else []), 0
    for _ in range(turns):
        messages.append({"role": "user", "content": f"Request {len(messages)}: {words(8)}"})
        for _ in range(rng.randint(0, steps)):
            calls = []
            for _ in range(rng.randint(1, parallel)):
                n += 1
                function = {"name": rng.choice(["read", "shell"]), "arguments": json.dumps({"at": words(2)})}
                calls.append({"id": f"call_{n:03}", "type": "function", "function": function})
            content = None if rng.random() < silent else f"Step {len(messages)}: {words(5)}"
            messages.append({"role": "assistant", "content": content, "tool_calls": calls})
            for call in calls:
                text = f"{call['id']}: {words(rng.randint(1, output))}"
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})
        messages.append({"role": "assistant", "content": f"Answer {len(messages)}: {words(9)}"})
    return messages


def chat(message):
    """Returns a message of the program in chat form."""
    made = {"role": message["role"], "content": message["content"] or None}
    if message.get("tool_calls"):
        made["tool_calls"] = message["tool_calls"]
    if message.get("tool_call_id"):
        made["tool_call_id"] = message["tool_call_id"]
    return made


def case(program, name, messages, notes, window=1300, items=0, summary=SUMMARY, fails=(), reports=1.0):
    """Returns a case. Usage is what a stub counts on the recorded messages since the last summary."""
    rng = random.Random(len(messages))
    def key(message):
        ids = [call["id"] for call in message.get("tool_calls") or []]
        return message["role"], message.get("tool_call_id") or (ids[0] if ids else message["content"])

    places = {key(message): at for at, message in enumerate(messages)}

    answers = [at for at, message in enumerate(messages) if message["role"] == "assistant"]
    usage = [None] * len(answers)
    size = lambda all: len(json.dumps(all, ensure_ascii=False)) // 4
    given = [{**m, "content": m["content"] or ""} for m in messages]
    calls, n_trimmed = [], 0
    # The usage of a call depends on what was sent for it: each run adds one.
    for nth, before in enumerate(answers):
        # The last answer ends the run.
        program_input = {"Messages": [*given[:before], {"role": "assistant", "content": "end"}], "Usage": usage[:nth + 1],
                         "Window": window, "Items": items, "Summary": summary, "Output": len(summary) // 4,
                         "Fails": {str(n): True for n in fails}}
        run = subprocess.run([program], input=json.dumps(program_input), capture_output=True, text=True, check=True)
        last = json.loads(run.stdout)[-1]
        sent = [chat(message) for message in last["Sent"]]
        if rng.random() < reports:
            usage[nth] = {"input": size(sent), "output": size(messages[before])}
        asked = [{"messages": [chat(m) for m in request], "max_tokens": None,
                  "failed": "the provider failed" if failed else None}
                 for request, failed in zip(last["Asked"] or [], last["Failed"] or [])]
        fired = [f"failed: {a['failed']}" if a["failed"] else "compact" for a in asked if a["failed"] or summary]
        n_trimmed, n_before = last["All"] - len(sent), n_trimmed
        fired += ["trim"] if n_trimmed not in (0, n_before) else []
        calls.append({"before": before, "sent": [{**m, "from": places.get(key(m))} for m in sent], "fired": fired,
                      "believed": last["Compared"], "asked": asked})
    return name, {
        "system": "docker-agent", "preset": "docker-agent",
        "upstream": {"repo": "docker/docker-agent", "commit": "0d76412a", "version": "1.32.3",
                     "functions": ["Session.GetMessages", "compaction.ShouldCompact", "compaction.EstimateMessageTokens",
                                   "compaction.BuildPrompt"]},
        "config": {"num_history_items": items}, "window": window, "max_output": 512,
        "input": {"messages": messages, "usage": usage}, "summary": summary, "calls": calls, "notes": notes}


def chosen(program):
    """Makes the cases that are bundled."""
    def made(name, seed, turns, notes, options=None, **more):
        return case(program, name, conversation(random.Random(seed), turns, **more), notes, **(options or {}))

    yield made("run", 1, 1, "One turn: only the summary remains.", steps=12)
    yield made("chat", 2, 16, "A chat without tools: the newest request is only in the summary.", {"window": 550}, steps=0)
    yield made("turns", 3, 6, "Several turns.", {"window": 900})
    yield made("parallel", 4, 3, "Parallel calls.", steps=5, parallel=4)
    yield made("no-system", 5, 5, "No instructions.", {"window": 900}, system=False)
    yield made("history-items", 6, 6, "At most six answers, results and requests are sent.", {"items": 6, "window": 700})
    yield made("history-items-many", 7, 3, "Parallel results are removed with their answer.", {"items": 9, "window": 1100},
               steps=6, parallel=4)
    yield made("no-usage", 8, 4, "No usage is reported: only the estimate of results counts.", {"reports": 0, "window": 150})
    yield made("some-usage", 9, 5, "Some answers report no usage.", {"reports": 0.5, "window": 700})
    yield made("summary-fails", 10, 5, "Two requests fail.", {"fails": (1, 2), "window": 1000})
    yield made("no-summary", 11, 3, "Empty summaries change nothing.", {"summary": "", "window": 800})


def any_of(program, seed):
    """Makes a random case."""
    rng = random.Random(seed)
    messages = conversation(rng, rng.randint(1, 7), steps=rng.randint(0, 6), parallel=rng.randint(1, 4),
                            output=rng.choice([10, 60, 150]), silent=rng.choice([0, 0.5, 1]), system=rng.random() < 0.7)
    return case(program, f"random-{seed:04}", messages, "Random.", rng.choice([600, 1200, 2500]), rng.choice([0, 0, 5, 12]),
                rng.choice([SUMMARY, "∅"]), rng.choice([(), (), (1,), (2, 3)]), rng.choice([1, 1, 0.5, 0]))


def main():
    repository, go, folder = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    folder.mkdir(parents=True, exist_ok=True)
    n_random = int(sys.argv[4]) if len(sys.argv) > 4 else None
    work = Path(tempfile.mkdtemp())
    program = build(repository, go, work)
    cases = chosen(program) if n_random is None else (any_of(program, seed) for seed in range(n_random))
    for name, made in cases:
        text = json.dumps(made, ensure_ascii=False)
        (folder / f"{name}.json").write_text(text + "\n", encoding="utf-8")
    shutil.rmtree(work)


main()
