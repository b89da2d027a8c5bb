//! Keeps the order of reminders: the program sends those of a run first, or writes them into its last tool result.
//!
//! If a policy removes an answer or adds a text, a reminder can get into another run. It is then written as a message of
//! the harness, which is sent where it stands.

use super::edit;
use super::{Kept, WrittenLine};
use crate::json::BorrowedValue;
use std::borrow::Cow;

/// Part of a record in a run, which consists of all records between two answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum RunRole {
    /// It ends the run.
    Answer,
    /// Tool results.
    Results,
    /// A text of the user or the harness.
    Text,
    /// A reminder that is a message of its own.
    Reminder {
        /// It follows tool results.
        is_beside: bool,
    },
    /// It is not sent, or is sent as a part of another record.
    #[default]
    Other,
}

impl RunRole {
    /// Returns the role of a record that has a message of its own.
    pub(super) fn of(record: &BorrowedValue<'_>) -> Self {
        match record.str_at(&["type"]).as_deref() {
            Some("assistant") => Self::Answer,
            Some("user") => {
                let content = record.at(&["message", "content"]);
                let blocks = content.map(BorrowedValue::elements).unwrap_or_default();
                let has_results = blocks.iter().any(|block| block.get("tool_use_id").is_some());
                if has_results { Self::Results } else { Self::Text }
            }
            Some("attachment") if record.get("rendered").is_some() => {
                Self::Reminder { is_beside: record.is_true(&["renderedBesideToolResult"]) }
            }
            _ => Self::Other,
        }
    }
}

/// Converts reminders that the program would send at another position.
pub(super) fn keep_order(items: &mut [WrittenLine<'_>]) {
    let mut start = 0;
    while start < items.len() {
        let is_end = |item: &WrittenLine<'_>| role(item) == RunRole::Answer;
        let end = items[start..].iter().position(is_end).map_or(items.len(), |at| start + at);
        keep_order_of(&mut items[start..end]);
        start = end + 1;
    }
}

fn keep_order_of(run: &mut [WrittenLine<'_>]) {
    if is_sent_in_order(run) {
        return;
    }
    run.sort_by_key(WrittenLine::rank);
    let last_result = run.iter().rposition(|item| role(item) == RunRole::Results);
    let mut has_text = false;
    for (at, item) in run.iter_mut().enumerate() {
        let is_in_order = match (role(item), last_result) {
            (RunRole::Reminder { is_beside }, Some(result)) => {
                is_beside && at > result && !has_text
            }
            (RunRole::Reminder { .. }, None) => !has_text,
            (role, _) => {
                has_text |= role == RunRole::Text;
                true
            }
        };
        if let (false, WrittenLine::Kept(record)) = (is_in_order, item) {
            convert(record);
            has_text = true;
        }
    }
}

/// Returns whether the program sends the records of a run in the order of the conversation.
fn is_sent_in_order(run: &[WrittenLine<'_>]) -> bool {
    let of = |is_it: fn(RunRole) -> bool| run.iter().filter(move |item| is_it(role(item)));
    let is_inside = |role| role == RunRole::Reminder { is_beside: false };
    let has_results = of(|role| role == RunRole::Results).next().is_some();
    if has_results && of(is_inside).next().is_some() {
        return false;
    }
    let results = of(|role| role == RunRole::Results);
    let reminders = of(|role| matches!(role, RunRole::Reminder { .. }));
    let sent = results.chain(reminders).chain(of(|role| role == RunRole::Text));
    sent.map(WrittenLine::rank).is_sorted()
}

fn convert(record: &mut Kept<'_>) {
    if let Some(message) = edit::as_message(&record.text) {
        record.text = Cow::Owned(message);
        record.role = RunRole::Text;
    }
}

fn role(item: &WrittenLine<'_>) -> RunRole {
    match item {
        WrittenLine::Kept(record) => record.role,
        WrittenLine::Recorded { message, .. } => {
            match message.get("role").and_then(|it| it.as_str()) {
                Some("assistant") => RunRole::Answer,
                _ => RunRole::Text,
            }
        }
        WrittenLine::Written { .. } => RunRole::Text,
    }
}
