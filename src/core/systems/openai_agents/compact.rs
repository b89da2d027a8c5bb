//! `OpenAIResponsesCompactionSession`: the endpoint `responses.compact` replaces the stored history.

use super::items::{StoredItem, candidates, is_compacted, items, paired};
use super::load::load;
use super::trim::{Tools, Trimmer, tools};
use super::turn::{Turn, was_lost};
use crate::chat::{ChatMessage, PendingRequest, Replies, SummaryRequest, n_system};
use crate::engine::{ActionKind, MessageEdit, NamedAction, Rewrite, RewriteInput, Rewritten};
use crate::json::json;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Needs the settings of the other actions: only what the last request contained unchanged is compacted. `trimmable_tools`
/// is that of `openai_agents.trim`.
pub(super) const ACTION: NamedAction = NamedAction::new(
    "openai_agents.compact",
    ActionKind::Summarize,
    "Replaces the stored history with its user messages and one opaque item.",
    |settings| Ok(Arc::new(Compact(tools(settings)?))),
)
.with_numbers(&[
    "threshold",
    "is_by_response_id",
    "limit",
    "is_trimmed",
    "recent_turns",
    "max_output_chars",
    "preview_chars",
]);

/// Key of whether the next answer without results forces a compaction, in memory.
const IS_DEFERRED: &str = "openai_agents_is_deferred";
/// Mechanism that a failure names.
const ENDPOINT: &str = "responses.compact";

#[derive(Debug)]
struct Compact(Tools);

impl Rewrite for Compact {
    fn rewrite(
        &self,
        input: RewriteInput<'_>,
        replies: &mut Replies<'_>,
    ) -> Result<Rewritten, PendingRequest> {
        let all = &input.messages;
        let turn = Turn::of(&input);
        let (first, n_all) = (n_system(all), all.len());
        let end = if turn.begins(all) { turn.start } else { n_all };
        let stored = all.get(first..end).unwrap_or_default();
        let is_answer = |m: &ChatMessage| m.is("assistant") && !is_compacted(m);
        let answer = stored.iter().rposition(is_answer);
        let Some(answer) = answer.filter(|_| !was_lost(&input)) else {
            return Ok(Rewritten::default());
        };
        let has_results = stored[answer + 1..].iter().any(|m| m.is("tool"));
        let is_deferred = input.memory[IS_DEFERRED] == true;
        let mut done = Rewritten::default();
        // Each decision is compared with the same threshold; the newest one counts.
        let mut decide = |messages: &[ChatMessage]| {
            let n = candidates(messages);
            done.compared = Some(n as u64);
            done.terms = vec![("items".to_owned(), n as f64)];
            n >= input.count("threshold")
        };
        if has_results {
            if !is_deferred && decide(stored) {
                done.memory = json!({IS_DEFERRED: true}).into();
            }
            return Ok(done);
        }
        if !is_deferred && !decide(stored) {
            return Ok(done);
        }
        let before = turn.previous.saturating_sub(first);
        let Some(from) = self.matched_from(&input, stored, before, answer) else {
            return Ok(done);
        };
        let suffix = &stored[from..];
        let is_whole = paired(&items(suffix), suffix).into_iter().all(|stays| stays);
        if !is_whole || (from > 0 && !decide(suffix)) {
            return Ok(done);
        }
        let ask = SummaryRequest::new(suffix.to_vec());
        let Ok(text) = replies.reply_to(ask)?.into_text() else {
            done.fired = true;
            done.log.push(ENDPOINT.to_owned());
            return Ok(done);
        };
        let mut messages = all[..first + from].to_vec();
        messages.extend(suffix.iter().filter(|m| m.is("user")).cloned());
        messages.push(ChatMessage::summary("assistant", text));
        let turn = Turn { previous: messages.len(), start: messages.len() };
        messages.extend_from_slice(&all[end..]);
        let mut memory = turn.to_memory();
        memory[IS_DEFERRED] = json!(false);
        Ok(Rewritten { messages: Some(messages), fired: true, memory: memory.into(), ..done })
    }
}

impl Compact {
    /// Returns the position of the first stored message that is compacted: those before it were not sent as they are
    /// stored. A part begins at a user message. `before` is the start of the turn that the answer ended.
    fn matched_from(
        &self,
        input: &RewriteInput<'_>,
        stored: &[ChatMessage],
        before: usize,
        answer: usize,
    ) -> Option<usize> {
        let all = items(stored);
        let unsent = self.unsent(input, &stored[..answer], before.min(answer));
        let is_sent = |item: &&StoredItem| !unsent.contains(&item.message);
        let n_matched = all.iter().rev().take_while(is_sent).count();
        let matched = &all[all.len() - n_matched..];
        if n_matched == all.len() {
            return (n_matched > 0).then_some(0);
        }
        if input.flag("is_by_response_id") {
            return None;
        }
        let mut users = matched.iter().map(|item| item.message);
        users.find(|at| stored[*at].is("user"))
    }

    /// Returns the positions of stored messages that the last request did not contain, or not in whole.
    fn unsent(
        &self,
        input: &RewriteInput<'_>,
        request: &[ChatMessage],
        before: usize,
    ) -> HashSet<usize> {
        let (history, turn) = request.split_at(before);
        let loaded = load(history, input.number("limit"));
        let mut unsent: HashSet<usize> = loaded.iter().map(|edit| edit.at).collect();
        if !input.flag("is_trimmed") {
            return unsent;
        }
        let mut loaded: HashMap<usize, MessageEdit> =
            loaded.into_iter().map(|edit| (edit.at, edit)).collect();
        let sent = history.iter().chain(turn).enumerate();
        let sent = sent.filter_map(|(at, message)| match loaded.remove(&at) {
            Some(edit) => Some((at, edit.now?)),
            None => Some((at, message.clone())),
        });
        let (places, sent): (Vec<usize>, Vec<ChatMessage>) = sent.unzip();
        let trimmed = Trimmer::new(input, &self.0).trim(&sent);
        unsent.extend(trimmed.iter().map(|edit| places[edit.at]));
        unsent
    }
}
