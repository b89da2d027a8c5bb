// Adapter for the client `openai`: chat completions and responses.
import { watched } from "./stream.mjs";
import { promptOf } from "./summary.mjs";

// Sends the managed messages with `client.chat.completions.create`. The same client and model write summaries.
export function chat(client, manager, { messages, ...request }, options) {
  const create = (body) => client.chat.completions.create(body, options);
  const limit = "max_tokens" in request ? "max_tokens" : "max_completion_tokens";
  const report = ({ usage }) =>
    usage && manager.report({ inputTokens: usage.prompt_tokens, outputTokens: usage.completion_tokens });
  return manager.call(messages, {
    summarize: async (ask) => {
      const tools = ask.withTools ? request.tools : undefined;
      const answer = await create({ model: request.model, messages: ask.messages, [limit]: ask.maxTokens, tools });
      return answer.choices[0].message.content;
    },
    send: async (ready) => {
      const answer = await create({ ...request, messages: ready.messages });
      // The last chunk has the usage if the request asks for it (`stream_options`).
      if (request.stream) return watched(answer, report);
      report(answer);
      return answer;
    },
  });
}

// Sends the managed input with `client.responses.create`. The same client and model write summaries.
export async function responses(client, manager, { input, ...request }, options) {
  const kept = ["conversation", "previous_response_id"].find((field) => request[field]);
  if (kept) throw new Error(`${kept} is not supported: OpenAI keeps that conversation. Send the whole input with each call.`);
  const create = (body) => client.responses.create(body, options);
  const report = (response) => {
    const usage = response?.usage;
    if (usage) manager.report({ inputTokens: usage.input_tokens, outputTokens: usage.output_tokens });
  };
  return manager.call(typeof input === "string" ? [{ role: "user", content: input }] : input, {
    summarize: async (ask) => {
      const { system, turns } = promptOf(ask);
      const limit = { max_output_tokens: ask.maxTokens, store: false };
      return (await create({ model: request.model, instructions: system, input: turns, ...limit })).output_text;
    },
    send: async (ready) => {
      const answer = await create({ ...request, input: ready.messages });
      if (request.stream) return watched(answer, (event) => report(event.response));
      report(answer);
      return answer;
    },
  });
}
