import type OpenAI from "openai";
import type { Stream } from "openai/streaming";
import type { Manager } from "./index.js";

// The client is described by its methods: its class differs between `import` and `require`.
type Create = (...args: any[]) => unknown;
type ChatClient = { chat: { completions: { create: Create } } };
type ResponsesClient = { responses: { create: Create } };
type RequestOptions = Parameters<OpenAI["chat"]["completions"]["create"]>[1];

/**
 * Sends the managed messages with `client.chat.completions.create`. The same client and model write summaries.
 *
 * A rejected context is reduced and sent again. A stream reports its usage if the request asks for it
 * (`stream_options: { include_usage: true }`).
 */
export function chat(
  client: ChatClient,
  manager: Manager,
  request: OpenAI.Chat.Completions.ChatCompletionCreateParamsNonStreaming,
  options?: RequestOptions,
): Promise<OpenAI.Chat.Completions.ChatCompletion>;
export function chat(
  client: ChatClient,
  manager: Manager,
  request: OpenAI.Chat.Completions.ChatCompletionCreateParamsStreaming,
  options?: RequestOptions,
): Promise<Stream<OpenAI.Chat.Completions.ChatCompletionChunk>>;

/**
 * Sends the managed input with `client.responses.create`. The same client and model write summaries.
 *
 * Conversations that OpenAI keeps (`conversation`, `previous_response_id`) are not supported.
 */
export function responses(
  client: ResponsesClient,
  manager: Manager,
  request: OpenAI.Responses.ResponseCreateParamsNonStreaming,
  options?: RequestOptions,
): Promise<OpenAI.Responses.Response>;
export function responses(
  client: ResponsesClient,
  manager: Manager,
  request: OpenAI.Responses.ResponseCreateParamsStreaming,
  options?: RequestOptions,
): Promise<Stream<OpenAI.Responses.ResponseStreamEvent>>;
