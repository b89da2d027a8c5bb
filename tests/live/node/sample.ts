// Programs of the documentation: they must compile.
import Anthropic from "@anthropic-ai/sdk";
import { Manager, type Options, type Ready, type Step, type SummaryRequest } from "@plimsoll/context";
import { aiMessages, middleware, prepareStep } from "@plimsoll/context/ai";
import { messages } from "@plimsoll/context/anthropic";
import { chat, responses } from "@plimsoll/context/openai";
import { type LanguageModel, type ModelMessage, generateText, stepCountIs, streamText, ToolLoopAgent, wrapLanguageModel } from "ai";
import OpenAI from "openai";

declare const model: Exclude<LanguageModel, string> & { specificationVersion: "v4" };
declare const tools: {};

export async function aiSdk(history: ModelMessage[]): Promise<string> {
  const manager = new Manager<ModelMessage>("summarize", { window: 200_000, ...aiMessages });
  const result = await generateText({ model, tools, messages: history, stopWhen: stepCountIs(20), prepareStep: prepareStep(manager) });
  const stream = streamText({ model, tools, messages: history, prepareStep: prepareStep(manager) });
  const agent = new ToolLoopAgent({ model, tools, prepareStep: prepareStep(manager) });
  await agent.generate({ messages: history });
  const managed = wrapLanguageModel({ model, middleware: middleware(manager) });
  await generateText({ model: managed, prompt: "hello" });
  return result.text + (await stream.text) + Manager.restore<ModelMessage>(manager.state(), aiMessages).state();
}

export async function openAi(client: OpenAI): Promise<string | null> {
  const history: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: "hello" }];
  const options: Options = { window: 128_000, settings: { keep_recent: 8 }, format: "openai_chat" };
  const manager = new Manager<OpenAI.ChatCompletionMessageParam>("claude-code", options);
  const answer = await chat(client, manager, { model: "gpt-x", messages: history });
  history.push(answer.choices[0]!.message);
  for await (const chunk of await chat(client, manager, { model: "gpt-x", messages: history, stream: true })) {
    process.stdout.write(chunk.choices[0]?.delta.content ?? "");
  }
  const input: OpenAI.Responses.ResponseInput = [{ role: "user", content: "hello" }];
  const response = await responses(client, new Manager("truncate", { window: 128_000 }), { model: "gpt-x", input });
  return answer.choices[0]!.message.content ?? response.output_text;
}

export async function anthropic(client: Anthropic): Promise<Anthropic.ContentBlock[]> {
  const history: Anthropic.MessageParam[] = [{ role: "user", content: "hello" }];
  const manager = new Manager("claude-code", { window: 200_000, format: "anthropic_messages" });
  const request = { model: "claude-x", max_tokens: 1000, messages: history };
  for await (const event of await messages(client, manager, { ...request, stream: true })) void event.type;
  return (await messages(client, manager, request)).content;
}

interface Own {
  author: "me" | "it";
  text: string;
}

export async function ownMessages(history: Own[], write: (request: SummaryRequest) => Promise<string>): Promise<Own[]> {
  const manager = new Manager<Own>("summarize", {
    window: 128_000,
    toWire: ({ author, text }) => ({ role: author === "me" ? "user" : "assistant", content: text }),
    fromWire: (wire, own) => ({ author: wire.role === "user" ? "me" : "it", ...own, text: String(wire.content) }),
  });
  let step: Step<Own> = manager.step(history);
  while (step.summarize) {
    manager.answer(await write(step.summarize));
    step = manager.step();
  }
  const ready: Ready<Own> = step.ready;
  manager.report({ inputTokens: ready.tokens, outputTokens: 10 });
  return ready.messages;
}

interface Message {
  role: string;
  content: string;
  tool_calls?: { id: string }[];
  tool_call_id?: string;
}

declare function askModel(
  messages: { role: string; content: string }[],
  maxTokens?: number,
): Promise<{ message: Message; usage: { prompt_tokens: number; completion_tokens: number } }>;
declare function runTool(call: { id: string }): Promise<string>;

export async function ownLoop(): Promise<string[]> {
  const manager = new Manager("summarize", { window: 128_000, settings: { keep_recent: 8 } });
  const history: Message[] = [{ role: "user", content: "…" }];

  for (;;) {
    const { message, usage } = await manager.call(history, {
      // `request.messages` is a prompt in the form of chat completions.
      summarize: async (request) => (await askModel(request.messages, request.maxTokens)).message.content,
      send: (ready) => askModel(ready.messages),
    });
    manager.report({ inputTokens: usage.prompt_tokens, outputTokens: usage.completion_tokens }); // optional: calibrates the counts
    history.push(message);
    if (!message.tool_calls) break;
    for (const call of message.tool_calls) {
      history.push({ role: "tool", tool_call_id: call.id, content: await runTool(call) });
    }
  }
  const ready = manager.rejected("error") ? await manager.manage(undefined, () => "summary") : manager.step(history).ready;
  return ready?.warnings ?? [];
}

// @ts-expect-error the window is required
new Manager("summarize", {});
