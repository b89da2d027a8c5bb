//! Files that a program attached again after a recorded compaction: copies of what a read returned.

use super::tool_results::ToolResult;
use crate::engine::Case;
use crate::session::{Body, RecordedCompaction};
use std::collections::HashSet;

/// Lines shorter than this are too common to recognize a file by, in characters. Chosen: `return x;` still counts,
/// brackets and `else {` do not. With twice as many, short configuration files would have no line to be recognized by.
const MIN_LINE_CHARS: usize = 8;

/// Adds to each result the attachments that contain at least half of its lines. An attachment is a message that the
/// program wrote between a recorded compaction and the next call.
pub(super) fn add(case: &Case, results: &mut [ToolResult]) {
    let session = &case.session;
    for compaction in &session.compactions {
        for (message, part) in attached(case, compaction) {
            let text = session.parts[part].body.text();
            let lines: HashSet<&str> = lines(text).collect();
            let copied = results.iter_mut().filter(|result| {
                let first = result.places.first();
                first.is_some_and(|(at, part)| {
                    (*at as usize) < compaction.before_message
                        && is_copied(session.parts[*part as usize].body.text(), &lines)
                })
            });
            for result in copied {
                result.places.push((message as u32, part as u32));
            }
        }
    }
}

/// Returns the messages that the program wrote after a compaction, with their texts.
fn attached<'a>(
    case: &'a Case,
    compaction: &'a RecordedCompaction,
) -> impl Iterator<Item = (usize, usize)> + 'a {
    let session = &case.session;
    let end = session.calls.get(compaction.call).map_or(0, |call| call.context_end);
    let later = compaction.before_message..end.max(compaction.before_message);
    let messages = compaction.kept.iter().copied().chain(later);
    let injected = messages.filter(|idx| {
        let message = &session.messages[*idx];
        message.is_injected && !message.is_summary
    });
    injected.flat_map(|idx| {
        let parts = session.messages[idx].parts.clone();
        let texts = parts.filter(|part| matches!(session.parts[*part].body, Body::Text(_)));
        texts.map(move |part| (idx, part))
    })
}

/// Returns whether at least half of a read's lines are among these.
fn is_copied(read: &str, attached: &HashSet<&str>) -> bool {
    let (mut all, mut copied) = (0, 0);
    for line in lines(read) {
        all += 1;
        copied += usize::from(attached.contains(line));
    }
    all > 0 && 2 * copied >= all
}

/// Returns the lines of a text that are long enough, without the numbers that tools put before them.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.lines().map(|line| {
        let line = line.trim();
        let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
        let is_numbered = rest.len() < line.len() && rest.starts_with(['→', '\t', '|', ':']);
        let rest = if is_numbered { rest } else { line };
        rest.trim_start_matches(['→', '\t', '|', ':']).trim()
    });
    lines.filter(|line| line.chars().count() >= MIN_LINE_CHARS)
}
