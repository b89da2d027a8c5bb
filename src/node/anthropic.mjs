// Adapter for the client `@anthropic-ai/sdk`.
import { watched } from "./stream.mjs";
import { promptOf } from "./summary.mjs";

// Sends the managed messages with `client.messages.create`. The same client and model write summaries.
export function messages(client, manager, { messages, ...request }, options) {
  return manager.call(messages, {
    summarize: async (ask) => {
      const { system, turns } = promptOf(ask);
      const body = { model: request.model, max_tokens: ask.maxTokens, system, messages: turns };
      // The client rejects long answers that are not streamed.
      return client.messages.stream(body, options).finalText();
    },
    send: async (ready) => {
      const answer = await client.messages.create({ ...request, messages: ready.messages }, options);
      if (!request.stream) {
        report(manager, answer.usage);
        return answer;
      }
      const usage = {};
      return watched(answer, (event) => {
        const known = Object.entries(event.message?.usage ?? event.usage ?? {}).filter(([, count]) => count);
        Object.assign(usage, Object.fromEntries(known));
        if (event.type === "message_stop") report(manager, usage);
      });
    },
  });
}

// `input_tokens` leaves out what the cache has read or written.
function report(manager, usage) {
  const { input_tokens = 0, cache_creation_input_tokens, cache_read_input_tokens, output_tokens } = usage;
  const inputTokens = input_tokens + (cache_creation_input_tokens ?? 0) + (cache_read_input_tokens ?? 0);
  manager.report({ inputTokens, outputTokens: output_tokens });
}
