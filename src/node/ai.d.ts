import type { LanguageModel, LanguageModelMiddleware, LanguageModelUsage, ModelMessage } from "ai";
import type { Conversion, Manager } from "./index.js";

/** Options of a manager of AI SDK messages. */
export const aiMessages: Conversion<any>;

/** Returns a `prepareStep` for `generateText`, `streamText` and agents. The model of the step writes summaries. */
export function prepareStep(manager: Manager): (options: {
  model: LanguageModel;
  messages: ModelMessage[];
  steps: readonly { usage: LanguageModelUsage }[];
}) => Promise<{ messages: ModelMessage[] }>;

/** Returns a middleware for `wrapLanguageModel`: a model of one conversation. The inner model writes summaries. */
export function middleware(manager: Manager): LanguageModelMiddleware;
