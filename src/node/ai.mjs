// Adapter for the AI SDK 6 and 7 (package `ai`): a `prepareStep` and a middleware.
import { generateText } from "ai";
import { promptOf } from "./summary.mjs";

export { aiMessages } from "./ai_messages.mjs";

// Returns a `prepareStep`. Version 7 carries its messages on to the next step, version 6 starts from the full history again.
export function prepareStep(manager) {
  return async ({ model, messages, steps }) => {
    const last = steps.at(-1);
    if (last) manager.report(last.usage);
    const ready = await manager.manage(messages, async (request) => {
      const { system, turns } = promptOf(request);
      return (await generateText({ model, system, messages: turns, maxOutputTokens: request.maxTokens })).text;
    });
    return { messages: ready.messages };
  };
}

// Returns a middleware for `wrapLanguageModel`. It also reports the usage of each call, and sends rejected calls again.
export function middleware(manager) {
  const call = ({ params, model }, send) =>
    manager.call(params.prompt, {
      summarize: async (request) => {
        const { system, turns } = promptOf(request);
        const prompt = turns.map(({ role, content }) => ({ role, content: [{ type: "text", text: content }] }));
        if (system) prompt.unshift({ role: "system", content: system });
        const { abortSignal } = params;
        const { content } = await model.doGenerate({ prompt, maxOutputTokens: request.maxTokens, abortSignal });
        return content.filter((part) => part.type === "text").map((part) => part.text).join("");
      },
      send: ({ messages }) => send({ ...params, prompt: messages }),
    });
  const report = ({ inputTokens, outputTokens }) =>
    manager.report({ inputTokens: inputTokens.total, outputTokens: outputTokens.total });
  return {
    specificationVersion: "v3",
    wrapGenerate: async (options) => {
      const result = await call(options, (params) => options.model.doGenerate(params));
      report(result.usage);
      return result;
    },
    wrapStream: async (options) => {
      const result = await call(options, (params) => options.model.doStream(params));
      const transform = (part, controller) => {
        if (part.type === "finish") report(part.usage);
        controller.enqueue(part);
      };
      return { ...result, stream: result.stream.pipeThrough(new TransformStream({ transform })) };
    },
  };
}
