//! Files and commands in messages: for lists behind a summary, and for notices in place of dropped work.

use crate::chat::ChatMessage;
use crate::json::Value;
use crate::languages::javascript::{first_units, length};

/// Maximum UTF-16 units of a command in a notice.
// As in Cline at 21cb8d25, `extensions/context`.
const COMMAND_CHARS: usize = 100;
const EDIT_TOOLS: [&str; 2] = ["editor", "apply_patch"];

/// Files read and modified, sorted.
#[derive(Debug, Default)]
pub(super) struct FileLists {
    pub(super) read: Vec<String>,
    pub(super) modified: Vec<String>,
}

impl FileLists {
    /// Collects the files of the calls in messages.
    pub(super) fn of(messages: &[ChatMessage]) -> Self {
        let mut lists = Self::default();
        for call in messages.iter().flat_map(ChatMessage::calls) {
            let mut paths = Vec::new();
            add_paths(&call.arguments_as_value(), &mut paths);
            let tool = call.tool();
            let list = if tool == "read_files" {
                &mut lists.read
            } else if EDIT_TOOLS.contains(&tool) {
                &mut lists.modified
            } else {
                continue;
            };
            list.extend(paths.iter().map(|path| path.trim().to_owned()));
        }
        for list in [&mut lists.read, &mut lists.modified] {
            list.sort_by_key(|path| (collation_key(path), path.clone()));
            list.dedup();
        }
        lists
    }
}

/// Returns a key that sorts a text as a dictionary does: marks before digits before letters, whatever their case.
fn collation_key(text: &str) -> Vec<(u8, char)> {
    const MARKS: &str = "_-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$";
    let class = |c: char| match MARKS.find(c) {
        Some(at) => (0, char::from(at as u8)),
        None if c.is_ascii_digit() => (1, c),
        None => (2, c.to_lowercase().next().unwrap_or(c)),
    };
    text.chars().map(class).collect()
}

/// Adds the paths in the arguments of a call.
fn add_paths(value: &Value, paths: &mut Vec<String>) {
    match value {
        Value::String(path) if !path.trim().is_empty() => paths.push(path.clone()),
        Value::Array(items) => items.iter().for_each(|item| add_paths(item, paths)),
        Value::Object(fields) => {
            let keys = ["path", "file_path", "target_file", "new_file_path", "old_file_path"];
            let named = keys.iter().filter_map(|key| fields.get(*key));
            named.for_each(|value| add_paths(value, paths));
            let files = fields.get("files").and_then(Value::as_array);
            for file in files.into_iter().flatten().filter(|file| file.is_object()) {
                add_paths(&file["path"], paths);
            }
            if let Some(list @ Value::Array(_)) = fields.get("file_paths") {
                add_paths(list, paths);
            }
        }
        _ => {}
    }
}

/// `buildDroppedWorkSummaryBlock`: returns the text that takes the place of dropped work with these files, commands and answers; `None` if there are
/// none.
pub(super) fn notice(dropped: &[ChatMessage], answers: &[String]) -> Option<String> {
    let mut activity = Activity::default();
    for message in dropped {
        activity.add(message);
    }
    let edits = std::mem::take(&mut activity.open_edits);
    for (_, path) in edits {
        push(&mut activity.edited, &path);
    }
    let lists = [&activity.read, &activity.edited, &activity.commands];
    if lists.iter().all(|list| list.is_empty()) && answers.is_empty() {
        return None;
    }
    let [read, edited, commands] = lists.map(|list| list.join("\n"));
    let answers = match answers {
        [] => String::new(),
        answers => format!("\n\nYour recent responses:\n{}", answers.join("\n---\n")),
    };
    Some(format!(
        "<SYSTEM_NOTICE>\nEarlier context was compacted. Summary of your actions after the request above:\nFiles read:\n{read}\n\nFiles edited:\n{edited}\n\nCommands ran:\n{commands}{answers}</SYSTEM_NOTICE>"
    ))
}

#[derive(Default)]
struct Activity {
    read: Vec<String>,
    edited: Vec<String>,
    commands: Vec<String>,
    /// Edits whose result has not come yet: id of the call and path.
    open_edits: Vec<(String, String)>,
}

impl Activity {
    fn add(&mut self, message: &ChatMessage) {
        for call in message.calls() {
            let (tool, arguments) = (call.tool(), call.arguments_as_value());
            let mut paths = Vec::new();
            add_paths(&arguments, &mut paths);
            if tool == "read_files" {
                match arguments["files"].as_array() {
                    Some(files) => {
                        let entries = files.iter().filter_map(read_entry);
                        entries.for_each(|entry| push(&mut self.read, &entry));
                    }
                    None => paths.iter().for_each(|path| push(&mut self.read, path)),
                }
            } else if EDIT_TOOLS.contains(&tool) {
                let id = call.id.as_deref().unwrap_or_default().to_owned();
                let path = paths.into_iter().next();
                self.open_edits.extend(path.map(|path| (id, path)));
            } else if tool == "run_commands" {
                let commands = arguments["commands"].as_array().into_iter().flatten();
                for command in commands.filter_map(Value::as_str) {
                    push(&mut self.commands, &shortened(command.trim()));
                }
            }
        }
        let id = message.call_id.as_deref().unwrap_or_default();
        let edit = self.open_edits.iter().position(|(call, _)| call == id);
        if let Some(edit) = edit.filter(|_| message.is("tool")) {
            let (_, path) = self.open_edits.remove(edit);
            let lines = edited_lines(&message.joined_text("\n"));
            let lines = lines.map_or(String::new(), |(from, to)| format!(":{from}-{to}"));
            push(&mut self.edited, &format!("{path}{lines}"));
        }
    }
}

fn push(list: &mut Vec<String>, entry: &str) {
    let entry = entry.trim();
    if !entry.is_empty() && !list.iter().any(|known| known == entry) {
        list.push(entry.to_owned());
    }
}

fn read_entry(file: &Value) -> Option<String> {
    let path = file["path"].as_str()?.trim();
    let lines = (file["start_line"].as_i64(), file["end_line"].as_i64());
    Some(match lines {
        (Some(from), Some(to)) if !path.is_empty() => format!("{path}:{from}-{to}"),
        _ => path.to_owned(),
    })
}

fn shortened(command: &str) -> String {
    if length(command) <= COMMAND_CHARS {
        return command.to_owned();
    }
    format!("{}...", first_units(command, COMMAND_CHARS))
}

/// Returns the first and last line of a numbered difference in a result: lines that begin with `-N: ` or `+N: `.
fn edited_lines(text: &str) -> Option<(u64, u64)> {
    let inner = crate::json::from_str(text).ok();
    let inner = inner.as_ref().and_then(|value| value["result"].as_str());
    let text = inner.unwrap_or(text).replace("\\n", "\n");
    let numbers = text.lines().filter_map(|line| {
        let (number, _) = line.strip_prefix(['-', '+'])?.split_once(": ")?;
        let is_number = number.bytes().all(|digit| digit.is_ascii_digit());
        number.parse::<u64>().ok().filter(|_| is_number)
    });
    let numbers: Vec<u64> = numbers.collect();
    Some((*numbers.iter().min()?, *numbers.iter().max()?))
}
