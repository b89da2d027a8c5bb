//! Lists of the files that were read and modified. A summary ends with them, and they pass to the next summary.

use crate::chat::ChatMessage;
use crate::json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Key of the lists in an action's memory.
const KEY: &str = "pi_files";

/// Files read and modified so far.
#[derive(Clone, Debug, Default)]
pub(super) struct FileLists {
    read: BTreeSet<String>,
    modified: BTreeSet<String>,
}

impl FileLists {
    /// Reads the lists of the last summary from an action's memory.
    pub(super) fn from_memory(memory: &Value) -> Self {
        let set = |list: &str| {
            let files = memory[KEY][list].as_array().into_iter().flatten();
            files.filter_map(Value::as_str).map(str::to_owned).collect()
        };
        Self { read: set("read"), modified: set("modified") }
    }

    /// Returns the lists for an action's memory.
    pub(super) fn to_memory(&self) -> Value {
        json!({KEY: {"read": self.only_read(), "modified": self.modified}})
    }

    /// `extractFileOpsFromMessage`: adds the files of the calls in messages.
    pub(super) fn add(&mut self, messages: &[ChatMessage]) {
        for call in messages.iter().flat_map(ChatMessage::calls) {
            let arguments = call.arguments_as_value();
            let Some(path) = arguments["path"].as_str() else {
                continue;
            };
            match call.tool() {
                "read" => _ = self.read.insert(path.to_owned()),
                "write" | "edit" => _ = self.modified.insert(path.to_owned()),
                _ => {}
            }
        }
    }

    /// `formatFileOperations`: returns the lists as they end a summary.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        let read = self.only_read();
        let modified: Vec<&String> = self.modified.iter().collect();
        for (tag, files) in [("read-files", read), ("modified-files", modified)] {
            if !files.is_empty() {
                let files: Vec<&str> = files.into_iter().map(String::as_str).collect();
                let _ = write!(text, "\n\n<{tag}>\n{}\n</{tag}>", files.join("\n"));
            }
        }
        text
    }

    fn only_read(&self) -> Vec<&String> {
        self.read.difference(&self.modified).collect()
    }
}
