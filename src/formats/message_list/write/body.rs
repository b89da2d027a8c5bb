//! The messages that stand in the body beside the list (instructions, tools), changed or taken out.

use super::Writing;
use crate::formats::json;
use crate::formats::message_list::edit::{Fate, Fates, text_block};
use crate::formats::message_list::places::{Patch, array_at, at_path, quoted, without};
use crate::session::{Body, Managed, Part};

impl<'a> Writing<'a> {
    /// Patches for the messages that stand in the body beside the list, and members of which nothing is left.
    pub(super) fn body(&self, managed: &'a Managed) -> (Vec<Patch>, Vec<&'static str>) {
        let (mut patches, mut dropped) = (Vec::new(), Vec::new());
        let managed = Fates::new(managed);
        for (idx, message) in self
            .session
            .messages
            .iter()
            .enumerate()
            .filter(|(_, m)| m.raw.is_empty())
        {
            let fates = managed.of(idx, message);
            let parts: Vec<_> = self.session.parts_of(message).iter().zip(fates).collect();
            if parts.iter().all(|(_, fate)| *fate == Fate::Kept) {
                continue;
            }
            let is_tools = parts
                .iter()
                .any(|(part, _)| matches!(part.body, Body::ToolDefinition { .. }));
            let members: &[&'static str] = if is_tools {
                &["tools", "functions"]
            } else {
                &["system", "system_prompt", "instructions", "summary"]
            };
            let mut rest = &parts[..];
            for key in members {
                rest = self.body_member(key, rest, &mut patches, &mut dropped);
            }
        }
        (patches, dropped)
    }

    /// Patches for the parts that one member of the body holds; returns the parts after them.
    fn body_member<'p>(
        &self,
        key: &'static str,
        parts: &'p [(&'a Part, Fate<'a>)],
        patches: &mut Vec<Patch>,
        dropped: &mut Vec<&'static str>,
    ) -> &'p [(&'a Part, Fate<'a>)] {
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
        let (own, rest) = parts.split_at(listed.as_ref().map_or(1, Vec::len).min(parts.len()));
        if own.iter().all(|(_, fate)| fate.or_gone() == Fate::Gone) {
            dropped.push(key);
            return rest;
        }
        let spans = listed.unwrap_or_else(|| vec![value.clone()]);
        let mut gone = vec![false; spans.len()];
        for (idx, (part, fate)) in own.iter().enumerate() {
            match (fate.or_gone(), &part.body) {
                (Fate::Gone, _) => gone[idx] = true,
                (Fate::Replaced(text), Body::Text(_)) => {
                    let is_block = json::members(bytes, &spans[idx]).is_some();
                    patches.push((
                        spans[idx].clone(),
                        if is_block {
                            text_block(text)
                        } else {
                            quoted(text)
                        },
                    ));
                }
                _ => {}
            }
        }
        patches.extend(without(&spans, &gone));
        rest
    }
}
