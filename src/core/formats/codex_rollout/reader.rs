//! Builds the session from the lines in order.

use super::FORMAT;
use super::fork::Fork;
use super::items::{ItemKind, ResponseItem};
use super::lines::{LineContent, Meta, RolloutLine};
use super::message_index::MessageIndex;
use super::neighbors;
use super::usage::{Meter, WINDOW_SHARE};
use crate::formats::json::shortened;
use crate::formats::read_log::ReadLog;
use crate::formats::{Input, ParseError, Parsed, Warning, title};
use crate::progress::Progress;
use crate::session::{Body, CallDraft, Draft, Role, SessionBuilder, Source, Span, Usage};
use crate::units::Tokens;
use std::collections::{HashMap, HashSet};
use std::mem;
use std::sync::Arc;

/// Heading with which Codex Desktop separates attachments from the user's request.
const REQUEST_HEADING: &str = "## My request for Codex:";

/// Builds the session from these lines.
pub(super) fn read(
    input: &Input,
    lines: Vec<RolloutLine>,
    progress: &Progress,
    log: ReadLog,
) -> Result<Parsed, ParseError> {
    let user_items = neighbors::user_items(&lines);
    let mut reader = CodexReader::new(input.source(FORMAT.name, None), log);
    reader.triggers = neighbors::triggers(&lines).into_iter();
    for (line, is_user_item) in lines.into_iter().zip(user_items) {
        progress.check_cancelled()?;
        reader.line(line, is_user_item);
    }
    reader.finish(input)
}

/// A call whose usage has not been read yet.
#[derive(Debug)]
pub(super) struct OpenCall {
    /// Index of the call in the session.
    pub(super) index: usize,
    /// Indices of the messages of its answer.
    pub(super) messages: Vec<usize>,
}

/// A compaction after which Codex may still add instructions to the context.
#[derive(Debug)]
pub(super) struct CodexCompaction {
    pub(super) trigger: &'static str,
    pub(super) before: Option<Tokens>,
    /// Message indices of the new context so far.
    pub(super) kept: Vec<usize>,
    /// Model and usage of the request for its summary.
    pub(super) request: Option<(Option<String>, Usage)>,
}

#[derive(Debug)]
pub(super) struct CodexReader {
    pub(super) builder: SessionBuilder,
    log: ReadLog,
    fork: Fork,
    pub(super) is_copied: bool,
    pub(super) meter: Meter,
    /// Size of the context: input and output of the latest call.
    pub(super) size: Option<Tokens>,
    pub(super) model: Option<String>,
    pub(super) window: Option<Tokens>,
    /// Index of the message with the system prompt.
    pub(super) instructions: Option<usize>,
    pub(super) open_call: Option<OpenCall>,
    /// The previous item was part of an answer. A following model item continues it.
    pub(super) is_answering: bool,
    pub(super) compaction: Option<CodexCompaction>,
    /// Messages that a new context may repeat.
    pub(super) known: MessageIndex,
    /// The whole file, kept in memory after the first new context.
    pub(super) held: Option<Arc<Vec<u8>>>,
    tools: HashMap<Box<str>, Box<str>>,
    name: Option<String>,
    user_text: Option<String>,
    unknown: HashSet<String>,
    /// Triggers of the compactions to come.
    pub(super) triggers: std::vec::IntoIter<&'static str>,
}

impl CodexReader {
    fn new(source: Source, log: ReadLog) -> Self {
        let mut builder = SessionBuilder::new(source);
        builder.window_share(WINDOW_SHARE);
        Self {
            builder,
            log,
            fork: Fork::default(),
            is_copied: false,
            meter: Meter::default(),
            size: None,
            model: None,
            window: None,
            instructions: None,
            open_call: None,
            is_answering: false,
            compaction: None,
            known: MessageIndex::default(),
            held: None,
            tools: HashMap::new(),
            name: None,
            user_text: None,
            unknown: HashSet::new(),
            triggers: Vec::new().into_iter(),
        }
    }

    fn line(&mut self, mut line: RolloutLine, is_user_item: bool) {
        let was_copied = self.is_copied;
        self.is_copied = self.fork.is_copied(&line);
        if was_copied && !self.is_copied {
            self.is_answering = false;
            self.user_text = None;
        }
        // The content is moved into the session. `line` is kept for its byte range.
        let content = mem::replace(&mut line.content, LineContent::Mirror);
        let in_context = match content {
            LineContent::Meta(meta) => self.meta(&line, *meta),
            LineContent::Item(item) => self.item(&line, *item, is_user_item),
            LineContent::Compacted { message, history, has_own_call } => {
                // The request for a summary is no call of the agent.
                let request = if has_own_call { self.builder.withdraw_last_call() } else { None };
                self.compacted(&line, &message, history);
                if let Some(compaction) = &mut self.compaction {
                    compaction.request = request;
                }
                true
            }
            other => {
                self.other_line(&line, &other);
                false
            }
        };
        self.log.report.count_record(&line.kind, in_context);
    }

    /// Reads a line without context content.
    fn other_line(&mut self, line: &RolloutLine, content: &LineContent) {
        match content {
            LineContent::Turn { model, window, effort, .. } => {
                self.model = model.clone().or(self.model.take());
                if let Some(effort) = effort {
                    self.builder.effort(effort);
                }
                self.window = self.checked_window(line, *window).or(self.window);
            }
            LineContent::TurnEnds { is_aborted } => {
                self.is_answering = false;
                if *is_aborted && !self.is_copied {
                    self.builder.aborted();
                }
            }
            LineContent::Count(count) => self.count(line, count),
            LineContent::Name(name) if !name.trim().is_empty() => self.name = Some(title(name)),
            LineContent::Rewind(n) if !self.is_copied => {
                self.warn(
                    line,
                    format!(
                        "{n} turns were rewound here; they are shown as part of the conversation"
                    ),
                );
            }
            LineContent::Unknown => self.warn_once(
                line,
                format!("unknown record type `{}`: not counted", shortened(&line.kind)),
            ),
            _ => {}
        }
    }

    fn meta(&mut self, line: &RolloutLine, meta: Meta) -> bool {
        if let Some(folder) = meta.folder.as_deref() {
            self.builder.project(folder);
        }
        if let Some(version) = meta.version.as_deref() {
            self.builder.agent_version(version);
        }
        self.fork.meta(&meta);
        if self.instructions.is_some() || meta.parts.is_empty() {
            return false;
        }
        let draft = Draft {
            time: line.time,
            raw: vec![line.span.clone()],
            ..Draft::new(Role::System, meta.parts)
        };
        self.instructions = Some(self.builder.message(draft));
        true
    }

    fn item(&mut self, line: &RolloutLine, item: ResponseItem, is_user_item: bool) -> bool {
        if let Some(unknown) = &item.unknown {
            self.warn_once(
                line,
                format!("unknown item type `{}`: counted as context", shortened(unknown)),
            );
        }
        if item.sort == ItemKind::NotContext {
            return false;
        }
        let is_answer = item.sort == ItemKind::Answer;
        if item.sort == ItemKind::Setup && !is_user_item && self.compaction.is_some() {
            let message = self.add(line, item, is_user_item, false);
            self.compaction.iter_mut().for_each(|c| c.kept.push(message));
            return true;
        }
        self.close_compaction();
        if is_answer && !self.is_answering && !self.is_copied {
            let index = self.builder.call(CallDraft {
                model: self.model.clone(),
                window: self.window,
                time: line.time,
                ..CallDraft::default()
            });
            self.open_call = Some(OpenCall { index, messages: Vec::new() });
        }
        self.is_answering = is_answer;
        if is_user_item && self.user_text.is_none() {
            self.user_text = Some(title(&item.text())).filter(|t| !t.is_empty());
        }
        let message = self.add(line, item, is_user_item, true);
        if let Some(call) = self.open_call.as_mut().filter(|_| is_answer) {
            call.messages.push(message);
        }
        true
    }

    /// Adds a line's item as a message and returns its index.
    fn add(
        &mut self,
        line: &RolloutLine,
        item: ResponseItem,
        is_user_item: bool,
        in_history: bool,
    ) -> usize {
        self.add_at(line, line.span.clone(), item, is_user_item, in_history)
    }

    /// Adds an item with this byte range as a message and returns its index.
    pub(super) fn add_at(
        &mut self,
        line: &RolloutLine,
        span: Span,
        mut item: ResponseItem,
        is_user_item: bool,
        in_history: bool,
    ) -> usize {
        for part in &mut item.parts {
            match &mut part.body {
                Body::ToolCall { call, tool, .. } => {
                    self.tools.insert(call.clone(), tool.clone());
                }
                Body::ToolResult { call, tool, .. } => {
                    *tool = self.tools.get(call).cloned().unwrap_or_default();
                }
                _ => {}
            }
        }
        self.builder.message(Draft {
            id: item.id,
            time: line.time,
            is_injected: item.role == Role::User && !is_user_item,
            is_summary: item.sort == ItemKind::Summary,
            in_history,
            raw: vec![span],
            ..Draft::new(item.role, item.parts)
        })
    }

    pub(super) fn warn(&mut self, line: &RolloutLine, text: String) {
        self.log.warnings.push(Warning { line: Some(line.number), text });
    }

    pub(super) fn warn_once(&mut self, line: &RolloutLine, text: String) {
        if self.unknown.insert(text.clone()) {
            self.warn(line, text);
        }
    }

    fn finish(mut self, input: &Input) -> Result<Parsed, ParseError> {
        self.close_compaction();
        if let Some(name) = self.name.or(self.user_text) {
            self.builder.title(name);
        }
        let is_empty = self.builder.is_empty();
        let session = (!is_empty).then(|| self.builder.finish());
        let sessions = session.into_iter().collect();
        let what = "a Codex rollout without a message";
        self.log.finish(input, sessions, what)
    }
}

/// Returns the first line of a request as a title.
fn title(text: &str) -> String {
    let text = text.split_once(REQUEST_HEADING).map_or(text, |(_, request)| request);
    title::first_line(text).unwrap_or_default()
}
