//! Names that an edit of the model defined.

use super::{FactDraft, Material, compile};
use crate::analysis::facts::FactKind;
use crate::analysis::facts::text::FactSearch;
use crate::analysis::loss::{ToolCall, part_text};
use crate::session::Body;
use regex::Regex;
use std::collections::HashSet;
use std::sync::LazyLock;

/// A definition in a common language.
static DEFINITION: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile(
        r"(?m)^[ \t+]*(?:(?:pub(?:\([^)]*\))?|export|default|async|static|abstract|private|public|protected|final|unsafe|const) +)*(?:fn|def|class|struct|enum|trait|interface|type|function|func|const|static|module|impl)\s+(?:\([^)]*\)\s*)?([A-Za-z_]\w{4,60})",
    )
});

/// Maximum number of names of an edit. Chosen so that ordinary edits are covered and a generated file of thousands of
/// definitions is not the only thing that counts.
const MAX_PER_EDIT: usize = 20;

pub(super) fn find(material: &Material<'_>, found: &mut Vec<FactDraft>) {
    let Some(pattern) = DEFINITION.as_ref() else {
        return;
    };
    for located in material.located_parts() {
        let Body::ToolCall { arguments, .. } = &located.part.body else {
            continue;
        };
        if ToolCall::of(arguments).files.is_empty() {
            continue;
        }
        let text = part_text(&located.part.body);
        let mut here = HashSet::new();
        let names = pattern.captures_iter(&text).filter_map(|hit| hit.get(1));
        for name in names.take(MAX_PER_EDIT) {
            if here.insert(name.as_str()) {
                let search = FactSearch::new(name.as_str());
                found.push(located.draft(FactKind::Identifier, search, name.as_str()));
            }
        }
    }
}
