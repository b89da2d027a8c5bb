// Requests for summaries in the forms of the adapters.

// Returns the instructions, and the rest of the messages as plain texts: most providers reject calls without tool definitions.
export function promptOf({ messages }) {
  const isSystem = ({ role }) => role === "system" || role === "developer";
  const system = messages.filter(isSystem).map(textOf);
  const turns = messages.filter((message) => !isSystem(message));
  return {
    system: system.length > 0 ? system.join("\n\n") : undefined,
    turns: turns.map((message) => ({ role: message.role === "assistant" ? "assistant" : "user", content: textOf(message) })),
  };
}

function textOf({ content, tool_calls = [] }) {
  const texts = typeof content === "string" ? [content] : (content ?? []).map((block) => block.text ?? `[${block.type}]`);
  const calls = tool_calls.map((call) => `[call of ${call.function.name}: ${call.function.arguments}]`);
  return [...texts, ...calls].filter((text) => text !== "").join("\n");
}
