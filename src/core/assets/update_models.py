#!/usr/bin/env python3
"""Builds `models.toml` and `prices.toml` from the price map of litellm and from `corrections.toml`.

    python3 src/core/assets/update_models.py              # downloads the newest litellm with pip
    python3 src/core/assets/update_models.py MAP.json     # reads a price map; --version names its litellm version

Prints every model that is new, gone or changed, and every row of `corrections.toml` that litellm has confirmed or
contradicted since. Only the standard library is used.
"""

import argparse
import collections
import datetime
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import tomllib
import zipfile

ASSETS = pathlib.Path(__file__).resolve().parent
MAP = "litellm/model_prices_and_context_window_backup.json"
MODES = {"chat", "completion", "responses"}
# Prefixes that a host puts before a model's own name.
HOSTS = re.compile(
    r"^(databricks|fw|cc|coding|spot|openai(?=-(gpt|o\d))|anthropic(?=-claude)|zai(?=-glm)|meta(?=-llama)|nvidia(?=-nemotron)"
    r"|alibaba(?=-qwen)|snowflake(?=-llama)|azure(?=-gpt)|cohere(?=-command)|qwen(?=-qwq))-?"
)
# The end of a name that does not change a model's window: a date, a version, how it is served.
NEUTRAL = re.compile(
    r"-(20\d\d-\d\d-\d\d|\d{4,}|v(-\d)*|latest|preview|exp|experimental|free|cloud|maas|instruct|it|chat|hf|awq|gptq|gguf"
    r"|(fp|bf|nvfp|mxfp|int)(-\d+)?|default|us|eu|global|high|low|medium|minimal|xhigh|think|thinking|reasoning)$"
)
# Endings of variants that only hosts have.
VARIANT = re.compile(r"^(variant|abliterated|spot|us|eu|global|default|maas|disc|lora|mtp|turbo|fast|ultrafast|f|fp|nvfp|bf|gguf|highspeed|\d+)$")


def bare(name):
    """Returns a model's own name, without provider, region and route."""
    name = name.lower().rsplit("/", 1)[-1]
    vendor = re.match(r"^(?:[a-z0-9-]+\.)*?([a-z-]+)\.([a-z][^/]*)$", name)
    if vendor:
        rest = vendor[2]
        # Bedrock calls DeepSeek V3.1 `deepseek.v3.1`.
        name = f"{vendor[1]}-{rest}" if re.match(r"[vr]\d", rest) else rest
    # Fireworks writes 4.1 as 4p1.
    name = re.sub(r"(?<=\d)p(?=\d)", ".", name)
    return HOSTS.sub("", name)


def key(name):
    """Returns the words and numbers of a name: `gpt-4o`, `gpt.4.o` and `GPT 4o` are equal."""
    parts = re.findall(r"[a-z]+|\d+", name)
    # Anthropic named its models in two orders: `claude-3-5-sonnet`, `claude-sonnet-4-5`.
    if parts[:1] == ["claude"]:
        numbers = next((i for i, part in enumerate(parts[1:], 1) if not part.isdigit()), len(parts))
        if 1 < numbers < len(parts):
            parts = ["claude", parts[numbers], *parts[1:numbers], *parts[numbers + 1:]]
    return tuple(parts)


def shorter(parts):
    """Returns the names that a model is looked up by: its own, then without neutral endings."""
    yield parts
    while end := NEUTRAL.search("-".join(parts)):
        parts = parts[: -end[0].count("-")]
        yield parts


def newest_litellm():
    """Downloads litellm and returns its price map and its version."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet", "--dest", folder, "litellm"]
        subprocess.run(command, check=True)
        wheel = next(pathlib.Path(folder).glob("*.whl"))
        with zipfile.ZipFile(wheel) as archive:
            return json.loads(archive.read(MAP)), wheel.name.split("-")[1]


def million(row, field):
    """Returns a price for a million tokens, if it is listed."""
    price = row.get(field)
    return None if price is None else round(float(price) * 1e6, 6)


def rates(row):
    """Returns the prices of a row of litellm, or `None` if it has none. A price of zero is a free host's or unknown."""
    tiers = row.get("tiered_pricing") or []
    base = {**row, **tiers[0]} if tiers else row
    found = {
        "input": million(base, "input_cost_per_token"),
        "output": million(base, "output_cost_per_token"),
        "cache_read": million(base, "cache_read_input_token_cost"),
    }
    if not found["input"] or found["output"] is None:
        return None
    if not found["cache_read"]:
        found["cache_read"] = found["input"]
    hour = "cache_creation_input_token_cost_above_"
    for name, fields in {
        "cache_write": ["cache_creation_input_token_cost"],
        "cache_write_hour": [f"{hour}1hr", f"{hour}12hr"],
    }.items():
        price = next((p for p in (million(base, field) for field in fields) if p), None)
        if price and price != found["input"]:
            found[name] = price
    if "cache_write" not in found:
        found.pop("cache_write_hour", None)
    if row.get("prompt_cache_min_tokens"):
        found["minimum"] = row["prompt_cache_min_tokens"]
    long = long_prompts(row, tiers, found)
    if long:
        found["long"] = long
    return found


def long_prompts(row, tiers, found):
    """Returns the price factors of long prompts."""
    steps = []
    if tiers:
        for tier in tiers[1:]:
            steps.append((int(tier["range"][0]), million(tier, "input_cost_per_token"), million(tier, "output_cost_per_token")))
    else:
        for field in row:
            above = re.fullmatch(r"input_cost_per_token_above_(\d+)k_tokens", field)
            if above:
                output = million(row, field.replace("input", "output", 1))
                steps.append((int(above[1]) * 1000, million(row, field), output))
    return [
        {"above": above, "input": round(sent / found["input"], 4), "output": round((answer or found["output"]) / (found["output"] or 1), 4)}
        for above, sent, answer in sorted(steps)
        if sent and (sent, answer) != (found["input"], found["output"])
    ]


def reduced(row, found):
    """Returns the prices of the hours in which a provider charges less, if it has such hours."""
    hours = row.get("off_peak_pricing")
    if not hours:
        return None
    lower = rates({**row, **{k: v for k, v in hours.items() if k != "windows"}})
    return {**found, **lower, "hours": [
        {"hours_utc": as_list(w["hours_utc"]), "weekdays": w.get("weekdays", [])} for w in hours["windows"]
    ]}


def as_list(value):
    return value if isinstance(value, list) else [value]


class Families:
    """Vendors of models by the first word of a name."""

    def __init__(self, rows):
        self.by_word = {key(word): row for row in rows for word in row["match"]}

    def of(self, parts):
        for length in (2, 1):
            if parts[:length] in self.by_word:
                return self.by_word[parts[:length]]
        return None


def merge(data, families):
    """Returns name, window and price rows of every model, by key."""
    groups = collections.defaultdict(list)
    # Regions and routes come last: their names are longer.
    for name, row in sorted(data.items(), key=lambda item: len(item[0])):
        # Fine-tuned models have their own prices, and prompt guards classify short texts.
        if row.get("mode") in MODES and not name.startswith("ft:") and "prompt-guard" not in name:
            own = bare(name)
            if families.of(key(own)):
                groups[key(own)].append((own, row))

    def vendor_rows(parts):
        providers = families.of(parts)["litellm"]
        found = [pair for pair in groups[parts] if pair[1]["litellm_provider"] in providers]
        return sorted(found, key=lambda pair: providers.index(pair[1]["litellm_provider"]))

    of_vendors = {parts: vendor_rows(parts) for parts in groups}
    # A vendor may list a model only as a preview or with its date.
    for parts in sorted(groups, reverse=True):
        for short in list(shorter(parts))[1:]:
            if short in groups and not of_vendors[short]:
                of_vendors[short] = of_vendors[parts]
    merged = {}
    for parts, rows in groups.items():
        family = families.of(parts)
        vendors = of_vendors[parts]
        if not vendors and any(parts[:n] in groups and all(map(VARIANT.match, parts[n:])) for n in range(2, len(parts))):
            continue
        # Hosts that offer a closed model at one effort.
        if not vendors and family.get("closed") and any(short in groups for short in list(shorter(parts))[1:]):
            continue
        chosen = vendors or rows
        windows = [int(row["max_input_tokens"]) for _, row in chosen if str(row.get("max_input_tokens") or "").isdigit()]
        priced = [(rates(row), row) for _, row in chosen]
        priced = [(found, row) for found, row in priced if found]
        if vendors:
            if not windows:
                windows = [int(row["max_input_tokens"]) for _, row in rows if row.get("max_input_tokens")]
            window, price = windows[:1], priced[:1]
        else:
            # The size that most hosts offer, and the price of the host in the middle.
            window = [w for w, _ in sorted(collections.Counter(windows).items(), key=lambda w: (-w[1], -w[0]))][:1]
            price = sorted(priced, key=lambda p: (p[0]["input"], p[0]["output"]))
            price = price[(len(price) - 1) // 2:][:1]
        prices = []
        for found, row in price:
            has_writes = "cache_write" in found
            rule = family.get("writes", family["caching"]) if has_writes else family["caching"]
            base = {"caching": rule, **found}
            if not vendors and family.get("closed"):
                continue
            prices = [base] + [r for r in [reduced(row, base)] if r]
            if not vendors and len(priced) > 1:
                prices[0]["note"] = f"the middle of {len(priced)} hosts"
        merged[parts] = {"name": own_name(parts, vendors, rows), "window": (window or [None])[0], "prices": prices}
    return merged


def own_name(parts, vendors, rows):
    """Returns the vendor's spelling of a name. Hosts write dashes for dots."""
    spelled = [[name for name, _ in names if key(name) == parts] for names in (vendors, rows)]
    dotted = [name for name in spelled[1] if "." in name]
    return (spelled[0] + dotted + spelled[1])[0]


def drop_repeated(merged):
    """Removes models with the window and the prices that they have under a shorter name."""
    def facts(model):
        return model["window"], [(price["input"], price["output"]) for price in model["prices"]]

    for parts in sorted(merged, key=len, reverse=True):
        others = [merged[name] for name in list(shorter(parts))[1:] if name in merged]
        if others and facts(others[0]) == facts(merged[parts]):
            del merged[parts]


def correct(merged, corrections, report):
    """Applies the corrections and reports those that litellm has caught up with."""
    for row in corrections.get("model", []):
        parts = key(bare(row["match"]))
        known = merged.setdefault(parts, {"name": row["match"], "window": None, "prices": []})
        if known["window"] == row["window"]:
            report.append(f"corrections.toml: the window of {row['match']} is that of litellm; remove the row")
        known["window"] = row["window"]
        known["corrected"] = row["source"]
    by_name = collections.defaultdict(list)
    for row in corrections.get("price", []):
        by_name[key(bare(row["match"]))].append(row)
    for parts, rows in by_name.items():
        known = merged.setdefault(parts, {"name": rows[0]["match"], "window": None, "prices": []})
        own = [{k: v for k, v in row.items() if k != "match"} for row in rows]
        # Rows that end come before the current price, others replace it.
        current = known["prices"] if all("until" in row for row in own) else []
        begins = [row.pop("until") for row in own if "until" in row]
        current = [{"since": max(begins), **row} if begins else row for row in current]
        known["prices"] = own + current
    for row in corrections.get("confirmed", []):
        known = merged.get(key(bare(row["match"])), {"prices": []})
        for price in known["prices"]:
            if (price["input"], price["output"], price["cache_read"]) == (row["input"], row["output"], row["cache_read"]):
                price.update(source=row["source"], read=row["read"], verified=True)
                break
        else:
            report.append(f"corrections.toml: litellm no longer has the confirmed price of {row['match']}")


def toml(value):
    """Returns a value as TOML."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return f"{value:_}" if value >= 10_000 else str(value)
    if isinstance(value, float):
        return f"{value:.6f}".rstrip("0").rstrip(".")
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, list):
        return f"[{', '.join(map(toml, value))}]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{k} = {toml(v)}" for k, v in value.items()) + " }"
    return json.dumps(value, ensure_ascii=False)


def head(text, version):
    lines = text + f"""
From `model_prices_and_context_window.json` of litellm {version} (MIT licence, Copyright (c) 2023 Berri AI,
https://github.com/BerriAI/litellm) and `corrections.toml`. Written by `update_models.py`; change `corrections.toml` instead."""
    return "".join(f"# {line}".rstrip() + "\n" for line in lines.strip().split("\n"))


def write(merged, version, read):
    models = head("""Context windows of models: the longest prompt in tokens.

Names are compared by their words and numbers: `gpt-4o` and `GPT.4o` are the same.
""", version) + "\n[models]\n"
    for _, model in sorted(merged.items()):
        if model["window"]:
            remark = f" # {model['corrected']}" if "corrected" in model else ""
            models += f"{json.dumps(model['name'])} = {toml(model['window'])}{remark}\n"
    prices = head("""Prices of models in USD per million tokens. Keys: `docs/model-tables.md`.
""", version)
    prices += f"\nsource = \"litellm {version}, model_prices_and_context_window.json\"\nread = {read}\n\nprice = [\n"
    for _, model in sorted(merged.items()):
        for price in model["prices"]:
            prices += f"    {toml({'match': model['name'], **price})},\n"
    (ASSETS / "models.toml").write_text(models)
    (ASSETS / "prices.toml").write_text(prices + "]\n")


def tables():
    """Returns the current tables as lines, by model."""
    lines = collections.defaultdict(list)
    for file in ("models.toml", "prices.toml"):
        path = ASSETS / file
        for line in path.read_text().splitlines() if path.exists() else []:
            name = re.match(r'(?:    \{ match = )?"([^"]+)"', line)
            if name:
                lines[name[1]].append(line.strip().rstrip(","))
    return lines


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("map", nargs="?", type=pathlib.Path, help="price map of litellm; default: the newest on PyPI")
    arguments.add_argument("--version", default="unknown", help="version of litellm, if the price map is given")
    given = arguments.parse_args()
    data, version = (json.loads(given.map.read_text()), given.version) if given.map else newest_litellm()
    read_toml = lambda name: tomllib.loads((ASSETS / name).read_text())
    corrections = read_toml("corrections.toml")
    report = []
    merged = merge(data, Families(read_toml("model_families.toml")["family"]))
    drop_repeated(merged)
    correct(merged, corrections, report)
    before = tables()
    write(merged, version, datetime.date.today())
    after = tables()
    for name in sorted(before.keys() | after.keys()):
        for line in before[name]:
            if line not in after[name]:
                print(f"- {line}")
        for line in after[name]:
            if line not in before[name]:
                print(f"+ {line}")
    print("\n".join(report))
    print(f"litellm {version}: {sum(1 for m in merged.values() if m['window'])} windows, {sum(len(m['prices']) for m in merged.values())} prices")


if __name__ == "__main__":
    main()
