// Decides what each call of a conversation sends. `index.d.ts` has the types and their documentation.
import { History } from "./history.mjs";
import { native } from "./native.mjs";

const STATE_VERSION = 1;
// As in a replay, a rejected call is sent again at most three times.
const MAX_RETRIES = 3;

export class Manager {
  #native;
  #history;
  #toWire;
  #fromWire;
  #isBusy = false;
  // Whether the last step was a summary request without an answer.
  #isAsked = false;
  // Events and warnings of steps that the host did not get.
  #unseen = { events: [], warnings: [] };

  constructor(policy, { toWire, fromWire, request, ...options } = {}) {
    this.#toWire = toWire ?? ((message) => message);
    this.#fromWire = fromWire ?? ((wire) => wire);
    if (policy instanceof Saved) {
      this.#native = native.Manager.restore(policy.native);
      this.#history = History.restored(policy.history);
      this.#isAsked = policy.isAsked;
      this.#unseen = policy.unseen;
    } else {
      const json = JSON.stringify({ ...options, request: request && JSON.stringify(request) });
      this.#native = new native.Manager(policy, json);
      this.#history = new History();
    }
  }

  static restore(state, conversion = {}) {
    const { toWire, fromWire } = conversion;
    return new Manager(new Saved(state), { toWire, fromWire });
  }

  state() {
    const [native, history] = [this.#native.state(), this.#history.state()];
    return JSON.stringify({ version: STATE_VERSION, native, history, isAsked: this.#isAsked, unseen: this.#unseen });
  }

  step(history) {
    if (history !== undefined) this.#synchronize(history);
    const { ready, summarize } = this.#next();
    if (summarize) {
      const { max_tokens: maxTokens, with_tools: withTools, ...request } = summarize;
      return { summarize: { ...request, maxTokens, withTools } };
    }
    const messages = this.#history.read(this.#fromWire);
    return { ready: { messages, ...ready, ...this.#reported(ready) } };
  }

  answer(text) {
    const rejection = this.#native.answer(text);
    this.#isAsked = false;
    return rejection ?? undefined;
  }

  fail(why) {
    this.#native.fail(textOf(why));
    this.#isAsked = false;
  }

  report({ inputTokens, outputTokens }) {
    // A provider without usage reports nothing, or zero.
    if (inputTokens > 0) {
      this.#native.report(JSON.stringify({ input_tokens: inputTokens, output_tokens: outputTokens ?? null }));
    }
  }

  rejected(error) {
    const text = textOf(error);
    if (!native.isContextOverflow(text)) return false;
    this.#native.rejected(text);
    return true;
  }

  async manage(history, summarize) {
    // A second request in between would rewind the history of the first.
    if (this.#isBusy) {
      throw new Error("this manager has not finished another request: each conversation needs a manager of its own");
    }
    this.#isBusy = true;
    try {
      let step = this.step(history);
      while (step.summarize) {
        await this.#ask(step.summarize, summarize);
        step = this.step();
      }
      return step.ready;
    } finally {
      this.#isBusy = false;
    }
  }

  async call(history, { summarize, send }) {
    for (let retry = 0, sent; ; retry++) {
      // A retry continues the last request: the host's list could look like a rewind, which forgets the rejection.
      const ready = await this.manage(retry === 0 ? history : undefined, summarize);
      if (sent && hasSameItems(sent.messages, ready.messages)) throw sent.error;
      try {
        return await send(ready);
      } catch (error) {
        if (retry === MAX_RETRIES || !this.rejected(error)) throw error;
        sent = { messages: ready.messages, error };
      }
    }
  }

  async #ask(request, summarize) {
    try {
      const text = await summarize(request);
      if (typeof text !== "string" || text.trim() === "") throw new Error("the summary is empty");
      this.answer(text);
    } catch (error) {
      // The host gave up the whole request.
      if (error?.name === "AbortError") throw error;
      this.fail(error);
    }
  }

  #next() {
    const step = JSON.parse(this.#native.step());
    this.#isAsked = step.summarize !== undefined;
    if (step.ready) this.#history.plan(step);
    return step;
  }

  // Returns the events and warnings of a step, after those that the host did not get.
  #reported({ events, warnings = [] }) {
    const before = this.#unseen;
    this.#unseen = { events: [], warnings: [] };
    return { events: [...before.events, ...events], warnings: [...before.warnings, ...warnings] };
  }

  #synchronize(history) {
    const known = this.#history.length;
    const start = this.#history.align(history);
    if (this.#history.length < known) {
      this.#native.truncate(this.#history.length);
      this.#isAsked = false;
    }
    if (start === history.length) return;
    // The host gave up the request that needed a summary, and continues without it.
    while (this.#isAsked) {
      this.fail("the request was given up");
      const { ready } = this.#next();
      if (ready) this.#unseen = this.#reported(ready);
    }
    for (const message of history.slice(start)) {
      this.#native.push(JSON.stringify(this.#toWire(message)));
      this.#history.push(message);
    }
    // A message may change the detected notation, for which the native manager starts again without a time.
    this.#native.time(Date.now() / 1000);
  }
}

// What `state` returned.
class Saved {
  constructor(state) {
    const { version, ...saved } = JSON.parse(state);
    if (version !== STATE_VERSION) {
      throw new Error(`cannot restore a state of version ${version}: this package reads version ${STATE_VERSION}`);
    }
    Object.assign(this, saved);
  }
}

function hasSameItems(a, b) {
  return a.length === b.length && a.every((item, position) => item === b[position]);
}

// Returns all that an error says. The reason of a rejection may be in the body only.
function textOf(error) {
  if (typeof error !== "object" || error === null) return String(error);
  const { status, statusCode, code, name, message, responseBody } = error;
  return [status ?? statusCode, code, message ?? name, responseBody].filter(Boolean).join(" ");
}
