"""The programs that `plimsoll presets export --as python` writes, which run here as they are."""

import os
import subprocess
from pathlib import Path

import pytest
from common import PRUNE, RESULT, TOO_LONG

PLIMSOLL = Path(os.environ.get("PLIMSOLL") or Path(__file__).resolve().parents[3] / "target/debug/plimsoll")

pytestmark = pytest.mark.skipif(not PLIMSOLL.is_file(), reason=f"{PLIMSOLL} is missing: build it, or set PLIMSOLL")


def program(policy, *options):
    """Returns the names that an exported program defines."""
    command = [PLIMSOLL, "presets", "export", policy, *options, "--as", "python"]
    done = subprocess.run(command, capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    names = {}
    exec(compile(done.stdout, "exported", "exec"), names)
    return names


def conversation(turns):
    history = [{"role": "system", "content": "You are a harbour agent."}]
    for n in range(turns):
        function = {"name": "look", "arguments": "{}"}
        call = {"id": f"c{n}", "type": "function", "function": function}
        history += [
            {"role": "user", "content": f"question {n}"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{n}", "content": f"{n} {RESULT}"},
            {"role": "assistant", "content": f"answer {n}"},
        ]
    return history + [{"role": "user", "content": "last"}]


class Model:
    """Answers with a text, and rejects as many requests as `reject`."""

    def __init__(self, reject=0):
        self.sent, self.summaries, self.reject = [], [], reject

    def __call__(self, messages, max_tokens):
        if max_tokens is not None:
            self.summaries.append(messages)
            return "a summary"
        self.sent.append(messages)
        if len(self.sent) <= self.reject:
            raise RuntimeError(TOO_LONG)
        return "an answer"


def results(messages):
    return [message["content"] for message in messages if message["role"] == "tool"]


def test_a_preset_with_a_setting():
    names, model, history = program("prune", "--set", "prune_protect=4000", "--window", "64k"), Model(), conversation(30)
    assert names["send"](history, model) == "an answer"
    (sent,) = model.sent
    changed = [new for new, old in zip(results(sent), results(history)) if new != old]
    assert len(sent) == len(history) and 20 < len(changed) < 30 and results(sent)[-1] == results(history)[-1]
    assert not model.summaries
    names["manager"].report(input_tokens=9_000, output_tokens=20)


def test_a_preset_that_summarizes_and_a_rejection():
    names, model = program("summarize", "--set", "keep_recent=4", "--window", "200k"), Model(reject=1)
    assert names["send"](conversation(10), model) == "an answer"
    assert len(model.sent) == 2 and len(model.sent[1]) < len(model.sent[0]) and len(model.summaries) == 1
    assert all(set(message) == {"role", "content"} for message in model.summaries[0])


def test_a_policy_file(tmp_path):
    path = tmp_path / "policy.toml"
    path.write_text(PRUNE, encoding="utf-8")
    names, model, history = program(path, "--window", "64k"), Model(), conversation(8)
    assert names["send"](history, model) == "an answer"
    assert results(model.sent[0])[:-1] == ["[cleared]"] * 7 and results(model.sent[0])[-1] == results(history)[-1]
