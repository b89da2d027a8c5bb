// Makes replay cases of Cline with its defaults: runs an AgentRuntime, as SessionRuntime sets it up, against a stub of the provider on this machine.
//
// Usage: node cline.mjs CHECKOUT FOLDER
//
// CHECKOUT is cline/cline at 21cb8d25. Needs @cline/core 0.0.78 of that commit, esbuild and Node 20 or later, installed where it is
// run. Conversations are invented from a seed; this script is the model, and its tools return the recorded results.
// `prepareTurn` is made as LocalRuntimeHost makes it, with the compaction of the app: turned on. It gets no definitions of
// tools, so they weigh nothing.

import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [checkout, folder] = process.argv.slice(2);
const COMMIT = '21cb8d2525bcedf1f4b6890b27a74a14fe7451e4';
const PROVIDER = 'openai-compatible';
const SUMMARY = 'SUMMARY OF EARLIER WORK: the ledger imports disputes; tests pass except two.';
const SUMMARIZER = 'Summarize the provided coding session';
const WORDS = 'ledger cursor batch refund receipt window journal dispute payout entry größe 日本語 🙂'.split(' ');
const TOOLS = ['read_files', 'run_commands', 'editor'];

/** Bundles Cline's own files, whose classes the package does not export. */
async function load() {
  const outfile = resolve(`cline-${process.pid}.mjs`);
  const contents = `
    export { SessionRuntime } from './runtime/orchestration/session-runtime-orchestrator';
    export { createAgentRuntime } from '@cline/agents';
    export { createContextCompactionPrepareTurn, createCompactionStateAwarePrepareTurn } from './extensions/context/compaction';`;
  const stdin = { contents, resolveDir: resolve(checkout, 'sdk/packages/core/src'), loader: 'ts' };
  const { build } = createRequire(outfile)('esbuild');
  await build({ stdin, bundle: true, format: 'esm', platform: 'node', outfile, packages: 'external', logLevel: 'error' });
  const cline = await import(pathToFileURL(outfile));
  rmSync(outfile);
  return cline;
}

const cline = await load();

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
const lines = n => Array.from({ length: n }, (_, nth) => `${nth}: the ledger imports disputes`).join('\n');

/** Returns an invented conversation. `sizes` has the lines of each request and of the results of its turn. */
function conversation(rng, sizes) {
  const messages = [{ role: 'system', content: `You work on a ledger: ${words(rng, 12)}` }];
  let n = 0;
  sizes.forEach(([request, ...results], nth) => {
    const given = request ? `\n${lines(request)}` : '';
    messages.push({ role: 'user', content: `Request ${nth}: ${words(rng, 12)}${given}` });
    for (const size of results) {
      const id = `call_${String(++n).padStart(3, '0')}`;
      const name = TOOLS[n % TOOLS.length];
      const input = {
        read_files: { files: [{ path: `src/part_${n}.rs` }] },
        run_commands: { commands: [`cat part_${n}.txt`] },
        editor: { path: `src/part_${n}.rs`, new_text: words(rng, 3) },
      }[name];
      const call = { id, type: 'function', function: { name, arguments: JSON.stringify(input) } };
      messages.push({ role: 'assistant', content: n % 2 ? `Step ${n}: ${words(rng, 5)}` : null, tool_calls: [call] });
      messages.push({ role: 'tool', tool_call_id: id, content: lines(size) });
    }
    messages.push({ role: 'assistant', content: `Answer ${nth}: ${words(rng, 12)}` });
  });
  return messages;
}

const text = content => (Array.isArray(content) ? content.map(part => part.text).join('') : content);
const size = value => Math.ceil(JSON.stringify(value).length / 4);

/** A conversation played through a session. */
class Run {
  constructor(messages, window, maxTokens) {
    Object.assign(this, { messages, window, maxTokens, calls: [], usage: [], asked: [], fired: [], believed: null });
    this.answers = messages.flatMap((message, at) => (message.role === 'assistant' ? [at] : []));
  }

  /** Answers a request as the model. */
  respond(request) {
    const messages = request.messages.map(({ role, content, tool_calls, tool_call_id }) => ({
      role, content: text(content) || null, ...(tool_calls && { tool_calls }), ...(tool_call_id && { tool_call_id }),
    }));
    if (messages[0].content.startsWith(SUMMARIZER)) {
      this.asked.push({ messages, max_tokens: request.max_tokens, failed: null });
      return { message: { content: SUMMARY }, usage: { input: size(messages), output: 20 } };
    }
    const before = this.answers[this.calls.length];
    const sent = messages.map(message => ({ ...message, from: this.origin(message) }));
    const usage = { input: size(messages), output: size(this.messages[before]) };
    this.calls.push({ before, sent, fired: this.fired, believed: this.believed, asked: this.asked });
    Object.assign(this, { fired: [], believed: null, asked: [] });
    this.usage.push(usage);
    return { message: this.messages[before], usage };
  }

  /** Returns the index of the recorded message that a message came from. */
  origin(message) {
    const ids = m => (m.tool_calls ?? []).map(call => call.id);
    const key = m => JSON.stringify([m.role, m.tool_call_id ?? ids(m), m.tool_call_id || ids(m).length ? null : m.content]);
    const at = this.messages.findIndex(recorded => key(recorded) === key(message));
    return at < 0 ? null : at;
  }

  async play() {
    const server = createServer((request, response) => serve(this, request, response));
    await new Promise(done => server.listen(0, '127.0.0.1', done));
    const model = { id: 'stub', name: 'Stub', contextWindow: this.window, maxTokens: this.maxTokens, capabilities: ['tools'] };
    const provider = {
      providerId: PROVIDER, modelId: 'stub', apiKey: 'none', baseUrl: `http://127.0.0.1:${server.address().port}/v1`,
      knownModels: { stub: model },
    };
    const results = new Map();
    for (const [at, message] of this.messages.entries()) {
      if (message.role === 'tool') results.set(message.tool_call_id, this.messages[at].content);
    }
    const tools = TOOLS.map(name => ({
      name, description: name, inputSchema: { type: 'object', properties: {}, additionalProperties: true },
      execute: async (_, context) => results.get(context.toolCallId),
    }));
    const logger = {
      debug: (message, given) => {
        if (message === 'Context compaction diagnostics') this.believed = given.requestInputTokens;
      },
      log: () => {}, error: () => {},
    };
    let state;
    const compact = cline.createContextCompactionPrepareTurn({ ...provider, providerConfig: provider, compaction: { enabled: true }, logger });
    const prepareTurn = cline.createCompactionStateAwarePrepareTurn({
      compact: async input => {
        const result = await compact(input);
        if (result?.messages) this.fired.push(this.asked.length ? 'agentic' : 'basic');
        return result;
      },
      getState: () => state,
      saveState: saved => {
        state = saved;
      },
    });
    const settings = {
      ...provider, sessionId: 'case', providerConfig: provider, systemPrompt: this.messages[0].content, tools,
      prepareTurn: input => prepareTurn({ ...input, tools: [] }),
    };
    const [first, ...others] = this.messages.filter(message => message.role === 'user').map(message => message.content);
    // One runtime takes all requests, with the callbacks of the session.
    const createAgentRuntimeImpl = given => {
      const runtime = cline.createAgentRuntime({ ...given, initialMessages: [] });
      const run = runtime.run.bind(runtime);
      runtime.run = async () => {
        let result = await run(first);
        for (const request of others) result = await runtime.continue(request);
        return result;
      };
      return runtime;
    };
    const result = await new cline.SessionRuntime(settings, { createAgentRuntimeImpl }).run(first);
    if (result.finishReason !== 'completed') throw new Error(JSON.stringify(result).slice(0, 900));
    server.close();
  }
}

/** Serves a request of a provider whose model is `run`. */
function serve(run, request, response) {
  let body = '';
  request.on('data', data => (body += data));
  request.on('end', () => {
    const { message, usage } = run.respond(JSON.parse(body));
    const calls = (message.tool_calls ?? []).map((call, index) => ({ index, ...call }));
    const chunk = { id: 'r', object: 'chat.completion.chunk', created: 1, model: 'stub' };
    const of = (delta, finish_reason = null) => ({ ...chunk, choices: [{ index: 0, delta, finish_reason }] });
    const chunks = [
      ...(message.content ? [of({ role: 'assistant', content: message.content })] : []),
      ...(calls.length ? [of({ role: 'assistant', tool_calls: calls })] : []),
      of({}, calls.length ? 'tool_calls' : 'stop'),
      { ...chunk, choices: [], usage: {
        prompt_tokens: usage.input, completion_tokens: usage.output, total_tokens: usage.input + usage.output } },
    ];
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(`${chunks.map(each => `data: ${JSON.stringify(each)}\n\n`).join('')}data: [DONE]\n\n`);
  });
}

/** Makes the case that is bundled. */
async function chosen() {
  const messages = conversation(random(1), [[600, 300], [900], [950, 40], [0, 30]]);
  const run = new Run(messages, 36_000, 64_000);
  await run.play();
  return {
    system: 'cline', preset: 'cline',
    upstream: {
      repo: 'cline/cline', commit: COMMIT,
      functions: ['AgentRuntime (packages/agents)', 'SessionRuntime', 'createContextCompactionPrepareTurn', 'createCompactionStateAwarePrepareTurn'],
    },
    config: { compaction: { enabled: true }, model_chars: PROVIDER.length + 'stub'.length },
    window: run.window, max_output: run.maxTokens,
    input: { messages, usage: run.usage }, summary: SUMMARY, calls: run.calls,
    notes: "Cline's defaults. AgentRuntime itself ran, with the callbacks that SessionRuntime gives it; no tool definitions (tools weigh nothing).",
  };
}

mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, 'defaults.json'), `${JSON.stringify(await chosen())}\n`);
process.exit();
