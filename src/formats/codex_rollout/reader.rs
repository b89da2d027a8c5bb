//! Goes through the lines in order and puts the session together.

use super::super::json::quoted;
use super::super::{ImportReport, Input, Parsed, Refused, ParseError, Warning, counts, title};
use super::FORMAT;
use super::around;
use super::compaction::Compaction;
use super::fork::Fork;
use super::items::{Item, Sort};
use super::known::Known;
use super::lines::{Line, Meta, What};
use super::usage::{Count, Meter, Reading};
use crate::progress::Progress;
use crate::session::{Body, Draft, Role, SessionBuilder, Source, Span, StepDraft, Usage};
use crate::units::Tokens;
use std::collections::{HashMap, HashSet};
use std::mem;
use std::sync::Arc;

/// Codex Desktop puts attachments before what was said, and this line between.
const REQUEST_HEADING: &str = "## My request for Codex:";

/// Puts the lines together.
pub(super) fn read(
    input: &Input,
    lines: Vec<Line>,
    progress: &Progress,
    warnings: Vec<Warning>,
) -> Result<Parsed, ParseError> {
    let own_words = around::own_words(&lines);
    let source = Source {
        name: input.name.clone(),
        format: FORMAT.name,
        bytes: input.bytes.clone(),
    };
    let mut reader = Reader::new(source, warnings);
    reader.triggers = around::triggers(&lines).into_iter();
    for (line, is_own_words) in lines.into_iter().zip(own_words) {
        progress.go_on()?;
        reader.line(line, is_own_words);
    }
    Ok(reader.finish()?)
}

/// A call whose usage has not come yet.
#[derive(Debug)]
struct Call {
    step: usize,
    messages: Vec<usize>,
}

#[derive(Debug)]
pub(super) struct Reader {
    pub(super) builder: SessionBuilder,
    report: ImportReport,
    warnings: Vec<Warning>,
    fork: Fork,
    is_copied: bool,
    meter: Meter,
    /// Input and output of the latest call: the size of the context.
    pub(super) size: Option<Tokens>,
    model: Option<String>,
    window: Option<Tokens>,
    /// The message with the system prompt.
    pub(super) instructions: Option<usize>,
    call: Option<Call>,
    /// The item before was part of an answer, and so is the next one if a model wrote it.
    pub(super) is_answering: bool,
    pub(super) compaction: Option<Compaction>,
    /// What a new context may repeat.
    pub(super) known: Known,
    /// The whole file, once there is a new context.
    pub(super) held: Option<Arc<Vec<u8>>>,
    tools: HashMap<Box<str>, Box<str>>,
    name: Option<String>,
    first_words: Option<String>,
    unknown: HashSet<String>,
    /// Why each compaction to come ran.
    pub(super) triggers: std::vec::IntoIter<&'static str>,
}

impl Reader {
    fn new(source: Source, warnings: Vec<Warning>) -> Self {
        Self {
            builder: SessionBuilder::new(source),
            report: ImportReport::default(),
            warnings,
            fork: Fork::default(),
            is_copied: false,
            meter: Meter::default(),
            size: None,
            model: None,
            window: None,
            instructions: None,
            call: None,
            is_answering: false,
            compaction: None,
            known: Known::default(),
            held: None,
            tools: HashMap::new(),
            name: None,
            first_words: None,
            unknown: HashSet::new(),
            triggers: Vec::new().into_iter(),
        }
    }

    fn line(&mut self, mut line: Line, is_own_words: bool) {
        let was_copied = self.is_copied;
        self.is_copied = self.fork.is_copied(&line);
        if was_copied && !self.is_copied {
            self.is_answering = false;
            self.first_words = None;
        }
        // What it says moves on into the session; `line` stays for its place.
        let what = mem::replace(&mut line.what, What::Mirror);
        let in_context = match what {
            What::Meta(meta) => self.meta(&line, *meta),
            What::Item(item) => self.item(&line, *item, is_own_words),
            What::Compacted { message, history } => {
                self.compacted(&line, &message, history);
                true
            }
            other => {
                self.aside(&line, &other);
                false
            }
        };
        self.report.note(&line.kind, in_context);
    }

    /// A line that holds no context.
    fn aside(&mut self, line: &Line, what: &What) {
        match what {
            What::Turn {
                model,
                window,
                effort,
                ..
            } => {
                self.model = model.clone().or(self.model.take());
                if let Some(effort) = effort {
                    self.builder.effort(effort);
                }
                self.window = self.checked_window(line, *window).or(self.window);
            }
            What::TurnEnds { is_aborted } => {
                self.is_answering = false;
                if *is_aborted && !self.is_copied {
                    self.builder.aborted();
                }
            }
            What::Count(count) => self.count(line, count),
            What::Named(name) if !name.trim().is_empty() => self.name = Some(title(name)),
            What::RolledBack(n) if !self.is_copied => {
                self.warn(
                    line,
                    format!(
                        "{n} turns were taken back here; they are shown as if they still counted"
                    ),
                );
            }
            What::Unknown => self.warn_once(
                line,
                format!(
                    "records of the type `{}` are unknown to us; not counted",
                    quoted(&line.kind)
                ),
            ),
            _ => {}
        }
    }

    fn meta(&mut self, line: &Line, meta: Meta) -> bool {
        if let Some(folder) = meta.folder.as_deref() {
            self.builder.project(folder);
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

    fn item(&mut self, line: &Line, item: Item, is_own_words: bool) -> bool {
        if let Some(unknown) = &item.unknown {
            self.warn_once(
                line,
                format!(
                    "items of the type `{}` are unknown to us; taken as context",
                    quoted(unknown)
                ),
            );
        }
        if item.sort == Sort::NotContext {
            return false;
        }
        let is_answer = item.sort == Sort::Answer;
        if item.sort == Sort::Setup && !is_own_words && self.compaction.is_some() {
            let message = self.add(line, item, is_own_words, false);
            self.compaction
                .iter_mut()
                .for_each(|c| c.kept.push(message));
            return true;
        }
        self.close_compaction();
        if is_answer && !self.is_answering && !self.is_copied {
            let step = self.builder.step(StepDraft {
                model: self.model.clone(),
                window: self.window,
                usage: None,
                time: line.time,
            });
            self.call = Some(Call {
                step,
                messages: Vec::new(),
            });
        }
        self.is_answering = is_answer;
        if is_own_words && self.first_words.is_none() {
            self.first_words = Some(title(&item.text())).filter(|t| !t.is_empty());
        }
        let message = self.add(line, item, is_own_words, true);
        if let Some(call) = self.call.as_mut().filter(|_| is_answer) {
            call.messages.push(message);
        }
        true
    }

    /// Adds a line's item as a message.
    fn add(&mut self, line: &Line, item: Item, is_own_words: bool, in_history: bool) -> usize {
        self.add_at(line, line.span.clone(), item, is_own_words, in_history)
    }

    /// Adds an item that stands at `place` as a message.
    pub(super) fn add_at(
        &mut self,
        line: &Line,
        place: Span,
        mut item: Item,
        is_own_words: bool,
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
            is_injected: item.role == Role::User && !is_own_words,
            is_summary: item.sort == Sort::Summary,
            in_history,
            raw: vec![place],
            ..Draft::new(item.role, item.parts)
        })
    }

    fn count(&mut self, line: &Line, count: &Count) {
        self.window = self.checked_window(line, count.window).or(self.window);
        match self.meter.read(count) {
            Reading::Call(usage) => {
                let usage = counts::checked_usage(Some(usage)).unwrap_or_else(|why| {
                    self.warn(line, why);
                    None
                });
                self.size = usage
                    .map(|u| u.input + u.output.unwrap_or_default())
                    .or(self.size);
                self.is_answering = false;
                match usage {
                    Some(usage) if !self.is_copied => self.used(line, usage),
                    // The call was made all the same.
                    None => self.call = None,
                    Some(_) => {}
                }
            }
            Reading::Estimate(tokens) if !self.is_copied => {
                let text = match counts::checked(Some(tokens), "an estimate of the client") {
                    Ok(_) => format!(
                        "{} tokens are an estimate of the client, not a model call",
                        tokens.0
                    ),
                    Err(why) => why,
                };
                self.warn(line, text);
            }
            _ => {}
        }
    }

    /// A recorded window, unless it cannot be right.
    fn checked_window(&mut self, line: &Line, window: Option<Tokens>) -> Option<Tokens> {
        counts::checked(window, "the recorded context window").unwrap_or_else(|why| {
            self.warn_once(line, why);
            None
        })
    }

    fn used(&mut self, line: &Line, usage: Usage) {
        let call = self.call.take().unwrap_or_else(|| {
            self.warnings.push(Warning {
                line: Some(line.number),
                text: "tokens of a model call whose answer is not in the file".to_owned(),
            });
            let draft = StepDraft {
                model: self.model.clone(),
                time: line.time,
                ..StepDraft::default()
            };
            Call {
                step: self.builder.step(draft),
                messages: Vec::new(),
            }
        });
        if let Some(step) = self.builder.step_mut(call.step) {
            step.usage = Some(usage);
            step.window = self.window;
        }
        // One number for all the reasoning of the call: the first part carries it.
        let mut tokens = usage
            .reasoning
            .map(|t| u32::try_from(t.0).unwrap_or(u32::MAX));
        for message in call.messages {
            for part in self.builder.parts_mut(message) {
                if let Body::Thinking { reported, .. } = &mut part.body {
                    *reported = tokens;
                    tokens = tokens.map(|_| 0);
                }
            }
        }
    }

    fn warn(&mut self, line: &Line, text: String) {
        self.warnings.push(Warning {
            line: Some(line.number),
            text,
        });
    }

    fn warn_once(&mut self, line: &Line, text: String) {
        if self.unknown.insert(text.clone()) {
            self.warn(line, text);
        }
    }

    fn finish(mut self) -> Result<Parsed, Refused> {
        self.close_compaction();
        if self.builder.is_empty() {
            return Err(Refused {
                looks_like: "this looks like a Codex rollout in which nothing was said".to_owned(),
            });
        }
        if let Some(name) = self.name.or(self.first_words) {
            self.builder.title(name);
        }
        self.warnings.sort_by_key(|w| w.line.unwrap_or(usize::MAX));
        Ok(Parsed {
            sessions: vec![self.builder.finish()],
            warnings: self.warnings,
            report: self.report,
        })
    }
}

/// The first line of what was said, short enough for a title.
fn title(text: &str) -> String {
    let text = text
        .split_once(REQUEST_HEADING)
        .map_or(text, |(_, request)| request);
    title::of(text).unwrap_or_default()
}
