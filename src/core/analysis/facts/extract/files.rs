//! Files that the model read, edited or created.

use super::{FactDraft, Material, tail};
use crate::analysis::facts::text::FactSearch;
use crate::analysis::facts::{FactKind, call};
use crate::analysis::loss::ToolCall;
use crate::session::Body;
use std::collections::HashSet;

pub(super) fn find(material: &Material<'_>, found: &mut Vec<FactDraft>) {
    let mut known = HashSet::new();
    for located in material.located_parts() {
        let Body::ToolCall { arguments, .. } = &located.part.body else {
            continue;
        };
        let tool_call = ToolCall::of(arguments);
        let changed = tool_call.files.iter().map(|path| (&**path, true));
        let value = material.arguments[located.part_idx as usize].as_ref();
        let named = value.and_then(call::path).map(|path| (path, false));
        let mut here = HashSet::new();
        for (path, is_changed) in changed.chain(named) {
            let file = tail(path);
            if file.contains('\n') || !file.contains('.') || !here.insert(file.to_owned()) {
                continue;
            }
            let is_new = known.insert(file.to_owned());
            let state = match (is_changed, is_new && tool_call.old.is_empty()) {
                (false, _) => "read",
                (true, true) => "created",
                (true, false) => "edited",
            };
            let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
            let search = FactSearch::new(file).or(name);
            found.push(located.draft(FactKind::File, search, file).detail(state));
        }
    }
    // A file that was read again after an edit is still an edited file.
    let mut states = std::collections::HashMap::new();
    let from = found.len();
    for draft in &mut found[..from] {
        let state = states.entry(draft.key.clone()).or_insert_with(|| draft.detail.clone());
        match (&**state, &*draft.detail) {
            (_, "read") => draft.detail = state.clone(),
            ("created", _) => draft.detail = "created".into(),
            _ => *state = draft.detail.clone(),
        }
    }
}
