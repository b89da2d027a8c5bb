// Makes replay cases of GitHub Copilot Chat: builds the prompts of its `AgentIntentInvocation` for a model that answers
// as recorded.
//
// Usage: node copilot-chat.mjs REPOSITORY FOLDER [NUMBER OF RANDOM CASES]
//
// Needs microsoft/vscode-copilot-chat at 31acd00a with its dependencies and esbuild (npm install --ignore-scripts).
// Conversations are invented from a seed.

import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

const [repository, folder, nRandom] = process.argv.slice(2);
const root = resolve(repository);
const installed = createRequire(join(root, 'x.js'));

const ENTRY = `
export { AgentIntentInvocation } from './src/extension/intents/node/agentIntent';
export { createExtensionUnitTestingServices } from './src/extension/test/node/services';
export { MockEndpoint } from './src/platform/endpoint/test/node/mockEndpoint';
export { IInstantiationService } from './src/util/vs/platform/instantiation/common/instantiation';
export { IConfigurationService, ConfigKey } from './src/platform/configuration/common/configurationService';
export { IChatMLFetcher } from './src/platform/chat/common/chatMLFetcher';
export { ChatLocation, ChatFetchResponseType } from './src/platform/chat/common/commonTypes';
export { Conversation, Turn, TurnStatus, RenderedUserMessageMetadata } from './src/extension/prompt/common/conversation';
export { ToolCallRound } from './src/extension/prompt/common/toolCallRound';
export { ICommandService } from './src/extension/commands/node/commandService';
export { IEndpointProvider } from './src/platform/endpoint/common/endpointProvider';
export { IAutomodeService } from './src/platform/endpoint/node/automodeService';
export { IEditLogService } from './src/platform/multiFileEdit/common/editLogService';
export { ChatVariablesCollection } from './src/extension/prompt/common/chatVariablesCollection';
export { LanguageModelTextPart, LanguageModelToolResult } from './src/vscodeTypes';
export { SummarizedConversationHistoryMetadata } from './src/extension/prompts/node/agent/summarizedConversationHistory';
export { CancellationToken } from './src/util/vs/base/common/cancellation';
import './src/extension/prompts/node/agent/allAgentPrompts';
`;

/** Modules that the prompts do not need. */
const UNUSED = /^(@keyv\/sqlite|keyv|vitest|electron|@github\/.*|@anthropic-ai\/claude-agent-sdk|node:sqlite)$/;

// Its tokenizer reads its tables beside its own file.
const bundle = join(root, 'src/platform/tokenizer/node/bundle.cjs');
await installed('esbuild').build({
  stdin: { contents: ENTRY, resolveDir: root, loader: 'ts' },
  bundle: true,
  platform: 'node',
  format: 'cjs',
  mainFields: ['module', 'main'],
  outfile: bundle,
  logLevel: 'error',
  alias: { vscode: join(root, 'src/util/common/test/shims/vscodeTypesShim.ts') },
  loader: { '.node': 'copy', '.wasm': 'file', '.ps1': 'text' },
  plugins: [{
    name: 'unused',
    setup(build) {
      build.onResolve({ filter: UNUSED }, ({ path }) => ({ path, namespace: 'unused' }));
      build.onLoad({ filter: /.*/, namespace: 'unused' }, () => ({ contents: 'module.exports = {};' }));
    },
  }],
});
const copilot = createRequire(bundle)(bundle);

const ENABLED = 'github.copilot.chat.summarizeAgentConversationHistory.enabled';
const THRESHOLD = 'github.copilot.chat.summarizeAgentConversationHistoryThreshold';
const SUMMARY = 'SUMMARY OF EARLIER WORK: the tide table is imported; two pilots are free. 港 ✓';
/** Instructions of many tokens and few characters: like the real ones, longer than the request for a summary. */
const INSTRUCTIONS = '𓂀'.repeat(420);
const TOOLS = ['fetch_tide', 'list_pilots', 'move_crane'];
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

/** Returns an invented conversation in chat form; requests of the user are not yet wrapped. */
function conversation(rng, { turns, steps = 3, parallel = 2, silent = 0.3, output = 60 }) {
  const messages = [];
  let n = 0;
  for (let turn = 0; turn < turns; turn++) {
    messages.push({ role: 'user', content: `Request ${messages.length}: ${words(rng, 8)}` });
    for (let step = below(rng, steps + 1); step > 0; step--) {
      const calls = Array.from({ length: 1 + below(rng, parallel) }, () => ({
        id: `call_${String(++n).padStart(3, '0')}`,
        type: 'function',
        function: { name: TOOLS[below(rng, TOOLS.length)], arguments: JSON.stringify({ at: words(rng, 2) }) },
      }));
      const content = rng() < silent ? null : `Step ${messages.length}: ${words(rng, 5)}`;
      messages.push({ role: 'assistant', content, tool_calls: calls });
      for (const call of calls) {
        const text = `${call.id}: ${words(rng, 1 + below(rng, output))}`;
        messages.push({ role: 'tool', tool_call_id: call.id, content: text });
      }
    }
    messages.push({ role: 'assistant', content: `Answer ${messages.length}: ${words(rng, 9)}` });
  }
  return messages;
}

/** Returns the text of a message. */
const text = message => message.content.filter(part => part.type === 1).map(part => part.text).join('');

/** Returns a message in chat form. */
function chat(message) {
  const content = text(message);
  switch (message.role) {
    case 0: return { role: 'system', content };
    case 1: return { role: 'user', content };
    case 3: return { role: 'tool', tool_call_id: message.toolCallId, content };
  }
  const calls = message.toolCalls?.map(({ id, function: called }) => ({ id, type: 'function', function: { ...called } }));
  return { role: 'assistant', content: content || null, ...(calls?.length ? { tool_calls: calls } : {}) };
}

/** Plays a conversation. Returns the recorded messages, with requests as they were first sent, and the calls. */
async function play(invented, window, config, summary, fails) {
  const services = copilot.createExtensionUnitTestingServices();
  let asked = [];
  let failures = [];
  let nAsked = 0;
  services.define(copilot.IChatMLFetcher, {
    fetchOne: async ({ messages }) => {
      nAsked += 1;
      const failed = fails.includes(nAsked) ? 'the provider failed' : null;
      asked.push({ messages: messages.map(chat), max_tokens: null, failed });
      if (failed) {
        failures.push(failed);
        return { type: copilot.ChatFetchResponseType.Failed, reason: failed, requestId: '' };
      }
      return { type: copilot.ChatFetchResponseType.Success, requestId: '', value: summary };
    },
  });
  for (const unused of [copilot.IAutomodeService, copilot.ICommandService, copilot.IEditLogService]) {
    services.define(unused, {});
  }
  let endpointOfTelemetry;
  services.define(copilot.IEndpointProvider, { getChatEndpoint: async () => endpointOfTelemetry });
  const accessor = services.createTestingAccessor();
  const create = accessor.get(copilot.IInstantiationService);
  const configuration = accessor.get(copilot.IConfigurationService);
  const { Advanced } = copilot.ConfigKey;
  await configuration.setConfig(Advanced.OmitBaseAgentInstructions, true);
  const setThreshold = threshold => configuration.setConfig(Advanced.SummarizeAgentConversationHistoryThreshold, threshold);
  await configuration.setConfig(copilot.ConfigKey.SummarizeAgentConversationHistory, config[ENABLED]);

  const availableTools = TOOLS.map(name => ({ name, description: name, inputSchema: { type: 'object', properties: {} }, tags: [] }));
  const endpointWith = limit => {
    const endpoint = create.createInstance(copilot.MockEndpoint, undefined);
    endpoint.modelMaxPromptTokens = limit;
    endpoint.cloneWithTokenOverride = endpointWith;
    return endpoint;
  };
  const toolTokens = await endpointWith(window).acquireTokenizer().countToolTokens(availableTools);
  // The window is what the tool definitions leave.
  const endpoint = endpointWith(window + toolTokens);
  endpointOfTelemetry = endpoint;
  const unlimited = endpointWith(1e9);
  const tools = { availableTools, toolInvocationToken: undefined, toolReferences: [] };

  const recorded = [];
  const indices = new Map();
  const key = ({ role, content, tool_call_id, tool_calls }) => `${role} ${tool_call_id ?? tool_calls?.[0].id ?? content}`;
  const record = message => {
    indices.set(key(message), recorded.length);
    recorded.push(message);
  };
  const from = message => indices.get(key(message)) ?? null;

  const conversation = new copilot.Conversation('session', [new copilot.Turn('turn-0', { type: 'user', message: invented[0].content })]);
  const calls = [];
  for (let at = 0; at < invented.length;) {
    const turn = conversation.getLatestTurn();
    const request = { command: undefined, prompt: invented[at].content, references: [], toolReferences: [], tools: new Map() };
    const invocationWith = endpoint =>
      create.createInstance(copilot.AgentIntentInvocation, { id: 'editsAgent' }, copilot.ChatLocation.Agent, endpoint, request, {});
    const build = (invocation, context) => invocation.buildPrompt(context, { report: () => {} }, copilot.CancellationToken.None);
    const invocation = invocationWith(endpoint);
    const rounds = [];
    const results = {};
    let isOver = false;
    for (at += 1; !isOver;) {
      const context = {
        query: turn.request.message,
        history: conversation.turns.slice(0, -1),
        chatVariables: new copilot.ChatVariablesCollection([]),
        conversation,
        request,
        toolCallRounds: rounds,
        toolCallResults: results,
        tools,
        modeInstructions: { name: 'harbor', content: INSTRUCTIONS, toolReferences: [] },
      };
      asked = [];
      failures = [];
      // What is compared with the limit: the whole prompt.
      await setThreshold(null);
      const { tokenCount } = await build(invocationWith(unlimited), context);
      await setThreshold(config[THRESHOLD] && config[THRESHOLD] + toolTokens);
      const built = await build(invocation, context);
      const sent = built.messages.map(chat);
      if (calls.length === 0) {
        sent.slice(0, -1).forEach(record);
      }
      if (rounds.length === 0) {
        record(sent.at(-1));
      }
      const isCompacted = built.metadata.get(copilot.SummarizedConversationHistoryMetadata) !== undefined;
      if (!isCompacted && failures.length === 0 && built.tokenCount !== tokenCount) {
        throw new Error(`${built.tokenCount} tokens, not ${tokenCount}`);
      }
      calls.push({
        before: recorded.length,
        sent: sent.map(message => ({ ...message, from: from(message) })),
        fired: [...failures.map(why => `failed: ${why}`), ...(isCompacted ? ['summarize'] : [])],
        believed: tokenCount,
        asked,
      });
      const answer = invented[at++];
      record(answer);
      const toolCalls = (answer.tool_calls ?? []).map(({ id, function: called }) => ({ id, ...called }));
      rounds.push(new copilot.ToolCallRound(answer.content ?? '', toolCalls, 0, `round-${at}`));
      for (const _ of toolCalls) {
        const result = invented[at++];
        record(result);
        results[result.tool_call_id] = new copilot.LanguageModelToolResult([new copilot.LanguageModelTextPart(result.content)]);
      }
      isOver = toolCalls.length === 0;
    }
    const renderedUserMessage = turn.getMetadata(copilot.RenderedUserMessageMetadata)?.renderedUserMessage;
    const metadata = { toolCallRounds: rounds, toolCallResults: results, renderedUserMessage };
    turn.setResponse(copilot.TurnStatus.Success, { type: 'model', message: rounds.at(-1).response }, undefined, { metadata });
    if (at < invented.length) {
      conversation._turns.push(new copilot.Turn(`turn-${at}`, { type: 'user', message: invented[at].content }));
    }
  }
  accessor.dispose();
  return { recorded, calls, toolTokens };
}

/** Returns a case. */
async function madeCase(invented, { window = 3000, config = {}, summary = SUMMARY, fails = [], notes }) {
  const given = { [ENABLED]: true, [THRESHOLD]: null, ...config };
  const { recorded, calls, toolTokens } = await play(invented, window, given, summary, fails);
  return {
    system: 'copilot-chat',
    preset: 'copilot-chat',
    upstream: {
      repo: 'microsoft/vscode-copilot-chat',
      commit: '31acd00a',
      version: '0.42.0',
      functions: ['AgentIntentInvocation.buildPrompt', 'AgentPrompt', 'SummarizedConversationHistory'],
    },
    config: given,
    window,
    max_output: 4096,
    input: { messages: recorded, usage: calls.map(() => null) },
    summary,
    calls,
    notes: `${notes} The model's limit for prompts is the window and ${toolTokens} tokens of tool definitions, and so is the threshold. The messages before the first request are Copilot's own.`,
  };
}

/** Cases that are bundled: name, seed, conversation, options. */
const CHOSEN = [
  ['run', 1, { turns: 1, steps: 22, output: 40 }, { notes: 'One turn, summarized between rounds.' }],
  ['chat', 2, { turns: 14, steps: 0 }, { notes: 'A chat without tools: the newest request is kept.' }],
  ['turns', 3, { turns: 6 }, { notes: 'Several turns.' }],
  ['parallel', 4, { turns: 4, steps: 5, parallel: 4 }, { notes: 'Parallel calls.' }],
  ['threshold', 5, { turns: 5 }, {
    window: 9000, config: { [THRESHOLD]: 2900 },
    notes: 'A threshold below the window.' }],
  ['off', 6, { turns: 4 }, {
    window: 9000, config: { [ENABLED]: false }, notes: 'Summaries are off.' }],
  ['full-fails', 7, { turns: 5, silent: 0.6 }, {
    fails: [1], notes: 'The request with the whole history fails; one with a transcript follows.' }],
  ['chat-full-fails', 11, { turns: 13, steps: 0 }, {
    fails: [1], notes: 'A transcript contains the newest request, which is kept too.' }],
  ['both-fail', 8, { turns: 4, steps: 3 }, { fails: [1, 2], notes: 'Both requests fail: the history is sent as it is.' }],
  ['first-round', 12, { turns: 1, steps: 4, parallel: 6, output: 130 }, {
    window: 2750,
    notes: 'A long first round cannot be summarized.' }],
  ['short-summary', 10, { turns: 8, steps: 2 }, { summary: '∅', notes: 'A short summary.' }],
];

/** Makes a random case. */
function anyCase(seed) {
  const rng = random(1000 + seed);
  const shape = {
    turns: 1 + below(rng, 8), steps: below(rng, 9), parallel: 1 + below(rng, 3), silent: [0, 0.5, 1][below(rng, 3)], output: 20 + below(rng, 50) };
  const summary = [SUMMARY, '∅'][below(rng, 2)];
  return [`random-${String(seed).padStart(4, '0')}`, 1000 + seed, shape, { window: 3000 + below(rng, 600), summary, notes: 'Random.' }];
}

mkdirSync(folder, { recursive: true });
const chosen = nRandom === undefined ? CHOSEN : Array.from({ length: Number(nRandom) }, (_, seed) => anyCase(seed));
for (const [name, seed, shape, options] of chosen) {
  const made = await madeCase(conversation(random(seed), shape), options);
  writeFileSync(join(folder, `${name}.json`), JSON.stringify(made) + '\n');
}
