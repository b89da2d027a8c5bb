import type Anthropic from "@anthropic-ai/sdk";
import type { Stream } from "@anthropic-ai/sdk/streaming";
import type { Manager } from "./index.js";

// The client is described by its methods: its class differs between `import` and `require`.
type Method = (...args: any[]) => unknown;
type Client = { messages: { create: Method; stream: Method } };
type RequestOptions = Parameters<Anthropic["messages"]["create"]>[1];

/**
 * Sends the managed messages with `client.messages.create`. The same client and model write summaries.
 *
 * A rejected context is reduced and sent again.
 */
export function messages(
  client: Client,
  manager: Manager,
  request: Anthropic.MessageCreateParamsNonStreaming,
  options?: RequestOptions,
): Promise<Anthropic.Message>;
export function messages(
  client: Client,
  manager: Manager,
  request: Anthropic.MessageCreateParamsStreaming,
  options?: RequestOptions,
): Promise<Stream<Anthropic.RawMessageStreamEvent>>;
