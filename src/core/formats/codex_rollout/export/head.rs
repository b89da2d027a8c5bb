//! Edits the head of the file, which holds the system prompt and the tools. No compaction can replace these.

use super::part_changes;
use super::source_lines::SourceLines;
use crate::formats::editing::{PartChange, Patch, patched};
use crate::formats::json;
use crate::json::Value;
use crate::session::{Managed, ManagedEntry, Session, Span};

/// Returns the kept lines, with their heads as in the managed context.
pub(super) fn written(session: &Session, managed: &Managed, source: &SourceLines<'_>) -> Vec<u8> {
    let is_head = |message: usize| {
        let span = session.messages[message].raw.first();
        span.is_some_and(|span| source.is_head(span))
    };
    let message = (0..session.messages.len()).find(|message| is_head(*message));
    let Some(message) = message else {
        return source.bytes.to_vec();
    };
    let own = &session.messages[message].raw[0];
    let entry = managed.entries.iter().find(|entry| match entry {
        ManagedEntry::Kept { message: m } | ManagedEntry::Edited { message: m, .. } => {
            *m == message
        }
        ManagedEntry::Written { .. } => false,
    });
    let patches: Vec<Patch> = match entry {
        Some(ManagedEntry::Edited { parts, .. }) => {
            let changes = part_changes(session, message, parts);
            let change_of = |block: usize| {
                let found = changes.iter().find(|(part, _)| part.block as usize == block);
                found.map_or(PartChange::Removed, |(_, change)| *change)
            };
            head_patch(source, own, &change_of).into_iter().collect()
        }
        Some(_) => Vec::new(),
        // Heads are repeated when a session is resumed, so the content is removed from all of them.
        None => source
            .heads()
            .filter_map(|head| head_patch(source, head, &|_| PartChange::Removed))
            .collect(),
    };
    patched(source.bytes, &(0..source.bytes.len()), patches)
}

/// Returns the patch of a head with its blocks kept, replaced or removed.
fn head_patch<'a>(
    source: &SourceLines<'_>,
    head: &Span,
    change_of: &dyn Fn(usize) -> PartChange<'a>,
) -> Option<Patch> {
    let mut line = json::parse_span(source.bytes, head)?;
    let payload = line.get_mut("payload")?.as_object_mut()?;
    let mut block = 0;
    let has_base = payload
        .get("base_instructions")
        .is_some_and(|base| base.is_string() || json::str_at(base, &["text"]).is_some());
    if has_base {
        match change_of(block) {
            PartChange::Kept => {}
            PartChange::Replaced(text) => match payload.get_mut("base_instructions") {
                Some(Value::Object(base)) => {
                    base.insert("text".into(), text.into());
                }
                Some(base) => *base = text.into(),
                None => {}
            },
            PartChange::Removed => {
                payload.shift_remove("base_instructions");
            }
        }
        block += 1;
    }
    if let Some(tools) = payload.get_mut("dynamic_tools")
        && !keep_tools(tools, &mut block, change_of)
    {
        payload.shift_remove("dynamic_tools");
    }
    Some((head.clone(), line.to_string().into_bytes()))
}

/// Removes tools, in the order in which they are read. Returns whether any is left.
fn keep_tools<'a>(
    tool: &mut Value,
    block: &mut usize,
    change_of: &dyn Fn(usize) -> PartChange<'a>,
) -> bool {
    if let Value::Array(tools) = tool {
        tools.retain_mut(|tool| keep_tools(tool, block, change_of));
        return !tools.is_empty();
    }
    if let Some(tools) = tool.get_mut("tools").filter(|tools| tools.is_array()) {
        return keep_tools(tools, block, change_of);
    }
    let is_deferred =
        ["deferLoading", "defer_loading"].iter().any(|key| json::is_true(tool, &[key]));
    if is_deferred {
        return true;
    }
    *block += 1;
    match change_of(*block - 1) {
        PartChange::Kept => true,
        PartChange::Removed => false,
        PartChange::Replaced(text) => match crate::json::from_str(text) {
            Ok(new) => {
                *tool = new;
                true
            }
            Err(_) => false,
        },
    }
}
