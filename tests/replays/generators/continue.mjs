// Makes replay cases of Continue's extensions: calls its `compileChatMessages` with the whole conversation for every
// answer.
//
// Usage: node continue.mjs REPOSITORY FOLDER [NUMBER OF RANDOM CASES]
//
// Needs continuedev/continue at d0a3c0b6 with esbuild, js-tiktoken 1.0.8 and workerpool in its node_modules.
// Conversations are invented from a seed.

import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

const [repository, folder, nRandom] = process.argv.slice(2);
const root = resolve(repository);
const installed = createRequire(join(root, 'x.js'));
const bundle = join(root, 'node_modules/.bundle.cjs');
await installed('esbuild').build({
  entryPoints: [join(root, 'core/llm/countTokens.ts')],
  bundle: true,
  platform: 'node',
  format: 'cjs',
  outfile: bundle,
  logLevel: 'error',
  define: { 'import.meta.url': '""' },
});
const { compileChatMessages } = createRequire(bundle)(bundle);

const TOOLS = ['read', 'bash', 'grep', 'edit'];
const WORDS = 'berth crane tide pilot ledger manifest anchor signal buoy harbor café 港 🚢 Straße'.split(' ');

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

/** Returns an invented conversation in chat form. */
function conversation(rng, { turns, steps = 3, parallel = 2, silent = 0.3, output = 40, system = true, empty = 0 }) {
  const messages = system ? [{ role: 'system', content: `You plan a ${words(rng, 6)}` }] : [];
  let n = 0;
  for (let turn = 0; turn < turns; turn++) {
    messages.push({ role: 'user', content: `Request ${messages.length}: ${words(rng, 8)}` });
    for (let step = below(rng, steps + 1); step > 0; step--) {
      const calls = Array.from({ length: 1 + below(rng, parallel) }, () => ({
        id: `call_${String(++n).padStart(3, '0')}`,
        type: 'function',
        function: { name: TOOLS[below(rng, TOOLS.length)], arguments: JSON.stringify({ path: words(rng, 2) }) },
      }));
      const content = rng() < silent ? '' : `Step ${messages.length}: ${words(rng, 5)}`;
      messages.push({ role: 'assistant', content, tool_calls: calls });
      for (const call of calls) {
        const text = rng() < empty ? '' : `${call.id}: ${words(rng, 1 + below(rng, output))}`;
        messages.push({ role: 'tool', tool_call_id: call.id, content: text });
      }
    }
    messages.push({ role: 'assistant', content: `Answer ${messages.length}: ${words(rng, 9)}` });
  }
  return messages;
}

/** Plays a conversation. */
function play(messages, contextLength, maxTokens) {
  const calls = [];
  let nBefore = 0;
  for (const [before, answer] of messages.entries()) {
    if (answer.role !== 'assistant') continue;
    const msgs = messages.slice(0, before).map(({ role, content, tool_calls, tool_call_id }, from) => ({
      role, content, from, ...(tool_calls && { toolCalls: tool_calls }), ...(tool_call_id && { toolCallId: tool_call_id }) }));
    let compiled;
    try {
      compiled = compileChatMessages({
        modelName: 'gpt-4', msgs, knownContextLength: contextLength, maxTokens, supportsImages: true, tools: undefined });
    } catch (error) {
      return { calls, halt: error.message };
    }
    const sent = compiled.compiledChatMessages.map(({ role, content, toolCalls, toolCallId, from }) => ({
      role, content: toolCalls && content === ' ' ? null : content, ...(toolCalls && { tool_calls: toolCalls }), ...(toolCallId && { tool_call_id: toolCallId }), from }));
    const nRemoved = before - sent.length;
    calls.push({ before, sent, fired: nRemoved > 0 && nRemoved !== nBefore ? ['prune'] : [], believed: null, asked: [] });
    nBefore = nRemoved;
  }
  return { calls };
}

/** Returns a case. */
function madeCase(messages, { window = 700, maxTokens = 100, notes }) {
  const { calls, halt } = play(messages, window, maxTokens);
  return {
    system: 'continue',
    preset: 'continue',
    upstream: { repo: 'continuedev/continue', commit: 'd0a3c0b6', functions: ['compileChatMessages'] },
    config: { maxTokens },
    window,
    max_output: maxTokens,
    input: { messages, usage: calls.map(() => null) },
    summary: '',
    calls,
    ...(halt && { halt }),
    notes: `${notes} Counted as for gpt-4, without tool definitions. The space in an answer without text but calls is not shown.`,
  };
}

/** Cases that are bundled: name, seed, conversation, options. */
const CHOSEN = [
  ['run', 1, { turns: 1, steps: 16 }, { notes: 'One turn: the request is removed too.' }],
  ['chat', 2, { turns: 14, steps: 0 }, { window: 500, notes: 'A chat without tools.' }],
  ['turns', 3, { turns: 5 }, { notes: 'Several turns.' }],
  ['parallel', 4, { turns: 3, steps: 5, parallel: 4 }, { window: 900, notes: 'Parallel calls: results without their answer are removed.' }],
  ['long-answer', 5, { turns: 4 }, { window: 1600, maxTokens: 1200, notes: 'Of a long answer 1,000 tokens are kept free.' }],
  ['empty', 6, { turns: 4, silent: 1, empty: 0.5, system: false }, { notes: 'Empty answers and results become a space.' }],
  ['halts', 8, { turns: 3, steps: 5, output: 120 }, { window: 420, notes: 'A result leaves no space for the longest answer.' }],
  ['large-window', 7, { turns: 3 }, { window: 100000, maxTokens: 4096, notes: 'Nothing is removed.' }],
];

/** Makes a random case. */
function anyCase(seed) {
  const rng = random(1000 + seed);
  const shape = {
    turns: 1 + below(rng, 8), steps: below(rng, 9), parallel: 1 + below(rng, 3), silent: [0, 0.5, 1][below(rng, 3)],
    system: rng() < 0.7, empty: [0, 0.3][below(rng, 2)] };
  const window = 700 + below(rng, 1500);
  return [`random-${String(seed).padStart(4, '0')}`, 1000 + seed, shape, { window, maxTokens: 50 + below(rng, 400), notes: 'Random.' }];
}

mkdirSync(folder, { recursive: true });
const chosen = nRandom === undefined ? CHOSEN : Array.from({ length: Number(nRandom) }, (_, seed) => anyCase(seed));
for (const [name, seed, shape, options] of chosen) {
  const made = madeCase(conversation(random(seed), shape), options);
  writeFileSync(join(folder, `${name}.json`), `${JSON.stringify(made)}\n`);
}
process.exit();
