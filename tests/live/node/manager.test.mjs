// The manager itself: both kinds of hosts, rewinds, states, rejections, errors, time and memory.
import { Manager } from "@plimsoll/context";
import assert from "node:assert/strict";
import { test } from "node:test";
import { history, labels, long, message, SETTINGS, summarizer, summarizing } from "./conversation.mjs";

// Manages every second length of a history, as an agent does before each answer. Returns the last result.
async function manageAll(manager, messages, summarize, from = 1) {
  let ready;
  for (let length = from; length <= messages.length; length += 2) {
    ready = await manager.manage(messages.slice(0, length), summarize);
  }
  return ready;
}

test("a host that keeps its history gets its own objects, after one summary", async () => {
  const messages = history(25);
  const { requests, summarize } = summarizer();
  const events = [];
  const manager = summarizing();
  let ready;
  for (let length = 1; length <= messages.length; length += 2) {
    ready = await manager.manage(messages.slice(0, length), summarize);
    events.push(...ready.events);
  }
  assert.ok(requests.length >= 1);
  assert.ok(ready.messages.length < messages.length);
  assert.equal(labels(ready.messages)[0].startsWith("SUMMARY") || JSON.stringify(ready.messages[0]).includes("SUMMARY"), true);
  const kept = ready.messages.slice(1);
  assert.deepEqual(labels(kept), labels(messages.slice(-kept.length)));
  kept.forEach((own, at) => assert.equal(own, messages.at(at - kept.length), "the host's own object"));
  assert.ok(ready.tokens > 0 && ready.tokens < 16_000);
  assert.ok(events.length >= requests.length, "each summary is an event");
  const [request] = requests;
  assert.ok(request.maxTokens > 0 && request.messages.length >= 1 && request.covers.length >= 1);
  // The same step has the same answer, and the same objects.
  const again = manager.step(messages).ready;
  assert.deepEqual(again.events, []);
  again.messages.forEach((item, at) => assert.equal(item, ready.messages[at]));
});

test("a host that replaces its history sends the same as one that keeps it", async () => {
  const messages = history(41);
  const keeping = summarizer();
  const replacing = summarizer();
  const [a, b] = [summarizing(), summarizing()];
  let own = [];
  for (let length = 1; length <= messages.length; length += 2) {
    const ready = await a.manage(messages.slice(0, length), keeping.summarize);
    own.push(...messages.slice(Math.max(0, length - 2), length));
    own = (await b.manage(own, replacing.summarize)).messages;
    assert.deepEqual(own, ready.messages, `at ${length} messages`);
  }
  assert.ok(keeping.requests.length >= 2);
  assert.deepEqual(replacing.requests, keeping.requests);
});

test("a history that was stored as JSON is the same history", async () => {
  const messages = history(25);
  const { requests, summarize } = summarizer();
  const manager = summarizing();
  const ready = await manageAll(manager, messages, summarize);
  const count = requests.length;
  // A database may order keys differently.
  const stored = messages.map(({ role, content, own }) => ({ own, content, role }));
  const again = await manager.manage(stored, summarize);
  assert.equal(requests.length, count);
  assert.deepEqual(again.messages, ready.messages);
  assert.equal(again.messages.at(-1), stored.at(-1), "the newest object is returned");
});

test("a rewind behind a summary keeps it, one before it forgets it", async () => {
  const messages = history(25);
  const { requests, summarize } = summarizer();
  const manager = summarizing();
  await manageAll(manager, messages, summarize);
  const count = requests.length;
  const fork = [...messages.slice(0, 23), { role: "user", content: long("fork") }];
  const forked = await manager.manage(fork, summarize);
  assert.equal(forked.messages.at(-1), fork.at(-1));
  const start = await manager.manage(messages.slice(0, 3), summarize);
  assert.deepEqual(start.messages, messages.slice(0, 3));
  assert.ok(requests.length <= count + 1);
});

test("a host that replaces its history can rewind it", async () => {
  const messages = history(25);
  const { requests, summarize } = summarizer();
  const manager = summarizing();
  let own = [];
  for (let length = 1; length <= messages.length; length += 2) {
    own = [...own, ...messages.slice(Math.max(0, length - 2), length)];
    own = [...(await manager.manage(own, summarize)).messages];
  }
  assert.ok(requests.length >= 1);
  // The last message is taken back, and another one sent.
  own = [...own.slice(0, -1), { role: "user", content: long("other", 10) }];
  const ready = await manager.manage(own, summarize);
  assert.deepEqual(labels(ready.messages), labels(own));
  // Only the summary is left of what the host had.
  const [summary] = own;
  const last = await manager.manage([summary], summarize);
  assert.deepEqual(last.messages, [summary]);
});

// Turns with a call each, whose result is long.
function turns(length) {
  return Array.from({ length }, (_, turn) => {
    const call = { id: `c${turn}`, type: "function", function: { name: "look", arguments: "{}" } };
    return [
      { role: "user", content: `Look at berth ${turn}.` },
      { role: "assistant", content: null, tool_calls: [call] },
      { role: "tool", tool_call_id: call.id, content: long(`result ${turn}`, 300), own: turn },
    ];
  }).flat();
}

const PRUNING = { compression_trigger: 0.05, prune_protect: 0, prune_minimum: 0, spare_turns: 0, cooldown: 0, output_reserve: 4000 };

test("an unchanged edit is the same object in all calls, as long as no conversion fails", () => {
  for (const replaces of [false, true]) {
    const messages = turns(40);
    let fails = false;
    const fromWire = (wire) => {
      if (fails) throw new Error("no conversion");
      return { ...wire, isOurs: true };
    };
    const manager = new Manager("prune", { window: 16_000, settings: PRUNING, fromWire });
    const made = new Map();
    let [own, again, failures] = [[], 0, 0];
    for (let length = 1; length <= messages.length; length += 1) {
      own = [...own, messages[length - 1]];
      fails = length % 7 === 0;
      let ready;
      try {
        ({ ready } = manager.step(own));
      } catch (error) {
        assert.match(error.message, /no conversion/);
        failures += 1;
        fails = false;
        ({ ready } = manager.step(own));
      }
      assert.equal(ready.messages.length, length);
      ready.messages.forEach((message, at) => {
        if (message === messages[at]) return assert.ok(!made.has(at));
        assert.deepEqual({ ...message, content: messages[at].content }, { ...messages[at], isOurs: true });
        again += made.has(at);
        if (!made.has(at)) made.set(at, message);
        assert.equal(made.get(at), message, `message ${at} of ${length}`);
      });
      if (replaces) own = ready.messages;
    }
    assert.ok(made.size > 20 && again > 10 * made.size && failures > 1, `${made.size} edits, ${again} again, ${failures} failures`);
  }
});

test("a state continues in another process", async () => {
  const messages = history(41);
  const whole = summarizer();
  const expected = await manageAll(summarizing(), messages, whole.summarize);
  for (const at of [1, 13, 21, 33]) {
    const parts = summarizer();
    const manager = summarizing();
    await manageAll(manager, messages.slice(0, at), parts.summarize);
    const restored = Manager.restore(manager.state());
    const ready = await manageAll(restored, messages.map((own) => ({ ...own })), parts.summarize, at);
    assert.deepEqual(ready.messages, expected.messages, `restored at ${at}`);
    assert.equal(parts.requests.length, whole.requests.length);
  }
  assert.throws(() => Manager.restore('{"version":99}'), /cannot restore a state of version 99: this package reads version 1/);
});

test("a state of a host that replaces its history continues", async () => {
  const messages = history(41);
  const { requests, summarize } = summarizer();
  const expected = summarizer();
  const whole = await manageAll(summarizing(), messages, expected.summarize);
  let manager = summarizing();
  let own = [];
  for (let length = 1; length <= messages.length; length += 2) {
    own = [...own, ...messages.slice(Math.max(0, length - 2), length)];
    own = JSON.parse(JSON.stringify((await manager.manage(own, summarize)).messages));
    manager = Manager.restore(manager.state());
  }
  assert.equal(requests.length, expected.requests.length);
  assert.deepEqual(own, whole.messages);
});

test("a state that is saved while a summary is awaited continues", async () => {
  const messages = history(41);
  const asked = (manager) => {
    let length = 1;
    while (manager.step(messages.slice(0, length)).ready) length += 2;
    return length;
  };
  const manager = summarizing();
  const length = asked(manager);
  const state = manager.state();
  // The host answers in the other process, as it would have done here.
  const [here, there] = [manager, Manager.restore(state)].map((each) => {
    assert.equal(each.answer("SUMMARY"), undefined);
    return each.step(messages.slice(0, length)).ready.messages;
  });
  assert.deepEqual(there, here);
  // Or it gave up the request, and continues.
  const { requests, summarize } = summarizer();
  const events = [];
  const other = Manager.restore(state);
  for (let more = length + 2; more <= messages.length; more += 2) {
    const ready = await other.manage(messages.slice(0, more), summarize);
    assert.equal(ready.messages.at(-1), messages[more - 1]);
    events.push(...ready.events);
  }
  assert.match(JSON.stringify(events), /the request was given up/);
  assert.ok(requests.length >= 1);
});

test("events of a request that was given up are in the state", () => {
  const messages = history(41);
  // The policy asks again at once: the host has not got the event of the first failure.
  const manager = summarizing({ settings: { ...SETTINGS, cooldown: 0 } });
  let length = 1;
  while (manager.step(messages.slice(0, length)).ready) length += 2;
  assert.ok(manager.step(messages.slice(0, length + 2)).summarize);
  const restored = Manager.restore(manager.state());
  restored.answer("SUMMARY");
  const [failed, written] = restored.step().ready.events;
  assert.match(JSON.stringify(failed), /the request was given up/);
  assert.equal(written.effect, "removed");
});

test("a failed summary is an event, and an abort reaches the host", async () => {
  const messages = history(25);
  const events = [];
  const manager = summarizing();
  for (let length = 1; length <= messages.length; length += 2) {
    const fail = () => Promise.reject(new Error("no model is reachable"));
    events.push(...(await manager.manage(messages.slice(0, length), fail)).events);
  }
  assert.match(JSON.stringify(events), /no model is reachable/);

  const other = summarizing();
  const abort = () => Promise.reject(new DOMException("stopped", "AbortError"));
  await assert.rejects(manageAll(other, messages, abort), { name: "AbortError" });
  // The next request gets the same summary request.
  const { requests, summarize } = summarizer();
  await other.manage(messages, summarize);
  assert.ok(requests.length >= 1);
});

test("a second request at the same time is an error", async () => {
  const manager = summarizing();
  const messages = history(25);
  const first = manager.manage(messages, () => new Promise((resolve) => setTimeout(resolve, 20, "SUMMARY")));
  await assert.rejects(manager.manage(messages, () => "SUMMARY"), /each conversation needs a manager of its own/);
  assert.ok((await first).messages.length < messages.length);
});

test("reported usage changes the counts of later requests only", async () => {
  const messages = history(31);
  const { requests, summarize } = summarizer();
  const manager = summarizing({ window: 32_000 });
  const tokens = [];
  for (let length = 1; length <= messages.length; length += 2) {
    const ready = await manager.manage(messages.slice(0, length), summarize);
    tokens.push(ready.tokens);
    // The provider counts 1.5 times as many tokens, and 500 of a system prompt.
    manager.report({ inputTokens: Math.round(ready.tokens * 1.5) + 500, outputTokens: 10 });
    manager.report({ inputTokens: undefined, outputTokens: undefined });
  }
  assert.ok(requests.length >= 1);
  const plain = summarizer();
  await manageAll(summarizing({ window: 32_000 }), messages, plain.summarize);
  assert.ok(requests[0].call <= plain.requests[0].call, "larger counts compact earlier");
});

test("a rejected request is reduced, other errors are not", async () => {
  const messages = history(9);
  const { requests, summarize } = summarizer();
  const manager = summarizing({ window: 100_000 });
  const before = await manager.manage(messages, summarize);
  assert.equal(before.messages.length, 9);
  assert.equal(manager.rejected(new Error("Incorrect API key provided.")), false);
  assert.equal(manager.step().ready.messages.length, 9);
  assert.equal(manager.rejected("prompt is too long: 205114 tokens > 200000 maximum"), true);
  const after = await manager.manage(messages, summarize);
  assert.ok(after.messages.length < 9);
  assert.equal(requests.length, 1);
});

test("a rejected request of a host that replaces its history is reduced, and never grows again", async () => {
  const messages = history(41);
  const { requests, summarize } = summarizer();
  const manager = summarizing();
  let own = [];
  let retries = 0;
  for (let length = 1; length <= messages.length; length += 2) {
    own = [...own, ...messages.slice(Math.max(0, length - 2), length)];
    const summaries = requests.length;
    const sent = [];
    const send = async (ready) => {
      sent.push(ready.messages);
      // A request with a new summary is too long: it is not the list that the host passed. So are a few other requests.
      const isTooLong = requests.length > summaries || (length % 8 === 3 && sent.length === 1);
      if (isTooLong) throw new Error("prompt is too long: 205114 tokens > 200000 maximum");
    };
    await manager.call(own, { summarize, send }).catch((error) => assert.match(error.message, /prompt is too long/));
    own = sent.at(-1);
    assert.equal(own.at(-1), messages[length - 1]);
    const lengths = sent.map((list) => list.length);
    assert.deepEqual(lengths, [...new Set(lengths)].sort((a, b) => b - a), `each retry sends less: ${lengths}`);
    retries += sent.length - 1;
  }
  assert.ok(retries >= 3, `${retries} retries`);
});

test("a host that replaces its history passes its list again after a failed request", async () => {
  const messages = history(41);
  const expected = summarizer();
  const whole = await manageAll(summarizing(), messages, expected.summarize);
  for (const restores of [false, true]) {
    const { requests, summarize } = summarizer();
    let manager = summarizing();
    let own = [];
    for (let length = 1; length <= messages.length; length += 2) {
      own = [...own, ...messages.slice(Math.max(0, length - 2), length)];
      // The connection fails after each decision: the host has not got the managed list.
      const send = () => Promise.reject(new Error("connection lost"));
      await assert.rejects(manager.call(own, { summarize, send }), /connection lost/);
      if (restores) manager = Manager.restore(manager.state());
      own = (await manager.manage(own, summarize)).messages;
    }
    assert.deepEqual(own, whole.messages);
    assert.equal(requests.length, expected.requests.length, "no summary is requested twice");
  }
});

test("a host that replaces its history only now and then sends the same", async () => {
  const messages = history(41);
  const expected = summarizer();
  const whole = await manageAll(summarizing(), messages, expected.summarize);
  const { requests, summarize } = summarizer();
  const manager = summarizing();
  let own = [];
  let ready;
  for (let length = 1; length <= messages.length; length += 2) {
    own = [...own, ...messages.slice(Math.max(0, length - 2), length)];
    ready = await manager.manage(own, summarize);
    if (length % 6 === 1) own = ready.messages;
  }
  assert.deepEqual(ready.messages, whole.messages);
  assert.deepEqual(requests, expected.requests);
});

test("a policy knows the time between calls, also if a message changes the notation", (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: Date.UTC(2026, 0, 1) });
  const settings = {
    compression_trigger: 0.05, prune_protect: 0, prune_minimum: 0, spare_turns: 0, cooldown: 0, cold_after: 5, output_reserve: 4000,
  };
  const messages = [
    { role: "user", content: "Look at the harbour." },
    { type: "function_call", call_id: "a", name: "look", arguments: "{}" },
    { type: "function_call_output", call_id: "a", output: long("result") },
  ];
  const isCleared = (minutes) => {
    const manager = new Manager("prune", { window: 16_000, settings });
    // Any notation may begin so. The call shows that it is the one of responses.
    manager.step(messages.slice(0, 1));
    t.mock.timers.tick(minutes * 60_000);
    return manager.step(messages).ready.messages[2].output !== messages[2].output;
  };
  assert.equal(isCleared(1), false);
  assert.equal(isCleared(10), true);
});

test("a window without room for the output reserve is a warning of the first request", () => {
  const messages = history(3);
  const first = (window) => new Manager("summarize", { window }).step(messages).ready.warnings;
  assert.deepEqual(first(128_000), []);
  const [warning, ...others] = first(32_000);
  assert.match(warning, /summarize: the output reserve of 32000 leaves no usable tokens in a window of 32000/);
  assert.deepEqual(others, []);
});

test("errors are sentences that name what is wrong", () => {
  assert.throws(() => new Manager("nope", { window: 1000 }), /no preset is named .?nope.?; did you mean none\?/);
  assert.throws(() => new Manager("ours.toml", { window: 1000 }), /pass the text of the file/);
  assert.throws(() => summarizing({ settings: { keep: 1 } }), /summarize has no setting named .?keep/);
  assert.throws(() => summarizing({ settings: { keep_recent: 9999 } }), /keep_recent = 9999 is out of range/);
  assert.throws(() => summarizing({ format: "martian" }), /martian/);
  assert.throws(() => summarizing().step([{ role: "martian", content: "x" }]), /martian/);
});

test("a call over 1,000 messages takes less than 2 ms", async () => {
  const messages = Array.from({ length: 1200 }, (_, number) => message(number, 150));
  const manager = new Manager("truncate", { window: 64_000 });
  const times = [];
  for (let length = 901; length <= 1101; length += 2) {
    const part = messages.slice(0, length);
    const start = process.hrtime.bigint();
    manager.step(part);
    if (length > 903) times.push(Number(process.hrtime.bigint() - start) / 1e6);
  }
  times.sort((a, b) => a - b);
  const median = times[times.length >> 1];
  console.log(`median of ${times.length} calls: ${median.toFixed(2)} ms, longest: ${times.at(-1).toFixed(2)} ms`);
  // An addon without optimization is slower.
  assert.ok(median < (process.env.PLIMSOLL_OPTIMIZED ? 2 : 20), `${median} ms`);
});

test("memory does not grow with the number of calls", async () => {
  const messages = history(40, 100);
  const manager = new Manager("truncate", { window: 4000, settings: {} });
  const resident = () => (globalThis.gc?.(), process.memoryUsage().rss);
  const play = (calls) => {
    for (let call = 0; call < calls; call++) manager.step(messages.slice(0, 38 + (call % 3)));
  };
  play(2000);
  const before = resident();
  play(Number(process.env.PLIMSOLL_CALLS ?? 5000));
  const growth = (resident() - before) / 1e6;
  console.log(`growth: ${growth.toFixed(1)} MB`);
  assert.ok(growth < 16, `${growth} MB`);
});

