// Messages of about 1,000 tokens each, and a manager that must summarize them.
import { Manager } from "@plimsoll/context";

export const SETTINGS = { keep_recent: 4, output_reserve: 4000 };

export function summarizing(options = {}) {
  return new Manager("summarize", { window: 16_000, settings: SETTINGS, ...options });
}

// Returns a long text that has `label` at its start.
export function long(label, words = 1000) {
  return `${label} ${"berth ".repeat(words)}`.trim();
}

// Returns a user message for even numbers, an answer for odd ones.
export function message(number, words) {
  return { role: number % 2 ? "assistant" : "user", content: long(`message ${number}`, words), own: { number } };
}

export function history(length, words) {
  return Array.from({ length }, (_, number) => message(number, words));
}

// Returns a `summarize` that counts its requests.
export function summarizer() {
  const requests = [];
  const summarize = async (request) => {
    requests.push(request);
    return `SUMMARY ${requests.length}`;
  };
  return { requests, summarize };
}

// Returns the first words of each message.
export function labels(messages) {
  return messages.map(({ content }) => (typeof content === "string" ? content : content[0].text).slice(0, 11).trim());
}
