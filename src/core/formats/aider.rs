//! Aider's Markdown chat history. `# aider chat started at` begins a session, `####` marks user messages and `>` marks
//! program output. All other lines are model answers.
//!
//! - Commands are not sent to the model, except `/ask` and similar ones.
//! - A level-4 heading in an answer looks like a user message. The program reports token counts after every answer. In
//!   files with such reports, a heading before the next report is therefore part of the answer.
//! - Token counts are rounded. `sent` includes cached tokens.

use super::notes::Notes;
use super::read_log::ReadLog;
use super::text_lines::{TextLine, text_lines, without_line_ending};
use super::transcript::Transcript;
use super::{Format, Input, ParseError, Parsed, Probe, RecordedData, content, json};
use crate::json::Value;
use crate::progress::Progress;
use crate::session::{CallDraft, Draft, Role, Session, Span, Usage};
use crate::units::{Millis, Tokens};

pub(super) const FORMAT: Format = Format {
    name: "aider",
    label: "Aider chat history",
    detect,
    parse,
    recorded: &[RecordedData::Usage, RecordedData::Times],
    ..Format::READ_ONLY
};

const START: &str = "# aider chat started at ";
/// Commands whose arguments are sent to a model.
const SENT: [&str; 5] = ["/ask", "/code", "/architect", "/context", "/copy-context"];

fn detect(probe: &Probe) -> Option<String> {
    let text = probe.text()?;
    let first = text.lines().find(|line| !line.trim().is_empty())?;
    first.starts_with(START).then(|| format!("Markdown that begins with `{}`", START.trim()))
}

/// Kind of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AiderLineKind {
    Start,
    User,
    Program,
    Answer,
}

/// Consecutive lines of the same kind.
struct AiderBlock {
    kind: AiderLineKind,
    span: Span,
    text: String,
}

fn parse(input: &Input, progress: &Progress) -> Result<Parsed, ParseError> {
    let mut log = ReadLog::default();
    let mut reader = AiderReader::new(input);
    for block in blocks(&input.bytes.whole(), &mut log.notes) {
        progress.check_cancelled()?;
        if block.kind == AiderLineKind::Answer && block.text.trim().is_empty() {
            continue;
        }
        let in_context = reader.block(&block, &mut log.notes);
        let label = match block.kind {
            AiderLineKind::Start => "session start",
            AiderLineKind::User if in_context => "user message",
            AiderLineKind::User => "command",
            AiderLineKind::Program => "program",
            AiderLineKind::Answer => "answer",
        };
        log.report.count_record(label, in_context);
    }
    let sessions = reader.finish();
    log.finish(input, sessions, "an Aider history without a message to the model")
}

/// Splits the file into blocks.
fn blocks(bytes: &[u8], notes: &mut Notes) -> Vec<AiderBlock> {
    let has_reports = bytes.windows(REPORT.len()).any(|w| w == REPORT.as_bytes());
    let mut blocks: Vec<AiderBlock> = Vec::new();
    let (mut is_fenced, mut is_answering) = (false, false);
    for TextLine { text: line, span } in text_lines(bytes, without_line_ending, notes) {
        let kind = kind(&line, is_fenced, is_answering && has_reports);
        if kind == AiderLineKind::Answer && line.trim_start().starts_with("```") {
            is_fenced = !is_fenced;
        }
        if kind != AiderLineKind::Answer {
            is_fenced = false;
        }
        is_answering = match kind {
            AiderLineKind::Answer => is_answering || !line.trim().is_empty(),
            AiderLineKind::Program => is_answering && !line.contains("Tokens: "),
            AiderLineKind::Start | AiderLineKind::User => false,
        };
        let text = text_of(&line, kind);
        match blocks.last_mut().filter(|b| b.kind == kind && kind != AiderLineKind::Start) {
            Some(block) => {
                block.text.push('\n');
                block.text.push_str(text);
                block.span.end = span.end;
            }
            None => blocks.push(AiderBlock { kind, span, text: text.to_owned() }),
        }
    }
    blocks
}

/// Prefix of the line that reports a call's token counts.
const REPORT: &str = "> Tokens: ";

fn kind(line: &str, is_fenced: bool, is_answering: bool) -> AiderLineKind {
    if line.starts_with(START) {
        AiderLineKind::Start
    } else if is_fenced {
        AiderLineKind::Answer
    } else if line.starts_with("> ") || line == ">" {
        AiderLineKind::Program
    } else if line.starts_with("#### ") && !is_answering {
        AiderLineKind::User
    } else {
        AiderLineKind::Answer
    }
}

/// Returns a line's text without its marker and surrounding whitespace.
fn text_of(line: &str, kind: AiderLineKind) -> &str {
    match kind {
        AiderLineKind::Start => line.strip_prefix(START).unwrap_or(line).trim(),
        AiderLineKind::User => line.strip_prefix("#### ").unwrap_or(line).trim_end(),
        AiderLineKind::Program => line.strip_prefix('>').unwrap_or(line).trim(),
        AiderLineKind::Answer => line,
    }
}

struct AiderReader<'a> {
    input: &'a Input,
    sessions: Vec<Session>,
    transcript: Transcript,
    time: Option<Millis>,
    model: Option<String>,
    n: usize,
}

impl<'a> AiderReader<'a> {
    fn new(input: &'a Input) -> Self {
        Self {
            input,
            sessions: Vec::new(),
            transcript: Transcript::new(input, FORMAT.name, None),
            time: None,
            model: None,
            n: 0,
        }
    }

    /// Reads a block and returns whether it is sent to the model.
    fn block(&mut self, block: &AiderBlock, notes: &mut Notes) -> bool {
        match block.kind {
            AiderLineKind::Start => {
                self.close();
                self.time = json::millis(&Value::from(block.text.as_str()));
                false
            }
            AiderLineKind::User => self.user_message(block),
            AiderLineKind::Program => {
                self.program(block, notes);
                false
            }
            AiderLineKind::Answer => self.answer(block),
        }
    }

    fn user_message(&mut self, block: &AiderBlock) -> bool {
        let text = block.text.trim();
        let (command, words) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let sent = match command {
            command if SENT.contains(&command) => words,
            command if command.starts_with('/') || command.starts_with('!') => "",
            _ => text,
        };
        let parts: Vec<_> = content::text_part(0, sent.trim()).into_iter().collect();
        if parts.is_empty() {
            return false;
        }
        self.transcript.add_message(self.placed(block, Draft::new(Role::User, parts)));
        true
    }

    fn answer(&mut self, block: &AiderBlock) -> bool {
        let parts: Vec<_> = content::text_part(0, block.text.trim()).into_iter().collect();
        if parts.is_empty() || self.transcript.len() == 0 {
            return false;
        }
        let call = CallDraft { model: self.model.clone(), time: self.time, ..CallDraft::default() };
        let draft = self.placed(block, Draft::new(Role::Assistant, parts));
        self.transcript.add_answer(call, draft);
        true
    }

    /// Reads program output: the model's name and the usage of the last call.
    fn program(&mut self, block: &AiderBlock, notes: &mut Notes) {
        for line in block.text.lines() {
            let model =
                ["Main model: ", "Model: "].iter().find_map(|start| line.strip_prefix(start));
            if let Some(name) = model.and_then(|rest| rest.split_whitespace().next()) {
                self.model = Some(name.to_owned());
            }
            let Some(usage) = line.strip_prefix("Tokens: ").and_then(usage) else {
                continue;
            };
            let usage = notes.usage(block.span.start, Some(usage));
            if let Some(call) = self.transcript.builder.last_call_mut() {
                call.usage = call.usage.or(usage);
            }
        }
    }

    fn placed(&self, block: &AiderBlock, draft: Draft) -> Draft {
        Draft { time: self.time, raw: vec![block.span.clone()], ..draft }
    }

    fn close(&mut self) {
        let next = Transcript::new(self.input, FORMAT.name, Some(self.n + 2));
        let transcript = std::mem::replace(&mut self.transcript, next);
        if transcript.len() > 0 {
            self.n += 1;
            self.sessions.extend(transcript.finish());
        } else {
            self.transcript = transcript;
        }
    }

    fn finish(mut self) -> Vec<Session> {
        self.close();
        self.sessions
    }
}

/// Parses a line such as `12k sent, 1.2k cache write, 9.9k cache hit, 220 received. Cost: …`.
fn usage(text: &str) -> Option<Usage> {
    let counts = text.split(" Cost").next().unwrap_or(text);
    let mut usage = Usage::default();
    // A number may also contain a comma.
    for piece in counts.split(", ") {
        let piece = piece.trim().trim_end_matches('.');
        let (number, what) = piece.split_once(' ')?;
        let tokens = Tokens(rounded(number)?);
        match what {
            "sent" => usage.input = tokens,
            "received" => usage.output = Some(tokens),
            "cache write" => usage.cache_write = Some(tokens),
            "cache hit" => usage.cache_read = Some(tokens),
            _ => {}
        }
    }
    (usage.input > Tokens::ZERO).then_some(usage)
}

/// Parses a rounded count: `1.2k` is 1200.
fn rounded(text: &str) -> Option<u64> {
    let (digits, factor) = match text.strip_suffix(['k', 'K']) {
        Some(digits) => (digits, 1e3),
        None => match text.strip_suffix('M') {
            Some(digits) => (digits, 1e6),
            None => (text, 1.0),
        },
    };
    let number: f64 = digits.replace(',', "").parse().ok()?;
    (number.is_finite() && number >= 0.0).then(|| (number * factor).round() as u64)
}
