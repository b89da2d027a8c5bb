//! Edits that name the text they replace, and changed files. The argument names differ between agents' tools.

use super::parts::{answers, own_parts};
use super::phrase::Phrases;
use crate::json::Value;
use crate::session::{Body, PATH_KEYS, Session};
use std::collections::HashSet;

/// Minimum length of a line in characters; shorter lines are too common.
///
/// With this and the shares of [`KNOWN`] and of half the lines in the context, none of the 124 edits of a recorded
/// session counted as blind in the context that the agent had.
const MIN_LINE_CHARS: usize = 12;
/// Minimum share of an edit's lines that must occur before it. An edit of which more is new was not copied from the
/// context: the agent wrote it from memory, or read the file with a tool that is not recorded.
const KNOWN: (usize, usize) = (80, 100);

/// An edit that names the text it replaces.
#[derive(Debug)]
pub(super) struct Edit {
    pub(super) call: usize,
    /// Index of the message.
    pub(super) message: u32,
    /// End of the messages that the call sees.
    pub(super) context_end: u32,
    /// Lines of the replaced text, by their number in [`Phrases`].
    pub(super) lines: Box<[u32]>,
}

/// A file that a call changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FileChange {
    /// Path as given in the call.
    pub(super) path: Box<str>,
    /// Index of the message.
    pub(super) message: usize,
}

/// The model's edits and the files it changed.
#[derive(Debug, Default)]
pub(super) struct Edits {
    /// Edits that name the text they replace, by call.
    edits: Vec<Edit>,
    /// Changes of files, in order.
    pub(super) changes: Vec<FileChange>,
}

impl Edits {
    /// Collects the edits of a session and adds the replaced lines to the phrases.
    pub(super) fn new(session: &Session, phrases: &mut Phrases) -> Self {
        let mut found = Self::default();
        for (call, answer) in answers(session).into_iter().enumerate() {
            for (message, part) in own_parts(session, call, answer) {
                let Body::ToolCall { arguments, .. } = &session.parts[part].body else {
                    continue;
                };
                let tool_call = ToolCall::of(arguments);
                let changes = tool_call.files.into_iter();
                found.changes.extend(changes.map(|path| FileChange { path, message }));
                let mut seen = HashSet::new();
                let old = tool_call.old.iter().map(|line| line.trim());
                let lines = old.filter(|line| line.chars().count() >= MIN_LINE_CHARS);
                let lines = lines.filter(|line| seen.insert(*line));
                let lines: Box<[u32]> = lines.filter_map(|line| phrases.note(line)).collect();
                if !lines.is_empty() {
                    found.edits.push(Edit {
                        call,
                        message: message as u32,
                        context_end: session.calls[call].context_end as u32,
                        lines,
                    });
                }
            }
        }
        found
    }

    /// Keeps the edits of known text: most of their lines occur before the call. Lines with more than `most` copies are
    /// ignored as too common.
    pub(super) fn keep_known(&mut self, session: &Session, phrases: &Phrases, most: usize) {
        self.edits.retain_mut(|edit| {
            let is_rare = |line: &&u32| phrases.copies(**line).len() <= most;
            edit.lines = edit.lines.iter().filter(is_rare).copied().collect();
            let is_known = |line: &&u32| {
                let mut copies = phrases.copies_before(**line, edit.context_end).iter();
                copies.any(|place| session.messages[place.message as usize].in_history)
            };
            let known = edit.lines.iter().filter(is_known).count();
            known > 0 && known * KNOWN.1 >= edit.lines.len() * KNOWN.0
        });
    }

    /// Returns the edits of a call.
    pub(super) fn at(&self, call: usize) -> &[Edit] {
        let from = self.edits.partition_point(|edit| edit.call < call);
        let edits = &self.edits[from..];
        &edits[..edits.partition_point(|edit| edit.call == call)]
    }

    /// Returns all edits, by call.
    pub(super) fn all(&self) -> &[Edit] {
        &self.edits
    }
}

/// Arguments with the text to replace, if another argument begins with `new` or `replace`.
const OLD: [&str; 8] =
    ["old", "oldStr", "oldString", "oldText", "old_str", "old_string", "old_text", "search"];
/// Arguments that show that a call writes the file.
const WRITTEN: [&str; 9] = [
    "code_edit",
    "content",
    "contents",
    "diff",
    "edits",
    "file_text",
    "insert_text",
    "new_source",
    "patch",
];

/// Changes in the arguments of a call.
#[derive(Debug, Default)]
pub(crate) struct ToolCall {
    /// Lines of the text to replace.
    pub(crate) old: Vec<String>,
    /// Files that it changes.
    pub(crate) files: Vec<Box<str>>,
}

impl ToolCall {
    pub(crate) fn of(arguments: &str) -> Self {
        let mut call = Self::default();
        match crate::json::from_str(arguments) {
            Ok(value) => call.gather(&value),
            Err(_) => call.patch(arguments),
        }
        call
    }

    fn gather(&mut self, value: &Value) {
        match value {
            Value::String(text) => self.patch(text),
            Value::Array(items) => items.iter().for_each(|item| self.gather(item)),
            Value::Object(fields) => {
                let is_new = |key: &String| key.starts_with("new") || key.starts_with("replace");
                let has_new = fields.keys().any(is_new);
                let is_written = has_new || WRITTEN.iter().any(|key| fields.contains_key(*key));
                for (key, field) in fields {
                    match field {
                        Value::String(text) if has_new && OLD.contains(&key.as_str()) => {
                            self.old.extend(text.lines().map(str::to_owned));
                        }
                        Value::String(path) if is_written && PATH_KEYS.contains(&key.as_str()) => {
                            self.files.push(path.as_str().into());
                        }
                        _ => self.gather(field),
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Collects the context and minus lines of a patch, the search half of search blocks, and the file names of a
    /// patch.
    fn patch(&mut self, text: &str) {
        let is_envelope = text.contains("*** Begin Patch");
        let mut at = In::Nothing;
        for line in text.lines() {
            let file = ["*** Update File: ", "*** Add File: "];
            let file = file.into_iter().find_map(|head| line.strip_prefix(head));
            let file = file.filter(|_| is_envelope).or(line.strip_prefix("+++ b/"));
            self.files.extend(file.map(|path| path.trim().into()));
            at = match (at, line.trim_end()) {
                (_, "<<<<<<< SEARCH" | "------- SEARCH") => In::Search,
                (In::Search, "=======") => In::Nothing,
                (In::Search, _) => {
                    self.old.push(line.to_owned());
                    at
                }
                (_, head) if head.starts_with("@@") => In::Hunk,
                (_, head) if is_envelope && head.starts_with("*** Update File:") => In::Hunk,
                (_, head) if is_heading(head) => In::Nothing,
                (In::Hunk, _) => {
                    let old = line.strip_prefix([' ', '-']);
                    self.old.extend(old.map(str::to_owned));
                    at
                }
                (In::Nothing, _) => at,
            };
        }
    }
}

/// Section of a patch.
#[derive(Clone, Copy)]
enum In {
    Nothing,
    Hunk,
    Search,
}

/// Returns whether a line of a patch is a heading.
fn is_heading(line: &str) -> bool {
    ["*** ", "diff --git", "--- a/", "--- /dev/null", "+++ "]
        .iter()
        .any(|head| line.starts_with(head))
}

#[cfg(test)]
mod tests {
    use super::ToolCall;

    #[test]
    fn a_patch_names_its_files_and_the_lines_that_were_there() {
        let patch = "*** Begin Patch\n*** Add File: new.rs\n+fn new() {}\n*** Update File: src/old.rs\n@@ fn old\n kept\n-gone\n+came\n*** End Patch";
        let tool_call = ToolCall::of(patch);
        assert_eq!(tool_call.old, ["kept", "gone"]);
        assert_eq!(tool_call.files, ["new.rs", "src/old.rs"].map(Box::from));
        let unified =
            "--- a/src/old.rs\n+++ b/src/old.rs\n@@ -1,2 +1,2 @@\n kept\n--- gone\n+came\n";
        let tool_call = ToolCall::of(&crate::json::json!({ "diff": unified }).to_string());
        assert_eq!(tool_call.old, ["kept", "-- gone"]);
        assert_eq!(tool_call.files, [Box::from("src/old.rs")]);
    }

    #[test]
    fn a_file_that_is_only_read_was_not_changed() {
        assert!(ToolCall::of(r#"{"path":"a.rs","limit":20}"#).files.is_empty());
        let written = ToolCall::of(r#"{"path":"a.rs","content":"x"}"#);
        assert_eq!(written.files, [Box::from("a.rs")]);
    }
}
