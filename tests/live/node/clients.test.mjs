// The clients `openai` and `@anthropic-ai/sdk` against a scripted server.
import Anthropic from "@anthropic-ai/sdk";
import { messages } from "@plimsoll/context/anthropic";
import { chat, responses } from "@plimsoll/context/openai";
import assert from "node:assert/strict";
import { test } from "node:test";
import OpenAI from "openai";
import { long, summarizing } from "./conversation.mjs";
import { serve, TOO_LONG } from "./server.mjs";

const TURNS = 12;
const SUMMARY = "SUMMARY of the model";
// Only requests of the host have this field.
const MARK = { user: "host" };
const isSummary = (body) => body.user === undefined && body.metadata === undefined;
const usageOf = (body) => Math.ceil(JSON.stringify(body).length / 6);

// Returns what an API answers: its JSON, and its events for a stream.
const APIS = {
  chat: {
    answer: (body, text) => ({
      object: "chat.completion",
      choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: text, refusal: null } }],
      usage: { prompt_tokens: usageOf(body), completion_tokens: 3 },
    }),
    events: (body, text) => [
      { object: "chat.completion.chunk", choices: [{ index: 0, delta: { role: "assistant", content: text } }] },
      { object: "chat.completion.chunk", choices: [], usage: { prompt_tokens: usageOf(body), completion_tokens: 3 } },
      "[DONE]",
    ],
  },
  responses: {
    answer: (body, text) => ({
      object: "response",
      output: [{ type: "message", id: "m", role: "assistant", status: "completed", content: [{ type: "output_text", text, annotations: [] }] }],
      usage: { input_tokens: usageOf(body), output_tokens: 3 },
    }),
    events(body, text) {
      return [
        { type: "response.output_text.delta", delta: text },
        { type: "response.completed", response: this.answer(body, text) },
      ];
    },
  },
  messages: {
    answer: (body, text) => ({
      type: "message",
      role: "assistant",
      content: [{ type: "text", text }],
      stop_reason: "end_turn",
      usage: { input_tokens: 5, cache_creation_input_tokens: 0, cache_read_input_tokens: usageOf(body) - 5, output_tokens: 3 },
    }),
    events(body, text) {
      const { content, ...message } = this.answer(body, text);
      return [
        { type: "message_start", message: { ...message, content: [] } },
        { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
        { type: "content_block_delta", index: 0, delta: { type: "text_delta", text } },
        { type: "content_block_stop", index: 0 },
        { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 3, input_tokens: null } },
        { type: "message_stop" },
      ];
    },
  },
};

const apiOf = (path) => APIS[path.match(/completions/) ? "chat" : path.match(/responses/) ? "responses" : "messages"];

// Starts a server that answers each request. `reject(body)` returns an error or nothing.
async function scripted(t, reject = () => undefined) {
  const server = await serve((body, path) => {
    const error = reject(body);
    if (error) return { status: 400, body: error };
    const text = isSummary(body) ? SUMMARY : `answer ${long("", 500)}`;
    return apiOf(path)[body.stream ? "events" : "answer"](body, text);
  });
  const retries = { maxRetries: 0, apiKey: "none" };
  t.after(server.close);
  server.openai = new OpenAI({ baseURL: `${server.url}/v1`, ...retries });
  server.anthropic = new Anthropic({ baseURL: server.url, ...retries });
  return server;
}

// Plays turns of a host that keeps its full history. `turn` returns the messages of the answer.
async function play(manager, turn, turns = TURNS) {
  const history = [];
  for (let number = 0; number < turns; number++) {
    history.push({ role: "user", content: long(`turn ${number}`) });
    history.push(...(await turn(history)));
  }
  return history;
}

// Checks that the host's requests were compacted, and that the rest of each is the end of the history, field for field.
function check(requests, history, listOf) {
  const sent = requests.filter((body) => !isSummary(body)).map(listOf);
  const summaries = requests.filter(isSummary);
  assert.ok(summaries.length >= 1, "a summary was requested");
  assert.equal(sent.length, TURNS);
  assert.ok(sent.at(-1).length < 2 * TURNS - 1, `${sent.map((list) => list.length)} messages were sent`);
  const last = sent.at(-1);
  const kept = last.slice(last.findIndex((message) => JSON.stringify(message).includes(SUMMARY)) + 1);
  const before = history.slice(0, -1).slice(-kept.length);
  assert.deepEqual(kept, JSON.parse(JSON.stringify(before)));
  assert.ok(JSON.stringify(last).includes(SUMMARY));
}

test("chat completions are compacted with summaries of the same client", async (t) => {
  const server = await scripted(t);
  const manager = summarizing();
  const history = await play(manager, async (messages) => {
    const answer = await chat(server.openai, manager, { model: "gpt-x", messages, ...MARK });
    return [answer.choices[0].message];
  });
  check(server.requests, history, (body) => body.messages);
  const summary = server.requests.find(isSummary);
  assert.ok(summary.max_completion_tokens > 0);
});

test("streamed chat completions are compacted, and all chunks arrive", async (t) => {
  const server = await scripted(t);
  const manager = summarizing();
  const history = await play(manager, async (messages) => {
    const request = { model: "gpt-x", messages, stream: true, stream_options: { include_usage: true }, ...MARK };
    const chunks = [];
    for await (const chunk of await chat(server.openai, manager, request)) chunks.push(chunk);
    assert.equal(chunks.length, 2);
    return [{ role: "assistant", content: chunks[0].choices[0].delta.content }];
  });
  check(server.requests, history, (body) => body.messages);
});

test("responses are compacted with summaries of the same client", async (t) => {
  const server = await scripted(t);
  const manager = summarizing({ format: "openai_responses" });
  const history = await play(manager, async (input) => {
    const answer = await responses(server.openai, manager, { model: "gpt-x", input, ...MARK });
    return answer.output;
  });
  check(server.requests, history, (body) => body.input);
});

test("streamed responses are compacted, and all events arrive", async (t) => {
  const server = await scripted(t);
  const manager = summarizing({ format: "openai_responses" });
  const history = await play(manager, async (input) => {
    const events = [];
    const stream = await responses(server.openai, manager, { model: "gpt-x", input, stream: true, ...MARK });
    for await (const event of stream) events.push(event);
    assert.equal(events.length, 2);
    return events[1].response.output;
  });
  check(server.requests, history, (body) => body.input);
});

test("a conversation that OpenAI keeps is not supported", async () => {
  const request = { model: "gpt-x", input: "hello", previous_response_id: "r" };
  const manager = summarizing({ format: "openai_responses" });
  await assert.rejects(responses(new OpenAI({ apiKey: "none" }), manager, request), /previous_response_id is not supported/);
});

for (const stream of [false, true]) {
  test(`messages of Anthropic are compacted${stream ? " in streams" : ""}`, async (t) => {
    const server = await scripted(t);
    const manager = summarizing({ format: "anthropic_messages" });
    const history = await play(manager, async (list) => {
      const request = { model: "claude-x", max_tokens: 100, messages: list, metadata: { user_id: "host" }, stream };
      const answer = await messages(server.anthropic, manager, request);
      if (!stream) return [{ role: answer.role, content: answer.content }];
      let text = "";
      for await (const event of answer) text += event.delta?.text ?? "";
      return [{ role: "assistant", content: [{ type: "text", text }] }];
    });
    check(server.requests, history, (body) => body.messages);
    const summary = server.requests.find(isSummary);
    assert.equal(typeof summary.system, "string");
    assert.ok(summary.max_tokens > 0 && summary.messages.every(({ role }) => role !== "system"));
  });
}

test("a rejected context is reduced and sent again", async (t) => {
  const isTooLong = (body) => !isSummary(body) && (body.messages ?? body.input).length > 6;
  const server = await scripted(t, (body) => isTooLong(body) && TOO_LONG.openai);
  // The window is larger than the server's.
  const manager = summarizing({ window: 100_000 });
  const history = await play(manager, async (messages) => {
    const answer = await chat(server.openai, manager, { model: "gpt-x", messages, ...MARK });
    return [answer.choices[0].message];
  }, 6);
  assert.equal(history.length, 12);
  assert.ok(server.requests.some(isTooLong), "the server rejected a request");
  assert.ok(server.requests.some(isSummary), "the manager summarized");

  const claude = await scripted(t, (body) => isTooLong(body) && TOO_LONG.anthropic);
  const second = summarizing({ window: 100_000, format: "anthropic_messages" });
  const answers = await play(second, async (list) => {
    const request = { model: "claude-x", max_tokens: 100, messages: list, metadata: { user_id: "host" } };
    return [{ role: "assistant", content: (await messages(claude.anthropic, second, request)).content }];
  }, 6);
  assert.equal(answers.length, 12);
});

test("other errors reach the host unchanged", async (t) => {
  const error = { error: { message: "Incorrect API key provided.", code: "invalid_api_key" } };
  const server = await scripted(t, () => error);
  const manager = summarizing();
  const request = { model: "gpt-x", messages: [{ role: "user", content: "hello" }] };
  await assert.rejects(chat(server.openai, manager, request), /Incorrect API key/);
  // A context that is too long whatever is left out.
  const full = await scripted(t, () => TOO_LONG.openai);
  await assert.rejects(chat(full.openai, manager, request), /maximum context length/);
  assert.ok(full.requests.length <= 4);
});
