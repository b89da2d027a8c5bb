"""Generates replay cases of the OpenHands software agent SDK (openhands-sdk 1.58.2).

Usage: openhands-sdk.py FOLDER             writes the case with the SDK's defaults
       openhands-sdk.py FOLDER N [SEED]    writes N cases with invented conversations

Runs `prepare_llm_messages` with an `LLMSummarizingCondenser` over the events of a recorded conversation, as
`Agent.step` does. A stub answers the requests of the condenser; litellm counts the tokens.
"""

import json
import logging
import os
import random
import sys
from pathlib import Path

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
os.environ["OPENHANDS_SUPPRESS_BANNER"] = "1"
os.environ["ALLOW_SHORT_CONTEXT_WINDOWS"] = "true"

from openhands.sdk import LLM
from openhands.sdk.agent.utils import prepare_llm_messages
from openhands.sdk.context.condenser import LLMSummarizingCondenser
from openhands.sdk.context.condenser import llm_summarizing_condenser as condenser_module
from openhands.sdk.context.condenser.base import NoCondensationAvailableException
from openhands.sdk.context.view import View
from openhands.sdk.event import ActionEvent, Condensation, CondensationRequest, LLMConvertibleEvent, MessageEvent
from openhands.sdk.event import ObservationEvent, SystemPromptEvent
from openhands.sdk.llm import Message, MessageToolCall, TextContent
from openhands.sdk.mcp.definition import MCPToolAction
from openhands.sdk.tool.builtins.finish import FinishAction
from openhands.sdk.tool.builtins.think import ThinkAction
from openhands.sdk.tool.schema import Observation

SUMMARY = "USER_CONTEXT: import the disputes\nCOMPLETED: the parser\nPENDING: two tests\n"
REFUSED = "the stub refuses"


class RecordedObservation(Observation):
    """A recorded result of a tool."""


class Endless(Exception):
    """A summary alone exceeds the limit, so that the agent condenses until its limit of steps."""


class Recorder:
    """Records what happens before each call."""

    def __init__(self, refusals=()):
        self.refusals = iter(refusals)
        self.start_call()

    def start_call(self):
        self.fired, self.believed, self.asked = [], None, []

    def note(self, name):
        if name not in self.fired:
            self.fired.append(name)


recorder = Recorder()


class Reply:
    """The parts of a response that the condenser reads."""

    id = "response"
    message = Message(role="assistant", content=[TextContent(text=SUMMARY)])


class Stub(LLM):
    """Answers each request for a summary with a fixed text, or refuses it."""

    def generate(self, messages, **rest):
        messages = [{"role": m.role, "content": m.content[0].text} for m in messages]
        recorder.asked.append({"messages": messages, "max_tokens": None})
        if next(recorder.refusals, False):
            raise RuntimeError(REFUSED)
        return Reply()


count = condenser_module.get_total_token_count


def noted_count(events, llm):
    recorder.believed = count(events, llm)
    return recorder.believed


condenser_module.get_total_token_count = noted_count


class FailureLog(logging.Handler):
    """Records failed summaries, which the SDK only logs."""

    def emit(self, record):
        text = record.getMessage()
        if REFUSED in text and not text.startswith("Traceback"):
            recorder.fired.append(f"failed: {text}")


for name in ["openhands.sdk.context.condenser.base", "openhands.sdk.context.condenser.llm_summarizing_condenser"]:
    log = logging.getLogger(name)
    log.handlers, log.propagate = [FailureLog()], False
    log.setLevel(logging.DEBUG)


def events_of(message, names):
    """Returns the events that the SDK stores for a recorded message."""
    role, text = message["role"], message.get("content")
    texts = [TextContent(text=text)] if text else []
    if role == "system":
        return [SystemPromptEvent(system_prompt=TextContent(text=text), tools=[])]
    if role == "tool":
        name = names[message["tool_call_id"]]
        observation = RecordedObservation(content=[TextContent(text=text)])
        return [ObservationEvent(observation=observation, action_id="action", tool_name=name,
                                 tool_call_id=message["tool_call_id"])]
    events = []
    for call in message.get("tool_calls", []):
        function = call["function"]
        name, arguments = function["name"], json.loads(function["arguments"])
        action = {"finish": lambda: FinishAction(message="done"), "think": lambda: ThinkAction(thought="why")}
        events.append(ActionEvent(
            thought=[] if events else texts, tool_name=name, tool_call_id=call["id"], llm_response_id=call["id"][:8],
            action=action.get(name, lambda: MCPToolAction(data=arguments))(),
            tool_call=MessageToolCall(id=call["id"], name=name, arguments=function["arguments"], origin="completion")))
        events[-1] = events[-1].model_copy(update={"llm_response_id": message["tool_calls"][0]["id"]})
    if events:
        return events
    return [MessageEvent(source="agent" if role == "assistant" else role, llm_message=Message(role=role, content=texts))]


def sent_messages(view, llm, origins):
    """Returns the messages of a view. User messages that the SDK joins are separate."""
    groups = []
    for event in view.events:
        is_action = isinstance(event, ActionEvent) and groups and isinstance(groups[-1][0], ActionEvent)
        if is_action and groups[-1][0].llm_response_id == event.llm_response_id:
            groups[-1].append(event)
        else:
            groups.append([event])
    sent = []
    for group in groups:
        if group[0].id not in origins and isinstance(group[0], SystemPromptEvent):
            continue
        [message] = llm.format_messages_for_llm(LLMConvertibleEvent.events_to_messages(group))
        content = message.get("content")
        if isinstance(content, list):
            message["content"] = content[0]["text"] if content else None
        one = {"role": message["role"], "content": message.get("content")}
        one |= {key: message[key] for key in ["tool_calls", "tool_call_id"] if message.get(key)}
        sent.append(one | {"from": origins.get(group[0].id)})
    return sent


def play(config, messages, window, rejected_calls=(), refusals=()):
    """Runs a conversation; returns its calls, the rejected requests and the error that ended it."""
    global recorder
    recorder = Recorder(refusals)
    llm = Stub(model="openai/recorded", api_key="none", max_input_tokens=window)
    condenser = LLMSummarizingCondenser(llm=llm, **config) if config else condenser_module.default_condenser(llm)
    config |= {key: getattr(condenser, key) for key in ["max_size", "keep_first"]}
    names = {c["id"]: c["function"]["name"] for m in messages for c in m.get("tool_calls", [])}
    view, origins, calls, rejected = View(), {}, [], []
    if messages[0]["role"] != "system":
        # The agent always has a system prompt; this one is not recorded.
        view.append_event(SystemPromptEvent(system_prompt=TextContent(text=""), tools=[]))
    for at, message in enumerate(messages):
        if message["role"] == "assistant":
            halt, mechanism = None, "condense"
            while True:
                try:
                    answer = prepare_llm_messages(view, condenser=condenser, llm=llm)
                except NoCondensationAvailableException as error:
                    halt = str(error)
                if halt is None and isinstance(answer, Condensation):
                    recorder.note(mechanism)
                    n_before = len(view)
                    view.append_event(answer)
                    if len(view) >= n_before:
                        raise Endless
                    continue
                sent = sent_messages(view, llm, origins)
                is_rejected = len(calls) in rejected_calls and mechanism == "condense"
                if halt is not None or not is_rejected:
                    break
                rejected.append({"call": len(calls) + 1, "sent": sent})
                mechanism = "condense-requested"
                view.append_event(CondensationRequest())
            calls.append({"before": at, "sent": sent, "fired": recorder.fired, "believed": recorder.believed,
                          "asked": recorder.asked})
            recorder.start_call()
            if halt is not None:
                return calls, rejected, halt
        for event in events_of(message, names):
            origins[event.id] = at
            view.append_event(event)
    return calls, rejected, None


WORDS = "ledger cursor batch refund receipt window journal dispute payout entry transfer account".split()
ODD = ["größe", "naïve", "日本語", "🙂", 'a"b', "it's", "tab\there", "back\\slash", "<EVENT>", "{{ event }}"]


def text(rng, low, high):
    size, words = rng.randint(low, high), []
    while sum(map(len, words)) < size:
        words.append(rng.choice(ODD) if rng.random() < 0.06 else rng.choice(WORDS))
    return rng.choice([" ", " ", "\n"]).join(words)


def conversation(rng, n_turns, has_tools, has_system):
    messages = [{"role": "system", "content": text(rng, 30, 900)}] if has_system else []
    number = 0
    for _ in range(n_turns):
        for _ in range(rng.choice([1, 1, 1, 2])):
            messages.append({"role": "user", "content": text(rng, 10, 300)})
        for _ in range(rng.randint(0, 7) if has_tools else 0):
            calls = []
            for _ in range(rng.choice([1, 1, 1, 2, 4])):
                number += 1
                arguments = {"path": text(rng, 3, 20), "n": rng.randint(0, 99), "all": rng.random() < 0.5}
                arguments = rng.choice([arguments, arguments, {}, {"share": 0.25, "list": [1, None, "it's"]}])
                calls.append({"id": f"call_{number:03}", "type": "function", "function": {
                    "name": rng.choice(["read_log", "run_shell", "load_sheet", "think", "finish"]),
                    "arguments": json.dumps(arguments, ensure_ascii=False)}})
            content = text(rng, 5, 120) if rng.random() < 0.7 else None
            if rng.random() < 0.05:
                content = text(rng, 480, 600)
            messages.append({"role": "assistant", "content": content, "tool_calls": calls})
            if rng.random() < 0.03:
                break
            for call in calls:
                size = rng.choice([0, 200, 200, 500, 505, 3000 if rng.random() < 0.2 else 300])
                content = text(rng, size // 2, size) if size else ""
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": content})
        messages.append({"role": "assistant", "content": text(rng, 20, 600)})
    return messages


def configuration(rng):
    """Returns a random configuration and window."""
    config = {"max_size": rng.choice([6, 8, 10, 13, 20, 30, 240])}
    config["keep_first"] = rng.randint(0, min(5, config["max_size"] // 2 - 2))
    if rng.random() < 0.4:
        config["max_tokens"] = rng.choice([500, 900, 1500, 2500])
    if rng.random() < 0.2:
        config["minimum_progress"] = rng.choice([0.2, 0.4])
    if rng.random() < 0.2:
        config["hard_context_reset_max_retries"] = rng.randint(1, 3)
        config["hard_context_reset_context_scaling"] = rng.choice([0.5, 0.7])
    return config, rng.choice([1200, 3000, 9000, 50000])


def case(config, messages, window, made_by, played):
    """Makes a case of a conversation and what it led to."""
    calls, rejected, halt = played
    functions = ["prepare_llm_messages", "LLMSummarizingCondenser.condense", "View.append_event"]
    return {
        "system": "openhands", "preset": "openhands",
        "upstream": {"package": "openhands-sdk", "version": "1.58.2", "functions": functions},
        "config": config, "window": window, "max_output": 1024,
        "input": {"messages": messages, "usage": []}, "summary": SUMMARY, "calls": calls, "rejected": rejected,
        **({"halt": halt} if halt else {}),
        "notes": f"{made_by}. Consecutive user messages, which the SDK sends as "
                 "one message with several texts, are listed one by one.",
    }


def write(folder, name, made):
    (folder / f"{name}.json").write_text(json.dumps(made, ensure_ascii=False, indent=1) + "\n")


def chosen():
    """Makes the case with the condenser of the default agent, over two condensations."""
    config, window, messages = {}, 50000, conversation(random.Random(8), 7, True, True)
    for message in messages:
        message["content"] = message["content"] and message["content"][:60]
    played = play(config, messages, window)
    yield "defaults", case(config, messages, window, "The condenser of the default agent", played)


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    if len(sys.argv) == 2:
        for name, made in chosen():
            write(folder, name, made)
        return
    n, start = int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 0
    for seed in range(start, start + n):
        rng = random.Random(seed)
        config, window = configuration(rng)
        messages = conversation(rng, rng.randint(1, 6), rng.random() < 0.8, rng.random() < 0.85)
        n_calls = sum(m["role"] == "assistant" for m in messages)
        rejected_calls = {rng.randrange(n_calls)} if rng.random() < 0.3 else ()
        refusals = [rng.random() < 0.4 for _ in range(99)] if rng.random() < 0.3 else ()
        try:
            played = play(config, messages, window, rejected_calls, refusals)
        except Endless:
            continue
        _, rejected, halt = played
        made = case(config, messages, window, f"Invented conversation of the generator, seed {seed}", played)
        kinds = [key for key in config if key != "keep_first"]
        kinds += ["rejected"] * bool(rejected) + ["fails"] * bool(refusals) + ["halts"] * bool(halt)
        name = "-".join(kind.replace("_", "") for kind in kinds)
        write(folder, f"{name}-{seed}", made)


if __name__ == "__main__":
    main()
