//! `OpenCode`'s sessions: the file that `opencode export` writes, and a session put together of its storage folder's files
//! or of its database.
//!
//! - A message has an `info` and `parts`. An answer may hold several model calls, from a `step-start` to a `step-finish`
//!   each, with the calls of tools and what came of them.
//! - A `compaction` part in a user's message asks for a summary; the answer marked `summary` is that. The context begins
//!   anew there, with the messages from `tail_start_id` on where it names them.
//! - A tool's output that was pruned (`time.compacted`) stays in the file, but is sent as a notice: what it was counts up
//!   to the moment of pruning.
//! - A sub-agent's session names its parent (`parentID`), and the call of `task` that started it names the sub-agent's
//!   (`state.metadata.sessionId`).
//! - `input` excludes what was read from the cache and written to it.
//!   <https://github.com/anomalyco/opencode/blob/dev/packages/opencode/src/session/message-v2.ts>

mod export;
mod kin;
mod message;
mod reader;
mod store;

pub(super) use kin::identity;
pub(super) use store::DATABASE;

use super::{Format, Input, ParseError, Parsed, Probe, RecordedData, json, rows};
use crate::formats::notes::Notes;
use crate::progress::Progress;
use serde_json::Value;

/// The row of the table.
pub(super) const FORMAT: Format = Format {
    name: "opencode",
    label: "OpenCode session",
    detect,
    in_pieces: false,
    parse,
    export: Some(export::export),
    recorded: &[
        RecordedData::Usage,
        RecordedData::Times,
        RecordedData::Compactions,
    ],
    kept: Some(export::kept),
    resume: None,
};

fn detect(probe: &Probe) -> Option<String> {
    let document = probe.document()?;
    let is_message = |m: &Value| {
        m.get("parts").is_some_and(Value::is_array)
            && matches!(
                json::str_at(m, &["info", "role"]),
                Some("user" | "assistant")
            )
    };
    let listed = document.get("messages").unwrap_or(document).as_array()?;
    let id = json::str_at(document, &["info", "id"]).unwrap_or_default();
    // A record that was damaged does not make it another format.
    let is_its =
        listed.iter().any(is_message) && (id.starts_with("ses_") || listed.iter().all(is_message));
    is_its.then(|| {
        if id.starts_with("ses_") {
            "an `info` with the id of a session, and messages with `parts`".to_owned()
        } else {
            "messages with an `info` and `parts`".to_owned()
        }
    })
}

fn parse(input: &Input, progress: &Progress) -> Result<Parsed, ParseError> {
    let bytes: &[u8] = &input.bytes.whole();
    let whole = json::document_span(bytes);
    let mut notes = Notes::default();
    let path: &[&str] = if json::elements(bytes, &whole).is_some() {
        &[]
    } else {
        &["messages"]
    };
    let messages = rows::listed(bytes, &whole, path, progress, &mut notes)?;
    let head = rows::around(bytes, &whole, &["messages"]);
    reader::read(input, &head, messages, progress, notes)
}
