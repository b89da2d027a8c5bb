//! URLs, ids and hashes.

use super::{FactDraft, Material, compile};
use crate::analysis::facts::FactKind;
use crate::analysis::facts::text::FactSearch;
use crate::session::Body;
use regex::Regex;
use std::sync::LazyLock;

/// A URL, a UUID, or a hash of 7 to 64 hex digits.
static LINK: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile(
        r#"https?://[^\s<>"'`)\]}\\]{6,200}|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b|\b[0-9a-f]{7,64}\b"#,
    )
});

/// Maximum number of links of a part. Chosen: a message that matters names one or two; a fetched page or a log has
/// hundreds, which nobody looks for again.
const MAX_PER_PART: usize = 3;

pub(super) fn find(material: &Material<'_>, found: &mut Vec<FactDraft>) {
    let Some(pattern) = LINK.as_ref() else {
        return;
    };
    for located in material.located_parts() {
        let (Body::Text(text) | Body::ToolResult { text, .. }) = &located.part.body else {
            continue;
        };
        let hits = pattern.find_iter(text).filter(|hit| is_link(hit.as_str()));
        for hit in hits.take(MAX_PER_PART) {
            let link = hit.as_str().trim_end_matches(['.', ',', ';', ':', '*', '_']);
            let search = FactSearch::new(link).or(short(link));
            let span = hit.start()..hit.start() + link.len();
            found.push(located.draft_at(FactKind::Link, search, link, span));
        }
    }
}

/// Returns whether a match is no plain number or word.
fn is_link(link: &str) -> bool {
    link.contains(':')
        || (link.bytes().any(|b| b.is_ascii_digit())
            && link.bytes().any(|b| b.is_ascii_lowercase()))
}

/// Returns the start of a hash, or a URL without scheme and query.
fn short(link: &str) -> &str {
    // The length to which git shortens a hash.
    const HASH: usize = 7;
    match link.split_once("://") {
        Some((_, rest)) => rest.split(['?', '#']).next().unwrap_or(rest).trim_end_matches('/'),
        None if link.contains('-') => "",
        None => &link[..HASH.min(link.len())],
    }
}
