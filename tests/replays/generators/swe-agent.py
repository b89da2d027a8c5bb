"""Generates replay cases of SWE-agent's history processors (SWE-agent/SWE-agent at 3ea751c0).

Usage: SWE_AGENT=CHECKOUT swe-agent.py FOLDER             writes the cases with SWE-agent's defaults
       SWE_AGENT=CHECKOUT swe-agent.py FOLDER N [SEED]    writes N cases with invented conversations

Runs the processors over the history before each call, as `DefaultAgent.messages` does.
"""

import copy
import json
import os
import random
import sys
import types
from pathlib import Path

import yaml

# Without the package's `__init__`, which needs a runtime for commands.
package = types.ModuleType("sweagent")
package.__path__ = [str(Path(os.environ["SWE_AGENT"]) / "sweagent")]
sys.modules["sweagent"] = package
agent = types.ModuleType("sweagent.agent")
agent.__path__ = [package.__path__[0] + "/agent"]
sys.modules["sweagent.agent"] = agent

from sweagent.agent.history_processors import CacheControlHistoryProcessor, LastNObservations, RemoveRegex

PROCESSORS = {"last_n_observations": LastNObservations, "remove_regex": RemoveRegex,
              "cache_control": CacheControlHistoryProcessor}


def entry(message):
    """Returns the history entry of a recorded message."""
    kinds = {"system": "system_prompt", "assistant": "action"}
    item = {"role": message["role"], "content": message["content"], "agent": "main",
            "message_type": kinds.get(message["role"], "observation")}
    if message.get("tool_calls"):
        item["tool_calls"] = message["tool_calls"]
    if message.get("tool_call_id"):
        item["tool_call_ids"] = [message["tool_call_id"]]
    return item


def text_of(content):
    """Returns the content without cache marks; a single text is a string."""
    if isinstance(content, str):
        return content
    blocks = [{key: value for key, value in block.items() if key != "cache_control"} for block in content]
    return blocks[0]["text"] if len(blocks) == 1 and blocks[0]["type"] == "text" else blocks


def play(config, messages):
    """Runs a conversation and returns its calls."""
    processors = [(name, PROCESSORS[name](**options)) for name, options in config.items()]
    history, calls, n_changed = [], [], {}
    for at, message in enumerate(messages):
        if message["role"] == "assistant":
            view, fired = history, []
            for name, processor in processors:
                before = copy.deepcopy(view)
                view = processor(view)
                n = sum(text_of(a["content"]) != text_of(b["content"]) for a, b in zip(before, view))
                if n and n != n_changed.get(name, 0):
                    fired.append(name.replace("_", "-"))
                n_changed[name] = n
            sent = []
            for nth, item in enumerate(view):
                one = {"role": item["role"], "content": text_of(item["content"]), "from": nth}
                is_text = isinstance(one["content"], str) and isinstance(messages[nth]["content"], list)
                if is_text and item["role"] != "tool":
                    one["content"] = [{"type": "text", "text": one["content"]}]
                if item.get("tool_calls"):
                    one["tool_calls"] = item["tool_calls"]
                if item.get("tool_call_ids"):
                    one["tool_call_id"] = item["tool_call_ids"][0]
                sent.append(one)
            calls.append({"before": at, "sent": sent, "fired": fired, "believed": None, "asked": []})
        history.append(entry(message))
    return calls


WORDS = "ledger cursor batch refund receipt window journal dispute payout entry transfer account".split()
ODD = ["größe", "naïve", "日本語", "🙂", 'a"b', "it's", "tab\there", "back\\slash", "a\x0cb", "a\u2028b", "a\r\nb"]


def text(rng, low, high):
    size, words = rng.randint(low, high), []
    while sum(map(len, words)) < size:
        words.append(rng.choice(ODD) if rng.random() < 0.06 else rng.choice(WORDS))
    joined = rng.choice([" ", " ", "\n"]).join(words)
    return joined + rng.choice(["", "", "\n", "\n\n"])


def diff(rng):
    kinds = ["\n<diff>\nchanges so far:\n{}\n</diff>", "<diff>{}</diff> and <diff>{}</diff>!", "<diff>{}", "</diff>{}"]
    return rng.choice(kinds).replace("{}", text(rng, 3, 60))


def conversation(rng, n_steps, has_calls, has_images):
    messages = [{"role": "system", "content": text(rng, 30, 200)}, {"role": "user", "content": text(rng, 60, 400)}]
    for number in range(n_steps):
        answer = {"role": "assistant", "content": text(rng, 5, 150)}
        observation = {"role": "user", "content": "OBSERVATION:\n" + text(rng, 0, 300)}
        if rng.random() < 0.4:
            observation["content"] += diff(rng)
        if has_calls:
            arguments = json.dumps({"command": text(rng, 3, 30)}, ensure_ascii=False)
            answer["tool_calls"] = [{"id": f"call_{number:03}", "type": "function", "function": {
                "name": rng.choice(["bash", "str_replace_editor"]), "arguments": arguments}}]
            observation |= {"role": "tool", "tool_call_id": f"call_{number:03}"}
        if has_images and rng.random() < 0.3:
            image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
            observation["content"] = [{"type": "text", "text": observation["content"]}, image]
        messages += [answer, observation]
        if not has_calls and rng.random() < 0.1:
            messages.append({"role": "user", "content": text(rng, 10, 100)})
    if rng.random() < 0.7:
        messages.append({"role": "assistant", "content": text(rng, 10, 60)})
    return messages


def configuration(rng):
    """Returns random processors."""
    config, kind = {}, rng.random()
    if kind < 0.8:
        config["last_n_observations"] = {"n": rng.choice([1, 2, 3, 5, 100])}
        if rng.random() < 0.4:
            config["last_n_observations"]["polling"] = rng.randint(2, 5)
    if kind > 0.6:
        config["remove_regex"] = {"keep_last": rng.choice([0, 2, 2, 5])}
        if rng.random() < 0.5:
            config["remove_regex"]["remove"] = rng.choice([["<diff>.*?</diff>"], ["<diff>.*</diff>", "OBS.*:"]])
    if rng.random() < 0.5:
        config["cache_control"] = {"last_n_messages": 2}
    return config


def case(config, messages, made_by):
    """Makes a case of a conversation."""
    return {
        "system": "swe-agent", "preset": "swe-agent",
        "upstream": {"repo": "SWE-agent/SWE-agent", "commit": "3ea751c0", "functions": [
            PROCESSORS[name].__name__ + ".__call__" for name in config]},
        "config": config, "window": 128000, "max_output": 4096,
        "input": {"messages": messages, "usage": []}, "summary": "", "calls": play(config, messages),
        "notes": f"{made_by}. Marks for the prompt cache are left out; a "
                 "text in place of a user message's blocks is a list of one. A processor counts as fired if it "
                 "changes another number of messages than before.",
    }


def write(folder, name, made):
    (folder / f"{name}.json").write_text(json.dumps(made, ensure_ascii=False, indent=1) + "\n")


def chosen():
    """Makes the cases with the processors of SWE-agent's own configurations: the one for challenges, which elides
    observations, and the default, which does not."""
    for name, file in [("defaults", "coding_challenge"), ("defaults-cache", "default")]:
        agent = yaml.safe_load(Path(os.environ["SWE_AGENT"], "config", f"{file}.yaml").read_text())["agent"]
        processors = [dict(processor) for processor in agent["history_processors"]]
        config = {processor.pop("type"): processor for processor in processors}
        messages = conversation(random.Random(3), 18, True, False)
        yield name, case(config, messages, f"The processors of config/{file}.yaml")


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
        config = configuration(rng)
        has_images = rng.random() < 0.2 and not {"cache_control", "remove_regex"} & set(config)
        messages = conversation(rng, rng.randint(1, 14), rng.random() < 0.7, has_images)
        made = case(config, messages, f"Invented conversation of the generator, seed {seed}")
        name = "-".join(key.split("_")[0] for key in config) or "none"
        name += "-polling" * ("polling" in config.get("last_n_observations", {})) + "-images" * has_images
        write(folder, f"{name}-{seed}", made)


if __name__ == "__main__":
    main()
