//! Errors in tool results: their type and message.

use super::{FactDraft, Material, compile};
use crate::analysis::facts::FactKind;
use crate::analysis::facts::text::FactSearch;
use crate::session::Body;
use regex::Regex;
use std::sync::LazyLock;

/// A line with an error: its type, and its message.
static ERROR: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile(
        r"(?m)^[ \t]*(?:E +)?((?:error(?:\[[A-Z]+\d+\])?|fatal|panic|[A-Z][\w.]*(?:Error|Exception|Warning)|[a-z_]+(?:\.[A-Za-z_]+)*(?:Error|Exception)|Uncaught [A-Z]\w+|thread '[^'\n]{1,60}' panicked at [^\n:]{1,120}|error TS\d+)):[ \t]*(\S[^\n]{2,240})",
    )
});

/// Maximum number of errors of a result. Chosen: the first errors cause the following ones, and a failed build prints
/// hundreds. Without a limit, one such build would decide the survival of all errors of the session.
const MAX_PER_RESULT: usize = 3;

pub(super) fn find(material: &Material<'_>, found: &mut Vec<FactDraft>) {
    let Some(pattern) = ERROR.as_ref() else {
        return;
    };
    for located in material.located_parts() {
        let Body::ToolResult { text, is_error, .. } = &located.part.body else {
            continue;
        };
        let before = found.len();
        for hit in pattern.captures_iter(text).take(MAX_PER_RESULT) {
            let (Some(kind), Some(message)) = (hit.get(1), hit.get(2)) else {
                continue;
            };
            let span = kind.start()..message.end();
            let line = text[span.clone()].trim_end();
            let search = FactSearch::new(line).or(message.as_str().trim());
            let draft = located.draft_at(FactKind::Error, search, line, span);
            found.push(draft.detail(kind.as_str()));
        }
        if *is_error && found.len() == before {
            let mut lines = text.lines().map(without_tag);
            let line = lines
                .find(|line| ERROR_WORDS.iter().any(|word| line.to_lowercase().contains(word)));
            let line = line.unwrap_or_default();
            found.push(located.draft(FactKind::Error, FactSearch::new(line), line));
        }
    }
    found.retain(|draft| !draft.key.is_empty());
}

/// Words of a line that describes an error.
const ERROR_WORDS: [&str; 10] = [
    "cannot",
    "denied",
    "error",
    "fail",
    "fatal",
    "invalid",
    "no such",
    "not found",
    "rejected",
    "unable",
];

/// Returns a line without the tag at its start.
fn without_tag(line: &str) -> &str {
    let line = line.trim();
    let tagged = line.strip_prefix('<').and_then(|rest| rest.split_once('>'));
    tagged.map_or(line, |(_, rest)| rest.split("</").next().unwrap_or(rest))
}

#[cfg(test)]
mod tests {
    use super::ERROR;

    #[test]
    fn errors_of_different_languages_are_found() {
        let pattern = ERROR.as_ref().expect("a valid pattern");
        for (text, kind, message) in [
            ("error[E0308]: mismatched types", "error[E0308]", "mismatched types"),
            ("E   KeyError: 'total'", "KeyError", "'total'"),
            ("TypeError: x is not a function", "TypeError", "x is not a function"),
            ("fatal: not a git repository", "fatal", "not a git repository"),
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
