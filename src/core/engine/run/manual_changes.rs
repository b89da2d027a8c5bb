//! State of the parts of messages that the user cleared or dropped manually. Calls and results stay paired.

use crate::engine::case::Case;
use crate::engine::context::{Context, Entry, EntryBody, Left, PartStatus, PartStatuses};
use crate::engine::working::sums::each_part;
use crate::session::Body;

/// Changes caused by dropping messages.
#[derive(Debug, Default)]
pub(super) struct Leftover {
    /// Indices of dropped entries, ascending.
    pub(super) gone: Vec<usize>,
    /// Entries that lose calls or results but remain, with the state of their parts.
    pub(super) edits: Vec<(usize, PartStatuses)>,
}

/// The reason why a message is not cleared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Uncleared {
    /// It was cleared before.
    Already,
    /// It contains only calls and encrypted reasoning.
    Nothing,
}

/// Returns the changes if the chosen entries are dropped. The other half of each of their pairs is removed, and so is a
/// message that has no content left.
pub(super) fn leftover(case: &Case, context: &Context, chosen: &[bool], event: u32) -> Leftover {
    let mut dead = vec![false; case.index.calls.n_calls()];
    for (entry, _) in context.entries.iter().zip(chosen).filter(|(_, is_chosen)| **is_chosen) {
        each_part(case, entry, |part, _| {
            if let Some(pair) = case.index.calls.number(part) {
                dead[pair as usize] = true;
            }
        });
    }
    let goes = |part: usize| case.index.calls.number(part).is_some_and(|pair| dead[pair as usize]);
    let mut leftover = Leftover::default();
    for (idx, entry) in context.entries.iter().enumerate() {
        if chosen[idx] {
            leftover.gone.push(idx);
            continue;
        }
        let Some((statuses, has_content_left)) = without(case, entry, goes, event) else {
            continue;
        };
        if has_content_left {
            leftover.edits.push((idx, statuses));
        } else {
            leftover.gone.push(idx);
        }
    }
    leftover
}

/// Returns the state of a message's parts without some of them, and whether content remains; none if it has none of
/// these parts.
fn without(
    case: &Case,
    entry: &Entry,
    goes: impl Fn(usize) -> bool,
    event: u32,
) -> Option<(PartStatuses, bool)> {
    let is_hit = |part: usize, status: &PartStatus| goes(part) && !is_removed(status);
    let mut has_any = false;
    each_part(case, entry, |part, status| has_any |= is_hit(part, status));
    if !has_any {
        return None;
    }
    let mut statuses = statuses_of(case, entry)?;
    let mut has_content_left = false;
    for (part, status) in parts_of(case, entry)?.zip(statuses.as_mut_slice()) {
        if goes(part) {
            *status = PartStatus::Removed { event };
        }
        has_content_left |= !is_removed(status) && has_content(&case.session.parts[part].body);
    }
    Some((statuses, has_content_left))
}

/// Returns the state of a message's parts after clearing. Each result gets a marker, and its texts and images share
/// one. Calls stay. Reasoning is removed, unless its signature belongs to a call that stays or nothing else would be
/// left.
///
/// # Errors
/// The reason why it is not cleared.
pub(super) fn cleared(
    case: &Case,
    context: &Context,
    entry: &Entry,
    (marker, event): (u32, u32),
) -> Result<PartStatuses, Uncleared> {
    let (mut statuses, parts) =
        statuses_of(case, entry).zip(parts_of(case, entry)).ok_or(Uncleared::Nothing)?;
    let body = |part: usize| &case.session.parts[part].body;
    let there = || {
        let there = parts.clone().zip(statuses.as_slice());
        there.filter(|(_, status)| !is_removed(status)).map(|(part, _)| body(part))
    };
    let has_call = there().any(|b| matches!(b, Body::ToolCall { .. }));
    let has_text = there().any(|b| matches!(b, Body::Text(_)) && has_content(b));
    let has_place = has_text || has_call || there().any(|b| matches!(b, Body::ToolResult { .. }));
    let has_content_left = there().any(has_content);
    let put = PartStatus::Cleared { marker };
    let gone = PartStatus::Removed { event };
    let (mut is_marked, mut was_cleared, mut changed) = (false, false, false);
    for (part, status) in parts.clone().zip(statuses.as_mut_slice()) {
        let is_cleared = is_cleared(context, status);
        let said = body(part);
        was_cleared |= is_cleared;
        is_marked |= is_cleared && !matches!(said, Body::ToolResult { .. });
        if is_cleared || is_removed(status) {
            continue;
        }
        let new = match said {
            Body::ToolResult { .. } => put.clone(),
            Body::Text(_) if has_content(said) => first_marked(&mut is_marked, &put, &gone),
            Body::Media { .. } if has_place => gone.clone(),
            Body::Media { .. } => first_marked(&mut is_marked, &put, &gone),
            Body::Thinking { sealed_bytes, .. } if has_call && *sealed_bytes > 0 => continue,
            Body::Thinking { .. } if has_content_left => gone.clone(),
            _ => continue,
        };
        *status = new;
        changed = true;
    }
    match (changed, was_cleared) {
        (true, _) => Ok(statuses),
        (false, true) => Err(Uncleared::Already),
        (false, false) => Err(Uncleared::Nothing),
    }
}

/// Returns the marker for the first part and the removed state for all others.
fn first_marked(is_marked: &mut bool, put: &PartStatus, gone: &PartStatus) -> PartStatus {
    let is_first = !std::mem::replace(is_marked, true);
    if is_first { put.clone() } else { gone.clone() }
}

/// Returns whether a part has content for the reader. A message of reasoning or blank text alone has none.
fn has_content(body: &Body) -> bool {
    match body {
        Body::Text(text) => !text.trim().is_empty(),
        Body::Thinking { .. } => false,
        _ => true,
    }
}

fn is_removed(status: &PartStatus) -> bool {
    matches!(status, PartStatus::Removed { .. })
}

/// Returns whether a part's own content was replaced completely.
fn is_cleared(context: &Context, status: &PartStatus) -> bool {
    let marker = |marker: u32| &context.markers[marker as usize];
    matches!(status, PartStatus::Cleared { marker: idx } if marker(*idx).left == Left::Nothing)
}

/// Returns the parts of an entry's message.
fn parts_of(case: &Case, entry: &Entry) -> Option<std::ops::Range<usize>> {
    let message = entry.message()?;
    Some(case.session.messages[message as usize].parts.clone())
}

/// Returns the current state of its parts.
fn statuses_of(case: &Case, entry: &Entry) -> Option<PartStatuses> {
    match &entry.body {
        EntryBody::Edited(edited) => Some(edited.parts.clone()),
        _ => Some(PartStatuses::kept(parts_of(case, entry)?.len())),
    }
}
