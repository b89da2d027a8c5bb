//! Exports of chat services: a list of conversations (`conversations.json`), or one conversation as the service's website
//! loads it.
//!
//! Messages form a tree, because a user may change a message or ask for another answer. The conversation is the path to
//! its current message. Other branches are conversations of their own.

mod chatgpt;
mod claude_ai;

pub(super) use chatgpt::CHATGPT;
pub(super) use claude_ai::CLAUDE_AI;

use super::read_log::ReadLog;
use super::transcript::Transcript;
use super::tree::Tree;
use super::{Input, ParseError, Parsed, Probe, json, rows};
use crate::json::Value;
use crate::progress::Progress;
use crate::session::{CallDraft, Draft, Role, Session, Span, Track};
use std::collections::HashMap;

/// A message of an export.
struct ExportedMessage {
    span: Span,
    id: Option<Box<str>>,
    parent: Option<Box<str>>,
    /// Kind for the import report.
    label: String,
    drafts: Vec<Draft>,
    /// Name of the model that wrote it, if recorded.
    model: Option<String>,
}

/// A conversation of an export.
struct ExportedConversation {
    title: String,
    messages: Vec<ExportedMessage>,
    /// Id of the current message.
    current: Option<Box<str>>,
    /// Name of the model of all answers, if recorded.
    model: Option<String>,
    /// Whether consecutive messages of the model are one answer.
    joins_answers: bool,
}

/// Returns the first conversation of a file with this member.
fn first_with<'a>(probe: &'a Probe, member: &str) -> Option<&'a Value> {
    let document = probe.document()?;
    let listed = document.as_array().map(Vec::as_slice);
    let mut candidates = listed.unwrap_or(std::slice::from_ref(document)).iter();
    candidates.find(|conversation| conversation.get(member).is_some())
}

/// Reads a file of conversations. `read` reads one of them; `lists` are its members with messages.
fn parse(
    input: &Input,
    progress: &Progress,
    format: &'static str,
    lists: &[&str],
    read: fn(&[u8], &Span, &Value, &mut ReadLog) -> ExportedConversation,
) -> Result<Parsed, ParseError> {
    let bytes: &[u8] = &input.bytes.whole();
    let mut log = ReadLog::default();
    let document = json::document_span(bytes);
    let conversations = json::elements(bytes, &document).unwrap_or_else(|| vec![document]);
    let is_only = conversations.len() == 1;
    let mut sessions = Vec::with_capacity(conversations.len());
    for (at, span) in conversations.iter().enumerate() {
        progress.check_cancelled()?;
        progress.advance(span.len() as u64 / json::DOCUMENT_PASSES);
        let members = rows::members_except(bytes, span, lists);
        let conversation = read(bytes, span, &members, &mut log);
        let number = (!is_only).then_some(at + 1);
        sessions.extend(conversation.sessions(input, format, number, span, &mut log));
    }
    log.finish(input, sessions, "an export without a conversation")
}

impl ExportedConversation {
    /// Returns the conversation and its other branches.
    fn sessions(
        self,
        input: &Input,
        format: &'static str,
        number: Option<usize>,
        span: &Span,
        log: &mut ReadLog,
    ) -> Vec<Session> {
        let messages = &self.messages;
        let tree = Tree::new(messages.iter().map(|m| (m.id.as_deref(), m.parent.as_deref())));
        let is_current = |m: &ExportedMessage| m.id.is_some() && m.id == self.current;
        let leaf =
            messages.iter().rposition(is_current).unwrap_or(messages.len().saturating_sub(1));
        let main = tree.path(leaf);
        let mut is_main = vec![false; messages.len()];
        for at in &main {
            is_main[*at] = true;
        }
        for (message, is_main) in messages.iter().zip(&is_main) {
            let branch = if *is_main { "" } else { " (another branch)" };
            let in_context = *is_main && !message.drafts.is_empty();
            log.report.count_record(&format!("{}{branch}", message.label), in_context);
        }
        let mut sessions: Vec<Session> =
            self.session(input, format, number, &main).into_iter().collect();
        let branches = tree.others(&main, |at| !messages[at].drafts.is_empty());
        for (n, leaf) in branches.into_iter().enumerate() {
            let session = self.session(input, format, number, &tree.path(leaf));
            sessions.extend(session.map(|session| Session {
                title: format!("{} (branch {})", session.title, n + 1),
                track: Track::Branch,
                ..session
            }));
        }
        if sessions.is_empty() {
            log.notes.add(span.start, "this conversation has no messages");
        }
        sessions
    }

    /// Returns the conversation of the messages on a path.
    fn session(
        &self,
        input: &Input,
        format: &'static str,
        number: Option<usize>,
        path: &[usize],
    ) -> Option<Session> {
        let mut transcript = Transcript::new(input, format, number);
        transcript.title(&self.title);
        if let Some(model) = &self.model {
            transcript.builder.usual_model(model);
        }
        let names_models = self.messages.iter().any(|message| message.model.is_some());
        let mut answer: Option<usize> = None;
        for at in path {
            let message = &self.messages[*at];
            answer = answer.filter(|_| self.joins_answers);
            for draft in &message.drafts {
                let is_answer = draft.role == Role::Assistant;
                // Thoughts, texts and calls of one answer are messages of their own.
                if is_answer
                    && let Some(answer) = answer
                    && transcript.extend(answer, message.span.clone(), draft.parts.clone())
                {
                    continue;
                }
                let draft = Draft { raw: vec![message.span.clone()], ..draft.clone() };
                let added = if is_answer && names_models {
                    let (model, time) = (message.model.clone(), draft.time);
                    transcript.add_answer(CallDraft { model, time, ..CallDraft::default() }, draft)
                } else {
                    transcript.add_message(draft)
                };
                answer = is_answer.then_some(added);
            }
        }
        transcript.finish()
    }
}

/// Returns the messages in an order in which parents come first, so that a missing parent is the message before.
fn in_order_of_time(messages: &mut [ExportedMessage], times: &HashMap<usize, i64>) {
    messages.sort_by_key(|message| times.get(&message.span.start).copied().unwrap_or(i64::MIN));
}
