//! OpenAI Chat and Anthropic Messages: reading, writing, and conversion into each other.
#![expect(clippy::print_stderr, reason = "skipped tests are reported")]
#![expect(clippy::unwrap_used, reason = "a test may stop")]

mod conversion;
mod editing;
mod reading;

use plimsoll::formats::{self, Input, Parsed, Refused};
use plimsoll::session::{Body, Managed, ManagedEntry, Message, Role, Session};

fn read(text: &[u8]) -> Result<Parsed, Refused> {
    formats::parse(&Input { name: "test.json".to_owned(), bytes: text.to_vec().into() })
}

fn session(text: &[u8]) -> Session {
    let mut parsed = read(text).unwrap();
    assert_eq!(parsed.sessions.len(), 1);
    parsed.sessions.remove(0)
}

fn all_kept(session: &Session) -> Managed {
    Managed {
        entries: (0..session.messages.len())
            .map(|message| ManagedEntry::Kept { message })
            .collect(),
        ..Managed::default()
    }
}

fn export(session: &Session, format: &str, managed: &Managed) -> String {
    let format = formats::by_name(format).unwrap();
    let bytes = format.write(session, managed).unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn export_own(session: &Session, managed: &Managed) -> Vec<u8> {
    let format = formats::by_name(session.source.format).unwrap();
    format.write(session, managed).unwrap()
}

/// Describes a part in a line.
fn line(role: Role, body: &Body) -> String {
    let what = match body {
        Body::Text(text) => format!("{text:?}"),
        Body::Thinking { text, sealed_bytes, .. } => {
            format!("thinks {text:?} sealed {sealed_bytes}")
        }
        Body::ToolDefinition { tool, .. } => format!("has {tool}"),
        Body::ToolCall { call, tool, arguments } => format!("calls {call} {tool} {arguments}"),
        Body::ToolResult { call, tool, is_error, text } => {
            format!("answers {call} {tool} {is_error} {text:?}")
        }
        Body::Media { media, mime, bytes, pixels, within, .. } => {
            format!("shows {media:?} {mime} {bytes} {pixels:?} in {within:?}")
        }
        Body::Opaque { name, json } => format!("{name} {json}"),
    };
    format!("{} {what}", role.name())
}

fn lines(session: &Session) -> Vec<String> {
    let of = |m: &Message| {
        let parts = session.parts_of(m).iter();
        parts.map(|part| line(m.role, &part.body)).collect::<Vec<_>>()
    };
    session.messages.iter().flat_map(of).collect()
}

const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAoAAAAHgCAIAAAC6s0uz";

/// Returns a request with all kinds of content in OpenAI's messages.
fn openai_request() -> String {
    r#"{"model": "gpt-x", "temperature": 0.10, "tools": [
  {"type": "function", "function": {"name": "look", "description": "Looks", "parameters": {"type": "object", "properties": {"at": {"type": "string"}}}}},
  {"type": "function", "function": {"name": "run"}}
 ], "messages": [
  {"role": "system", "content": "Be brief."},
  {"role": "user", "content": [{"type": "text", "text": "What is this? 這是什麼"}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,PNG", "detail": "low"}}]},
  {"role": "assistant", "content": null, "reasoning_content": "Hm.", "tool_calls": [
    {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{\"at\": \"it\"}"}},
    {"id": "c2", "type": "function", "function": {"name": "run", "arguments": "{not json"}}]},
  {"role": "tool", "tool_call_id": "c2", "content": [{"type": "text", "text": "first"}, {"type": "text", "text": "second"}]},
  {"role": "tool", "tool_call_id": "c1", "name": "look", "content": "a cat", "my_own": {"n": 12345678901234567890123}},
  {"role": "assistant", "content": "A cat.", "tool_calls": []},
  {"role": "user", "content": "Sure?"},
  {"role": "assistant", "content": [{"type": "text", "text": "Yes."}, {"type": "refusal", "refusal": "But no more."}]}
], "stream": false}
"#
    .replace("PNG", PNG)
}

/// Returns a request with all kinds of content in Anthropic's messages.
fn anthropic_request() -> String {
    r#"{
  "model": "claude-x", "max_tokens": 1024,
  "system": [{"type": "text", "text": "Be brief."}, {"type": "text", "text": "Be kind.", "cache_control": {"type": "ephemeral"}}],
  "tools": [{"name": "look", "description": "Looks", "input_schema": {"type": "object"}}, {"type": "bash_20250124", "name": "bash"}],
  "messages": [
    {"role": "user", "content": "Hello"},
    {"role": "assistant", "content": [
      {"type": "thinking", "thinking": "Hm.", "signature": "c2lnbmF0dXJl"},
      {"type": "redacted_thinking", "data": "AAAA"},
      {"type": "text", "text": "I look."},
      {"type": "tool_use", "id": "t1", "name": "look", "input": {"at": "it", "n": 1.50}},
      {"type": "tool_use", "id": "t2", "name": "bash", "input": {}}]},
    {"role": "user", "content": [
      {"type": "tool_result", "tool_use_id": "t1", "content": [
        {"type": "text", "text": "a cat"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "PNG"}},
        {"type": "image", "source": {"type": "url", "url": "https://example.org/b.png"}}]},
      {"type": "tool_result", "tool_use_id": "t2", "is_error": true, "content": "no such command"},
      {"type": "text", "text": "And now?"},
      {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERg=="}, "title": "d"}]},
    {"role": "assistant", "content": [
      {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "cats"}},
      {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []},
      {"type": "text", "text": "Done."}]}
  ]
}
"#
    .replace("PNG", PNG)
}
