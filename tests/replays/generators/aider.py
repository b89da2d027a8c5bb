"""Generates replay cases of Aider's chat history (aider-chat 0.86.2).

Usage: aider.py FOLDER N [SEED]    writes N cases with invented conversations

Runs the coder's methods that move finished turns to the history and summarize it in a thread, with a stub for both
models. A message about edits follows each turn in half of the cases (preset `aider`), none in the others
(`aider-document`).
"""

import json
import os
import random
import sys
import time
from pathlib import Path

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
# This file has the name of the package.
sys.path = [path for path in sys.path if Path(path or ".").resolve() != Path(__file__).resolve().parent]

from aider import history
from aider.coders.base_coder import Coder
from aider.coders.base_prompts import CoderPrompts
from aider.history import ChatSummary
from aider.models import Model

SUMMARY = "I asked you to import the disputes.\nYou wrote `parse_ledger`."


class Recorder:
    """Records what happens before each call."""

    def __init__(self):
        self.n_refused = 0
        self.start_call()

    def start_call(self):
        self.fired, self.believed, self.asked = [], None, []


recorder = Recorder()


class Stub(Model):
    """Answers each request for a summary with a fixed text, or refuses it."""

    def __init__(self, window):
        self.window = window
        super().__init__("recorded", weak_model=False, editor_model=False)

    def get_model_info(self, model):
        return {"max_input_tokens": self.window}

    def simple_send_with_retries(self, messages):
        # An answer takes longer than adding a message.
        time.sleep(0.01)
        recorder.asked.append({"messages": [dict(m) for m in messages], "max_tokens": None})
        if recorder.n_refused:
            recorder.n_refused -= 1
            raise RuntimeError("the stub refuses")
        return SUMMARY


class Summary(ChatSummary):
    """Records the count that decides."""

    def too_big(self, messages):
        recorder.believed = sum(tokens for tokens, _ in self.tokenize(messages))
        return super().too_big(messages)


class Output:
    def tool_warning(self, text):
        pass


history.print = lambda text: recorder.fired.append("failed: " + text.replace("model recorded", "model"))


def play(max_tokens, message, messages, window, refusals):
    """Runs a conversation and returns its calls."""
    global recorder
    recorder = Recorder()
    models = [Stub(window), Stub(window)]
    coder = object.__new__(Coder)
    coder.summarizer = Summary(models, max_tokens or models[1].max_chat_history_tokens)
    coder.io, coder.verbose = Output(), False
    coder.summarizer_thread = coder.summarizing_messages = None
    coder.summarized_done_messages, coder.done_messages, coder.cur_messages = [], [], []
    recorded = [{"role": m["role"], "content": m["content"]} for m in messages]
    origins = {id(m): nth for nth, m in enumerate(recorded)}
    calls = []
    for at, one in enumerate(recorded):
        if one["role"] == "system":
            continue
        coder.cur_messages += [one]
        if one["role"] == "user":
            n_before = [id(m) for m in coder.done_messages]
            coder.summarize_end()
            if n_before != [id(m) for m in coder.done_messages]:
                recorder.fired.append("chat-summary")
            if message and coder.done_messages:
                recorder.fired.append("message")
            sent = [m for m in recorded if m["role"] == "system"] + coder.done_messages + coder.cur_messages
            sent = [{**m, "from": origins.get(id(m))} for m in sent]
            calls.append({"before": at + 1, "sent": sent, "fired": recorder.fired, "believed": recorder.believed,
                          "asked": recorder.asked})
            recorder.start_call()
        else:
            recorder.n_refused = next(refusals, 0)
            coder.move_back_cur_messages(message)
    coder.summarize_end()
    return calls


WORDS = "ledger cursor batch refund receipt window journal dispute payout entry transfer account".split()
ODD = ["größe", "naïve", "日本語", "🙂", 'a"b', "it's", "tab\there", "back\\slash", "```python", "# USER"]


def text(rng, low, high):
    size, words = rng.randint(low, high), []
    while sum(map(len, words)) < size:
        words.append(rng.choice(ODD) if rng.random() < 0.06 else rng.choice(WORDS))
    return rng.choice([" ", " ", "\n"]).join(words) + rng.choice(["", "", "\n"])


def conversation(rng, n_turns, size):
    messages = [{"role": "system", "content": text(rng, 30, 200)}]
    for _ in range(n_turns):
        messages.append({"role": "user", "content": text(rng, 10, size)})
        messages.append({"role": "assistant", "content": text(rng, 20, size * rng.choice([1, 1, 2, 5]))})
    return messages


def main():
    folder, n = Path(sys.argv[1]), int(sys.argv[2])
    start = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    folder.mkdir(parents=True, exist_ok=True)
    for seed in range(start, start + n):
        rng = random.Random(seed)
        max_tokens = rng.choice([60, 100, 300, 300, 600, 1000, None])
        window = rng.choice([700, 1500, 20001, 128000])
        message = CoderPrompts.files_content_gpt_edits_no_repo if seed % 2 else None
        messages = conversation(rng, rng.randint(1, 14), rng.choice([60, 300, 900]))
        fails = rng.random() < 0.3
        refusals = iter([rng.choice([0, 0, 1, 2]) for _ in messages] if fails else [])
        functions = ["Coder.move_back_cur_messages", "Coder.summarize_start", "Coder.summarize_end",
                     "ChatSummary.summarize"]
        made = {
            "system": "aider", "preset": "aider" if message else "aider-document",
            "upstream": {"package": "aider-chat", "version": "0.86.2", "functions": functions},
            "config": {"max-chat-history-tokens": max_tokens, "message": message},
            "window": window, "max_output": 1024,
            "input": {"messages": messages, "usage": []}, "summary": SUMMARY,
            "calls": play(max_tokens, message, messages, window, refusals),
            "notes": "Invented conversation of the generator, seed %d. Each turn counts as finished; `message` is added "
                     "after each." % seed,
        }
        name = f"{'message' if message else 'summary'}-{max_tokens or 'default'}-{window}" + "-fails" * fails
        (folder / f"{name}-{seed}.json").write_text(json.dumps(made, ensure_ascii=False, indent=1) + "\n")


if __name__ == "__main__":
    main()
