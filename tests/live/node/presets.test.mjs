// Every preset with every form of messages: results follow their calls, and a host's fields stay.
import { Manager } from "@plimsoll/context";
import { aiMessages } from "@plimsoll/context/ai";
import { modelMessageSchema } from "ai";
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { long } from "./conversation.mjs";

const FOLDER = join(process.env.PLIMSOLL_REPOSITORY, "src/core/assets/presets");
const PRESETS = readdirSync(FOLDER).map((file) => file.replace(/\.toml$/, ""));
const TURNS = 4;
const STEPS = 6;
// A field of the host in each result.
const OWN = { own: { mark: 7 } };

// A conversation of turns with two tool calls in each step, in a form of its own.
const FORMS = {
  ai: {
    options: aiMessages,
    user: (text) => ({ role: "user", content: [{ type: "text", text }], providerOptions: { own: { text: "kept" } } }),
    answer: (text) => ({ role: "assistant", content: [{ type: "text", text }] }),
    step: (calls) => [
      { role: "assistant", content: calls.map(({ id, name, input }) => ({ type: "tool-call", toolCallId: id, toolName: name, input })) },
      { role: "tool", content: calls.map(({ id, name, text }) => ({ type: "tool-result", toolCallId: id, toolName: name, output: { type: "text", value: text }, providerOptions: OWN })) },
    ],
    calls: ({ role, content }) => (role === "assistant" && Array.isArray(content) ? content : []).filter(({ type }) => type === "tool-call").map((part) => part.toolCallId),
    results: ({ role, content }) => (role === "tool" ? content.map((part) => part.toolCallId) : []),
    check: (message) => assert.ok(modelMessageSchema.safeParse(message).success, JSON.stringify(message).slice(0, 500)),
  },
  chat: {
    options: { format: "openai_chat" },
    user: (content) => ({ role: "user", content, name: "kept" }),
    answer: (content) => ({ role: "assistant", content, refusal: null }),
    step: (calls) => [
      { role: "assistant", content: null, refusal: null, tool_calls: calls.map(({ id, name, input }) => ({ id, type: "function", function: { name, arguments: JSON.stringify(input) } })) },
      ...calls.map(({ id, text }) => ({ role: "tool", tool_call_id: id, content: text, ...OWN })),
    ],
    calls: ({ tool_calls = [] }) => tool_calls.map(({ id }) => id),
    results: ({ role, tool_call_id }) => (role === "tool" ? [tool_call_id] : []),
    check: ({ role }) => assert.match(role, /^(system|developer|user|assistant|tool)$/),
  },
  responses: {
    options: { format: "openai_responses" },
    user: (text) => ({ type: "message", role: "user", content: [{ type: "input_text", text }] }),
    answer: (text) => ({ type: "message", id: "m", role: "assistant", status: "completed", content: [{ type: "output_text", text, annotations: [] }] }),
    step: (calls) => [
      ...calls.map(({ id, name, input }) => ({ type: "function_call", id: `fc_${id}`, call_id: id, name, arguments: JSON.stringify(input) })),
      ...calls.map(({ id, text }) => ({ type: "function_call_output", call_id: id, output: text, ...OWN })),
    ],
    calls: ({ type, call_id }) => (type === "function_call" ? [call_id] : []),
    results: ({ type, call_id }) => (type === "function_call_output" ? [call_id] : []),
    check: (item) => assert.ok(item.type || item.role, JSON.stringify(item)),
  },
  messages: {
    options: { format: "anthropic_messages" },
    user: (text) => ({ role: "user", content: [{ type: "text", text, cache_control: { type: "ephemeral" } }] }),
    answer: (text) => ({ role: "assistant", content: [{ type: "text", text, citations: null }] }),
    step: (calls) => [
      { role: "assistant", content: calls.map(({ id, name, input }) => ({ type: "tool_use", id, name, input })) },
      { role: "user", content: calls.map(({ id, text }) => ({ type: "tool_result", tool_use_id: id, content: text, ...OWN })) },
    ],
    calls: ({ content }) => (Array.isArray(content) ? content : []).filter(({ type }) => type === "tool_use").map(({ id }) => id),
    results: ({ content }) => (Array.isArray(content) ? content : []).filter(({ type }) => type === "tool_result").map((block) => block.tool_use_id),
    check: ({ role }) => assert.match(role, /^(system|user|assistant)$/),
  },
};

// Checks that each result has a call before it, and each call a result after it.
function checkPairs(messages, form) {
  const open = new Set();
  for (const message of messages) {
    form.check(message);
    const results = form.results(message);
    for (const id of results) assert.ok(open.delete(id), `result ${id} has no call`);
    const marks = JSON.stringify(message).split(JSON.stringify(OWN.own)).length - 1;
    assert.equal(marks, results.length, `${JSON.stringify(message).slice(0, 300)} has the fields of the host`);
    for (const id of form.calls(message)) open.add(id);
  }
  assert.deepEqual([...open], [], "calls have results");
}

async function play(preset, form) {
  const manager = new Manager(preset, { window: 24_000, ...form.options });
  const history = [];
  let changed = 0;
  const request = async () => {
    const ready = await manager.manage(history, async () => "<summary>SUMMARY of what was done</summary>");
    checkPairs(ready.messages, form);
    const own = new Set(history);
    changed += ready.messages.some((message) => !own.has(message));
    manager.report({ inputTokens: ready.tokens + 2000, outputTokens: 50 });
  };
  for (let turn = 0; turn < TURNS; turn++) {
    history.push(form.user(long(`turn ${turn}`, 100)));
    for (let step = 0; step < STEPS; step++) {
      await request();
      const call = (name) => ({ id: `${name}${turn}${step}`, name, input: { path: `src/${name}${step}.rs` }, text: long(`result ${turn} ${step}`, 700) });
      history.push(...form.step([call("read"), call("grep")]));
    }
    await request();
    history.push(form.answer(`answer ${turn}`));
  }
  return changed;
}

for (const [name, form] of Object.entries(FORMS)) {
  test(`all presets return valid messages of the form ${name}`, async () => {
    let changing = 0;
    for (const preset of PRESETS) {
      try {
        changing += (await play(preset, form)) > 0;
      } catch (error) {
        error.message = `${preset}: ${error.message}`;
        throw error;
      }
    }
    console.log(`${changing} of ${PRESETS.length} presets changed or added messages`);
    assert.ok(changing > PRESETS.length / 2);
  });
}
