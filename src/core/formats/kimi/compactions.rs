//! Compactions of Kimi Code and Kimi CLI.

use super::cli_events;
use super::wire_reader::{WireReader, with_source};
use crate::formats::rows::Row;
use crate::formats::{content, counts, json};
use crate::session::{Draft, Role};

impl WireReader {
    /// Adds a compaction of Kimi CLI. The log records only that it took place.
    pub(super) fn cli_compaction(&mut self, row: &Row) {
        let text =
            "the summary of a compaction is not recorded; the context after it lacks the summary";
        self.notes.once(row.span.start, text);
        let messages = &self.transcript.builder.session().messages;
        let is_counted = |idx: &usize| matches!(messages[*idx].role, Role::User | Role::Assistant);
        let positions = self.context.iter().enumerate().rev();
        let mut counted = positions.filter(|(_, idx)| is_counted(idx));
        let first = counted.nth(cli_events::KEPT_BY_COMPACTION - 1);
        let first = first.map_or(0, |(position, _)| position);
        let kept = self.context.split_off(first);
        self.transcript.builder.compaction("auto", None, None, kept.clone());
        self.context = kept;
        self.open_call = None;
    }

    /// Adds a compaction of Kimi Code, which keeps the latest user messages. Returns true: it is part of the context.
    pub(super) fn compaction(&mut self, row: &Row) -> bool {
        let value = &row.value;
        let at = row.span.start;
        let n_kept = json::u64_at(value, &["keptUserMessageCount"]).unwrap_or(0);
        let n_kept = usize::try_from(n_kept).unwrap_or(usize::MAX);
        let messages = &self.transcript.builder.session().messages;
        let is_user =
            |idx: &&usize| messages[**idx].role == Role::User && !messages[**idx].is_injected;
        let mut kept: Vec<usize> =
            self.context.iter().rev().filter(is_user).take(n_kept).copied().collect();
        let is_system = |idx: &&usize| messages[**idx].role == Role::System;
        kept.extend(self.context.iter().filter(is_system));
        kept.sort_unstable();
        let text = content::first(value, &["contextSummary", "summary"]);
        let summary = Draft {
            is_summary: true,
            in_history: false,
            ..Draft::new(Role::User, text.map(content::parts).unwrap_or_default())
        };
        kept.push(self.transcript.add_message(with_source(row, summary)));
        let mut tokens = |key| {
            self.notes.tokens(at, counts::tokens_at(value, &[key]), "a count of this compaction")
        };
        let (before, after) = (tokens("tokensBefore"), tokens("tokensAfter"));
        self.context.clone_from(&kept);
        let trigger = std::mem::take(&mut self.trigger);
        self.transcript.builder.compaction(trigger, before, after, kept);
        self.open_call = None;
        true
    }
}
