//! Changes or removes messages that the body stores outside of the list (instructions, tools).

use super::DocumentWriter;
use crate::formats::editing::{MessageChanges, PartChange, text_block};
use crate::formats::editing::{Patch, array_at, at_path, json_string, without_elements};
use crate::formats::json;
use crate::session::{Body, Managed, Part};

impl<'a> DocumentWriter<'a> {
    /// Returns patches for the messages stored outside of the list, and the members to remove.
    pub(super) fn body(&self, managed: &'a Managed) -> (Vec<Patch>, Vec<&'static str>) {
        let (mut patches, mut emptied) = (Vec::new(), Vec::new());
        let managed = MessageChanges::new(managed);
        for (idx, message) in
            self.session.messages.iter().enumerate().filter(|(_, m)| m.raw.is_empty())
        {
            let changes = managed.of(idx, message);
            let parts: Vec<_> = self.session.parts_of(message).iter().zip(changes).collect();
            if parts.iter().all(|(_, change)| *change == PartChange::Kept) {
                continue;
            }
            let is_tools =
                parts.iter().any(|(part, _)| matches!(part.body, Body::ToolDefinition { .. }));
            let members: &[&'static str] = if is_tools {
                &["tools", "functions"]
            } else {
                &["system", "system_prompt", "instructions", "summary"]
            };
            let mut rest = &parts[..];
            for key in members {
                rest = self.body_member(key, rest, &mut patches, &mut emptied);
            }
        }
        (patches, emptied)
    }

    /// Adds patches for the parts that one member of the body holds. Returns the parts after them.
    fn body_member<'p>(
        &self,
        key: &'static str,
        parts: &'p [(&'a Part, PartChange<'a>)],
        patches: &mut Vec<Patch>,
        emptied: &mut Vec<&'static str>,
    ) -> &'p [(&'a Part, PartChange<'a>)] {
        let bytes = self.bytes;
        let found = self
            .layout
            .body
            .as_ref()
            .and_then(|body| at_path(bytes, body, &[key]).map(|at| (body, at)));
        let Some((body, value)) = found else {
            return parts;
        };
        let listed = array_at(bytes, body, &[key]);
        let (member_parts, rest) =
            parts.split_at(listed.as_ref().map_or(1, Vec::len).min(parts.len()));
        if member_parts.iter().all(|(_, change)| change.or_removed() == PartChange::Removed) {
            emptied.push(key);
            return rest;
        }
        let spans = listed.unwrap_or_else(|| vec![value.clone()]);
        let mut removed = vec![false; spans.len()];
        for (idx, (part, change)) in member_parts.iter().enumerate() {
            match (change.or_removed(), &part.body) {
                (PartChange::Removed, _) => removed[idx] = true,
                (PartChange::Replaced(text), Body::Text(_)) => {
                    let is_block = json::members(bytes, &spans[idx]).is_some();
                    patches.push((
                        spans[idx].clone(),
                        if is_block { text_block(text) } else { json_string(text) },
                    ));
                }
                _ => {}
            }
        }
        patches.extend(without_elements(&spans, &removed));
        rest
    }
}
