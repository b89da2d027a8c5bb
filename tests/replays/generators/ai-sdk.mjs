// Makes replay cases of the AI SDK's `pruneMessages`: runs `generateText` with a model that answers as recorded.
//
// Usage: node ai-sdk.mjs FOLDER [NUMBER OF RANDOM CASES]
//
// Needs ai 7.0.173 and Node 20 or later, installed where it is run. Conversations are invented from a seed.

import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const installed = createRequire(join(process.cwd(), 'x.js'));
const { generateText, jsonSchema, pruneMessages, isStepCount, tool } = await import(
  pathToFileURL(installed.resolve('ai'))
);

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
function conversation(rng, { turns, steps = 3, parallel = 3, silent = 0.4, system = true, lost = 0, thinks = 0 }) {
  const messages = system ? [{ role: 'system', content: `You plan a ${words(rng, 6)}` }] : [];
  let n = 0;
  const thinking = () => (rng() < thinks ? { reasoning_content: `Thought: ${words(rng, 6)}` } : {});
  for (let turn = 0; turn < turns; turn++) {
    messages.push({ role: 'user', content: `Request ${messages.length}: ${words(rng, 8)}` });
    let isLost = false;
    for (let step = below(rng, steps + 1); step > 0 && !isLost; step--) {
      isLost = turn + 1 < turns && rng() < lost;
      const calls = Array.from({ length: 1 + below(rng, parallel) }, () => ({
        id: `call_${String(++n).padStart(3, '0')}`,
        type: 'function',
        function: {
          // Nothing runs `ask`: its calls get no result.
          name: isLost ? 'ask' : TOOLS[below(rng, TOOLS.length)],
          arguments: JSON.stringify({ path: words(rng, 1) }),
        },
      }));
      const content = rng() < silent ? null : `Step ${messages.length}: ${words(rng, 5)}`;
      messages.push({ role: 'assistant', content, ...thinking(), tool_calls: calls });
      for (const call of isLost ? [] : calls) {
        messages.push({ role: 'tool', tool_call_id: call.id, content: `${call.id}: ${words(rng, 12)}` });
      }
    }
    if (!isLost) {
      messages.push({ role: 'assistant', content: `Answer ${messages.length}: ${words(rng, 9)}`, ...thinking() });
    }
  }
  return messages;
}

/** Plays a conversation. */
async function play(messages, options) {
  const calls = [];
  const byText = new Map();
  const byCall = new Map();
  const results = new Map();
  messages.forEach((message, index) => {
    if (message.role === 'tool') results.set(message.tool_call_id, index);
    else if (message.content) byText.set(message.content, index);
    message.tool_calls?.forEach(call => byCall.set(call.id, index));
  });

  const chat = prompt =>
    prompt.flatMap(({ role, content }) => {
      if (role === 'system') return [{ role, content, from: 0 }];
      if (role === 'user') return [{ role, content: content[0].text, from: byText.get(content[0].text) }];
      if (role === 'tool') {
        return content.map(part => ({
          role,
          tool_call_id: part.toolCallId,
          content: part.output.value,
          from: results.get(part.toolCallId),
        }));
      }
      const text = content.find(part => part.type === 'text')?.text ?? null;
      const made = content.filter(part => part.type === 'tool-call').map(part => ({
        id: part.toolCallId,
        type: 'function',
        function: { name: part.toolName, arguments: JSON.stringify(part.input) },
      }));
      const from = text !== null ? byText.get(text) : made.length ? byCall.get(made[0].id) : null;
      return [{ role, content: text, ...(made.length ? { tool_calls: made } : {}), from }];
    });

  let at = 0;
  let hasChanged = false;
  const model = {
    specificationVersion: 'v4',
    provider: 'recorded',
    modelId: 'recorded',
    supportedUrls: {},
    doGenerate: async ({ prompt }) => {
      calls.push({ before: at, sent: chat(prompt), fired: hasChanged ? ['prune'] : [], believed: null, asked: [] });
      const answer = messages[at++];
      while (messages[at]?.role === 'tool') at++;
      const content = answer.reasoning_content ? [{ type: 'reasoning', text: answer.reasoning_content }] : [];
      if (answer.content) content.push({ type: 'text', text: answer.content });
      for (const call of answer.tool_calls ?? []) {
        const { name, arguments: input } = call.function;
        content.push({ type: 'tool-call', toolCallId: call.id, toolName: name, input });
      }
      const usage = { inputTokens: { total: 0 }, outputTokens: { total: 0 } };
      const unified = answer.tool_calls ? 'tool-calls' : 'stop';
      return { content, finishReason: { unified, raw: unified }, usage, warnings: [] };
    },
  };

  const system = messages[0].role === 'system' ? messages[0].content : undefined;
  const execute = async (_, { toolCallId }) => messages[results.get(toolCallId)].content;
  const tools = Object.fromEntries(
    [...TOOLS, 'ask'].map(name => {
      const shown = { description: name, inputSchema: jsonSchema({ type: 'object' }) };
      return [name, tool(name === 'ask' ? shown : { ...shown, execute })];
    }),
  );
  let history = [];
  while (at < messages.length) {
    if (messages[at].role !== 'user') {
      at++;
      continue;
    }
    history = [...history, { role: 'user', content: messages[at++].content }];
    const result = await generateText({
      model,
      instructions: system,
      messages: history,
      tools,
      stopWhen: isStepCount(1000),
      prepareStep: ({ messages: given }) => {
        const pruned = pruneMessages({ messages: given, ...options });
        hasChanged = JSON.stringify(pruned) !== JSON.stringify(given);
        return { messages: pruned };
      },
    });
    history = [...history, ...result.responseMessages];
  }
  return calls;
}

/** Returns a case. */
async function madeCase(messages, options, notes) {
  const calls = await play(messages, options);
  return {
    system: 'ai-sdk',
    preset: 'ai-sdk',
    upstream: { package: 'ai', version: '7.0.173', functions: ['generateText', 'pruneMessages'] },
    config: { pruneMessages: options },
    window: 128000,
    max_output: 4096,
    input: { messages, usage: calls.map(() => null) },
    summary: '',
    calls,
    notes,
  };
}

const options = (toolCalls, emptyMessages = 'remove', reasoning = 'none') => ({ reasoning, toolCalls, emptyMessages });

/** Cases that are bundled: name, seed, conversation, options, notes. */
const CHOSEN = [
  ['rules', 1, { turns: 3 },
    options([{ type: 'before-last-4-messages', tools: ['bash', 'edit'] }, { type: 'before-last-message', tools: ['read'] }]),
    'Two rules, one after the other.'],
  ['rules-all', 2, { turns: 3 },
    options([{ type: 'before-last-5-messages' }, { type: 'all', tools: ['grep'] }], 'keep'),
    'One tool is removed everywhere; empty messages count for later steps.'],
  ['keep-empty-turn', 3, { turns: 2, steps: 7, silent: 1 }, options('before-last-2-messages', 'keep'),
    'Answers without text stay as empty messages.'],
  ['interrupted', 4, { turns: 5, lost: 0.5, system: false }, options('before-last-message'),
    'Calls without results are removed like others.'],
  ['none', 5, { turns: 2 }, options('none'), 'Nothing is removed.'],
  ['reasoning', 7, { turns: 3, silent: 0.6, thinks: 0.7 }, options('before-last-2-messages', 'remove', 'before-last-message'),
    'Reasoning is removed from all messages but the newest.'],
  ['long-turn', 12, { turns: 1, steps: 30, silent: 0.8 }, options('before-last-6-messages'), 'One turn.'],
];

/** Makes a random case. */
function anyCase(seed) {
  const rng = random(1000 + seed);
  const kinds = ['all', 'none', 'before-last-message', ...[0, 2, 3, 4, 5, 6, 9].map(n => `before-last-${n}-messages`)];
  const kind = () => kinds[below(rng, kinds.length)];
  const rule = () => {
    let type = kind();
    while (type === 'none') type = kind();
    return rng() < 0.7 ? { type, tools: TOOLS.filter(() => rng() < 0.5) } : { type };
  };
  const toolCalls = rng() < 0.5 ? kind() : Array.from({ length: below(rng, 4) }, rule);
  const reasoning = ['none', 'all', 'before-last-message'][below(rng, 3)];
  const given = options(toolCalls, rng() < 0.5 ? 'keep' : 'remove', reasoning);
  const shape = {
    turns: 1 + below(rng, 8),
    steps: below(rng, 9),
    parallel: 1 + below(rng, 4),
    silent: [0, 0.5, 1][below(rng, 3)],
    thinks: [0, 0.5, 1][below(rng, 3)],
    system: rng() < 0.7,
    lost: toolCalls === 'all' || toolCalls === 'before-last-message' ? 0.2 : 0,
  };
  return [`random-${String(seed).padStart(4, '0')}`, 1000 + seed, shape, given, 'Random.'];
}

const [folder, n] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const chosen = n === undefined ? CHOSEN : Array.from({ length: Number(n) }, (_, seed) => anyCase(seed));
for (const [name, seed, shape, given, notes] of chosen) {
  const made = await madeCase(conversation(random(seed), shape), given, notes);
  writeFileSync(join(folder, `${name}.json`), JSON.stringify(made) + '\n');
}
