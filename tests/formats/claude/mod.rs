//! Claude Code sessions: reading and writing. The content is invented.

mod reading;
mod requests;
mod writing;

use plimsoll::formats::{self, Input, Parsed};
use plimsoll::json::{Value, json};
use plimsoll::session::{Body, Message, Session};

/// Builds a file. Every record gets an id and follows the one before it by default.
#[derive(Default)]
struct File {
    lines: Vec<String>,
    last: Option<String>,
}

impl File {
    /// Adds a record and returns its id.
    fn add(&mut self, kind: &str, fields: &Value) -> String {
        let parent = self.last.clone();
        self.add_at(parent.as_deref(), kind, fields)
    }

    /// Adds a record with this parent.
    fn add_at(&mut self, parent: Option<&str>, kind: &str, fields: &Value) -> String {
        let id = format!("id-{}", self.lines.len());
        let mut record = json!({
            "parentUuid": parent, "isSidechain": false, "userType": "external", "cwd": "/w", "sessionId": "s",
            "version": "2.1.100", "gitBranch": "main", "type": kind, "uuid": id, "timestamp": "2026-01-02T03:04:05.000Z",
        });
        for (key, value) in fields.as_object().expect("fields are an object") {
            record[key] = value.clone();
        }
        self.lines.push(record.to_string());
        self.last = Some(id.clone());
        id
    }

    fn user(&mut self, content: impl Into<Value>) -> String {
        self.add("user", &user_record(content))
    }

    /// Adds one record of an answer: its message id, its block and its output tokens.
    fn assistant(&mut self, message: &str, block: &Value, output: u64) -> String {
        self.add("assistant", &answered(message, block, output))
    }

    fn parse(&self) -> Parsed {
        parse(&self.lines.join("\n"))
    }
}

fn user_record(content: impl Into<Value>) -> Value {
    json!({"message": {"role": "user", "content": content.into()}})
}

fn answered(message: &str, block: &Value, output: u64) -> Value {
    let usage = json!({
        "input_tokens": 3, "cache_read_input_tokens": 1000, "cache_creation_input_tokens": 200, "output_tokens": output,
    });
    json!({"requestId": "r", "message": {
        "id": message, "role": "assistant", "model": "claude-test", "content": [block], "usage": usage,
    }})
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn call(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "Read", "input": {"path": id}})
}

fn result(id: &str, content: &Value) -> Value {
    json!([{"type": "tool_result", "tool_use_id": id, "content": content}])
}

fn parse(bytes: &str) -> Parsed {
    let input = Input { name: "session.jsonl".into(), bytes: bytes.as_bytes().to_vec().into() };
    formats::parse(&input).expect("it is a session")
}

/// Returns a short form of a message.
fn summary_of(session: &Session, message: &Message) -> String {
    let parts = session.parts_of(message).iter().map(|part| match &part.body {
        Body::ToolResult { tool, text, .. } => format!("{tool}={text}"),
        Body::ToolCall { tool, arguments, .. } => format!("{tool}{arguments}"),
        Body::Media { mime, .. } => mime.to_string(),
        body => body.text().to_owned(),
    });
    let marks = [(message.is_injected, "~"), (message.is_summary, "Σ"), (!message.in_history, "!")];
    let marks: String = marks.iter().filter(|(is, _)| *is).map(|(_, mark)| *mark).collect();
    format!("{}{marks}: {}", message.role.name(), parts.collect::<Vec<_>>().join(" | "))
}

fn summaries(session: &Session) -> Vec<String> {
    session.messages.iter().map(|message| summary_of(session, message)).collect()
}

/// Returns a file with two turns, a compaction that keeps the last answer, and another turn.
fn compacted() -> File {
    let mut file = File::default();
    file.user("go");
    file.assistant("m1", &text("one"), 1);
    file.user("on");
    let kept = file.assistant("m2", &text("two"), 1);
    let metadata = json!({"trigger": "auto", "preTokens": 150_000, "postTokens": 9000, "preservedMessages": {"uuids": [kept]}});
    file.add_at(None, "system", &json!({"subtype": "compact_boundary", "logicalParentUuid": kept, "compactMetadata": metadata}));
    let mut summary = user_record("What happened so far");
    summary["isCompactSummary"] = json!(true);
    summary["isVisibleInTranscriptOnly"] = json!(true);
    file.add("user", &summary);
    file.add("attachment", &json!({"attachment": {"type": "file", "filename": "a", "content": {"type": "text", "file": {"content": "text"}}}}));
    file.user("and now");
    file.assistant("m3", &text("three"), 1);
    file
}
