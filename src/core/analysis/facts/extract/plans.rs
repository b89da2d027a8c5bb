//! Items of plans: todo tools, and boxes in Markdown.

use super::{FactDraft, Material};
use crate::analysis::facts::text::FactSearch;
use crate::analysis::facts::{FactKind, call};
use crate::session::Role;

pub(super) fn find(material: &Material<'_>, found: &mut Vec<FactDraft>) {
    let mut open: Vec<(String, usize)> = Vec::new();
    for (located, tool, arguments) in material.calls() {
        let items = call::plan(arguments);
        if items.is_empty() {
            continue;
        }
        // A list replaces the list before of the same tool.
        for (of, idx) in &open {
            if of == tool {
                found[*idx].until.get_or_insert(located.message_idx);
            }
        }
        open.retain(|(of, _)| of != tool);
        for item in items {
            open.push((tool.to_owned(), found.len()));
            found.push(draft(located, &item.text, item.is_done));
        }
    }
    let texts = material.texts(|message| {
        matches!(message.role, Role::User | Role::Assistant) && !message.is_injected
    });
    for (located, text) in texts {
        for line in text.lines() {
            let line = line.trim_start().trim_start_matches(['-', '*', '+']).trim_start();
            let boxes = [("[ ] ", false), ("[x] ", true), ("[X] ", true)];
            let item =
                boxes.iter().find_map(|(mark, is_done)| Some((line.strip_prefix(mark)?, *is_done)));
            if let Some((item, is_done)) = item {
                found.push(draft(located, item.trim(), is_done));
            }
        }
    }
}

fn draft(located: super::LocatedPart<'_>, text: &str, is_done: bool) -> FactDraft {
    let search = FactSearch::new(text).or_words();
    let state = if is_done { "done" } else { "open" };
    located.draft(FactKind::Plan, search, text).detail(state)
}
