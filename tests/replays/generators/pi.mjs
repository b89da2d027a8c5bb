// Makes replay cases of pi with its defaults: runs an AgentSession against a stub of the provider on this machine.
//
// Usage: node pi.mjs FOLDER
//
// Needs @mariozechner/pi-coding-agent 0.73.1 and Node 20 or later, installed where it is run. Conversations are invented from a
// seed; this script is the model, and its tools return the recorded results. Its own system prompt is replaced by the recorded one.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const VERSION = '0.73.1';
const SUMMARY = 'SUMMARY OF EARLIER WORK: the ledger imports disputes; tests pass except two.';
const SUMMARIZER = 'You are a context summarization assistant.';
const WORDS = 'ledger cursor batch refund receipt window journal dispute payout entry größe 日本語 🙂'.split(' ');
const TOOLS = ['read', 'bash', 'edit'];

const entry = resolve('node_modules/@mariozechner/pi-coding-agent/dist/index.js');
const pi = await import(pathToFileURL(entry));

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

/** Returns an invented conversation. `sizes` has the lines of the results of each turn. */
function conversation(rng, sizes) {
  const messages = [{ role: 'system', content: `You work on a ledger: ${words(rng, 12)}` }];
  let n = 0;
  sizes.forEach((turn, nth) => {
    messages.push({ role: 'user', content: `Request ${nth}: ${words(rng, 12)}` });
    for (const size of turn) {
      const id = `call_${String(++n).padStart(3, '0')}`;
      const name = TOOLS[n % TOOLS.length];
      const given = name === 'bash' ? { command: `cat part_${n}.txt` } : { path: `src/part_${n}.rs` };
      const call = { id, type: 'function', function: { name, arguments: JSON.stringify(given) } };
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
  constructor(messages, window) {
    Object.assign(this, { messages, window, calls: [], usage: [], asked: [], fired: [], believed: null });
    this.answers = messages.flatMap((message, at) => (message.role === 'assistant' ? [at] : []));
  }

  /** Answers a request as the model. */
  respond(request) {
    const messages = request.messages.map(({ role, content, tool_calls, tool_call_id }) => ({
      role: role === 'developer' ? 'system' : role, content: text(content),
      ...(tool_calls && { tool_calls }), ...(tool_call_id && { tool_call_id }),
    }));
    if (messages[0].content.startsWith(SUMMARIZER)) {
      this.asked.push({ messages, max_tokens: request.max_completion_tokens ?? request.max_tokens, failed: null });
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
    const key = m => JSON.stringify([m.role, m.tool_call_id, (m.tool_calls ?? []).map(call => call.id), m.content || null]);
    const at = this.messages.findIndex(recorded => key(recorded) === key(message));
    return at < 0 ? null : at;
  }

  async play() {
    const server = createServer((request, response) => serve(this, request, response));
    await new Promise(done => server.listen(0, '127.0.0.1', done));
    const home = mkdtempSync(join(tmpdir(), 'pi-'));
    const auth = pi.AuthStorage.inMemory();
    auth.setRuntimeApiKey('stub', 'none');
    const model = {
      id: 'stub', name: 'Stub', api: 'openai-completions', provider: 'stub', reasoning: false, input: ['text'],
      baseUrl: `http://127.0.0.1:${server.address().port}/v1`, contextWindow: this.window, maxTokens: 1024,
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    };
    const results = new Map(this.messages.filter(m => m.role === 'tool').map(m => [m.tool_call_id, m.content]));
    const parameters = { type: 'object', properties: {}, additionalProperties: true };
    const customTools = TOOLS.map(name => ({
      name, label: name, description: name, parameters,
      execute: async id => ({ content: [{ type: 'text', text: results.get(id) }], details: {} }),
    }));
    const settingsManager = pi.SettingsManager.inMemory();
    const { session } = await pi.createAgentSession({
      cwd: home, agentDir: home, model, thinkingLevel: 'off', authStorage: auth, modelRegistry: pi.ModelRegistry.inMemory(auth),
      resourceLoader: resources(this.messages[0].content), customTools, tools: TOOLS, sessionManager: pi.SessionManager.inMemory(home),
      settingsManager,
    });
    this.config = { compaction: settingsManager.getCompactionSettings() };
    session._rebuildSystemPrompt = () => this.messages[0].content;
    session._baseSystemPrompt = session.agent.state.systemPrompt = this.messages[0].content;
    const check = session._checkCompaction.bind(session);
    session._checkCompaction = (message, ...rest) => {
      if (message.usage) this.believed = message.usage.totalTokens;
      return check(message, ...rest);
    };
    const names = { threshold: 'compact', overflow: 'compact-overflow' };
    session.subscribe(event => {
      if (event.type === 'compaction_end' && event.result) this.fired.push(names[event.reason] ?? event.reason);
    });
    for (const message of this.messages) {
      if (message.role !== 'user') continue;
      await session.prompt(message.content);
      // The check at the end of a turn runs on.
      do await new Promise(done => setTimeout(done, 50));
      while (session.isCompacting);
    }
    session.dispose();
    server.close();
    rmSync(home, { recursive: true });
  }
}

/** Returns the resources of a session that finds none. */
function resources(prompt) {
  return {
    getExtensions: () => ({ extensions: [], errors: [], runtime: pi.createExtensionRuntime() }),
    getSkills: () => ({ skills: [], diagnostics: [] }),
    getPrompts: () => ({ prompts: [], diagnostics: [] }),
    getThemes: () => ({ themes: [], diagnostics: [] }),
    getAgentsFiles: () => ({ agentsFiles: [] }),
    getSystemPrompt: () => prompt,
    getAppendSystemPrompt: () => [],
    extendResources: () => {},
    reload: async () => {},
  };
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
      of({ role: 'assistant', content: message.content ?? '' }),
      ...(calls.length ? [of({ tool_calls: calls })] : []),
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
  const messages = conversation(random(1), [[20, 1900], [1100], [10]]);
  const run = new Run(messages, 40_000);
  await run.play();
  return {
    system: 'pi', preset: 'pi',
    upstream: {
      package: '@mariozechner/pi-coding-agent', version: VERSION, functions: ['AgentSession.prompt'],
    },
    config: run.config, window: run.window, max_output: 1024,
    input: { messages, usage: run.usage }, summary: SUMMARY, calls: run.calls,
    notes: "pi's defaults. AgentSession itself ran; its own system prompt was replaced by the recorded one.",
  };
}

mkdirSync(process.argv[2], { recursive: true });
writeFileSync(join(process.argv[2], 'defaults.json'), `${JSON.stringify(await chosen())}\n`);
