// Makes replay cases of the Continue CLI: runs it against a provider that answers as recorded and an MCP server that
// returns the recorded results.
//
// Usage: node continue-cli.mjs FOLDER
//
// Needs @continuedev/cli 1.5.47 and Node 20 or later, installed where it is run. Conversations are invented from a seed.

import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const SELF = fileURLToPath(import.meta.url);
const PROGRAM = resolve('node_modules/@continuedev/cli/dist/cn.js');
const SUMMARY = 'SUMMARY OF EARLIER WORK: the tide table is imported; two pilots are free. 港 ✓';
const SUMMARY_PROMPT = 'Please provide a concise summary of our conversation so far';
const TOOL = 'tide';
const WORDS = 'berth crane tide pilot ledger manifest anchor signal buoy harbor café 港 🚢 Straße'.split(' ');

/** Serves the recorded results by the argument of their calls. */
function serveResults(file) {
  const results = JSON.parse(readFileSync(file, 'utf8'));
  const send = message => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const inputSchema = { type: 'object', properties: { at: { type: 'string' } } };
  createInterface({ input: process.stdin }).on('line', line => {
    const { id, method, params } = JSON.parse(line);
    const answers = {
      initialize: () => ({
        protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'case', version: '1' } }),
      'tools/list': () => ({ tools: [{ name: TOOL, description: TOOL, inputSchema }] }),
      'tools/call': () => ({ content: [{ type: 'text', text: results[params.arguments.at] }] }),
    };
    if (id !== undefined) send({ id, result: answers[method]?.() ?? {} });
  });
}

/** Returns a generator of numbers below 1 (mulberry32). */
function random(seed) {
  let state = seed + 1;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const below = (rng, n) => Math.floor(rng() * n);
const words = (rng, n) => Array.from({ length: n }, () => WORDS[below(rng, WORDS.length)]).join(' ');

/** Returns an invented conversation: requests with their answers, and the results by argument. */
function conversation(rng, { turns, steps = 3, parallel = 2, silent = 0.3, output = 60, words: long = 9 }) {
  const results = {};
  const all = [];
  let n = 0;
  for (let turn = 0; turn < turns; turn++) {
    const answers = [];
    for (let step = below(rng, steps + 1); step > 0; step--) {
      const calls = Array.from({ length: 1 + below(rng, parallel) }, () => {
        n += 1;
        const at = `${n} ${words(rng, 2)}`;
        results[at] = `Result ${n}: ${words(rng, 1 + below(rng, output))}`;
        const id = `call_${String(n).padStart(3, '0')}`;
        return { id, type: 'function', function: { name: TOOL, arguments: JSON.stringify({ at }) } };
      });
      const content = rng() < silent ? null : `Step ${n}: ${words(rng, 5)}`;
      answers.push({ role: 'assistant', content, tool_calls: calls });
    }
    answers.push({ role: 'assistant', content: `Answer ${turn}: ${words(rng, long)}` });
    all.push({ request: `Request ${turn}: ${words(rng, 8)}`, answers });
  }
  return { turns: all, results };
}

/** A provider that answers as recorded, and notes what is sent. */
class Provider {
  constructor(turns, summary, fails) {
    Object.assign(this, { turns, summary, fails, recorded: [], indices: new Map(), calls: [], asked: [], kinds: [], nAsked: 0 });
    this.server = createServer((request, response) => {
      let body = '';
      request.on('data', data => (body += data));
      request.on('end', () => this.answer(JSON.parse(body), response));
    });
  }

  key({ role, content, tool_call_id, tool_calls }) {
    return `${role} ${tool_call_id ?? tool_calls?.[0].id ?? content}`;
  }

  record(message) {
    this.indices.set(this.key(message), this.recorded.length);
    this.recorded.push(message);
  }

  answer({ messages, tools }, response) {
    this.tools = tools ?? [];
    const sent = messages.map(({ role, content, tool_calls, tool_call_id }) => ({
      role, content: content || null, ...(tool_calls && { tool_calls }), ...(tool_call_id && { tool_call_id }) }));
    const isSummary = sent.at(-1).content?.startsWith(SUMMARY_PROMPT);
    this.kinds.push(isSummary ? 'summary' : 'call');
    if (isSummary) {
      this.nAsked += 1;
      const failed = this.fails.includes(this.nAsked) ? 'the provider failed' : null;
      this.asked.push({ messages: sent, max_tokens: null, failed });
      if (failed) {
        response.writeHead(400, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ error: { message: failed, type: 'invalid_request_error' } }));
        return;
      }
      stream(response, { role: 'assistant', content: this.summary });
      return;
    }
    if (this.recorded.length === 0) {
      this.record(sent[0]);
    }
    // The newest request and results become part of the recording when they are first sent.
    const known = message => this.indices.get(this.key(message)) ?? null;
    if (this.request !== undefined) {
      this.record({ role: 'user', content: this.request });
      this.request = undefined;
    }
    this.results.splice(0).forEach(result => this.record(result));
    const asked = this.asked.splice(0);
    const fired = asked.map(({ failed }) => (failed ? `failed: ${failed}` : 'compact'));
    if (sent.at(-1).content === 'continue' && sent.at(-1).role === 'user') {
      fired.unshift('continue');
    }
    const from = message => (message.role === 'assistant' && message.content === this.summary ? null : known(message));
    this.calls.push({
      before: this.recorded.length, sent: sent.map(message => ({ ...message, from: from(message) })),
      fired, believed: null, asked });
    const answer = this.queue.shift() ?? { role: 'assistant', content: `Continued ${this.recorded.length}.` };
    this.record(answer);
    this.results = (answer.tool_calls ?? []).map(call => ({
      role: 'tool', tool_call_id: call.id,
      content: JSON.stringify([{ type: 'text', text: this.texts[JSON.parse(call.function.arguments).at] }]) }));
    stream(response, answer);
  }
}

/** Streams an answer. */
function stream(response, { content, tool_calls }) {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const chunk = (delta, finish_reason = null) => response.write(`data: ${JSON.stringify({
    id: 'x', object: 'chat.completion.chunk', created: 1, model: 'recorded', choices: [{ index: 0, delta, finish_reason }] })}\n\n`);
  chunk({ role: 'assistant', content: content ?? '' });
  tool_calls?.forEach((call, index) => chunk({ tool_calls: [{ index, ...call }] }));
  chunk({}, tool_calls ? 'tool_calls' : 'stop');
  response.end('data: [DONE]\n\n');
}

/** The system's own rule, to find the context length that tool definitions reduce to the window. */
function threshold(context, maxTokens) {
  const answer = maxTokens ?? Math.ceil(Math.min(context * 0.35, 64000));
  return context - answer - Math.min(Math.max(answer, Math.ceil((1 - 0.8) * (context - answer))), 15000);
}

/** Runs the program once. */
function run(home, work, args) {
  return new Promise(done => {
    const env = { ...process.env, HOME: home, CONTINUE_GLOBAL_DIR: join(home, '.continue'), CONTINUE_TELEMETRY_ENABLED: '0' };
    const child = spawn(process.execPath, [PROGRAM, '-p', '--allow', TOOL, '--verbose', ...args], { cwd: work, env, timeout: 60_000, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    child.stdout.on('data', data => (output += data));
    child.stderr.on('data', data => (output += data));
    child.on('close', code => done({ code, output }));
  });
}

/**
 * Returns the count that decided whether the program compacts before each call, without tool definitions, from its log:
 * the last one before the first request for a summary, else the last one.
 */
function counts(home, kinds) {
  const log = readFileSync(join(home, '.continue/logs/cn.log'), 'utf8');
  const lines = log.matchAll(/(Context usage check|Creating chat completion stream) (\{.*\})/g);
  const found = [];
  let [count, isDecided, at] = [null, false, 0];
  for (const [, event, values] of lines) {
    if (event === 'Context usage check') {
      const { inputTokens, toolTokens } = JSON.parse(values);
      count = isDecided ? count : inputTokens - toolTokens;
    } else if (kinds[at++] === 'call') {
      found.push(count);
      isDecided = false;
    } else {
      isDecided = true;
    }
  }
  return found;
}

/** Returns the size of the tool definitions. */
function toolTokens(home) {
  const log = readFileSync(join(home, '.continue/logs/cn.log'), 'utf8');
  // Some checks leave them out.
  return Math.max(...[...log.matchAll(/"toolTokens":(\d+)/g)].map(([, tokens]) => Number(tokens)));
}

/** Plays a conversation with a context length. */
async function play({ turns, results }, context, { maxTokens, summary = SUMMARY, fails = [], excluded = [] }) {
  const home = mkdtempSync(join(tmpdir(), 'continue-'));
  // The folder is part of the instructions.
  const work = '/tmp/harbor';
  mkdirSync(work, { recursive: true });
  mkdirSync(join(home, '.continue'));
  const provider = new Provider(turns, summary, fails);
  Object.assign(provider, { texts: results, results: [] });
  await new Promise(ready => provider.server.listen(0, '127.0.0.1', ready));
  writeFileSync(join(home, 'results.json'), JSON.stringify(results));
  const { port } = provider.server.address();
  const options = { contextLength: context, ...(maxTokens && { maxTokens }) };
  writeFileSync(join(home, 'config.yaml'), JSON.stringify({
    name: 'case', version: '1.0.0', schema: 'v1',
    models: [{
      name: 'recorded', provider: 'openai', model: 'recorded', apiBase: `http://127.0.0.1:${port}/v1`, apiKey: 'none',
      roles: ['chat'], capabilities: ['tool_use'], defaultCompletionOptions: options }],
    mcpServers: [{ name: 'case', command: process.execPath, args: [SELF, 'serve', join(home, 'results.json')] }],
  }));
  let halt;
  for (const [nth, { request, answers }] of turns.entries()) {
    Object.assign(provider, { request, queue: [...answers] });
    const args = ['--config', join(home, 'config.yaml'), ...excluded.flatMap(name => ['--exclude', name])];
    const { code, output } = await run(home, work, [...args, ...(nth > 0 ? ['--resume'] : []), request]);
    if (code !== 0) {
      halt = output;
      break;
    }
  }
  provider.server.close();
  const found = { provider, believed: counts(home, provider.kinds), halt, toolTokens: toolTokens(home) };
  rmSync(home, { recursive: true });
  return found;
}

/** Returns the built-in tools, which cases exclude, and the size of the definition of the other one. */
async function tools() {
  const turns = [{ request: 'Request', answers: [{ role: 'assistant', content: 'Answer' }] }];
  const { provider } = await play({ turns, results: {} }, 90000, {});
  const excluded = provider.tools.map(tool => tool.function.name).filter(name => name !== TOOL);
  const { toolTokens } = await play({ turns, results: {} }, 90000, { excluded });
  return { excluded, toolTokens };
}

/** Returns a case. */
async function madeCase(invented, { window = 1900, notes, ...options }, { excluded, toolTokens }) {
  const { maxTokens = null, summary = SUMMARY } = options;
  let context = window;
  while (threshold(context, maxTokens) - toolTokens < threshold(window, maxTokens)) context++;
  const { provider, believed, halt } = await play(invented, context, { ...options, excluded });
  const calls = provider.calls.map((call, nth) => ({ ...call, believed: believed[nth] }));
  return {
    system: 'continue-cli',
    preset: 'continue-cli',
    upstream: { package: '@continuedev/cli', version: '1.5.47', functions: ['cn -p', 'cn -p --resume'] },
    config: { maxTokens },
    window,
    max_output: maxTokens ?? Math.ceil(window * 0.35),
    input: { messages: provider.recorded, usage: calls.map(() => null) },
    summary,
    calls,
    ...(halt && { halt }),
    notes: `${notes} contextLength was ${context}: the window and the ${toolTokens} tokens of a tool definition, which it counts too.`,
  };
}

/** Cases that are bundled: name, seed, conversation, options. */
const CHOSEN = [
  ['run', 1, { turns: 1, steps: 14 }, { maxTokens: 500, notes: 'One turn: everything becomes a summary, and a last answer is followed by "continue".' }],
  ['chat', 2, { turns: 14, steps: 0 }, { maxTokens: 500, window: 1500, notes: 'A chat without tools: the newest request is only in the summary.' }],
  ['turns', 3, { turns: 5 }, { maxTokens: 500, notes: 'Several turns.' }],
  ['parallel', 4, { turns: 3, steps: 4, parallel: 4 }, { maxTokens: 500, notes: 'Parallel calls.' }],
  ['long-answer', 5, { turns: 4 }, { maxTokens: 900, window: 2600, notes: 'The longest answer is subtracted twice.' }],
  ['short-answer', 15, { turns: 4 }, { maxTokens: 100, window: 1000, notes: 'A fifth is kept free beside a short answer.' }],
  ['default-answer', 6, { turns: 5 }, { window: 2300, notes: 'Without maxTokens 35 % of the context is kept for the answer.' }],
  ['summary-fails', 7, { turns: 5 }, { maxTokens: 500, fails: [1], notes: 'A request fails; within a turn it is repeated.' }],
  ['all-fail', 1, { turns: 1, steps: 14 }, { maxTokens: 500, fails: [1, 2], notes: 'Both requests before a call fail: it is sent whole.' }],
  ['before-turn', 10, { turns: 4, steps: 0, words: 600 }, { maxTokens: 500, window: 2300, notes: 'Long answers: the history is compacted before the request is added.' }],
  ['short-summary', 9, { turns: 7 }, { maxTokens: 500, summary: '∅', notes: 'A short summary.' }],
];

if (process.argv[2] === 'serve') {
  serveResults(process.argv[3]);
} else {
  const folder = process.argv[2];
  const known = await tools();
  mkdirSync(folder, { recursive: true });
  for (const [name, seed, shape, options] of CHOSEN) {
    const made = await madeCase(conversation(random(seed), shape), options, known);
    writeFileSync(join(folder, `${name}.json`), `${JSON.stringify(made)}\n`);
  }
}
