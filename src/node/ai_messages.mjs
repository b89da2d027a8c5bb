// Converts messages of the AI SDK to the native manager's form, and back. Each message and each part has one counterpart.
import { sameJson } from "./json.mjs";

export const aiMessages = { format: "anthropic_messages", toWire, fromWire };

function toWire({ role, content }) {
  return { role: role === "tool" ? "user" : role, content: typeof content === "string" ? content : content.map(blockOf) };
}

// Parts without a case are sizes only: the host's own part is what is sent.
function blockOf(part) {
  switch (part.type) {
    case "text": return { type: "text", text: part.text };
    case "reasoning": return { type: "thinking", thinking: part.text };
    case "tool-call": return { type: "tool_use", id: part.toolCallId, name: part.toolName, input: part.input };
    case "tool-result": return { type: "tool_result", tool_use_id: part.toolCallId, ...resultOf(part.output) };
    case "image": return mediaOf(part.image, part.mediaType ?? "image/*");
    case "file": case "reasoning-file": case "image-data": case "file-data": return mediaOf(part.data, part.mediaType);
    case "image-url": case "file-url": return mediaOf(new URL(part.url), part.mediaType ?? part.type.replace("-url", "/*"));
    default: return part;
  }
}

function resultOf({ type, value, reason }) {
  if (type === "content") return { content: value.map(blockOf) };
  if (type === "execution-denied") return { content: reason ?? "Tool execution denied.", is_error: true };
  return { content: typeof value === "string" ? value : JSON.stringify(value), ...(type.startsWith("error") && { is_error: true }) };
}

function mediaOf(data, media_type) {
  if (data?.type === "text") return { type: "text", text: data.text };
  const content = data?.data ?? data?.url ?? data;
  const type = media_type.startsWith("image") ? "image" : "document";
  if (content instanceof URL || /^https?:/.test(content)) return { type, source: { type: "url", url: String(content) } };
  const bytes = content instanceof ArrayBuffer ? new Uint8Array(content) : content;
  const base64 = bytes instanceof Uint8Array ? Buffer.from(bytes).toString("base64") : bytes;
  return { type, source: { type: "base64", media_type, data: String(base64).replace(/^data:[^,]*,/, "") } };
}

// Returns the host's message with the native manager's changes, or a new message.
function fromWire({ role, content }, own) {
  if (typeof content === "string") {
    const isText = role === "system" || typeof own?.content === "string";
    return { role, ...own, content: isText ? content : [{ type: "text", text: content }] };
  }
  const parts = partsOf(content, Array.isArray(own?.content) ? own.content : []);
  return { role: parts.some((part) => part.type === "tool-result") ? "tool" : role, ...own, content: parts };
}

// The host's part of an unchanged block is the same object. Of a changed one, only the text or the input is new.
function partsOf(blocks, own) {
  const rest = [...own];
  const take = (test) => rest.splice(rest.findIndex(test) >>> 0, 1)[0];
  const kept = blocks.map((block) => take((part) => sameJson(blockOf(part), block)));
  return blocks.map((block, i) => kept[i] ?? changed(block, take((part) => identity(blockOf(part)) === identity(block))));
}

function identity({ type, id, tool_use_id }) {
  return `${type} ${id ?? tool_use_id ?? ""}`;
}

function changed(block, part) {
  switch (block.type) {
    case "text": return { ...part, type: "text", text: block.text };
    case "thinking": return { ...part, type: "reasoning", text: block.thinking };
    case "tool_use": return { ...part, type: "tool-call", toolCallId: block.id, toolName: block.name, input: block.input };
    case "tool_result": return { toolName: "", ...part, type: "tool-result", toolCallId: block.tool_use_id, output: outputOf(block, part?.output) };
    default: return block;
  }
}

function outputOf({ content, is_error }, own) {
  const options = own?.providerOptions && { providerOptions: own.providerOptions };
  if (own?.type === "content" && !is_error) {
    const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content;
    return { type: "content", value: partsOf(blocks, own.value), ...options };
  }
  const text = typeof content === "string" ? content : content.map((block) => block.text ?? "").join("\n");
  return { type: is_error ? "error-text" : "text", value: text, ...options };
}
