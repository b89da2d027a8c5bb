"""Generates replay cases of Google ADK (google-adk 2.13.0).

Usage: adk.py FOLDER             writes the case with ADK's defaults
       adk.py FOLDER N [SEED]    writes N cases with invented conversations
       adk.py --check FILE…      runs the input of cases and compares the calls

Runs a real `Runner` whose model returns the recorded answers and whose tools return the recorded results.
"""

import asyncio
import itertools
import json
import logging
import random
import sys
import warnings
from contextlib import aclosing
from pathlib import Path

warnings.simplefilter("ignore")

from google.adk.agents import LlmAgent
from google.adk.apps import App, compaction
from google.adk.apps.app import EventsCompactionConfig
from google.adk.flows.llm_flows.context import _compaction as before_call
from google.adk.models import BaseLlm, LlmResponse
from google.adk.platform import time as clock
from google.adk.plugins.context_filter_plugin import ContextFilterPlugin
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.adk.tools import BaseTool
from google.genai import types

START = int(sys.argv[3]) if len(sys.argv) == 4 and sys.argv[3].isdigit() else 0
SUMMARY = "SUMMARY OF EARLIER WORK: the ledger imports disputes; tests pass except two."
IDENTITY = '\n\nYou are an agent. Your internal name is "worker".'


class Recorder:
    """Records what happens before each call."""

    def __init__(self):
        self.fired, self.believed, self.asked, self.calls = [], None, [], []
        self.refusals = iter(())


FAILED = "failed: Event compaction failed; continuing with the uncompacted history."
recorder = Recorder()
ticks = itertools.count(1_700_000_000)
clock.set_time_provider(lambda: float(next(ticks)))

latest = compaction._latest_prompt_token_count


def latest_count(events, *, agent_name="", **rest):
    count = latest(events, agent_name=agent_name, **rest)
    if agent_name:
        recorder.believed = count
    return count


compaction._latest_prompt_token_count = latest_count
summarize = compaction._summarize_events_with_trace
by_tokens = compaction._run_compaction_for_token_threshold_config
is_before_call = False


async def with_name(*, trigger, **rest):
    event = await summarize(trigger=trigger, **rest)
    if event is None:
        recorder.fired.append(FAILED)
    else:
        recorder.fired.append(f"{trigger} ({'before the call' if is_before_call else 'after the turn'})")
    return event


async def noted_before_call(**rest):
    global is_before_call
    is_before_call = True
    try:
        return await by_tokens(**rest)
    finally:
        is_before_call = False


compaction._summarize_events_with_trace = with_name
before_call._run_compaction_for_token_threshold_config = noted_before_call


class Filter(ContextFilterPlugin):
    """Records when the filter removes contents."""

    async def before_model_callback(self, *, callback_context, llm_request):
        before = len(llm_request.contents)
        await super().before_model_callback(callback_context=callback_context, llm_request=llm_request)
        if len(llm_request.contents) != before:
            recorder.fired.append("ContextFilterPlugin")


class Recorded(BaseLlm):
    """Returns the recorded answers, and a fixed text for summaries."""

    answers: list = []
    usage: list = []

    async def generate_content_async(self, llm_request, stream=False):
        if not llm_request.config.system_instruction:
            recorder.asked.append({"messages": openai(llm_request.contents), "max_tokens": None})
            if not recorder.fired and next(recorder.refusals, False):
                raise RuntimeError("the stub refuses")
            yield LlmResponse(content=types.Content(role="model", parts=[types.Part(text=SUMMARY)]))
            return
        system = {"role": "system", "content": llm_request.config.system_instruction}
        recorder.calls.append({"sent": [system, *openai(llm_request.contents)], "fired": recorder.fired,
                               "believed": recorder.believed, "asked": recorder.asked})
        recorder.fired, recorder.believed, recorder.asked = [], None, []
        answer, usage = self.answers.pop(0), self.usage.pop(0)
        if usage == "count":
            sent = sum(len(json.dumps(m, ensure_ascii=False)) for m in recorder.calls[-1]["sent"])
            usage = {"input": sent // 4, "output": len(json.dumps(answer)) // 4}
            recorder.calls[-1]["usage"] = usage
        parts = [types.Part(text=answer["content"])] if answer.get("content") else []
        for call in answer.get("tool_calls", []):
            function = call["function"]
            parts.append(types.Part(function_call=types.FunctionCall(
                id=call["id"], name=function["name"], args=json.loads(function["arguments"]))))
        counts = usage and types.GenerateContentResponseUsageMetadata(
            prompt_token_count=usage["input"], candidates_token_count=usage["output"])
        yield LlmResponse(content=types.Content(role="model", parts=parts), usage_metadata=counts)


def openai(contents):
    """Converts contents to the form of cases."""
    sent = []
    for content in contents:
        texts = [part.text for part in content.parts or [] if part.text is not None]
        calls = [part.function_call for part in content.parts or [] if part.function_call]
        for part in content.parts or []:
            if part.function_response:
                response = part.function_response
                sent.append({"role": "tool", "tool_call_id": response.id, "content": response.response["result"]})
        if not texts and not calls:
            continue
        role = "assistant" if content.role == "model" else "user"
        text = "\n".join(texts) if texts else (None if calls else "")
        one = {"role": role, "content": text}
        listed = [{"id": call.id, "type": "function", "function": {
            "name": call.name, "arguments": json.dumps(call.args, ensure_ascii=False)}} for call in calls]
        sent.append({**one, **({"tool_calls": listed} if listed else {})})
    return sent


async def play(config, messages, usage, refusals=()):
    """Runs a conversation and returns its calls. A turn without a final answer is aborted."""
    global recorder
    recorder = Recorder()
    recorder.refusals = iter(refusals)
    answers = [m for m in messages if m["role"] == "assistant"]
    results = {m["tool_call_id"]: m["content"] for m in messages if m["role"] == "tool"}
    names = {c["function"]["name"] for m in answers for c in m.get("tool_calls", [])}

    class Tool(BaseTool):
        def _get_declaration(self):
            return types.FunctionDeclaration(name=self.name, description=self.name)

        async def run_async(self, *, args, tool_context):
            return results[tool_context.function_call_id]

    tools = [Tool(name=name, description=name) for name in sorted(names)]
    model = Recorded(model="recorded", answers=list(answers), usage=list(usage))
    instruction = "\n\n" + messages[0]["content"]
    instruction = instruction.removesuffix(IDENTITY).removeprefix("\n\n")
    agent = LlmAgent(name="worker", model=model, instruction=instruction, tools=tools)
    names = ["token_threshold", "event_retention_size", "compaction_interval", "overlap_size"]
    given = {name: config.get(name) for name in names if config.get(name) is not None}
    plugins = [Filter(**config["ContextFilterPlugin"])] if config.get("ContextFilterPlugin") else []
    app = App(name="case", root_agent=agent, plugins=plugins,
              events_compaction_config=EventsCompactionConfig(**given) if given else None)
    sessions = InMemorySessionService()
    session = await sessions.create_session(app_name="case", user_id="user")
    runner = Runner(app=app, session_service=sessions)
    for at, message in enumerate(messages):
        if message["role"] != "user":
            continue
        turn = list(itertools.takewhile(lambda m: m["role"] != "user", messages[at + 1:]))
        is_whole = bool(turn) and turn[-1]["role"] == "assistant" and not turn[-1].get("tool_calls")
        groups = [role for role, _ in itertools.groupby(turn, key=lambda m: m["role"])]
        content = types.Content(role="user", parts=[types.Part(text=message["content"])])
        run = runner.run_async(user_id="user", session_id=session.id, new_message=content)
        async with aclosing(run) as events:
            n_events = 0
            async for _ in events:
                n_events += 1
                if not is_whole and n_events == len(groups):
                    break
    return recorder.calls


def with_origins(calls, messages):
    """Adds the index of the recorded message that each sent message came from."""
    befores = [n for n, m in enumerate(messages) if m["role"] == "assistant"]

    def key(m):
        return json.dumps([m["role"], m["content"] or "", m.get("tool_call_id")])

    def is_origin(m, sent):
        ids, of_sent = ([c["id"] for c in one.get("tool_calls", [])] for one in [m, sent])
        return key(m) == key(sent) and set(of_sent) <= set(ids) and (
            m["role"] != "assistant" or bool(m["content"] or of_sent))

    for call, before in zip(calls, befores):
        call["before"] = before
        end = before
        for sent in reversed(call["sent"]):
            found = [n for n in range(end) if is_origin(messages[n], sent)]
            sent["from"] = found[-1] if found else None
            end = found[-1] if found else end
    return calls


WORDS = "ledger cursor batch refund receipt window journal dispute payout entry transfer account".split()
ODD = ["größe", "naïve", "日本語", "🙂", "a\"b", "it's", "tab\there", "back\\slash"]


def text(rng, low, high):
    size, words = rng.randint(low, high), []
    while sum(map(len, words)) < size:
        words.append(rng.choice(ODD) if rng.random() < 0.06 else rng.choice(WORDS))
    return rng.choice([" ", " ", "\n"]).join(words)


def conversation(rng, n_turns, has_tools, aborts):
    messages = [{"role": "system", "content": text(rng, 30, 120) + IDENTITY}]
    number = 0
    for _ in range(n_turns):
        messages.append({"role": "user", "content": text(rng, 10, 300)})
        n_steps = rng.randint(0, 6) if has_tools else 0
        is_aborted = n_steps > 0 and rng.random() < aborts
        for step in range(n_steps):
            calls = []
            for _ in range(rng.choice([1, 1, 1, 2, 3])):
                number += 1
                arguments = {"path": text(rng, 3, 20), "n": rng.randint(0, 99), "all": rng.random() < 0.5}
                arguments = rng.choice([arguments, arguments, {}, {"share": 0.25, "list": [1, None, "it's"]}])
                calls.append({"id": f"call_{number:03}", "type": "function", "function": {
                    "name": rng.choice(["read_log", "run_shell", "load_sheet"]),
                    "arguments": json.dumps(arguments, ensure_ascii=False)}})
            content = text(rng, 5, 120) if rng.random() < 0.7 else None
            messages.append({"role": "assistant", "content": content, "tool_calls": calls})
            if is_aborted and step == n_steps - 1 and rng.random() < 0.7:
                break
            for call in calls:
                size = rng.choice([0, 200, 200, 600, 600, 3000 if rng.random() < 0.2 else 300])
                content = text(rng, size // 2, size) if size else ""
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": content})
        if not is_aborted:
            messages.append({"role": "assistant", "content": text(rng, 20, 300)})
    return messages


def configuration(rng):
    """Returns a random configuration."""
    config = dict.fromkeys(["token_threshold", "event_retention_size", "compaction_interval", "overlap_size"])
    kind = rng.random()
    if kind < 0.15:
        keep = {"num_invocations_to_keep": rng.randint(1, 4)}
        if rng.random() < 0.6:
            keep["remove_amount"] = rng.randint(1, 3)
        config["ContextFilterPlugin"] = keep
    if kind < 0.1:
        return config
    if kind < 0.65:
        config["token_threshold"] = rng.choice([20, 300, 500, 900, 1500])
        config["event_retention_size"] = rng.choice([0, 1, 2, 3, 4, 6, 10])
    if kind < 0.12 or kind > 0.5:
        config["compaction_interval"] = rng.randint(1, 4)
        config["overlap_size"] = rng.randint(0, 3)
    return config


def case(config, messages, usage, calls, notes):
    """Makes a case of a conversation and its calls."""
    return {
        "system": "adk", "preset": "adk",
        "upstream": {"package": "google-adk", "version": "2.13.0", "functions": ["Runner.run_async"]},
        "config": config, "window": 9000, "max_output": 1024,
        "input": {"messages": messages, "usage": usage}, "summary": SUMMARY,
        "calls": with_origins(calls, messages), "notes": notes,
    }


def chosen():
    """Makes the case with ADK's defaults: an `App` that was given no configuration of compaction and no plugin."""
    rng = random.Random(2)
    config = dict.fromkeys(["token_threshold", "event_retention_size", "compaction_interval", "overlap_size"])
    messages = conversation(rng, 4, True, 0)
    usage = ["count" for m in messages if m["role"] == "assistant"]
    calls = asyncio.run(play(config, messages, usage))
    usage = [call.pop("usage", None) for call in calls]
    yield "defaults", case(config, messages, usage, calls, "ADK's defaults: nothing is compacted.")


def write(folder, name, made):
    (folder / f"{name}.json").write_text(json.dumps(made, ensure_ascii=False, indent=1) + "\n")


def main():
    logging.disable(logging.CRITICAL)
    if sys.argv[1] == "--check":
        for file in sys.argv[2:]:
            known = json.loads(Path(file).read_text())
            messages = known["input"]["messages"]
            calls = with_origins(asyncio.run(play(known["config"], messages, known["input"]["usage"])), messages)
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
        messages = conversation(rng, rng.randint(1, 8), rng.random() < 0.8, rng.choice([0, 0, 0.3]))
        kind = rng.choice(["count", "count", "none", "some"])
        answers = [m for m in messages if m["role"] == "assistant"]
        usage = ["count" if kind == "count" or (kind == "some" and rng.random() < 0.4) else None for _ in answers]
        refusals = [rng.random() < 0.3 for _ in range(99)] if rng.random() < 0.3 else []
        calls = asyncio.run(play(config, messages, usage, refusals))
        usage = [call.pop("usage", None) for call in calls]
        made = case(config, messages, usage, calls, "Invented conversation of the generator, seed %d." % seed)
        name = "-".join(key.split("_")[0].lower() for key, value in config.items() if value) + f"-{seed}"
        write(folder, name, made)


if __name__ == "__main__":
    main()
