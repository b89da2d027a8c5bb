//! Actions of presets. At the start of a turn, everything before its user message belongs to finished turns.

use super::summarize::ChatSummary;
use crate::chat::{ChatMessage, PendingRequest, Replies, n_system};
use crate::engine::{ActionKind, NamedAction, Rewrite, RewriteInput, Rewritten};
use crate::systems::stage_settings::{check_keys, text_setting};
use std::ops::Range;
use std::sync::Arc;

/// Actions of presets.
pub static ACTIONS: &[NamedAction] = &[SUMMARIZE, MESSAGE];

/// `discards = true` for turns that end with edits: the message about them is added while the summary is made, which is
/// then not used.
const SUMMARIZE: NamedAction = NamedAction::new(
    "aider.summarize",
    ActionKind::Summarize,
    "Summarizes the older part of finished turns.",
    |settings| {
        check_keys(settings, &["discards"])?;
        let discards = settings.get("discards").and_then(toml::Value::as_bool);
        Ok(Arc::new(Summarize { discards: discards.unwrap_or(false) }))
    },
)
.with_numbers(&["max_tokens", "forced"]);

/// `text` is the message of the user.
const MESSAGE: NamedAction = NamedAction::new(
    "aider.message",
    ActionKind::Inject,
    "Adds a message about the edits, with its answer, after each turn.",
    |settings| {
        check_keys(settings, &["text"])?;
        let text = text_setting(settings, "text")?.ok_or("`text` is missing")?.to_owned();
        Ok(Arc::new(Message { text }))
    },
);

#[derive(Debug)]
struct Summarize {
    discards: bool,
}

impl Rewrite for Summarize {
    fn rewrite(
        &self,
        input: RewriteInput<'_>,
        replies: &mut Replies<'_>,
    ) -> Result<Rewritten, PendingRequest> {
        let all = &input.messages;
        let finished = finished(all);
        if finished.is_empty() {
            return Ok(Rewritten::default());
        }
        let summarizer = ChatSummary::new(input.model, input.window, input.number("max_tokens"));
        let total = summarizer.total(&all[finished.clone()]);
        let mut done = Rewritten::counted(total);
        if total as f64 <= summarizer.max_tokens && !input.flag("forced") {
            return Ok(done);
        }
        let summary = summarizer.summarize(&all[finished.clone()], replies, &mut done.log)?;
        done.fired = true;
        if !self.discards {
            let mut messages = all[..finished.start].to_vec();
            // Without a summary, nothing is left.
            messages.extend(summary.unwrap_or_default());
            messages.extend_from_slice(&all[finished.end..]);
            done.messages = Some(messages);
        }
        Ok(done)
    }
}

#[derive(Debug)]
struct Message {
    text: String,
}

impl Rewrite for Message {
    fn rewrite(
        &self,
        input: RewriteInput<'_>,
        _: &mut Replies<'_>,
    ) -> Result<Rewritten, PendingRequest> {
        let all = &input.messages;
        let finished = finished(all);
        if finished.is_empty() {
            return Ok(Rewritten::default());
        }
        let mut messages = all[..finished.end].to_vec();
        messages.push(ChatMessage::notice("user", &*self.text));
        messages.push(ChatMessage::notice("assistant", "Ok."));
        messages.extend_from_slice(&all[finished.end..]);
        Ok(Rewritten { messages: Some(messages), fired: true, ..Rewritten::default() })
    }
}

/// `Coder.move_back_cur_messages`: returns the messages of finished turns.
fn finished(all: &[ChatMessage]) -> Range<usize> {
    let n_system = n_system(all);
    let end = all.iter().rposition(|m| !m.is("user"));
    n_system..end.map_or(0, |last| last + 1).max(n_system)
}
