"""Makes replay cases of Crush: builds its agent and runs it over invented conversations.

Usage: python crush.py CRUSH FANTASY GO FOLDER [NUMBER OF RANDOM CASES]

Needs charmbracelet/crush at 37f36e93, charmbracelet/fantasy at f6d4d1e3 and a Go toolchain (1.26 or later). The agent, its
messages and fantasy's loop are built as they are. Stores, providers and what a terminal needs are replaced by types of the
same names; the model and the tool answer as recorded. Conversations are invented from a seed.
"""

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from codex import SUMMARY, Conversation

CRUSH = "github.com/charmbracelet/crush/internal"
COPIED = {
    "agent": ["agent.go", "usage_fallback.go", "loop_detection.go", "run_marker.go", "runid.go", "errors.go", "event.go",
              "templates/title.md", "templates/summary.md"],
    "agent/notify": ["notify.go"],
    "csync": ["maps.go", "slices.go", "value.go"],
    "message": ["content.go", "attachment.go"],
    "pubsub": ["broker.go", "events.go"],
}
DATA = "func (NAME) Options() {}\nfunc (NAME) MarshalJSON() ([]byte, error) { return nil, nil }\nfunc (*NAME) UnmarshalJSON([]byte) error { return nil }\n"

# Types by the path of their package.
TYPES = {
    "charm.land/catwalk/pkg/catwalk": """
type InferenceProvider string
const (
	InferenceProviderAnthropic InferenceProvider = "anthropic"
	InferenceProviderBedrock InferenceProvider = "bedrock"
	InferenceProviderOpenAI InferenceProvider = "openai"
	InferenceProviderBedrockEurope InferenceProvider = "bedrock-eu"
)
type Model struct {
	Name string
	CostPer1MIn, CostPer1MOut, CostPer1MInCached, CostPer1MOutCached float64
	ContextWindow, DefaultMaxTokens int64
	SupportsImages, CanReason bool
}
""",
    "charm.land/fantasy/providers/anthropic": """
const Name = "anthropic"
type CacheControl struct{ Type string }
type ProviderCacheControlOptions struct{ CacheControl CacheControl }
type ReasoningOptionMetadata struct{ Signature string }
""" + DATA.replace("NAME", "ProviderCacheControlOptions") + DATA.replace("NAME", "ReasoningOptionMetadata"),
    "charm.land/fantasy/providers/bedrock": 'const Name = "bedrock"',
    "charm.land/fantasy/providers/google": """
const Name = "google"
type ReasoningMetadata struct{ Signature, ToolID string }
""" + DATA.replace("NAME", "ReasoningMetadata"),
    "charm.land/fantasy/providers/openai": """
const Name = "openai"
type ProviderMetadata struct{}
func (ProviderMetadata) ExtraField(string, any) bool { return false }
type ResponsesReasoningMetadata struct{}
""" + DATA.replace("NAME", "ProviderMetadata") + DATA.replace("NAME", "ResponsesReasoningMetadata"),
    "charm.land/fantasy/providers/openrouter": """
const Name = "openrouter"
type ProviderMetadata struct{ Usage struct{ Cost float64 } }
""" + DATA.replace("NAME", "ProviderMetadata"),
    "charm.land/fantasy/providers/vercel": 'const Name = "vercel"',
    "charm.land/lipgloss/v2": """
type Style struct{}
func NewStyle() Style { return Style{} }
func (s Style) Foreground(any) Style { return s }
func (s Style) Underline(bool) Style { return s }
func (s Style) Hyperlink(...string) Style { return s }
func (s Style) Render(text ...string) string { return text[0] }
""",
    "github.com/charmbracelet/x/ansi": """
func Truncate(s string, _ int, _ string) string { return s }
func Strip(s string) string { return s }
""",
    "github.com/charmbracelet/x/exp/charmtone": "var Guac any",
    "github.com/charmbracelet/x/exp/slice": """
func Last[T any](all []T) (T, bool) {
	var none T
	if len(all) == 0 { return none, false }
	return all[len(all)-1], true
}
""",
    "github.com/go-viper/mapstructure/v2": """
type DecoderConfig struct { TagName string; Result any }
type Decoder struct{}
func NewDecoder(*DecoderConfig) (Decoder, error) { return Decoder{}, nil }
func (Decoder) Decode(any) error { return nil }
""",
    "github.com/kaptinlin/jsonschema": """
type (
	Compiler struct{}
	Validator struct{}
	Problem struct{ Message string }
	Result struct{ Errors map[string]Problem }
)
func NewCompiler() Compiler { return Compiler{} }
func (Compiler) Compile([]byte) (Validator, error) { return Validator{}, nil }
func (Validator) Validate(any) Result { return Result{} }
func (Result) IsValid() bool { return true }
""",
    "golang.org/x/net/http2": """
type (
	StreamError struct{ StreamID, Code uint32; Cause error }
	ConnectionError uint32
	GoAwayError struct{ LastStreamID, ErrCode uint32; DebugData string }
)
func (StreamError) Error() string { return "" }
func (ConnectionError) Error() string { return "" }
func (GoAwayError) Error() string { return "" }
""",
    f"{CRUSH}/agent/hyper": 'const Name = "hyper"\nfunc SetBalance(int) {}',
    f"{CRUSH}/agent/tools": """
type key string
const (
	SessionIDContextKey key = "session"
	MessageIDContextKey key = "message"
	SupportsImagesContextKey key = "images"
	ModelNameContextKey key = "model"
)
""",
    f"{CRUSH}/agent/tools/mcp": """
const StateConnected = 1
type result struct{ Instructions string }
type client struct{}
func (client) InitializeResult() result { return result{} }
type state struct { State int; Client client }
func GetStates() map[string]state { return nil }
""",
    f"{CRUSH}/config": "type SelectedModel struct { Provider, Model, ReasoningEffort string; Think bool }",
    f"{CRUSH}/event": "func PromptSent(...any) {}\nfunc PromptResponded(...any) {}\nfunc TokensUsed(...any) {}",
    f"{CRUSH}/stringext": """
func Capitalize(text string) string { return text }
func IsValidBase64(string) bool { return true }
""",
    f"{CRUSH}/version": 'const Version = "0"',
}

MESSAGES = """package message
import (
	"context"
	"fmt"
	"github.com/charmbracelet/crush/internal/pubsub"
)
type CreateMessageParams struct {
	Role MessageRole
	Parts []ContentPart
	Model, Provider string
	IsSummaryMessage bool
}
type Service interface {
	pubsub.Subscriber[Message]
	Create(context.Context, string, CreateMessageParams) (Message, error)
	Update(context.Context, Message) error
	List(context.Context, string) ([]Message, error)
	Delete(context.Context, string) error
	FlushAll(context.Context) error
}
type Store struct{ All []Message }
func (s *Store) Subscribe(context.Context) <-chan pubsub.Event[Message] { return nil }
func (s *Store) Create(_ context.Context, session string, p CreateMessageParams) (Message, error) {
	if p.Role != Assistant { p.Parts = append(p.Parts, Finish{Reason: "stop"}) }
	m := Message{ID: fmt.Sprint(len(s.All)), SessionID: session, Role: p.Role, Parts: p.Parts, IsSummaryMessage: p.IsSummaryMessage}
	s.All = append(s.All, m)
	return m, nil
}
func (s *Store) Update(_ context.Context, m Message) error {
	m.Parts = append([]ContentPart(nil), m.Parts...)
	for i := range s.All { if s.All[i].ID == m.ID { s.All[i] = m } }
	return nil
}
func (s *Store) List(context.Context, string) ([]Message, error) { return append([]Message(nil), s.All...), nil }
func (s *Store) Delete(context.Context, string) error { return nil }
func (s *Store) FlushAll(context.Context) error { return nil }
"""

SESSIONS = """package session
import "context"
type TodoStatus string
type Todo struct { Content string; Status TodoStatus; ActiveForm string }
type Session struct {
	ID, Title string
	PromptTokens, CompletionTokens int64
	EstimatedUsage bool
	SummaryMessageID string
	Cost float64
	Todos []Todo
}
type Service interface {
	Get(context.Context, string) (Session, error)
	Save(context.Context, Session) (Session, error)
	Rename(context.Context, string, string) error
	UpdateTitleAndUsage(context.Context, string, string, int64, int64, float64) error
}
type Store struct{ Now Session }
func (s *Store) Get(context.Context, string) (Session, error) { return s.Now, nil }
func (s *Store) Save(_ context.Context, now Session) (Session, error) { s.Now = now; return now, nil }
func (s *Store) Rename(context.Context, string, string) error { return nil }
func (s *Store) UpdateTitleAndUsage(context.Context, string, string, int64, int64, float64) error { return nil }
func HashID(id string) string { return id }
"""

# Reads a conversation. Writes what was sent for each call, the counts that were compared, and the summary requests.
MAIN = """package main
import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"strings"
	"charm.land/catwalk/pkg/catwalk"
	"charm.land/fantasy"
	"github.com/charmbracelet/crush/internal/agent"
	"github.com/charmbracelet/crush/internal/message"
	"github.com/charmbracelet/crush/internal/session"
)
type sent struct {
	Role string `json:"role"`
	Content any `json:"content"`
	Calls []any `json:"tool_calls,omitempty"`
	CallID string `json:"tool_call_id,omitempty"`
}
type recorded struct {
	Role, Content string
	Calls []struct {
		ID string
		Function struct{ Name, Arguments string }
	} `json:"tool_calls"`
	CallID string `json:"tool_call_id"`
}
type input struct {
	Messages []recorded
	Usage []struct{ Input, Output int64 }
	Window int64
	Off bool
	Summary string
	Fails map[int]bool
}
type asked struct { Messages []sent; Failed string }
type call struct { Sent []sent; Compared int64; Asked []asked }
type model struct {
	in input
	store *session.Store
	answers []recorded
	calls []call
	asked []asked
	nAsked int
	compared int64
}
func chat(prompt fantasy.Prompt) (all []sent) {
	for _, m := range prompt {
		now := sent{Role: string(m.Role)}
		text := ""
		for _, part := range m.Content {
			switch p := part.(type) {
			case fantasy.TextPart:
				text += p.Text
			case fantasy.ToolCallPart:
				function := map[string]any{"name": p.ToolName, "arguments": p.Input}
				now.Calls = append(now.Calls, map[string]any{"id": p.ToolCallID, "type": "function", "function": function})
			case fantasy.ToolResultPart:
				result := p.Output.(fantasy.ToolResultOutputContentText)
				all = append(all, sent{Role: "tool", CallID: p.ToolCallID, Content: result.Text})
			default:
				panic(part)
			}
		}
		// Providers of fantasy drop users' messages without content.
		if now.Role == "tool" || now.Role == "user" && text == "" { continue }
		if text != "" { now.Content = text }
		all = append(all, now)
	}
	return all
}
func (m *model) Provider() string { return "stub" }
func (m *model) Model() string { return "stub" }
func (m *model) Generate(context.Context, fantasy.Call) (*fantasy.Response, error) { return nil, errors.New("no") }
func (m *model) GenerateObject(context.Context, fantasy.ObjectCall) (*fantasy.ObjectResponse, error) { return nil, nil }
func (m *model) StreamObject(context.Context, fantasy.ObjectCall) (fantasy.ObjectStreamResponse, error) { return nil, nil }
func (m *model) Stream(_ context.Context, c fantasy.Call) (fantasy.StreamResponse, error) {
	messages := chat(c.Prompt)
	last, _ := messages[len(messages)-1].Content.(string)
	if strings.HasPrefix(last, "Provide a detailed summary of our conversation above.") {
		m.nAsked++
		m.compared = m.store.Now.PromptTokens + m.store.Now.CompletionTokens
		request := asked{Messages: messages}
		if m.in.Fails[m.nAsked] { request.Failed = "the stub refuses" }
		m.asked = append(m.asked, request)
		if request.Failed != "" { return nil, errors.New(request.Failed) }
		return stream(m.in.Summary, nil, 10, int64(len(m.in.Summary)/4)), nil
	}
	nth := len(m.calls)
	if len(m.asked) == 0 { m.compared = m.store.Now.PromptTokens + m.store.Now.CompletionTokens }
	m.calls = append(m.calls, call{messages, m.compared, m.asked})
	m.asked = nil
	usage := m.in.Usage[nth]
	return stream(m.answers[nth].Content, &m.answers[nth], usage.Input, usage.Output), nil
}
func stream(text string, answer *recorded, in, out int64) fantasy.StreamResponse {
	return func(yield func(fantasy.StreamPart) bool) {
		if text != "" {
			for _, part := range []fantasy.StreamPart{{Type: fantasy.StreamPartTypeTextStart, ID: "0"},
				{Type: fantasy.StreamPartTypeTextDelta, ID: "0", Delta: text}, {Type: fantasy.StreamPartTypeTextEnd, ID: "0"}} {
				if !yield(part) { return }
			}
		}
		reason := fantasy.FinishReasonStop
		if answer != nil {
			for _, c := range answer.Calls {
				reason = fantasy.FinishReasonToolCalls
				part := fantasy.StreamPart{Type: fantasy.StreamPartTypeToolCall, ID: c.ID, ToolCallName: c.Function.Name,
					ToolCallInput: c.Function.Arguments}
				if !yield(part) { return }
			}
		}
		yield(fantasy.StreamPart{Type: fantasy.StreamPartTypeFinish, FinishReason: reason,
			Usage: fantasy.Usage{InputTokens: in, OutputTokens: out, TotalTokens: in + out}})
	}
}
type title struct{ *model }
func (title) Stream(context.Context, fantasy.Call) (fantasy.StreamResponse, error) { return stream("Harbor", nil, 1, 1), nil }
type tool struct{ results map[string]string }
func (tool) Info() fantasy.ToolInfo { return fantasy.ToolInfo{Name: "read_file", Description: "Reads a file."} }
func (t tool) Run(_ context.Context, c fantasy.ToolCall) (fantasy.ToolResponse, error) {
	return fantasy.NewTextResponse(t.results[c.ID]), nil
}
func (tool) ProviderOptions() fantasy.ProviderOptions { return nil }
func (tool) SetProviderOptions(fantasy.ProviderOptions) {}
func main() {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	m := &model{store: &session.Store{Now: session.Session{ID: "s"}}}
	if err := json.NewDecoder(os.Stdin).Decode(&m.in); err != nil { panic(err) }
	results := tool{map[string]string{}}
	for _, message := range m.in.Messages {
		switch message.Role {
		case "assistant": m.answers = append(m.answers, message)
		case "tool": results.results[message.CallID] = message.Content
		}
	}
	known := catwalk.Model{ContextWindow: m.in.Window}
	a := agent.NewSessionAgent(agent.SessionAgentOptions{
		LargeModel: agent.Model{Model: m, CatwalkCfg: known}, SmallModel: agent.Model{Model: title{m}, CatwalkCfg: known},
		SystemPrompt: m.in.Messages[0].Content, DisableAutoSummarize: m.in.Off, Sessions: m.store, Messages: &message.Store{},
		Tools: []fantasy.AgentTool{results},
	})
	halt := ""
	for _, message := range m.in.Messages {
		if message.Role != "user" || halt != "" { continue }
		n := len(m.calls)
		_, err := a.Run(context.Background(), agent.SessionAgentCall{SessionID: "s", Prompt: message.Content})
		// After a failure within a turn, the rest of it is not played.
		if err != nil && len(m.calls) > n && len(m.answers[len(m.calls)-1].Calls) > 0 { halt = err.Error() }
	}
	out := map[string]any{"calls": m.calls, "asked": m.asked, "halt": halt, "compared": m.compared}
	if err := json.NewEncoder(os.Stdout).Encode(out); err != nil { panic(err) }
}
"""


def build(crush, fantasy, go, work):
    """Returns the path of the program."""
    source = Path(work, "src")
    for folder, names in COPIED.items():
        for name in names:
            target = Path(source, CRUSH, folder, name)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(Path(crush, "internal", folder, name), target)
    for file in Path(fantasy).glob("*.go"):
        if not file.name.endswith("_test.go"):
            target = Path(source, "charm.land/fantasy", file.name)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, target)
    shutil.copy(Path(fantasy, "version.txt"), Path(source, "charm.land/fantasy"))
    for name in ("jsonrepair", "schema"):
        shutil.copytree(Path(fantasy, name), Path(source, "charm.land/fantasy", name), ignore=shutil.ignore_patterns("*_test.go"))
    written = {f"{path}/types.go": package(path) + text for path, text in TYPES.items()}
    written |= {f"{CRUSH}/message/store.go": MESSAGES,
                f"{CRUSH}/session/session.go": SESSIONS, "github.com/charmbracelet/crush/cases/main.go": MAIN}
    for name, text in written.items():
        target = Path(source, name)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    program = Path(work, "cases")
    environment = {**os.environ, "GO111MODULE": "off", "GOPATH": str(work), "GOFLAGS": "", "GOTOOLCHAIN": "local"}
    subprocess.run([go, "build", "-o", program, "github.com/charmbracelet/crush/cases"], env=environment, check=True)
    return program


def package(path):
    name = path.removesuffix("/v2").rsplit("/", 1)[-1]
    return f"package {name}\n"


class Run:
    """A conversation played through the program."""

    def __init__(self, messages, usage):
        self.messages, self.usage = messages, usage
        self.answers = [i for i, m in enumerate(messages) if m["role"] == "assistant"]
        self.calls = []

    def origin(self, message):
        """Returns the recorded message that a message came from."""
        for at, recorded in enumerate(self.messages):
            if recorded["role"] != message["role"] or recorded.get("tool_call_id") != message.get("tool_call_id"):
                continue
            if recorded["content"] == message["content"] and recorded.get("tool_calls") == message.get("tool_calls"):
                return at
        return None

    def note(self, sent, compared, asked):
        """Adds an entry for a call."""
        asked = [{"messages": without_reminder(a["Messages"]), "max_tokens": None, "failed": a["Failed"] or None} for a in asked or []]
        fired = [f"failed: {a['failed']}" if a["failed"] else "summarize" for a in asked]
        sent = [{**message, "from": self.origin(message)} for message in without_reminder(sent)]
        self.calls.append({"before": self.answers[len(self.calls)], "sent": sent, "fired": fired,
                           "believed": compared or None, "asked": asked})


def without_reminder(messages):
    return [m for m in messages if not str(m["content"]).startswith("<system_reminder>")]


def case(program, name, conversation, notes, usage, window=100000, summary=SUMMARY, fails=(), off=False):
    """Returns a case. `usage` gives the reported tokens of each call."""
    messages = conversation.messages
    n_calls = sum(m["role"] == "assistant" for m in messages)
    usage = [{"input": usage(nth) - 20, "output": 20} for nth in range(n_calls)]
    given = {"Messages": [{**m, "content": m["content"] or ""} for m in messages], "Usage": usage, "Window": window, "Off": off,
             "Summary": summary, "Fails": {str(n): True for n in fails}}
    ran = subprocess.run([program], input=json.dumps(given), capture_output=True, text=True, check=True)
    made, run = json.loads(ran.stdout), Run(messages, usage)
    for call in made["calls"]:
        run.note(call["Sent"], call["Compared"], call["Asked"])
    if made["halt"]:
        notes += " The last entry shows the history of a call that was not made."
        run.note([messages[0], *made["asked"][-1]["Messages"][1:-1]], made["compared"], made["asked"])
    return name, {
        "system": "crush",
        "preset": "crush",
        "upstream": {"repo": "charmbracelet/crush", "commit": "37f36e93", "functions": ["sessionAgent.Run", "sessionAgent.Summarize"]},
        "config": {"disable_auto_summarize": off},
        "window": window,
        "max_output": 1024,
        "input": {"messages": messages, "usage": usage},
        "summary": summary,
        "calls": run.calls,
        "notes": f"{notes} The reminder to use a todo list is left out.",
    } | ({"halt": made["halt"]} if made["halt"] else {})


def at(high, *calls, low=9000):
    """Returns usage that is high at some calls."""
    return lambda nth: high if nth in calls else low + 10 * nth


def chosen(program):
    """Makes the cases that are bundled."""
    def made(name, seed, turns, notes, usage, options=None, **more):
        return case(program, name, Conversation(random.Random(seed), turns, **more), notes, usage, **(options or {}))

    long = {"output": (200, 900)}
    yield made("chat", 1, 9, "A chat without tools.", at(81000, 3, 6), steps=0)
    yield made("run", 2, 1, "Summarized within a turn, twice.", at(85000, 3, 6), steps=(9,), parallel=3, **long)
    yield made("turns", 3, 6, "Turns with tools.", lambda nth: 20000 + nth % 7 * 12000, steps=3, parallel=2, **long)
    yield made("below", 4, 4, "Never reaches the trigger.", at(79999, 2, 3, 5), steps=2)
    yield made("at-the-limit", 5, 6, "Right below and at the trigger.", lambda nth: 79998 + nth, steps=1)
    yield made("again", 6, 5, "Summarized again soon.", at(95000, 2, 3, 4, 7, 9, 10), steps=(3,))
    yield made("large-window", 7, 6, "20,000 tokens are left free.", at(280000, 3, 6), {"window": 300000}, steps=2, **long)
    yield made("large-window-below", 8, 6, "More than 20,000 tokens are left.", at(279999, 3, 6), {"window": 300000}, steps=2)
    yield made("off", 9, 5, "Summaries are off.", at(95000, 2, 4), {"off": True}, steps=2)
    yield made("no-window", 10, 5, "An unknown window.", at(95000, 2, 4), {"window": 0}, steps=2)
    yield made("refused", 11, 7, "The first requests are refused, after turns.", at(90000, 1, 2, 3), {"fails": (1, 2)}, steps=0)
    yield made("refused-within", 12, 4, "A request is refused within a turn.", at(90000, 4), {"fails": (1,)}, steps=(3,))
    yield made("no-summary", 13, 5, "Empty summaries.", at(90000, 2, 6), {"summary": ""}, steps=(2,))


def any_of(program, seed):
    """Makes a random case."""
    rng = random.Random(seed)
    conversation = Conversation(rng, rng.randint(1, 8), steps=rng.randint(0, 6), parallel=rng.randint(1, 4), output=(20, 900),
                                silent=rng.choice([0, 0.5, 1]))
    totals = [rng.choice([9000, 60000, 79999, 80000, 95000]) for _ in conversation.messages]
    return case(program, f"random-{seed:04}", conversation, "Random.", lambda nth: totals[nth], rng.choice([100000, 300000, 30000]),
                rng.choice([SUMMARY, "∅", ""]), rng.choice([(), (), (1,), (2, 3)]))


def main():
    crush, fantasy, go, folder = sys.argv[1], sys.argv[2], sys.argv[3], Path(sys.argv[4])
    folder.mkdir(parents=True, exist_ok=True)
    n_random = int(sys.argv[5]) if len(sys.argv) > 5 else None
    work = Path(tempfile.mkdtemp())
    program = build(crush, fantasy, go, work)
    cases = chosen(program) if n_random is None else (any_of(program, seed) for seed in range(n_random))
    for name, made in cases:
        (folder / f"{name}.json").write_text(json.dumps(made, ensure_ascii=False) + "\n", encoding="utf-8")
    shutil.rmtree(work)


main()
