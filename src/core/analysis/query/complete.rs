//! Completes the word before the cursor.

use super::parse::{RawTerm, keys, raw_terms};
use super::{Flag, Kind, NumberKey, kind_name};
use crate::session::Role;

/// Minimum number of letters before keys are suggested: most words are texts.
const MIN_LETTERS: usize = 2;

/// Returns replacements for the word before the cursor, best first. `tools` are the names of the session's tools.
pub fn complete(word: &str, tools: &[&str]) -> Vec<String> {
    let terms = raw_terms(word);
    let [term] = &terms[..] else {
        return Vec::new();
    };
    let (start, options) = match term.key {
        _ if term.is_quoted => return Vec::new(),
        Some((key, _)) if keys().any(|known| known == key) => {
            (term.value_span.start, values(key, term, tools))
        }
        // A name that is no key, such as `to`, or `tok:`.
        key => {
            let name = key.map_or(term.value, |(name, _)| name);
            let is_near = |key: &&str| name.len() >= MIN_LETTERS && key.starts_with(name);
            let start = term.span.start + usize::from(term.is_negated);
            (start, keys().filter(is_near).map(opened).collect())
        }
    };
    let (before, typed) = word.split_at(start);
    if options.iter().any(|option| option == typed) {
        return Vec::new();
    }
    let whole = |option: String| format!("{before}{option}");
    options.into_iter().map(whole).collect()
}

/// Returns a key with its usual operator.
fn opened(key: &str) -> String {
    let sign = if key == NumberKey::Tokens.name() { '>' } else { ':' };
    format!("{key}{sign}")
}

fn values(key: &str, term: &RawTerm<'_>, tools: &[&str]) -> Vec<String> {
    let all: Vec<&str> = match key {
        "kind" => Kind::ALL.into_iter().map(kind_name).collect(),
        "role" => Role::ALL.into_iter().map(Role::name).collect(),
        "is" => Flag::ALL.into_iter().map(Flag::name).collect(),
        "tool" => tools.to_vec(),
        _ => Vec::new(),
    };
    let typed = term.value.to_lowercase();
    let starts = |value: &&str| value.to_lowercase().starts_with(&typed);
    let quoted = |value: &str| {
        if value.contains(char::is_whitespace) { format!("\"{value}\"") } else { value.to_owned() }
    };
    all.into_iter().filter(starts).map(quoted).collect()
}
