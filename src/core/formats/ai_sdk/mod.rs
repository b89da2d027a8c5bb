//! Messages of Vercel's AI SDK 5 to 7 (package `ai`): `ModelMessage`s, which are sent, and `UIMessage`s, which programs
//! store.
//!
//! - A `UIMessage` of the assistant holds all steps of an answer. It is split into the messages that
//!   `convertToModelMessages` sends: an answer and the results of its calls for each step.
//! - Approvals of tool calls are not sent.
//! - Usage is recorded only if the program adds it to the metadata, where it is the sum over all steps.
//!
//! <https://ai-sdk.dev/docs/reference/ai-sdk-core/ui-message>

mod model_message;
mod ui_message;

use super::message_list::{self, DetectedList, Dialect};
use super::{Format, Probe, RecordedData, json};
use crate::json::Value;
use crate::session::{Body, Draft, Role};

pub(super) const FORMAT: Format = Format {
    name: DIALECT.name,
    label: "AI SDK messages",
    detect,
    parse: |input, progress| message_list::read(input, progress, &DIALECT),
    recorded: &[RecordedData::Usage, RecordedData::Times, RecordedData::SystemPrompt],
    ..Format::READ_ONLY
};

/// Notation of these messages.
const DIALECT: Dialect = Dialect {
    name: "ai_sdk",
    title: message_list::title,
    body,
    messages: |value, calls| {
        if ui_message::is_one(value) {
            return ui_message::messages(value, calls);
        }
        message_list::refuse_empty(value)?;
        Ok(vec![model_message::message(value, calls)?])
    },
    note: ui_message::note,
    call: ui_message::call,
    ..Dialect::READ_ONLY
};

fn detect(probe: &Probe) -> Option<String> {
    let list = message_list::detect_list(probe, &message_list::CHAT)?;
    let evidence = if list.messages.iter().all(|message| ui_message::is_one(message)) {
        "typed `parts`".to_owned()
    } else {
        own_block(&list)?
    };
    Some(format!("{} with {evidence}", list.how))
}

/// Returns the evidence for `ModelMessage`s. Lists of plain texts are read as [`super::openai_chat`] without loss.
fn own_block(list: &DetectedList<'_>) -> Option<String> {
    if !list.messages.iter().all(|message| model_message::is_one(message)) {
        return None;
    }
    let blocks = list.messages.iter().filter_map(|m| m.get("content")?.as_array()).flatten();
    let own = blocks.into_iter().find(|block| model_message::is_own_block(block))?;
    Some(format!("blocks of type {}", json::str_at(own, &["type"])?))
}

/// Returns the system prompt that a request stores outside of the list.
fn body(body: &Value) -> Vec<(&'static str, Draft)> {
    let system = body.get("system").map(json::text_of).filter(|text| !text.is_empty());
    let draft = |text: String| {
        let text = Body::Text(text.into());
        ("system", Draft::new(Role::System, vec![super::content::part(0, text)]))
    };
    system.map(draft).into_iter().collect()
}
