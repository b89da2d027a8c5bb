//! Facts that a summary must keep: numbers, identifiers, file names.

use super::message_text;
use crate::chat::ChatMessage;
use std::collections::BTreeSet;

/// Headers that end the block of key facts.
const HEADERS: &[&str] = &[
    "mission",
    "task &",
    "task and",
    "progress",
    "files &",
    "files and",
    "open items",
    "pitfalls",
];

/// Appends every fact of the dropped messages that the summary omits. System messages are not a source.
pub(super) fn with_missing_facts(summary: &str, dropped: &[ChatMessage]) -> String {
    let texts = dropped.iter().filter(|m| !m.is("system")).map(message_text);
    let facts: BTreeSet<String> = texts.flat_map(|text| facts_in(&text)).collect();
    let known = summary.to_lowercase();
    let missing: Vec<String> = facts.into_iter().filter(|f| !known.contains(f)).collect();
    if missing.is_empty() {
        return summary.to_owned();
    }
    format!(
        "{summary}\n\nADDITIONAL FACTS (preserved verbatim from the conversation): {}",
        missing.join(", ")
    )
}

/// Returns whether a new summary lost a fact of the previous one. Compares its block of key facts, or all of it
/// without such a block.
pub(super) fn loses_a_fact(prior: &str, next: &str) -> bool {
    let key_facts = key_facts(prior).filter(|facts| !facts.trim().is_empty());
    let next = next.to_lowercase();
    let facts = facts_in(key_facts.unwrap_or(prior));
    facts.iter().any(|fact| !next.contains(fact))
}

fn key_facts(text: &str) -> Option<&str> {
    // Lower case keeps the lengths, since only ASCII is searched.
    let low = text.to_ascii_lowercase();
    let start = low.find("key facts")?;
    let behind = start + "key facts".len();
    let rest = low.get(behind..)?;
    let ends = HEADERS.iter().filter_map(|header| rest.find(header));
    text.get(start..ends.min().map_or(text.len(), |end| behind + end))
}

/// Returns the facts in a text, in lower case; only the last part of a path.
fn facts_in(text: &str) -> BTreeSet<String> {
    let is_inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '/' | '-');
    let runs = text.split(|c| !is_inner(c));
    let words = runs.map(|run| run.trim_matches(|c: char| !c.is_ascii_alphanumeric()));
    let names = words.filter(|word| word.len() > 1).map(|word| {
        let name = word.rsplit('/').next().unwrap_or(word);
        if name.is_empty() { word } else { name }
    });
    let facts = names.filter(|name| is_fact(name));
    facts.map(str::to_ascii_lowercase).collect()
}

/// Returns whether a word is data rather than a plain word: two digits, a digit and a letter, inner capitals or only
/// capitals, or a compound name.
fn is_fact(word: &str) -> bool {
    let count = |is: fn(&u8) -> bool| word.bytes().filter(is).count();
    let digits = count(u8::is_ascii_digit);
    let letters = count(u8::is_ascii_alphabetic);
    let upper = count(u8::is_ascii_uppercase);
    let pairs = word.bytes().zip(word.bytes().skip(1));
    let is_camel = pairs.into_iter().any(|(a, b)| a.is_ascii_lowercase() && b.is_ascii_uppercase());
    // As in digitornai/digitorn 51fe8f4a, `internal/runtime/contextcompact`.
    word.len() > 1
        && (digits >= 2
            || (digits >= 1 && letters >= 1)
            || is_camel
            || (upper >= 2 && letters > upper)
            || (upper >= 3 && upper == letters)
            || (word.contains(['.', '_', '-', '/']) && word.len() >= 5))
}
