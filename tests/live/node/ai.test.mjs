// The AI SDK with its mock model: `prepareStep` and the middleware. Runs with version 6 and 7.
import { Manager } from "@plimsoll/context";
import { aiMessages, middleware, prepareStep } from "@plimsoll/context/ai";
import * as ai from "ai";
import * as mocks from "ai/test";
import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { long, SETTINGS } from "./conversation.mjs";
import { TOO_LONG } from "./server.mjs";

const SUMMARY = "SUMMARY of the model";
const STEPS = 16;
const summarizing = () => new Manager("summarize", { window: 16_000, settings: SETTINGS, ...aiMessages });
const isSummary = ({ tools }) => !tools?.length;
const usageOf = (prompt) => {
  const total = Math.ceil(JSON.stringify(prompt).length / 6);
  return {
    inputTokens: { total, noCache: total, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 3, text: 3, reasoning: 0 },
  };
};

// Returns a model that calls two tools at once until the last step, and the prompts that it got.
function mock(reject = () => false) {
  const prompts = [];
  let step = 0;
  const reply = (options) => {
    const { prompt } = options;
    prompts.push({ prompt, isSummary: isSummary(options) });
    if (isSummary(options)) return { content: [{ type: "text", text: SUMMARY }], reason: "stop" };
    if (reject(prompt)) throw new ai.APICallError({ message: "Bad Request", statusCode: 400, url: "", requestBodyValues: {}, responseBody: JSON.stringify(TOO_LONG.anthropic) });
    step++;
    if (step % STEPS === 0) return { content: [{ type: "text", text: "the answer" }], reason: "stop" };
    const calls = ["a", "b"].map((name) => ({ type: "tool-call", toolCallId: `${name}${step}`, toolName: "look", input: `{"at":"${name}${step}"}` }));
    const reasoning = { type: "reasoning", text: "thinking", providerMetadata: { anthropic: { signature: `s${step}` } } };
    return { content: [reasoning, { type: "text", text: `step ${step}` }, ...calls], reason: "tool-calls" };
  };
  const doGenerate = async (options) => {
    const { content, reason } = reply(options);
    return { content, finishReason: { unified: reason, raw: reason }, usage: usageOf(options.prompt), warnings: [] };
  };
  const doStream = async (options) => {
    const { content, reason } = reply(options);
    const parts = content.flatMap((part, at) => {
      if (part.type === "tool-call") return [part];
      const { type, text, ...rest } = part;
      const id = String(at);
      return [{ type: `${type}-start`, id, ...rest }, { type: `${type}-delta`, id, delta: text }, { type: `${type}-end`, id }];
    });
    parts.unshift({ type: "stream-start", warnings: [] });
    parts.push({ type: "finish", finishReason: { unified: reason, raw: reason }, usage: usageOf(options.prompt) });
    return { stream: ai.simulateReadableStream({ chunks: parts }) };
  };
  const Mock = mocks.MockLanguageModelV4 ?? mocks.MockLanguageModelV3;
  return { model: new Mock({ doGenerate, doStream }), prompts };
}

const tools = {
  look: ai.tool({
    description: "look",
    inputSchema: z.object({ at: z.string() }),
    execute: async ({ at }) => long(`result of ${at}`, 400),
  }),
};
const stopWhen = (ai.isStepCount ?? ai.stepCountIs)(40);
const first = { role: "user", content: "Never touch berth 7. Look at the harbour.", providerOptions: { own: { mark: 1 } } };

// Checks that requests were compacted, that results follow their calls, and that parts kept all fields.
function check(prompts, steps) {
  const sent = prompts.filter((prompt) => !prompt.isSummary).map(({ prompt }) => prompt);
  assert.equal(sent.length, steps);
  assert.ok(prompts.some((prompt) => prompt.isSummary), "a summary was requested");
  const lengths = sent.map((prompt) => prompt.length);
  assert.ok(lengths.some((length, at) => at > 0 && length < lengths[at - 1]), `${lengths} messages were sent`);
  assert.ok(Math.max(...lengths) < 2 * STEPS, `${lengths} messages were sent`);
  for (const prompt of sent) {
    const calls = new Set();
    for (const { role, content } of prompt.filter(({ role }) => role !== "system")) {
      for (const part of content) {
        if (part.type === "tool-call") calls.add(part.toolCallId);
        if (role === "tool") assert.ok(calls.delete(part.toolCallId), `${part.toolCallId} has a call`);
        if (part.type === "reasoning") assert.match(part.providerOptions.anthropic.signature, /^s\d+$/);
      }
    }
    assert.equal(calls.size, 0, "each call has a result");
  }
  assert.ok(JSON.stringify(sent.at(-1)).includes(SUMMARY));
  return sent;
}

test("prepareStep compacts each step of generateText", async () => {
  const { model, prompts } = mock();
  const manager = summarizing();
  const result = await ai.generateText({ model, messages: [first], tools, stopWhen, prepareStep: prepareStep(manager) });
  assert.equal(result.text, "the answer");
  const sent = check(prompts, STEPS);
  assert.deepEqual(sent[0][0].providerOptions, first.providerOptions);

  // The host stores its full history, and passes it with the next turn.
  const sizes = sent.map((prompt) => prompt.length);
  const stored = JSON.parse(JSON.stringify([first, ...result.response.messages, { role: "user", content: "Look again." }]));
  await ai.generateText({ model, messages: stored, tools, stopWhen, prepareStep: prepareStep(manager) });
  const later = check(prompts, 2 * STEPS).slice(STEPS).map((prompt) => prompt.length);
  assert.ok(Math.max(...later) <= Math.max(...sizes) + 2, `${later} messages were sent`);
});

test("prepareStep compacts each step of streamText", async () => {
  const { model, prompts } = mock();
  const result = ai.streamText({ model, messages: [first], tools, stopWhen, prepareStep: prepareStep(summarizing()) });
  assert.equal(await result.text, "the answer");
  check(prompts, STEPS);
});

test("the middleware compacts generateText", async () => {
  const { model, prompts } = mock();
  const managed = ai.wrapLanguageModel({ model, middleware: middleware(summarizing()) });
  const result = await ai.generateText({ model: managed, messages: [first], tools, stopWhen });
  assert.equal(result.text, "the answer");
  check(prompts, STEPS);
});

test("the middleware compacts streamText", async () => {
  const { model, prompts } = mock();
  const managed = ai.wrapLanguageModel({ model, middleware: middleware(summarizing()) });
  const result = ai.streamText({ model: managed, messages: [first], tools, stopWhen });
  assert.equal(await result.text, "the answer");
  check(prompts, STEPS);
});

test("the middleware reduces a rejected context and sends it again", async () => {
  const isTooLong = (prompt) => prompt.length > 6;
  const { model, prompts } = mock(isTooLong);
  // The window is larger than the model's.
  const manager = new Manager("summarize", { window: 200_000, settings: SETTINGS, ...aiMessages });
  const managed = ai.wrapLanguageModel({ model, middleware: middleware(manager) });
  const result = await ai.generateText({ model: managed, messages: [first], tools, stopWhen: (ai.isStepCount ?? ai.stepCountIs)(5) });
  assert.equal(result.steps.length, 5);
  assert.ok(prompts.some(({ prompt, isSummary }) => !isSummary && isTooLong(prompt)));
  assert.ok(prompts.some(({ isSummary }) => isSummary));
});

test("messages of every kind keep their fields, also if one part is changed", () => {
  const result = (id, output) => ({ type: "tool-result", toolCallId: id, toolName: "look", output, providerOptions: { own: { id } } });
  const own = {
    role: "tool",
    content: [result("a", { type: "text", value: "long" }), result("b", { type: "json", value: { deep: [1] } }),
      result("c", { type: "error-text", value: "failed" }), result("d", { type: "content", value: [{ type: "text", text: "t" }] }),
      result("e", { type: "execution-denied", reason: "no" })],
    providerOptions: { own: { mark: 2 } },
  };
  const wire = aiMessages.toWire(own);
  assert.equal(wire.role, "user");
  assert.deepEqual(aiMessages.fromWire(wire, own), own);
  wire.content[0] = { ...wire.content[0], content: "[cleared]" };
  wire.content[2] = { ...wire.content[2], content: "[cleared]" };
  const changed = aiMessages.fromWire(wire, own);
  assert.deepEqual(changed.content[0], result("a", { type: "text", value: "[cleared]" }));
  assert.deepEqual(changed.content[2], result("c", { type: "error-text", value: "[cleared]" }));
  assert.equal(changed.content[1], own.content[1]);
  assert.equal(changed.providerOptions, own.providerOptions);

  const png = new Uint8Array([137, 80, 78, 71]);
  const user = {
    role: "user",
    content: [{ type: "text", text: "one" }, { type: "image", image: png }, { type: "text", text: "two", providerOptions: { x: {} } },
      { type: "file", data: new URL("https://example.com/a.pdf"), mediaType: "application/pdf", filename: "a.pdf" }],
  };
  const blocks = aiMessages.toWire(user).content;
  assert.deepEqual(blocks[1], { type: "image", source: { type: "base64", media_type: "image/*", data: "iVBORw==" } });
  assert.deepEqual(blocks[3], { type: "document", source: { type: "url", url: "https://example.com/a.pdf" } });
  const cut = aiMessages.fromWire({ role: "user", content: [blocks[0], { type: "text", text: "2" }, blocks[3]] }, user);
  assert.deepEqual(cut.content, [user.content[0], { ...user.content[2], text: "2" }, user.content[3]]);
  assert.equal(cut.content[2], user.content[3]);
});

test("a changed result of several parts keeps its image and its fields", () => {
  const image = { type: "image-data", data: "iVBORw==", mediaType: "image/png", providerOptions: { own: { detail: "low" } } };
  const text = { type: "text", text: "long", providerOptions: { own: { mark: 3 } } };
  const output = { type: "content", value: [text, image], providerOptions: { own: { mark: 4 } } };
  const part = { type: "tool-result", toolCallId: "a", toolName: "look", output };
  const own = { role: "tool", content: [part] };
  const wire = aiMessages.toWire(own);
  const change = (content) => {
    const changed = aiMessages.fromWire({ ...wire, content: [{ ...wire.content[0], content }] }, own);
    assert.ok(ai.modelMessageSchema.safeParse(changed).success, JSON.stringify(changed));
    return changed.content[0];
  };
  const blocks = wire.content[0].content;
  const cut = change([{ type: "text", text: "cut" }, blocks[1]]);
  assert.deepEqual(cut, { ...part, output: { ...output, value: [{ ...text, text: "cut" }, image] } });
  assert.equal(cut.output.value[1], image);
  assert.deepEqual(change([blocks[1]]), { ...part, output: { ...output, value: [image] } });
  assert.deepEqual(change("[cleared]"), { ...part, output: { ...output, value: [{ ...text, text: "[cleared]" }] } });
  // The options of a text stay too.
  const plain = { ...part, output: { type: "text", value: "long", providerOptions: { own: { mark: 5 } } } };
  const short = aiMessages.fromWire({ role: "user", content: [{ type: "tool_result", tool_use_id: "a", content: "cut" }] }, { role: "tool", content: [plain] });
  assert.deepEqual(short.content, [{ ...plain, output: { ...plain.output, value: "cut" } }]);
});

test("changed messages of a list that was returned keep their fields after a restore", async () => {
  const settings = { compression_trigger: 0.5, prune_protect: 1500, prune_minimum: 0, spare_turns: 0, cooldown: 0, output_reserve: 4000 };
  const options = { own: { mark: 7 } };
  const turn = (number) => [
    { role: "user", content: `Look at berth ${number}.` },
    { role: "assistant", content: [{ type: "tool-call", toolCallId: `c${number}`, toolName: "look", input: { at: number } }] },
    {
      role: "tool",
      content: [{ type: "tool-result", toolCallId: `c${number}`, toolName: "look", output: { type: "text", value: long(`berth ${number}`) }, providerOptions: options }],
      providerOptions: options,
    },
  ];
  const play = (each) => {
    let manager = new Manager("prune", { window: 16_000, settings, ...aiMessages });
    let own = [];
    for (let number = 0; number < 16; number++) {
      own = manager.step([...own, ...turn(number)]).ready.messages;
      [manager, own] = each(manager, own);
    }
    return own;
  };
  const stored = (own) => JSON.parse(JSON.stringify(own));
  const restore = (manager) => Manager.restore(manager.state(), aiMessages);
  const whole = play((manager, own) => [manager, own]);
  const restored = play((manager, own) => [restore(manager), stored(own)]);
  assert.deepEqual(restored, whole);
  // A state may be saved again without a step in between.
  assert.deepEqual(play((manager, own) => [restore(restore(manager)), stored(own)]), whole);
  const results = restored.filter(({ role }) => role === "tool");
  assert.equal(results.length, 16);
  assert.ok(results.filter(({ content }) => content[0].output.value.length < 100).length >= 4, "results were cleared");
  for (const { content: [part], providerOptions } of results) {
    assert.deepEqual([providerOptions, part.providerOptions, part.toolName], [options, options, "look"]);
  }
});
