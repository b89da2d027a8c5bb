"""Texts to count, from what a machine with Rust has: corpus/{prose,code,cjk}.txt, texts of 200 bytes to 64 kB with NUL between.

prose: books and READMEs; code: sources, and the same as tools show them, in JSON; cjk: translated books and the
catalogs of programs, an emoji or more in every eighth line.
"""

import gettext
import glob
import html
import json
import math
import os
import random
import re
import sysconfig

random.seed(7)
HOME = os.path.expanduser("~")
CRATES = f"{HOME}/.cargo/registry/src/*/*"
BOOKS = glob.glob(f"{HOME}/.rustup/toolchains/*/share/doc/rust/html") + [""]


def read(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError):
        return ""


def found(*patterns):
    return sorted(path for pattern in patterns for path in glob.glob(pattern, recursive=True))


def cut(text):
    """Texts of all sizes, cut where lines end."""
    start = 0
    while start < len(text):
        size = int(math.exp(random.uniform(math.log(200), math.log(12000))))
        end = text.find("\n", min(len(text), start + size)) + 1
        end = min(end or len(text), start + 64000)
        yield text[start:end]
        start = end


def without_tags(page):
    page = re.sub(r"<(script|style)[^>]*>.*?</\1>", "", page, flags=re.S)
    return re.sub(r"\n\s*\n+", "\n\n", html.unescape(re.sub(r"<[^>]+>", "", page)))


def write(name, documents, most):
    random.shuffle(documents)
    texts, size = [], 0
    for document in documents:
        document = document.replace("\0", "")
        if document.strip():
            texts.extend(cut(document))
            size += len(document.encode("utf-8", "ignore"))
        if size > most:
            break
    with open(f"corpus/{name}.txt", "wb") as file:
        file.write("\0".join(texts).encode("utf-8", "ignore"))
    print(f"{name}: {size / 1e6:.1f} MB in {len(texts)} texts")


def prose():
    documents = [without_tags(read(path)) for path in found(f"{BOOKS[0]}/*/print.html")]
    seen = set()
    for path in found(f"{CRATES}/**/*.md", "/usr/share/doc/**/*.md", "/usr/share/doc/**/*.txt"):
        text = read(path)
        if len(text) >= 500 and "zh" not in path and text[:400] not in seen:
            seen.add(text[:400])
            documents.append(text[:300_000])
    return documents


def code():
    python = sysconfig.get_paths()["stdlib"]
    paths = found(f"{CRATES}/src/**/*.rs")[:4000] + found(f"{python}/*.py", f"{python}/asyncio/*.py")
    sources = [text for text in map(read, paths) if 500 < len(text) < 120_000]
    random.shuffle(sources)
    documents, size = [], 0
    for source in sources:
        documents.append(source)
        size += len(source)
        if size > 6e6:
            break
    for source in sources[-600:]:
        lines = source.split("\n")
        shown = "\n".join(f"{nth + 1:6d}\t{line}" for nth, line in enumerate(lines))[:30_000]
        block = {"type": "tool_result", "tool_use_id": "toolu_1", "content": [{"type": "text", "text": shown}]}
        documents.append(json.dumps(block))
    return documents


def cjk():
    documents = [without_tags(read(path)) for path in found(*(f"{BOOKS[0]}/*/{tongue}/print.html" for tongue in ("zh", "ja", "ko")))]
    documents += [read(path)[:800_000] for path in found(f"{CRATES}/*zh*.md", f"{CRATES}/*ja*.md")]
    for tongue in ("zh_CN", "zh_TW", "zh_HK", "ja", "ko"):
        for path in found(f"/usr/share/locale*/{tongue}/LC_MESSAGES/*.mo"):
            with open(path, "rb") as file:
                catalog = gettext.GNUTranslations(file)._catalog
            documents.append("\n".join(text for text in catalog.values() if isinstance(text, str)))
    emoji = [chr(c) for c in (*range(0x1F300, 0x1F5FF), *range(0x1F600, 0x1F64F), *range(0x1F900, 0x1F9FF))]
    emoji += ["👩‍💻", "👨‍👩‍👧‍👦", "🏳️‍🌈", "👍🏽", "🇯🇵", "1️⃣", "❤️"]

    def decked(line):
        more = " " + "".join(random.choices(emoji, k=random.randint(1, 6)))
        return line + more if random.random() < 0.12 else line

    return ["\n".join(map(decked, document.split("\n"))) for document in documents]


write("prose", prose(), 10_000_000)
write("code", code(), 10_000_000)
write("cjk", cjk(), 8_000_000)
