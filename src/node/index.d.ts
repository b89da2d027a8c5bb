/** How a count is known. */
export type Accuracy = "exact" | "calibrated" | "estimated" | "reported";

/** Form of the messages that the manager reads. */
export type Format = "openai_chat" | "openai_responses" | "anthropic_messages" | "gemini_api";

/** JSON of a message in one of the formats. */
export type Wire = { role?: string; content?: unknown; [field: string]: unknown };

/** Converts the messages of a host that has a form of its own. */
export interface Conversion<M> {
  /** Form that `toWire` returns. */
  format?: Format;
  /** Returns the message in that form. Each message has one counterpart. */
  toWire(message: M): object;
  /** Returns the host's message for a changed (`own` is its original) or a new one. */
  fromWire(wire: Wire, own: M | undefined): M;
}

/** Settings of a manager. */
export interface Options<M = any> extends Partial<Conversion<M>> {
  /** Context window of the model, in tokens. */
  window: number;
  /** Settings of the policy, which `docs/preset-list.md` lists. [default: those of the preset] */
  settings?: Record<string, number>;
  /** Token counter. [default: o200k_base] */
  counter?: string;
  /** Name of the model, for policies with rules of their own per model and for counting images. */
  model?: string;
  /** Fit of the counter to the provider's counts, as `plimsoll inspect --json` prints it. [default: from reported usage] */
  calibration?: { overhead: number; factor: number; error?: number };
  /** What the request contains besides its messages. */
  request?: { system?: unknown; instructions?: unknown; tools?: unknown };
}

/** Summary that is needed before the next request can be built. */
export interface SummaryRequest {
  /** Number of the call. */
  call: number;
  /** Stage of the policy that asks for it. */
  stage: string;
  /** The prompt, as messages of chat completions. */
  messages: { role: string; content: string; [field: string]: unknown }[];
  /** Maximum length of the answer, in tokens. */
  maxTokens: number;
  /** Whether the real system that the policy describes sends exactly this prompt. */
  verbatim: boolean;
  /** Whether that system sends its tool definitions with it. */
  withTools: boolean;
  /** Part of the prompt, from 1, and their number: a conversation larger than the window is summarized in parts. */
  part: [part: number, parts: number];
  /** Ranges of the host's messages that the summary replaces: first, and one after the last. */
  covers: [from: number, to: number][];
  /** Earlier summaries that it replaces. */
  previous: string[];
}

/** What the policy did. */
export interface Event {
  /** Number of the call, from 1. */
  call: number;
  /** Stage of the policy. */
  stage: string;
  /** Kind of action. */
  action: string;
  effect: "removed" | "changed" | "nothing" | "logged";
  /** The trigger with its values. */
  why: string;
  /** Tokens of the context before. */
  before: number;
  /** Tokens of the context after. */
  after: number;
  /** What the real system logs. */
  log?: string[];
  /** Files that the policy writes: name and content. */
  files?: [name: string, content: string][];
}

/** Messages of the next request. */
export interface Ready<M> {
  /** Untouched messages are the host's own objects. */
  messages: M[];
  /** Number of the call, from 1. */
  call: number;
  /** Size of the context. */
  tokens: number;
  accuracy: Accuracy;
  /** Mean relative error of the counts, if it is known. */
  error: number | null;
  /** Events since the last request. */
  events: Event[];
  /** Sentences about the options, with the first request. */
  warnings: string[];
}

export type Step<M> = { ready: Ready<M>; summarize?: undefined } | { summarize: SummaryRequest; ready?: undefined };

/** Input (with what the cache read and wrote) and output of a request, in tokens. */
export interface Usage {
  inputTokens?: number | undefined;
  outputTokens?: number | undefined;
}

/** Writes a summary, in most cases with the host's own model. */
export type Summarize = (request: SummaryRequest) => Promise<string> | string;

/**
 * Decides what each call of one conversation sends.
 *
 * Pass the whole history each time, or continue the list that was returned: both work, and so do rewinds and forks. Messages
 * are compared by identity, then by their JSON. Do not change a message in place. Only a system prompt at the start may
 * change: it is always sent as you pass it.
 */
export class Manager<M = any> {
  /** Creates a manager with a preset or the text of a policy in TOML. */
  constructor(policy: string, options: Options<M>);

  /** Continues from a `state`, with the same conversion. */
  static restore<M = any>(state: string, conversion?: Partial<Conversion<M>>): Manager<M>;

  /** Returns the state as JSON, with all messages. */
  state(): string;

  /**
   * Returns the messages to send. `summarize` is called if the policy needs a summary.
   *
   * After `rejected`, call it without a history (`undefined`): it returns a smaller request.
   */
  manage(history: readonly M[] | undefined, summarize: Summarize): Promise<Ready<M>>;

  /** Returns what `send` returns. If the provider rejects the request as too long, a smaller one is sent, up to three times. */
  call<R>(history: readonly M[], options: { summarize: Summarize; send: (ready: Ready<M>) => Promise<R> }): Promise<R>;

  /** Returns the messages to send, or the summary that they need. After `answer` or `fail`, call it without a history. */
  step(history?: readonly M[]): Step<M>;

  /** Answers the summary request of the last step. Returns why the policy rejects the text, if it does. */
  answer(text: string): string | undefined;

  /** States why the summary request of the last step has no answer. */
  fail(why: unknown): void;

  /** Calibrates the counts to the reported usage of the last request. */
  report(usage: Usage): void;

  /** Handles a provider's rejection of the last request. Returns false for any error except a context that is too long. */
  rejected(error: unknown): boolean;
}
