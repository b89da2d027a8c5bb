//! Reads of files that were read again later: a notice takes their place.

use super::units::units;
use crate::chat::ChatMessage;
use crate::engine::MessageEdit;
use crate::languages::javascript::length;
use std::collections::BTreeMap;

const NOTICE: &str = "[[NOTE] This file read has been removed to save space in the context window. Refer to the latest file read for the most up to date version of this file.]";

/// Result of the search for repeated reads.
#[derive(Debug, Default)]
pub(super) struct Reads {
    /// The notices in place of reads.
    pub(super) edits: Vec<MessageEdit>,
    /// Share of the characters of all texts that the notices save.
    pub(super) saved_share: f64,
}

/// `attemptFileReadOptimizationCore`: replaces all but the newest read of each file.
pub(super) fn replace_repeated_reads(messages: &[ChatMessage]) -> Reads {
    let units = units(messages);
    let mut by_path: BTreeMap<String, Vec<(usize, String)>> = BTreeMap::new();
    for unit in units.iter().skip(2) {
        // Only the first block of a message is searched.
        let first = &messages[unit.start];
        if !first.is("assistant")
            && let Some((path, replacement)) = read(&first.joined_text("\n"))
        {
            by_path.entry(path).or_default().push((unit.start, replacement));
        }
    }
    let mut replaced: Vec<(usize, String)> = Vec::new();
    for (_, mut reads) in by_path {
        reads.pop();
        replaced.extend(reads);
    }
    replaced.sort_unstable_by_key(|(at, _)| *at);
    let n_chars = |at: usize| length(&messages[at].joined_text(""));
    let saved = replaced.iter().map(|(at, text)| n_chars(*at) as f64 - length(text) as f64);
    let total: usize = units.iter().cloned().flatten().map(n_chars).sum();
    Reads {
        saved_share: if total == 0 { 0.0 } else { saved.sum::<f64>() / total as f64 },
        edits: {
            let edit = |(at, text): (usize, String)| MessageEdit {
                at,
                now: Some(messages[at].with_text(text)),
            };
            replaced.into_iter().map(edit).collect()
        },
    }
}

/// Returns the file that a text contains, with the text that replaces it; `None` for another text or if it was replaced
/// already.
fn read(text: &str) -> Option<(String, String)> {
    if text.contains(NOTICE) {
        return None;
    }
    let Some((tool, path)) = result_header(text) else {
        return mention(text, "file_content");
    };
    match tool {
        "read_file" => {
            let header = format!("[read_file for '{path}'] Result:");
            Some((path.to_owned(), format!("{header}\n{NOTICE}")))
        }
        "replace_in_file" | "write_to_file" => mention(text, "final_file_content"),
        _ => None,
    }
}

/// Returns the tool and the path of `[TOOL for 'PATH'] Result:` at the start of a text.
fn result_header(text: &str) -> Option<(&str, &str)> {
    let (tool, rest) = text.strip_prefix('[')?.split_once(" for '")?;
    let (path, rest) = rest.split_once('\'')?;
    let is_header = !tool.contains(char::is_whitespace) && rest.starts_with("] Result:");
    is_header.then_some((tool, path))
}

/// Returns the path of the first `<tag path="…">…</tag>` in a text, with the text in which the notice replaces the
/// content.
fn mention(text: &str, tag: &str) -> Option<(String, String)> {
    let open = format!("<{tag} path=\"");
    let at = text.find(&open)?;
    let (path, rest) = text[at + open.len()..].split_once("\">")?;
    let end = rest.find(&format!("</{tag}>"))?;
    let before = &text[..text.len() - rest.len()];
    Some((path.to_owned(), format!("{before}{NOTICE}{}", &rest[end..])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognizes_reads_edits_and_mentions() {
        let path = |text: &str| read(text).map(|(path, _)| path);
        assert_eq!(path("[read_file for 'a.rs'] Result:\nx").as_deref(), Some("a.rs"));
        assert_eq!(path("[execute_command for 'ls'] Result:\nx"), None);
        let mention = "see <file_content path=\"b.rs\">x</file_content> now";
        let (path, text) = read(mention).expect("it has a file");
        assert_eq!(path, "b.rs");
        assert_eq!(text, mention.replace(">x<", &format!(">{NOTICE}<")));
        assert!(read(&text).is_none());
    }
}
