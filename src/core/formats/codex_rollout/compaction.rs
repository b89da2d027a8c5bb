//! Compactions by Codex and the resulting contexts.

use super::items::{ItemKind, ResponseItem};
use super::lines::RolloutLine;
use super::reader::{CodexCompaction, CodexReader};
use crate::formats::content::part;
use crate::formats::json::{elements, member};
use crate::session::{Body, Draft, Role, Span};

/// Bytes of user messages that Codex keeps if a summary replaces everything else (versions before
/// `replacement_history`): 20,000 tokens of four bytes each, newest messages first.
/// <https://github.com/openai/codex/blob/main/codex-rs/core/src/compact.rs> (`COMPACT_USER_MESSAGE_MAX_TOKENS`)
const MAX_KEPT_BYTES: usize = 20_000 * 4;

impl CodexReader {
    /// Adds a compaction that replaced the context by `history`, or by the summary `message` if it is `None`.
    pub(super) fn compacted(
        &mut self,
        line: &RolloutLine,
        message: &str,
        history: Option<Vec<ResponseItem>>,
    ) {
        self.close_compaction();
        self.is_answering = false;
        let mut kept: Vec<usize> = self.instructions.into_iter().collect();
        if let Some(history) = history {
            self.add_history(line, message, history, &mut kept);
        } else {
            kept.extend(self.kept_messages());
            let summary = vec![part(0, Body::Text(message.into()))];
            kept.push(self.builder.message(Draft {
                time: line.time,
                is_summary: true,
                in_history: false,
                raw: vec![line.span.clone()],
                ..Draft::new(Role::User, summary)
            }));
        }
        self.compaction = Some(CodexCompaction {
            trigger: self.triggers.next().unwrap_or_default(),
            before: self.size,
            kept,
            request: None,
        });
    }

    /// Adds the items of a new context to `kept`: known messages or new ones.
    fn add_history(
        &mut self,
        line: &RolloutLine,
        message: &str,
        history: Vec<ResponseItem>,
        kept: &mut Vec<usize>,
    ) {
        // Kept in memory from here on, since repeated items may be anywhere in the file.
        let source = &self.builder.session().source;
        self.held.get_or_insert_with(|| source.bytes.whole());
        let spans = self.spans(line, history.len());
        let repeated = self.repeated(&spans);
        for ((mut item, span), repeated) in history.into_iter().zip(spans).zip(repeated) {
            if item.sort == ItemKind::NotContext {
                continue;
            }
            if let Some(repeated) = repeated {
                kept.push(repeated);
                continue;
            }
            if item.role == Role::User && !message.is_empty() && item.text() == message {
                item.sort = ItemKind::Summary;
            }
            let is_user_item = item.sort != ItemKind::Summary && !item.looks_injected;
            kept.push(self.add_at(line, span, item, is_user_item, false));
        }
    }

    /// Returns the byte ranges of the items of a new context, or the whole line for all of them if they cannot be
    /// found.
    fn spans(&self, line: &RolloutLine, n: usize) -> Vec<Span> {
        let bytes: &[u8] = &self.builder.session().source.bytes.whole();
        let payload = member(bytes, &line.span, "payload");
        let list = payload.and_then(|payload| member(bytes, &payload, "replacement_history"));
        let spans = list.and_then(|list| elements(bytes, &list));
        let spans = spans.filter(|spans| spans.len() == n);
        spans.unwrap_or_else(|| vec![line.span.clone(); n])
    }

    /// Returns the messages that the items at these byte ranges repeat.
    fn repeated(&mut self, spans: &[Span]) -> Vec<Option<usize>> {
        let session = self.builder.session();
        self.known.update(session);
        let mut context = session.real_context(session.messages.len());
        context.retain(|message| Some(*message) != self.instructions);
        let bytes = session.source.bytes.whole();
        let items: Vec<&[u8]> = spans.iter().map(|span| &bytes[span.clone()]).collect();
        self.known.repeated(session, &context, &items)
    }

    /// Returns the messages that Codex keeps if it recorded only a summary: the instructions before the first turn, and
    /// the newest user messages. (Codex truncates the message that exceeds the limit; here it is left out.)
    fn kept_messages(&self) -> Vec<usize> {
        let session = self.builder.session();
        let in_history =
            || session.messages.iter().enumerate().filter(|(_, m)| m.in_history && !m.is_summary);
        let mut left = MAX_KEPT_BYTES;
        let mut user_messages: Vec<usize> = in_history()
            .rev()
            .filter(|(_, m)| m.role == Role::User && !m.is_injected)
            .map_while(|(idx, m)| {
                let bytes = session.parts_of(m).iter().map(|p| p.body.text().len()).sum();
                left = left.checked_sub(bytes)?;
                Some(idx)
            })
            .collect();
        user_messages.reverse();
        let setup = in_history()
            .take_while(|(_, m)| m.turn == 0 && m.role != Role::Assistant)
            .map(|(idx, _)| idx)
            .filter(|idx| Some(*idx) != self.instructions);
        setup.chain(user_messages).collect()
    }

    /// Adds the current compaction to the session, once its context is complete.
    pub(super) fn close_compaction(&mut self) {
        if let Some(CodexCompaction { trigger, before, kept, request }) = self.compaction.take() {
            self.builder.compaction(trigger, before, None, kept);
            if let Some((model, usage)) = request {
                self.builder.summary_usage(model.as_deref(), usage);
            }
        }
    }
}
