"""Makes replay cases of LangChain's middleware with its defaults: python langchain.py FOLDER

Runs a real `create_agent` loop (langchain 1.5.0, langchain-core 1.8.2, langgraph 1.2.22) over invented conversations. Its
model returns the recorded answers, its tools the recorded results. Each case records what the model received.
"""

import dataclasses
import json
import random
import sys
import warnings
from pathlib import Path
from typing import Any

# This file has the name of the package.
sys.path.pop(0)

from langchain.agents import create_agent
from langchain.agents.middleware import ContextEditingMiddleware, SummarizationMiddleware, context_editing
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.memory import InMemorySaver

warnings.simplefilter("ignore")
WINDOW = 200_000
SUMMARY = "SUMMARY OF EARLIER WORK: the ledger imports disputes; tests pass except two."
WORDS = "ledger cursor batch refund receipt window journal dispute payout entry transfer account größe 日本語 🙂".split()
TOOLS = ["read_log", "run_shell", "load_sheet"]


def words(rng, n):
    return " ".join(rng.choice(WORDS) for _ in range(n))


def conversation(rng, n_turns, n_steps):
    """Returns messages in OpenAI's form: turns of calls with results."""
    messages, n_calls = [{"role": "system", "content": words(rng, 20)}], 0
    for turn in range(n_turns):
        messages.append({"role": "user", "content": f"Task {turn}: {words(rng, 12)}"})
        for _ in range(n_steps):
            calls = []
            for _ in range(rng.choice([1, 1, 4])):
                n_calls += 1
                function = {"name": rng.choice(TOOLS), "arguments": json.dumps({"name": words(rng, 2)}, ensure_ascii=False)}
                calls.append({"id": f"call_{n_calls:03}", "type": "function", "function": function})
            text = f"Step {n_calls}: {words(rng, 4)}" if rng.random() < 0.7 else None
            messages.append({"role": "assistant", "content": text, "tool_calls": calls})
            for call in calls:
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": words(rng, rng.randint(0, 60))})
        messages.append({"role": "assistant", "content": f"Done {turn}: {words(rng, 12)}"})
    return messages


class Recorder(BaseChatModel):
    """Returns the recorded answers and records the requests."""

    case: Any

    @property
    def _llm_type(self):
        return "fake-chat"

    def _get_ls_params(self, **_):
        return {"ls_provider": "openai"}

    def bind_tools(self, tools, **_):
        return self

    def _generate(self, messages, stop=None, run_manager=None, **_):
        return ChatResult(generations=[ChatGeneration(message=self.case.answer(messages))])


class Case:
    """One run of an agent over a conversation."""

    def __init__(self, messages, make):
        self.messages, self.calls, self.usage = messages, [], []
        self.fired, self.believed = [], None
        self.answers = [at for at, m in enumerate(messages) if m["role"] == "assistant"]
        self.model = Recorder(case=self, profile={"max_input_tokens": WINDOW})
        middleware = make(self)
        order = iter([m["content"] for m in messages if m["role"] == "tool"])

        def run(name: str):
            return next(order)

        tools = [StructuredTool.from_function(run, name=tool, description=f"Runs {tool}.") for tool in TOOLS]
        self.agent = create_agent(self.model, tools=tools, system_prompt=messages[0]["content"], middleware=[middleware],
                                  checkpointer=InMemorySaver())

    def run(self):
        # Tools run one after the other, in the recorded order.
        config = {"configurable": {"thread_id": "1"}, "recursion_limit": 999, "max_concurrency": 1}
        for message in self.messages:
            if message["role"] == "user":
                self.agent.invoke({"messages": [HumanMessage(content=message["content"])]}, config)
        return self

    def counted(self, count):
        """Returns a counter that notes its first count of a call."""
        def noted(messages, **more):
            tokens = count(messages, **more)
            if self.believed is None:
                self.believed = tokens
            return tokens

        return noted

    def answer(self, messages):
        before, sent = self.answers[len(self.calls)], [self.sent(message) for message in messages]
        self.calls.append({"before": before, "sent": sent, "fired": self.fired, "believed": self.believed, "asked": []})
        self.fired, self.believed = [], None
        recorded = self.messages[before]
        usage = {"input": sum(len(json.dumps(m)) for m in sent) // 4, "output": len(json.dumps(recorded)) // 4}
        self.usage.append(usage)
        calls = [{"name": c["function"]["name"], "args": json.loads(c["function"]["arguments"]), "id": c["id"], "type": "tool_call"}
                 for c in recorded.get("tool_calls", [])]
        metadata = {"input_tokens": usage["input"], "output_tokens": usage["output"], "total_tokens": sum(usage.values())}
        return AIMessage(content=recorded["content"] or "", tool_calls=calls, usage_metadata=metadata,
                         response_metadata={"model_provider": "openai"})

    def sent(self, message):
        """Returns a message in OpenAI's form with its origin."""
        role = {"human": "user", "ai": "assistant"}.get(message.type, message.type)
        one = {"role": role, "content": message.content or None if role == "assistant" else message.content}
        if role == "tool":
            one["tool_call_id"] = message.tool_call_id
        if role == "assistant" and message.tool_calls:
            one["tool_calls"] = [{"id": c["id"], "type": "function", "function": {
                "name": c["name"], "arguments": json.dumps(c["args"], ensure_ascii=False)}} for c in message.tool_calls]
        def key(m):
            calls = [call["id"] for call in m.get("tool_calls", [])]
            return m["role"], m.get("tool_call_id"), calls or role == "tool" or m["content"]

        return one | {"from": next((at for at, m in enumerate(self.messages) if key(m) == key(one)), None)}

    def written(self, preset, functions, config, notes):
        config |= {"model._llm_type": "fake-chat", "model.ls_provider": "openai", "response.model_provider": "openai",
                   "profile.max_input_tokens": WINDOW}
        versions = {"langchain": "1.5.0", "langchain-core": "1.8.2", "langgraph": "1.2.22"}
        return {
            "system": "langchain", "preset": preset,
            "upstream": {"package": "langchain", "version": "1.5.0", "with": versions, "functions": ["create_agent", *functions]},
            "config": config, "window": WINDOW, "max_output": 1024,
            "input": {"messages": self.messages, "usage": self.usage}, "summary": SUMMARY, "calls": self.calls,
            "notes": f"{notes} ToolNode names each ToolMessage after its tool and the estimate counts that name; the messages "
                     "here leave it out. The estimate is of the state's messages only: no system prompt, no tools.",
        }


def clearing(case):
    """Makes `ContextEditingMiddleware` with its defaults."""
    middleware = ContextEditingMiddleware()
    edit = middleware.edits[0]
    case.config = {"edits": [dataclasses.asdict(edit)]}
    context_editing.count_tokens_approximately = case.counted(COUNT)
    apply = edit.apply

    def noted(messages, **more):
        before = [message.model_copy() for message in messages]
        apply(messages, **more)
        if before != messages:
            case.fired.append(type(edit).__name__)

    edit.apply = noted
    return middleware


def summarizing(case):
    """Makes `SummarizationMiddleware` with its defaults."""
    middleware = SummarizationMiddleware(model=case.model)
    case.config = {"trigger": middleware.trigger, "keep": list(middleware.keep),
                   "trim_tokens_to_summarize": middleware.trim_tokens_to_summarize}
    middleware.token_counter = case.counted(middleware.token_counter)
    return middleware


COUNT = context_editing.count_tokens_approximately


def chosen():
    """Makes the cases that are bundled."""
    messages = conversation(random.Random(1), 3, 4)
    several = next(at for at, m in enumerate(messages) if at > 12 and len(m.get("tool_calls", [])) == 4)
    # One result, which is cleared at once, exceeds the trigger.
    messages[several + 1]["content"] = "\n".join(f"{n}: the ledger imports disputes" for n in range(12_300))
    case = Case(messages, clearing).run()
    functions = ["ContextEditingMiddleware.wrap_model_call", "ClearToolUsesEdit.apply"]
    yield "defaults", case.written("langchain", functions, case.config, "The defaults of ContextEditingMiddleware.")
    case = Case(conversation(random.Random(2), 4, 3), summarizing).run()
    functions = ["SummarizationMiddleware.before_model"]
    yield "defaults-summarization", case.written("langchain-summarization", functions, case.config, "The defaults of SummarizationMiddleware: it never acts.")


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, made in chosen():
        (folder / f"{name}.json").write_text(json.dumps(made, ensure_ascii=False) + "\n", encoding="utf-8")


main()
