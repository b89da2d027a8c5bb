"""Generates replay cases of Microsoft Agent Framework (agent-framework-core 1.23.0).

Usage: agent-framework.py FOLDER             writes the chosen cases, such as those with the framework's defaults
       agent-framework.py FOLDER N [SEED]    writes N cases with invented conversations
       agent-framework.py --check FILE…      runs the input of cases and compares the calls

Runs a real `Agent` whose client returns the recorded answers and whose tools return the recorded results.
"""

import asyncio
import json
import logging
import random
import sys
from pathlib import Path

from agent_framework import (
    Agent,
    BaseChatClient,
    ChatMiddlewareLayer,
    ChatResponse,
    Content,
    FunctionInvocationLayer,
    FunctionTool,
    InMemoryHistoryProvider,
    Message,
    create_harness_agent,
)
from agent_framework import _compaction as compaction

START = int(sys.argv[3]) if len(sys.argv) == 4 and sys.argv[3].isdigit() else 0
SUMMARY = "SUMMARY OF EARLIER WORK: the ledger imports disputes; tests pass except two."
STRATEGIES = {
    "truncation": compaction.TruncationStrategy,
    "sliding_window": compaction.SlidingWindowStrategy,
    "selective_tool_call": compaction.SelectiveToolCallCompactionStrategy,
    "tool_result": compaction.ToolResultCompactionStrategy,
    "summarization": compaction.SummarizationStrategy,
    "token_budget": compaction.TokenBudgetComposedStrategy,
    "window": compaction.ContextWindowCompactionStrategy,
}


class Recorder:
    """Records what happens before each call."""

    def __init__(self):
        self.fired, self.believed, self.asked, self.calls, self.depth, self.phase = [], None, [], [], 0, ""
        self.refusals = iter(())


FAILED = "failed: Skipping summarization compaction: summary generation failed (the stub refuses)."
recorder = Recorder()


def count(strategy, messages):
    """Returns what the outermost strategy counts."""
    included = compaction.included_messages(messages)
    if isinstance(strategy, compaction.SummarizationStrategy):
        return sum(message.role != "system" for message in included)
    if isinstance(strategy, compaction.TruncationStrategy) and strategy.tokenizer is None:
        return len(included)
    counts = (compaction.TruncationStrategy, compaction.TokenBudgetComposedStrategy, compaction.ContextWindowCompactionStrategy)
    return compaction.included_token_count(messages) if isinstance(strategy, counts) else None


def instrument(cls):
    """Makes a strategy record when it acts."""
    original = cls.__call__

    async def call(self, messages):
        if recorder.depth == 0 and not recorder.phase:
            tokenizer = getattr(self, "tokenizer", None)
            if tokenizer is not None:
                compaction.annotate_message_groups(messages)
                compaction.annotate_token_counts(messages, tokenizer=tokenizer)
            recorder.believed = count(self, messages)
        recorder.depth += 1
        try:
            changed = await original(self, messages)
        finally:
            recorder.depth -= 1
        if changed:
            prefix = recorder.phase if recorder.depth == 0 else ""
            recorder.fired.append(prefix + cls.__name__)
        return changed

    cls.__call__ = call


for strategy_class in STRATEGIES.values():
    instrument(strategy_class)

run_strategy = compaction._run_compaction_strategy


async def with_phase(messages, *, phase, **rest):
    recorder.phase = "" if phase == "in_run" else f"{phase}:"
    try:
        return await run_strategy(messages, phase=phase, **rest)
    finally:
        recorder.phase = ""


compaction._run_compaction_strategy = with_phase


class Summarizer(BaseChatClient):
    """Records summary requests."""

    async def _answer(self, messages):
        asked = [{"role": str(m.role), "content": m.text} for m in messages]
        recorder.asked.append({"messages": asked, "max_tokens": None})
        if not recorder.fired and next(recorder.refusals, False):
            recorder.fired.append(FAILED)
            raise RuntimeError("the stub refuses")
        return ChatResponse(messages=[Message("assistant", [SUMMARY])])

    def _inner_get_response(self, *, messages, stream, options, **rest):
        return self._answer(messages)


class Recorded(FunctionInvocationLayer, ChatMiddlewareLayer, BaseChatClient):
    """Returns the recorded answers."""

    def __init__(self, answers):
        super().__init__()
        self.answers = iter(answers)

    async def _answer(self, messages, options):
        system = options.get("instructions")
        recorder.calls.append({
            "sent": ([{"role": "system", "content": system}] if system else []) + openai(messages),
            "fired": recorder.fired,
            "believed": recorder.believed,
            "asked": recorder.asked,
        })
        recorder.fired, recorder.believed, recorder.asked = [], None, []
        answer = next(self.answers)
        contents = [Content.from_text(answer["content"])] if answer.get("content") else []
        for call in answer.get("tool_calls", []):
            function = call["function"]
            contents.append(Content.from_function_call(
                call_id=call["id"], name=function["name"], arguments=function["arguments"]))
        return ChatResponse(messages=[Message("assistant", contents)])

    def _inner_get_response(self, *, messages, stream, options, **rest):
        return self._answer(messages, options)


def openai(messages):
    """Converts messages to the form of cases."""
    sent = []
    for message in messages:
        if message.role == "tool":
            for item in message.contents:
                sent.append({"role": "tool", "tool_call_id": item.call_id, "content": item.result})
            continue
        calls = [
            {"id": c.call_id, "type": "function", "function": {"name": c.name, "arguments": c.arguments}}
            for c in message.contents if c.type == "function_call"
        ]
        one = {"role": str(message.role), "content": message.text or ("" if not calls else None)}
        sent.append({**one, **({"tool_calls": calls} if calls else {})})
    return sent


def strategy(given):
    """Makes a strategy of `[name, arguments]`."""
    if given is None:
        return None
    name, arguments = given[0], dict(given[1])
    if arguments.pop("tokens", name == "token_budget"):
        arguments["tokenizer"] = compaction.CharacterEstimatorTokenizer()
    if name == "summarization":
        arguments["client"] = Summarizer()
    if name == "token_budget":
        arguments["strategies"] = [strategy(inner) for inner in arguments["strategies"]]
    return STRATEGIES[name](**arguments)


def harness(given):
    """Returns the arguments of the harness. It takes the sizes of the model; other arguments are those of its strategy,
    which is then given to it for both phases, as it gives its default."""
    sizes = {key: given[key] for key in ["max_context_window_tokens", "max_output_tokens"]}
    if given == sizes:
        return sizes
    own = compaction.ContextWindowCompactionStrategy(**given)
    return {**sizes, "before_compaction_strategy": own, "after_compaction_strategy": own}


def agent(config, client, tools, instructions):
    """Makes the agent of a configuration."""
    if "harness" in config:
        off = ["todo", "mode", "file_memory", "web_search", "tool_auto_approval"]
        return create_harness_agent(client, **harness(config["harness"]), agent_instructions=instructions, tools=tools,
                                    harness_instructions="", **{f"disable_{name}": True for name in off})
    providers = None
    if "before_strategy" in config or "after_strategy" in config:
        history = InMemoryHistoryProvider(skip_excluded=config.get("skip_excluded", False))
        providers = [history, compaction.CompactionProvider(
            before_strategy=strategy(config.get("before_strategy")),
            after_strategy=strategy(config.get("after_strategy")), history_source_id=history.source_id)]
    return Agent(client, instructions, tools=tools, context_providers=providers,
                 compaction_strategy=strategy(config.get("compaction_strategy")))


async def play(config, messages, refusals=()):
    """Runs a conversation and returns its calls."""
    global recorder
    recorder = Recorder()
    recorder.refusals = iter(refusals)
    system = messages[0]["content"] if messages[0]["role"] == "system" else None
    answers = [m for m in messages if m["role"] == "assistant"]
    results = {m["tool_call_id"]: m["content"] for m in messages if m["role"] == "tool"}
    names = {c["function"]["name"] for m in answers for c in m.get("tool_calls", [])}
    order = iter([c["id"] for m in answers for c in m.get("tool_calls", [])])

    def tool(name):
        def run(**_):
            return results[next(order)]
        return FunctionTool(name=name, description=name, func=run, input_model={
            "type": "object", "properties": {}, "additionalProperties": True})

    worker = agent(config, Recorded(answers), [tool(name) for name in sorted(names)], system)
    session = worker.create_session()
    at = 0
    while at < len(messages):
        given = []
        while at < len(messages) and messages[at]["role"] not in ("assistant", "tool"):
            if messages[at]["role"] == "user":
                given.append(Message("user", [messages[at]["content"]]))
            at += 1
        while at < len(messages) and messages[at]["role"] in ("assistant", "tool"):
            at += 1
        await worker.run(given, session=session)
    return recorder.calls


def with_origins(calls, messages):
    """Adds the index of the recorded message that each sent message came from."""
    befores = [n for n, m in enumerate(messages) if m["role"] == "assistant"]

    def key(m):
        calls = [(c["id"], c["function"]["name"]) for c in m.get("tool_calls", [])]
        return json.dumps([m["role"], m["content"] or "", m.get("tool_call_id"), calls])

    for call, before in zip(calls, befores):
        call["before"] = before
        end = before
        for sent in reversed(call["sent"]):
            found = [n for n in range(end) if key(messages[n]) == key(sent)]
            sent["from"] = found[-1] if found else None
            end = found[-1] if found else end
    return calls


WORDS = "ledger cursor batch refund receipt window journal dispute payout entry transfer account".split()
ODD = ["größe", "naïve", "日本語", "🙂", "a\"b", "tab\there", "back\\slash"]


def text(rng, low, high):
    size, words = rng.randint(low, high), []
    while sum(map(len, words)) < size:
        words.append(rng.choice(ODD) if rng.random() < 0.06 else rng.choice(WORDS))
    return rng.choice([" ", " ", "\n"]).join(words)


def conversation(rng, n_turns, has_tools, has_system):
    messages = [{"role": "system", "content": text(rng, 30, 120)}] if has_system else []
    number = 0
    for _ in range(n_turns):
        for _ in range(2 if rng.random() < 0.08 else 1):
            messages.append({"role": "user", "content": text(rng, 10, 300)})
        for _ in range(rng.randint(0, 6) if has_tools else 0):
            calls = []
            for _ in range(rng.choice([1, 1, 1, 2, 3])):
                number += 1
                arguments = {"path": text(rng, 3, 20), "n": rng.randint(0, 99)}
                calls.append({"id": f"call_{number:03}", "type": "function", "function": {
                    "name": rng.choice(["read_log", "run_shell", "load_sheet"]),
                    "arguments": json.dumps(arguments, ensure_ascii=rng.random() < 0.5)}})
            content = text(rng, 5, 120) if rng.random() < 0.7 else None
            messages.append({"role": "assistant", "content": content, "tool_calls": calls})
            for call in calls:
                size = rng.choice([0, 200, 200, 600, 600, 5000 if rng.random() < 0.2 else 300])
                content = text(rng, size // 2, size) if size else ""
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": content})
        messages.append({"role": "assistant", "content": text(rng, 20, 300)})
    return messages


def configuration(rng):
    """Returns a random configuration."""
    def window():
        limit = rng.choice([1500, 2500, 4000])
        given = {"max_context_window_tokens": limit, "max_output_tokens": limit // rng.randint(4, 8)}
        if rng.random() < 0.5:
            given["keep_last_tool_call_groups"] = rng.randint(0, 3)
        if rng.random() < 0.4:
            given["tool_eviction_threshold"], given["truncation_threshold"] = rng.choice([(0.3, 0.6), (0.5, 0.5), (0.7, 1.0)])
        return ["window", {**given, "preserve_first_user_group": rng.random() < 0.4}]

    def truncation():
        rest = {"preserve_first_user_group": True} if rng.random() < 0.4 else {}
        if rng.random() < 0.5:
            most = rng.randint(5, 14)
            return ["truncation", {"max_n": most, "compact_to": rng.randint(2, most), **rest}]
        most = rng.randint(500, 2500)
        return ["truncation", {"max_n": most, "compact_to": rng.randint(200, most), "tokens": True, **rest}]

    def summarization():
        if rng.random() < 0.2:
            return ["summarization", {}]
        most = rng.choice([300, 600, 1500, 8000])
        return ["summarization", {"target_count": rng.randint(1, 7), "threshold": rng.randint(0, 5), "max_summary_input_tokens": most}]

    def simple():
        return rng.choice([
            ["sliding_window", {"keep_last_groups": rng.randint(1, 8)}],
            ["selective_tool_call", {"keep_last_tool_call_groups": rng.randint(0, 3)}],
            ["tool_result", {"keep_last_tool_call_groups": rng.randint(0, 3)}],
        ])

    def budget():
        inner = rng.sample([truncation(), summarization(), simple(), ["tool_result", {}]], rng.randint(1, 3))
        return ["token_budget", {"token_budget": rng.randint(500, 2500), "strategies": inner, "early_stop": rng.random() < 0.7}]

    made = rng.choice([window, window, truncation, summarization, simple, budget])()
    kind = rng.random()
    if kind < 0.25:
        limit = rng.choice([1500, 2500, 4000])
        return {"harness": {"max_context_window_tokens": limit, "max_output_tokens": limit // 5}, "believed_unit": "tokens"}
    if kind < 0.4:
        given = {"before_strategy": made, "after_strategy": simple(), "skip_excluded": rng.random() < 0.5}
        return {key: value for key, value in given.items() if rng.random() < 0.8} | {"after_strategy": given["after_strategy"]}
    return {"compaction_strategy": made}


def case(config, messages, calls, notes):
    given = config.get("compaction_strategy", ["", {}])[1] | config.get("harness", {})
    return {
        "system": "agent-framework", "preset": "agent-framework",
        "upstream": {"package": "agent-framework-core", "version": "1.23.0", "functions": ["Agent.run", "apply_compaction"]},
        "config": config, "window": given.get("max_context_window_tokens", 4000), "max_output": 1024,
        "input": {"messages": messages, "usage": [None] * sum(m["role"] == "assistant" for m in messages)},
        "summary": SUMMARY, "calls": with_origins(calls, messages), "notes": notes,
    }


def chosen():
    """Makes the cases with the framework's defaults: the harness, which has to be given the sizes of the model, and an
    agent without it, which has no strategy. Also a harness whose strategy keeps no tool group, not even the one whose
    results are the input of a call."""
    sizes = {"max_context_window_tokens": 20000, "max_output_tokens": 16384}
    small = {"max_context_window_tokens": 2000, "max_output_tokens": 400}
    for name, seed, n_turns, config, notes in [
        ("defaults", 4, 5, {"harness": sizes, "believed_unit": "tokens"}, "The harness with its defaults."),
        ("defaults-agent", 2, 3, {}, "An agent with its defaults: nothing is compacted."),
        ("harness-no-tool-groups", 79, 2, {"harness": {**small, "keep_last_tool_call_groups": 0}, "believed_unit": "tokens"},
         "The harness with a strategy of its own for both phases. The results of a call are only excluded in that call."),
    ]:
        messages = conversation(random.Random(seed), n_turns, True, True)
        yield name, case(config, messages, asyncio.run(play(config, messages)), notes)


def write(folder, name, made):
    (folder / f"{name}.json").write_text(json.dumps(made, ensure_ascii=False, indent=1) + "\n")


def main():
    logging.disable(logging.CRITICAL)
    if sys.argv[1] == "--check":
        for file in sys.argv[2:]:
            known = json.loads(Path(file).read_text())
            calls = with_origins(asyncio.run(play(known["config"], known["input"]["messages"])), known["input"]["messages"])
            for nth, (ours, theirs) in enumerate(zip(calls, known["calls"])):
                for key in ["fired", "believed", "asked", "sent"]:
                    if ours[key] != theirs[key]:
                        print(file, "call", nth + 1, key, str(ours[key])[:300], "|", str(theirs[key])[:300])
                        break
                else:
                    continue
                break
            else:
                print(file, "equal", len(calls), len(known["calls"]))
        return
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    if len(sys.argv) == 2:
        for name, made in chosen():
            write(folder, name, made)
        return
    n = int(sys.argv[2])
    for seed in range(START, START + n):
        rng = random.Random(seed)
        config = configuration(rng)
        messages = conversation(rng, rng.randint(1, 7), rng.random() < 0.85, rng.random() < 0.7)
        refusals = [rng.random() < 0.3 for _ in range(99)] if rng.random() < 0.3 else []
        calls = asyncio.run(play(config, messages, refusals))
        notes = "Invented conversation of the generator, seed %d." % seed
        made = case(config, messages, calls, notes)
        name = next(iter(config)).replace("_", "-") + f"-{seed}"
        write(folder, name, made)


if __name__ == "__main__":
    main()
