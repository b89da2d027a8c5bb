"""Makes replay cases of Deep Agents: python deepagents.py FOLDER [SEED [COUNT]]

Without SEED it makes the case with the defaults of Deep Agents.

Runs a real `create_agent` loop (deepagents 0.7.32, langchain 1.4.7) with the middleware of `create_deep_agent` over
invented conversations. Its model returns the recorded answers, its tools the recorded results. Each case records what the
model received.
"""

import json
import random
import sys
import warnings
from pathlib import Path
from typing import Any

# This file has the name of the package.
sys.path.pop(0)

import deepagents.middleware._overflow_clip as overflow_clip
import deepagents.middleware.summarization as summarization
from deepagents.backends import StateBackend
from deepagents.middleware.filesystem import FilesystemMiddleware
from deepagents.middleware.patch_tool_calls import PatchToolCallsMiddleware
from langchain.agents import create_agent
from langchain.agents.middleware.types import AgentMiddleware
from langchain_core.exceptions import ContextOverflowError
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.checkpoint.memory import InMemorySaver

warnings.simplefilter("ignore")
SUMMARY = "SUMMARY: the importer reads invoices; two checks are open."
WORDS = "the ledger imports invoices before a check of late entries closes and every batch is sent again café 日本語 <b> & 🚢".split()
TOOLS = ["read_file", "write_file", "edit_file", "ls", "run_check", "find_text"]


def words(rng, n):
    return " ".join(rng.choice(WORDS) for _ in range(n))


def lines(rng, n):
    """Returns lines with several separators, some of them long."""
    ends = ["\n", "\n", "\n", "\r\n", "\n\n", "\x0b", "\u2028"]
    sizes = (rng.choice([1, 6, 12, 400]) if rng.random() < 0.1 else rng.randint(0, 9) for _ in range(n))
    return "".join(words(rng, size) + rng.choice(ends) for size in sizes) + words(rng, 2)


def conversation(rng, n_turns, n_steps, options):
    """Returns messages in OpenAI's form: turns of calls with results."""
    messages = [{"role": "system", "content": words(rng, 25)}]
    n_calls = 0
    for turn in range(n_turns):
        size = rng.choice([2, 5, 60]) if rng.random() < options["large"] else 1
        messages.append({"role": "user", "content": f"Task {turn}: {words(rng, rng.randint(3, 30))}{lines(rng, size) if size > 1 else ''}"})
        is_broken = False
        for _ in range(rng.randint(0, n_steps)):
            calls, results = [], []
            for _ in range(rng.randint(2, 3) if rng.random() < options["parallel"] else 1):
                n_calls += 1
                call, tool = f"call_{n_calls:03}{rng.choice(['', '', './x', 'y' * 40])}", rng.choice(TOOLS)
                arguments = {"file_path": f"/{words(rng, 1)}_{n_calls}.py"}
                if tool == "write_file":
                    arguments["content"] = words(rng, rng.choice([5, 60]))
                elif tool == "edit_file":
                    arguments |= {"old_string": words(rng, rng.choice([5, 60])), "new_string": words(rng, rng.choice([5, 60])), "replace_all": True}
                calls.append({"id": call, "type": "function", "function": {"name": tool, "arguments": json.dumps(arguments)}})
                text = lines(rng, rng.randint(12, 60)) if rng.random() < options["large"] else words(rng, rng.randint(0, 50))
                results.append({"role": "tool", "tool_call_id": call, "content": text})
            text = f"Step {n_calls}: {words(rng, 4)}" if rng.random() < 0.8 else None
            messages.append({"role": "assistant", "content": text, "tool_calls": calls})
            if rng.random() < options["broken"]:
                messages += rng.sample(results, rng.randint(0, len(results) - 1))
                is_broken = True
                break
            messages += results
        if not is_broken:
            messages.append({"role": "assistant", "content": f"Done {turn}: {words(rng, rng.randint(3, 30))}"})
    return messages


def sizes(given):
    """Returns an amount of the configuration as the middleware takes it."""
    if not isinstance(given, list):
        return given
    return [tuple(one) for one in given] if isinstance(given[0], list) else tuple(given)


class Recorder(BaseChatModel):
    """Returns the recorded answers and records the requests."""

    case: Any
    max_tokens: int | None = None

    @property
    def _llm_type(self):
        return "recorder"

    def _get_ls_params(self, **_):
        return {"ls_provider": "openai"}

    def bind_tools(self, tools, **_):
        return self

    def _generate(self, messages, stop=None, run_manager=None, **_):
        if len(messages) == 1 and str(messages[0].content).startswith("<role>"):
            answer = self.case.summarize(messages)
        else:
            answer = self.case.answer(messages)
        return ChatResult(generations=[ChatGeneration(message=answer)])


class Recorded(AgentMiddleware):
    """Returns recorded results in place of the tools'. Ends a turn whose results were not recorded."""

    def __init__(self, case):
        super().__init__()
        self.case = case

    def wrap_tool_call(self, request, handler):
        call = request.tool_call
        text = self.case.results.get(call["id"])
        if text is None:
            raise KeyboardInterrupt
        return ToolMessage(content=text, name=call["name"], tool_call_id=call["id"], id=call["id"])


class Case:
    """One run of an agent over a conversation."""

    def __init__(self, messages, config, window, options):
        self.messages, self.config, self.window, self.options = messages, config, window, options
        self.calls, self.rejected, self.usage, self.halt = [], [], [], None
        self.fired, self.asked, self.believed, self.n_refused = [], [], None, {}
        self.answers = [at for at, m in enumerate(messages) if m["role"] == "assistant"]
        self.results = {m["tool_call_id"]: m["content"] for m in messages if m["role"] == "tool"}
        limit = config["profile.max_input_tokens"]
        profile = {"max_input_tokens": limit} if limit else {}
        model = Recorder(case=self, max_tokens=config["model.max_tokens"], profile=profile)
        self.make(model) if "trigger" in config else self.make_default(model)
        self.watch()
        self.agent = create_agent(
            model,
            tools=[],
            system_prompt=messages[0]["content"],
            middleware=[self.files, self.summaries, PatchToolCallsMiddleware(), Recorded(self)],
            checkpointer=InMemorySaver(),
        )

    def make(self, model):
        """Makes the middleware of the configuration."""
        backend, config = StateBackend(), self.config
        self.files = FilesystemMiddleware(
            backend=backend,
            system_prompt="Files are there.",
            tool_token_limit_before_evict=config["tool_token_limit_before_evict"],
            human_message_token_limit_before_evict=config["human_message_token_limit_before_evict"],
        )
        cut = config["truncate_args_settings"]
        self.summaries = summarization.SummarizationMiddleware(
            model=model,
            backend=backend,
            trigger=sizes(config["trigger"]),
            keep=sizes(config["keep"]),
            trim_tokens_to_summarize=config["trim_tokens_to_summarize"],
            truncate_args_settings=cut and {key: sizes(value) for key, value in cut.items()},
        )

    def make_default(self, model):
        """Makes the middleware as `create_deep_agent` does, and notes its settings."""
        backend = StateBackend()
        self.files = FilesystemMiddleware(backend=backend, system_prompt="Files are there.")
        self.summaries = summarization.create_summarization_middleware(model, backend)
        manager, files = self.summaries, self.files
        self.config |= {
            "trigger": list(manager._lc_helper.trigger),
            "keep": list(manager._lc_helper.keep),
            "truncate_args_settings": {
                "trigger": list(manager._truncate_args_trigger),
                "keep": list(manager._truncate_args_keep),
                "max_length": manager._max_arg_length,
            },
            "trim_tokens_to_summarize": manager._lc_helper.trim_tokens_to_summarize,
            "tool_token_limit_before_evict": files._tool_token_limit_before_evict,
            "human_message_token_limit_before_evict": files._human_message_token_limit_before_evict,
        }

    def watch(self):
        """Records the names of the mechanisms and the counts that they compare."""
        manager, files, case = self.summaries, self.files, self

        def named(target, name, mechanism, acted):
            function = getattr(target, name)

            def watched(*args, **more):
                result = function(*args, **more)
                if acted(result):
                    case.fired.append(mechanism)
                return result

            setattr(target, name, watched)

        named(manager, "_truncate_args", "truncate_args", lambda result: result[1])
        named(manager, "_build_new_messages_with_path", "summarize", lambda _: True)
        named(files, "_process_large_message", "evict_tool_result", lambda result: result[1])
        named(files, "_evict_and_truncate_messages", "evict_human_message", lambda result: result is not None and result[1] is not None)
        summarization._clip_overflow_tail = overflow_clip._clip_overflow_tail
        named(summarization, "_clip_overflow_tail", "clip_overflow_tail", lambda result: bool(result[1]))
        count, wrap = manager._count_tokens, manager.wrap_model_call

        def counted(messages, system, tools):
            tokens = count(messages, system, tools)
            if case.believed is None:
                case.believed = tokens
            chars = count([], None, tools)
            case.config["tools_tokens"] = chars
            return tokens

        def wrapped(request, handler):
            case.believed = None
            return wrap(request, handler)

        manager._count_tokens, manager.wrap_model_call = counted, wrapped

    def run(self):
        config = {"configurable": {"thread_id": "1"}, "recursion_limit": 999}
        users = [m["content"] for m in self.messages if m["role"] == "user"]
        for text in users:
            try:
                self.agent.invoke({"messages": [HumanMessage(content=text)]}, config)
            except KeyboardInterrupt:
                # The results that were recorded count.
                known = self.agent.get_state(config).values["messages"]
                answer = [m for m in known if m.type == "ai"][-1]
                names = {call["id"]: call["name"] for call in answer.tool_calls}
                kept = [m for m in self.messages if m.get("tool_call_id") in names]
                results = [ToolMessage(content=m["content"], name=names[m["tool_call_id"]], tool_call_id=m["tool_call_id"], id=m["tool_call_id"]) for m in kept]
                if results:
                    self.agent.update_state(config, {"messages": results}, as_node="tools")
            except StopIteration:
                break
            except Exception as error:  # The system stops.
                self.halt = str(error)
                break
        return self

    def answer(self, messages):
        nth = len(self.calls)
        refusals = self.options["overflow_at"].get(str(nth + 1), 0)
        if self.n_refused.get(nth, 0) < refusals:
            self.n_refused[nth] = self.n_refused.get(nth, 0) + 1
            self.rejected.append({"call": nth + 1, "sent": self.sent(messages)})
            self.fired.append("ContextOverflowError")
            raise ContextOverflowError("too long")
        before, sent = self.answers[nth], self.sent(messages)
        self.calls.append({"before": before, "sent": sent, "fired": self.fired, "believed": self.believed, "asked": self.asked})
        self.fired, self.asked = [], []
        if sent[0]["role"] == "system":
            self.messages[0]["content"] = sent[0]["content"]
        recorded = self.messages[before]
        usage = {"input": sum(len(json.dumps(m)) for m in sent) // self.options["divisor"], "output": len(json.dumps(recorded)) // 4}
        if nth in self.options["without_usage"]:
            usage = None
        self.usage.append(usage)
        calls = [{"name": c["function"]["name"], "args": json.loads(c["function"]["arguments"]), "id": c["id"], "type": "tool_call"} for c in recorded.get("tool_calls") or []]
        metadata = usage and {"input_tokens": usage["input"], "output_tokens": usage["output"], "total_tokens": sum(usage.values())}
        return AIMessage(content=recorded["content"] or "", tool_calls=calls, usage_metadata=metadata, response_metadata={"model_provider": "openai"})

    def summarize(self, messages):
        self.asked.append({"messages": [{"role": "user", "content": messages[0].content}], "max_tokens": None})
        return AIMessage(content=SUMMARY)

    def sent(self, messages):
        """Returns a request in OpenAI's form with the origin of each message."""
        out = []
        for message in messages:
            text = message.text if not isinstance(message.content, str) else message.content
            if message.type == "system":
                out.append({"role": "system", "content": text, "from": 0})
            elif message.type == "tool":
                one = {"role": "tool", "tool_call_id": message.tool_call_id, "content": text}
                out.append({**one, "from": self.origin(lambda m: m.get("tool_call_id") == message.tool_call_id)})
            elif message.type == "ai":
                calls = [{"id": c["id"], "type": "function", "function": {"name": c["name"], "arguments": json.dumps(c["args"], ensure_ascii=False)}} for c in message.tool_calls]
                ids = [c["id"] for c in calls]
                same = lambda m: m["role"] == "assistant" and ([c["id"] for c in m.get("tool_calls") or []] == ids if ids else m["content"] == text)
                one = {"role": "assistant", "content": text or None, "from": self.origin(same)}
                out.append({**one, "tool_calls": calls} if calls else one)
            else:
                moved = message.additional_kwargs.get("lc_evicted_to")
                is_summary = message.additional_kwargs.get("lc_source") == "summarization"
                shown = [line.split("  ", 1)[1] for line in text.splitlines() if line.strip().startswith("1  Task")]
                same = lambda m: m["role"] == "user" and (m["content"].startswith(shown[0][:15]) if moved else m["content"] == text)
                out.append({"role": "user", "content": text, "from": None if is_summary else self.origin(same)})
        return out

    def origin(self, is_it):
        return next((at for at, m in enumerate(self.messages) if is_it(m)), None)

    def written(self, name):
        stopped = {"halt": self.halt} if self.halt else {}
        return {
            "system": "deepagents",
            "preset": "deepagents",
            "upstream": {"package": "deepagents", "version": "0.7.32", "with": {"langchain": "1.4.7", "langchain-core": "1.7.2", "langgraph": "1.2.22"}, "functions": ["create_agent", "FilesystemMiddleware", "SummarizationMiddleware", "PatchToolCallsMiddleware"]},
            "config": {**self.config, "response.model_provider": "openai", "backend": "StateBackend"},
            "window": self.window,
            "max_output": 1024,
            "input": {"messages": self.messages, "usage": self.usage},
            "summary": SUMMARY,
            "calls": self.calls,
            "rejected": self.rejected,
            **stopped,
            "notes": f"Made by generators/deepagents.py: {name}.",
        }


def random_case(rng):
    """Returns a conversation, a configuration, a window and options."""
    n_turns, n_steps = rng.choice([(1, 14), (3, 6), (6, 3), (12, 0), (4, 5)])
    options = {"parallel": rng.choice([0, 0.3, 0.8]), "large": rng.choice([0, 0.15, 0.4]), "broken": rng.choice([0, 0, 0, 0.1])}
    messages = conversation(rng, n_turns, n_steps, options)
    # The tools' schemas alone count some thousands of tokens.
    limit = rng.choice([5000, 5000, 6000, 6000, 7000, 9000, 20000, None])
    amount = lambda kinds: [kind := rng.choice(kinds), {"fraction": lambda: rng.choice([0.03, 0.05, 0.1, 0.5, 0.8, 0.85, 0.9]), "tokens": lambda: rng.choice([1, 200, 500, 2000, 4500, 5500]), "messages": lambda: rng.choice([1, 2, 3, 5, 9, 14, 20])}[kind]()]
    kinds = ["fraction", "fraction", "tokens", "messages"] if limit else ["tokens", "messages"]
    config = {"profile.max_input_tokens": limit, "model.max_tokens": rng.choice([None, None, 500, 2000])}
    config["trigger"] = rng.choice([None, ["fraction", 0.85], ["fraction", 0.85], amount(kinds), amount(kinds), {"tokens": 4000, "messages": 6}, [["tokens", 6000], ["messages", 12]]])
    config["keep"] = rng.choice([["fraction", 0.1], amount(kinds), amount(kinds)])
    cut = {"trigger": rng.choice([["fraction", 0.85], amount(kinds), amount(kinds)]), "keep": amount(kinds)}
    if rng.random() < 0.7:
        cut["max_length"] = rng.choice([100, 300])
    if rng.random() < 0.3:
        cut["truncation_text"] = " [cut]"
    if not limit:
        config["trigger"], config["keep"] = rng.choice([["tokens", 4000], ["messages", 10]]), ["messages", 6]
        cut = {"trigger": ["messages", 20], "keep": ["messages", 20]}
    config["truncate_args_settings"] = rng.choice([None, cut, cut, {"trigger": ["fraction", 0.85], "keep": ["fraction", 0.1]}])
    config["trim_tokens_to_summarize"] = rng.choice([None, None, None, 300, 4000])
    config["tool_token_limit_before_evict"] = rng.choice([20000, 100, 300, None])
    config["human_message_token_limit_before_evict"] = rng.choice([50000, 60, 200, None])
    n_answers = sum(m["role"] == "assistant" for m in messages)
    at = rng.sample(range(1, n_answers + 1), min(n_answers, rng.randint(1, 3))) if rng.random() < 0.5 else []
    options["overflow_at"] = {str(n): rng.choice([1, 1, 1, 2]) for n in sorted(at)}
    share = rng.choice([0, 0, 0.3, 1.0])
    options["without_usage"] = [n for n in range(n_answers) if rng.random() < share]
    options["divisor"] = rng.choice([4, 4, 1])
    return messages, config, limit or 200000, options


def default_case():
    """Returns a conversation with a long file write and a result that is moved to a file, and no configuration."""
    rng, window = random.Random(7), 8000
    messages = conversation(rng, 4, 5, {"parallel": 0.3, "large": 0.5, "broken": 0})
    calls = [call["function"] for m in messages for call in m.get("tool_calls", [])]
    calls[1] |= {"name": "write_file", "arguments": json.dumps({"file_path": "/plan.md", "content": words(rng, 500)})}
    # Deep Agents never moves results of its own file tools.
    calls[4]["name"] = "run_check"
    results = [m for m in messages if m["role"] == "tool"]
    results[4]["content"] = "\n".join(f"{n}: the ledger imports invoices" for n in range(2500))
    config = {"profile.max_input_tokens": window, "model.max_tokens": None}
    return messages, config, window, {"overflow_at": {}, "without_usage": [], "divisor": 4}


def main():
    folder, seed, count = Path(sys.argv[1]), int((sys.argv[2:] or [1])[0]), int((sys.argv[3:] or [40])[0])
    folder.mkdir(parents=True, exist_ok=True)
    if len(sys.argv) == 2:
        text = json.dumps(Case(*default_case()).run().written("the defaults"), ensure_ascii=False)
        (folder / "defaults.json").write_text(text + "\n")
        return
    for nth in range(seed, seed + count):
        case = Case(*random_case(random.Random(nth))).run()
        if case.calls:
            text = json.dumps(case.written(f"seed {nth}"), ensure_ascii=False)
            (folder / f"seed-{nth}.json").write_text(text + "\n")


main()
