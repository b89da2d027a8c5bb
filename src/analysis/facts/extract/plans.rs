//! Items of plans: todo tools, and boxes in Markdown.

use super::{Draft, Material};
use crate::analysis::facts::text::Search;
use crate::analysis::facts::{FactKind, call};
use crate::session::Role;

pub(super) fn find(material: &Material<'_>, found: &mut Vec<Draft>) {
    let mut open: Vec<(String, usize)> = Vec::new();
    for (place, tool, arguments) in material.calls() {
        let items = call::plan(arguments);
        if items.is_empty() {
            continue;
        }
        // A list replaces the list before of the same tool.
        for (of, idx) in &open {
            if of == tool {
                found[*idx].until.get_or_insert(place.message_idx);
            }
        }
        open.retain(|(of, _)| of != tool);
        for item in items {
            open.push((tool.to_owned(), found.len()));
            found.push(draft(place, &item.text, item.is_done));
        }
    }
    let said = material.texts(|message| {
        matches!(message.role, Role::User | Role::Assistant) && !message.is_injected
    });
    for (place, text) in said {
        for line in text.lines() {
            let line = line
                .trim_start()
                .trim_start_matches(['-', '*', '+'])
                .trim_start();
            let boxes = [("[ ] ", false), ("[x] ", true), ("[X] ", true)];
            let item = boxes
                .iter()
                .find_map(|(mark, is_done)| Some((line.strip_prefix(mark)?, *is_done)));
            if let Some((item, is_done)) = item {
                found.push(draft(place, item.trim(), is_done));
            }
        }
    }
}

fn draft(place: super::Place<'_>, text: &str, is_done: bool) -> Draft {
    let search = Search::new(text).or_words();
    let state = if is_done { "done" } else { "open" };
    place.draft(FactKind::Plan, search, text).detail(state)
}
