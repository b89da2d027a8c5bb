//! Finds the requests for summaries in a log of all calls of a program: a later call that does not continue the
//! conversation of the request contains its answer.

use super::Prepared;
use crate::session::{Body, Draft, Role};
use std::collections::{HashMap, HashSet};

/// Minimum length of the line by which the answer is found in a later context.
// Chosen: a shorter line may occur in any conversation.
const MIN_LINE: usize = 24;
/// Maximum length of this part of the line.
// Chosen: enough to be unique. A longer text takes longer to compare.
const MAX_LINE: usize = 400;
/// Number of later calls that are searched.
// Chosen: the summary is used by the next call of its conversation. Titles and sub-agents may come between.
const LOOK_AHEAD: usize = 8;

/// The use of a summary.
#[derive(Clone, Debug)]
pub(super) struct UsedSummary {
    /// Index of the call that requested it.
    pub(super) request: usize,
    /// A line of it.
    pub(super) line: Box<str>,
}

/// Returns the summaries by the first call whose context contains them.
pub(super) fn used_summaries(calls: &[Prepared]) -> HashMap<usize, UsedSummary> {
    let mut used = HashMap::new();
    for (at, prepared) in calls.iter().enumerate() {
        let Some(line) = prepared.call.answer.as_ref().and_then(distinct_line) else {
            continue;
        };
        let Some(last) = prepared.last_request() else {
            continue;
        };
        let own: HashSet<u64> = prepared.keys.iter().copied().collect();
        let later = calls.iter().enumerate().skip(at + 1).take(LOOK_AHEAD);
        for (other, later) in later {
            if later.answers(last).is_some() {
                // The conversation of the request goes on.
                break;
            }
            let added =
                later.keys.iter().zip(&later.call.context).filter(|(k, _)| !own.contains(k));
            if added.into_iter().any(|(_, draft)| contains(draft, line)) {
                let line = line.into();
                used.entry(other).or_insert(UsedSummary { request: at, line });
                break;
            }
        }
    }
    used
}

/// Returns whether a text of a message of the user or the model contains a line.
pub(super) fn contains(draft: &Draft, line: &str) -> bool {
    matches!(draft.role, Role::User | Role::Assistant)
        && draft.parts.iter().any(|part| match &part.body {
            Body::Text(text) => text.contains(line),
            _ => false,
        })
}

/// Returns the longest line of an answer that calls no tool.
fn distinct_line(answer: &Draft) -> Option<&str> {
    let has_calls = answer.parts.iter().any(|part| matches!(part.body, Body::ToolCall { .. }));
    let texts = answer.parts.iter().filter(|_| !has_calls).filter_map(|part| match &part.body {
        Body::Text(text) => Some(&**text),
        _ => None,
    });
    // Tags around a summary are not resent.
    let lines = texts.flat_map(str::lines).map(str::trim).filter(|line| !line.starts_with('<'));
    let line = lines.max_by_key(|line| line.len()).filter(|line| line.len() >= MIN_LINE)?;
    let end = (0..=MAX_LINE.min(line.len())).rev().find(|end| line.is_char_boundary(*end))?;
    Some(&line[..end])
}
