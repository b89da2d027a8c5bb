//! Errors in tool results: their type and message.

use super::{Draft, Material, first_line};
use crate::analysis::facts::FactKind;
use crate::analysis::facts::text::Search;
use crate::session::Body;
use regex::Regex;
use std::sync::LazyLock;

/// A line with an error: its type, and its message.
static ERROR: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?m)^[ \t]*(?:E +)?((?:error(?:\[[A-Z]+\d+\])?|fatal|panic|[A-Z][\w.]*(?:Error|Exception|Warning)|[a-z_]+(?:\.[A-Za-z_]+)*(?:Error|Exception)|Uncaught [A-Z]\w+|thread '[^'\n]{1,60}' panicked at [^\n:]{1,120}|error TS\d+)):[ \t]*(\S[^\n]{2,240})",
    )
    .ok()
});

/// Maximum number of errors of a result.
const MAX_PER_RESULT: usize = 3;

pub(super) fn find(material: &Material<'_>, found: &mut Vec<Draft>) {
    let Some(pattern) = ERROR.as_ref() else {
        return;
    };
    for place in material.places() {
        let Body::ToolResult { text, is_error, .. } = &place.part.body else {
            continue;
        };
        let before = found.len();
        for hit in pattern.captures_iter(text).take(MAX_PER_RESULT) {
            let (Some(kind), Some(message)) = (hit.get(1), hit.get(2)) else {
                continue;
            };
            let span = kind.start()..message.end();
            let line = text[span.clone()].trim_end();
            let search = Search::new(line).or(message.as_str().trim());
            let draft = place.draft_at(FactKind::Error, search, line, span);
            found.push(draft.detail(kind.as_str()));
        }
        if *is_error && found.len() == before {
            let line = first_line(text);
            if !line.is_empty() && !line.starts_with("Exit code") {
                found.push(place.draft(FactKind::Error, Search::new(line), line));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ERROR;

    #[test]
    fn errors_of_different_languages_are_found() {
        let pattern = ERROR.as_ref().expect("a valid pattern");
        for (text, kind, message) in [
            (
                "error[E0308]: mismatched types",
                "error[E0308]",
                "mismatched types",
            ),
            ("E   KeyError: 'total'", "KeyError", "'total'"),
            (
                "TypeError: x is not a function",
                "TypeError",
                "x is not a function",
            ),
            (
                "fatal: not a git repository",
                "fatal",
                "not a git repository",
            ),
            (
                "requests.exceptions.ReadTimeoutError: timed out",
                "requests.exceptions.ReadTimeoutError",
                "timed out",
            ),
        ] {
            let hit = pattern.captures(text).expect(text);
            assert_eq!((&hit[1], &hit[2]), (kind, message));
        }
        assert!(!pattern.is_match("raise ValueError(\"no\")"));
        assert!(!pattern.is_match("12  fn error() -> Error"));
    }
}
