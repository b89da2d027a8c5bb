//! The files that an agent's tool calls read and edited, and the results with their content.

use super::attachments;
use super::model::FileUse;
use super::read_command::files_read;
use super::tool_results::{ToolResult, results};
use crate::analysis::facts::{call_command, call_path};
use crate::analysis::loss::ToolCall;
use crate::engine::Case;
use crate::json::Value;
use crate::session::Body;
use std::collections::HashMap;

/// Arguments that show that a call searches: what it returns is no file.
const SEARCH_KEYS: [&str; 6] = ["glob", "include", "pattern", "query", "regex", "search_term"];

/// Words in the name of a tool that takes a path and does not read a file.
const NOT_A_READ: [&str; 11] = [
    "list", "tree", "glob", "grep", "search", "find", "mkdir", "delete", "remove", "move", "rename",
];

/// All files that a session touches, shared by all lanes.
#[derive(Debug, Default)]
pub struct FileReads {
    files: Vec<FileTouches>,
    /// Reads by each message that holds their result or a copy of it, ascending: message, file, index in its touches.
    in_messages: Vec<(u32, u32, u32)>,
    /// First calls after the recorded compactions, ascending.
    compactions: Vec<u32>,
}

/// The calls that touch a file, in order.
#[derive(Debug)]
pub(super) struct FileTouches {
    /// Path as a call gives it; the longest form of several.
    pub(super) name: Box<str>,
    pub(super) touches: Vec<Touch>,
}

/// A call that reads or edits a file.
#[derive(Clone, Debug)]
pub(super) struct Touch {
    /// Index of the call.
    pub(super) call: u32,
    /// The result with the file's content; `None` for an edit.
    pub(super) read: Option<ReadResult>,
}

/// The result of a read.
#[derive(Clone, Debug)]
pub(super) struct ReadResult {
    /// Message and part of the result, and of the copies that recorded compactions made of it.
    pub(super) places: Vec<(u32, u32)>,
    /// Number of files that share the result.
    pub(super) shared_by: u32,
}

impl FileReads {
    /// Collects the touches of a session. Reads that failed do not count.
    pub fn new(case: &Case) -> Self {
        let session = &case.session;
        let mut compactions: Vec<u32> = session.compactions.iter().map(|c| c.call as u32).collect();
        compactions.sort_unstable();
        let mut reads = Self { compactions, ..Self::default() };
        let mut results = results(case);
        attachments::add(case, &mut results);
        let mut known = KnownFiles::default();
        for message in session.messages.iter().filter(|m| m.in_history) {
            let Some(call) = message.call else {
                continue;
            };
            for part in message.parts.clone() {
                let Body::ToolCall { tool, arguments, .. } = &session.parts[part].body else {
                    continue;
                };
                let call_number = case.index.calls.number(part);
                let result = call_number.map(|number| &results[number as usize]);
                let result = result.filter(|result| !result.places.is_empty());
                reads.add(&mut known, call as u32, tool, arguments, result);
            }
        }
        for (file, touched) in (0..).zip(&reads.files) {
            for (nth, touch) in (0..).zip(&touched.touches) {
                let places = touch.read.iter().flat_map(|read| &read.places);
                let places = places.map(|(message, _)| (*message, file, nth));
                reads.in_messages.extend(places);
            }
        }
        reads.in_messages.sort_unstable();
        reads
    }

    fn add(
        &mut self,
        known: &mut KnownFiles,
        call: u32,
        tool: &str,
        arguments: &str,
        result: Option<&ToolResult>,
    ) {
        let is_failed = result.is_some_and(|result| result.is_error);
        if is_failed {
            return;
        }
        let edited = ToolCall::of(arguments).files;
        if edited.is_empty() {
            let (Some(result), Ok(arguments)) = (result, crate::json::from_str(arguments)) else {
                return;
            };
            let paths = paths_read(tool, &arguments);
            for path in &paths {
                let read =
                    ReadResult { places: result.places.clone(), shared_by: paths.len() as u32 };
                self.touch(known, path, call, Some(read));
            }
        } else {
            for path in edited {
                self.touch(known, &path, call, None);
            }
        }
    }

    fn touch(&mut self, known: &mut KnownFiles, path: &str, call: u32, read: Option<ReadResult>) {
        let file = known.find(path, &mut self.files);
        self.files[file].touches.push(Touch { call, read });
    }

    /// Returns the path of a file.
    pub fn name(&self, file: u32) -> &str {
        &self.files[file as usize].name
    }

    /// Returns the touches of each file.
    pub(super) fn files(&self) -> &[FileTouches] {
        &self.files
    }

    /// Returns the reads with a result in these messages: file and index of the touch.
    pub(super) fn reads_in(
        &self,
        messages: std::ops::Range<u32>,
    ) -> impl Iterator<Item = (u32, u32)> {
        let from = self.in_messages.partition_point(|(m, ..)| *m < messages.start);
        let all = self.in_messages[from..].iter();
        let here = all.take_while(move |(message, ..)| *message < messages.end);
        here.map(|(_, file, nth)| (*file, *nth))
    }

    /// Returns what is known about a file at a call that does not have the result of a touch any more.
    pub(super) fn file_use(&self, file: u32, call: u32) -> FileUse {
        let before = self.compactions.partition_point(|at| *at < call);
        let start = before.checked_sub(1).map_or(0, |last| self.compactions[last]);
        let touches = &self.files[file as usize].touches;
        let until = touches.partition_point(|touch| touch.call < call);
        let last = until.checked_sub(1).map_or(start, |last| touches[last].call);
        let since = touches[..until].iter().filter(|touch| touch.call >= start);
        FileUse {
            age: call.saturating_sub(last + 1),
            uses: since.clone().count() as u32,
            is_edited: since.clone().any(|touch| touch.read.is_none()),
        }
    }

    /// Returns whether a read is the last one of its file before a call.
    pub(super) fn is_last_read(&self, file: u32, nth: u32, call: u32) -> bool {
        let later = self.files[file as usize].touches[nth as usize + 1..].iter();
        let mut reads = later.take_while(|touch| touch.call < call);
        !reads.any(|touch| touch.read.is_some())
    }
}

/// Returns the files that a call reads.
fn paths_read(tool: &str, arguments: &Value) -> Vec<String> {
    if let Some(command) = call_command(arguments) {
        return files_read(&command);
    }
    let is_search = SEARCH_KEYS.iter().any(|key| arguments.get(*key).is_some());
    let tool = tool.to_lowercase();
    if is_search || tool == "ls" || NOT_A_READ.iter().any(|word| tool.contains(word)) {
        return Vec::new();
    }
    call_path(arguments).map(str::to_owned).into_iter().collect()
}

/// Files by the name after the last slash, to find a file that another tool names by a longer or shorter path.
#[derive(Default)]
struct KnownFiles(HashMap<Box<str>, Vec<usize>>);

impl KnownFiles {
    /// Returns the index of a file: the one whose path ends with this one, or with which this one ends.
    fn find(&mut self, path: &str, files: &mut Vec<FileTouches>) -> usize {
        let path = path.strip_prefix("./").unwrap_or(path);
        let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
        let same_name = self.0.entry(name.into()).or_default();
        let is_same = |idx: &&usize| {
            let known = &*files[**idx].name;
            ends_with_path(known, path) || ends_with_path(path, known)
        };
        if let Some(idx) = same_name.iter().find(is_same).copied() {
            if path.len() > files[idx].name.len() {
                files[idx].name = path.into();
            }
            return idx;
        }
        files.push(FileTouches { name: path.into(), touches: Vec::new() });
        same_name.push(files.len() - 1);
        files.len() - 1
    }
}

/// Returns whether a path ends with the components of another.
fn ends_with_path(path: &str, end: &str) -> bool {
    let before = path.strip_suffix(end);
    before.is_some_and(|before| before.is_empty() || before.ends_with(['/', '\\']))
}
