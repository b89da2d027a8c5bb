"""Prints the import time, the time of a call with 1,000 messages, and the growth of memory.

measure.py [--calls N] [--quick]

--quick: few calls, to see that the package works with this Python.
"""

import argparse
import gc
import json
import subprocess
import sys
import time

WINDOW = 64_000


def messages(n):
    """Returns n messages of about 1 kB, as a conversation with tools."""
    out, k = [{"role": "system", "content": "You are an agent."}], 0
    while len(out) < n:
        k += 1
        function = {"name": "look", "arguments": json.dumps({"n": k})}
        out += [
            {"role": "user", "content": f"question {k} " + "word berth crane " * 62},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": f"c{k}", "type": "function", "function": function}],
            },
            {"role": "tool", "tool_call_id": f"c{k}", "content": f"result {k} " + "ledger tide 0x7f " * 62},
            {"role": "assistant", "content": f"answer {k}"},
        ]
    return out[:n]


def resident_kb():
    """Returns the resident memory of this process; 0 where the system has no /proc."""
    try:
        with open("/proc/self/status", encoding="ascii") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))
    except OSError:
        return 0


def import_time():
    code = "import time; t = time.perf_counter(); import plimsoll; print(time.perf_counter() - t)"
    times = [float(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout) for _ in range(5)]
    print(f"import: {min(times) * 1e3:.1f} ms")


def call_time(policy, n, replaces):
    """Prints the time of the calls after n messages. Each adds a question and an answer."""
    from plimsoll import Manager

    manager = Manager(policy, window=WINDOW, clock=None)
    own = messages(n - 1)
    start = time.perf_counter()
    ready = manager.manage([*own, {"role": "user", "content": "go on"}], lambda request: "a summary")
    first = time.perf_counter() - start
    times = []
    for k in range(60):
        question = {"role": "user", "content": f"go on {k}"}
        own = (ready.messages if replaces else own) + [question]
        start = time.perf_counter()
        ready = manager.manage(own, lambda request: "a summary")
        times.append(time.perf_counter() - start)
        assert ready.messages[-1] is question
        own = own + [{"role": "assistant", "content": f"answer {k}"}]
        ready.messages.append(own[-1])
    times.sort()
    host = "replaces its history" if replaces else "keeps its history"
    print(
        f"{policy}, {n} messages, host {host}: first {first * 1e3:.1f} ms, median {times[30] * 1e3:.2f} ms,"
        f" slowest {times[-1] * 1e3:.2f} ms; {len(ready.messages)} messages, {ready.tokens} tokens sent"
    )


def growth(calls):
    """Prints the memory after calls of one conversation without new messages, and of many short conversations."""
    from plimsoll import Manager

    manager, history = Manager("truncate", window=WINDOW, clock=None), messages(50)
    for name, work in (
        ("calls of a conversation", lambda: manager.step(history)),
        ("rewinds of a conversation", lambda: (manager.step(history[:-4]), manager.step(history))),
        ("conversations", lambda: Manager("truncate", window=WINDOW).step(history[:4])),
    ):
        n = calls if name.startswith("calls") else calls // 100
        for _ in range(max(50, n // 10)):
            work()
        gc.collect()
        before = resident_kb()
        start = time.perf_counter()
        for _ in range(n):
            work()
        gc.collect()
        seconds = time.perf_counter() - start
        grown = resident_kb() - before
        print(f"{n} {name}: {grown:+} kB, {seconds / n * 1e3:.3f} ms each")
        assert grown < 4_000, "memory grows"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--calls", type=int, default=100_000)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    import_time()
    for n in [100] if options.quick else [100, 1_000, 3_000]:
        for policy in ("truncate", "prune", "summarize"):
            for replaces in (False, True):
                call_time(policy, n, replaces)
    growth(2_000 if options.quick else options.calls)


main()
