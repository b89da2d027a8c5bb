//! Aider's Markdown chat history. `# aider chat started at` begins a session, `####` marks user messages and `>` marks
//! program output. All other lines are model answers.
//!
//! - Commands are not sent to the model, except `/ask` and similar ones.
//! - A level-4 heading in an answer looks like a user message. The program reports token counts after every answer. In
//!   files with such reports, a heading before the next report is therefore part of the answer.
//! - Token counts are rounded. `sent` includes cached tokens.

use super::notes::Notes;
use super::transcript::Transcript;
use super::{
    Format, ImportReport, Input, ParseError, Parsed, Probe, RecordedData, Refused, content, time,
};
use crate::progress::Progress;
use crate::session::{Draft, Role, Session, Span, StepDraft, Usage};
use crate::units::{Millis, Tokens};
use serde_json::Value;

/// Descriptor of this format.
pub(super) const FORMAT: Format = Format {
    name: "aider",
    label: "Aider chat history",
    detect,
    in_pieces: false,
    parse,
    export: None,
    recorded: &[RecordedData::Usage, RecordedData::Times],
    kept: None,
    resume: None,
};

const START: &str = "# aider chat started at ";
/// Commands whose arguments are sent to a model.
const SENT: [&str; 5] = ["/ask", "/code", "/architect", "/context", "/copy-context"];

fn detect(probe: &Probe) -> Option<String> {
    let text = probe.text()?;
    let first = text.lines().find(|line| !line.trim().is_empty())?;
    first
        .starts_with(START)
        .then(|| format!("Markdown that begins with `{}`", START.trim()))
}

/// Kind of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Start,
    User,
    Program,
    Answer,
}

/// Consecutive lines of the same kind.
struct Block {
    kind: Kind,
    span: Span,
    text: String,
}

fn parse(input: &Input, progress: &Progress) -> Result<Parsed, ParseError> {
    let mut notes = Notes::default();
    let mut report = ImportReport::default();
    let mut reader = AiderReader::new(input);
    for block in blocks(&input.bytes.whole(), &mut notes) {
        progress.check_cancelled()?;
        if block.kind == Kind::Answer && block.text.trim().is_empty() {
            continue;
        }
        let in_context = reader.block(&block, &mut notes);
        let label = match block.kind {
            Kind::Start => "session start",
            Kind::User if in_context => "user message",
            Kind::User => "command",
            Kind::Program => "program",
            Kind::Answer => "answer",
        };
        report.note(label, in_context);
    }
    let sessions = reader.finish();
    if sessions.is_empty() {
        let looks_like =
            "this looks like an Aider history without a message to the model".to_owned();
        return Err(Refused { looks_like }.into());
    }
    Ok(Parsed {
        sessions,
        warnings: notes.warnings(&input.bytes),
        report,
    })
}

/// Splits the file into blocks.
fn blocks(bytes: &[u8], notes: &mut Notes) -> Vec<Block> {
    let has_reports = bytes.windows(REPORT.len()).any(|w| w == REPORT.as_bytes());
    let mut blocks: Vec<Block> = Vec::new();
    let (mut start, mut is_fenced, mut is_answering) =
        (super::jsonl::text_start(bytes), false, false);
    while start < bytes.len() {
        let rest = &bytes[start..];
        let end = rest
            .iter()
            .position(|b| *b == b'\n')
            .map_or(bytes.len(), |at| start + at + 1);
        let line = String::from_utf8_lossy(&bytes[start..end]);
        if matches!(line, std::borrow::Cow::Owned(_)) {
            notes.once(start, "some bytes are not UTF-8");
        }
        let line = line.trim_end_matches(['\n', '\r']);
        let kind = kind(line, is_fenced, is_answering && has_reports);
        if kind == Kind::Answer && line.trim_start().starts_with("```") {
            is_fenced = !is_fenced;
        }
        if kind != Kind::Answer {
            is_fenced = false;
        }
        is_answering = match kind {
            Kind::Answer => is_answering || !line.trim().is_empty(),
            Kind::Program => is_answering && !line.contains("Tokens: "),
            Kind::Start | Kind::User => false,
        };
        let text = text_of(line, kind);
        match blocks
            .last_mut()
            .filter(|b| b.kind == kind && kind != Kind::Start)
        {
            Some(block) => {
                block.text.push('\n');
                block.text.push_str(text);
                block.span.end = end;
            }
            None => blocks.push(Block {
                kind,
                span: start..end,
                text: text.to_owned(),
            }),
        }
        start = end;
    }
    blocks
}

/// Prefix of the line that reports a call's token counts.
const REPORT: &str = "> Tokens: ";

fn kind(line: &str, is_fenced: bool, is_answering: bool) -> Kind {
    if line.starts_with(START) {
        Kind::Start
    } else if is_fenced {
        Kind::Answer
    } else if line.starts_with("> ") || line == ">" {
        Kind::Program
    } else if line.starts_with("#### ") && !is_answering {
        Kind::User
    } else {
        Kind::Answer
    }
}

/// Returns a line's text without its marker and surrounding whitespace.
fn text_of(line: &str, kind: Kind) -> &str {
    match kind {
        Kind::Start => line.strip_prefix(START).unwrap_or(line).trim(),
        Kind::User => line.strip_prefix("#### ").unwrap_or(line).trim_end(),
        Kind::Program => line.strip_prefix('>').unwrap_or(line).trim(),
        Kind::Answer => line,
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
    fn block(&mut self, block: &Block, notes: &mut Notes) -> bool {
        match block.kind {
            Kind::Start => {
                self.close();
                self.time = time::millis(&Value::from(block.text.as_str()));
                false
            }
            Kind::User => self.user_message(block),
            Kind::Program => {
                self.program(block, notes);
                false
            }
            Kind::Answer => self.answer(block),
        }
    }

    fn user_message(&mut self, block: &Block) -> bool {
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
        self.transcript
            .add_message(self.placed(block, Draft::new(Role::User, parts)));
        true
    }

    fn answer(&mut self, block: &Block) -> bool {
        let parts: Vec<_> = content::text_part(0, block.text.trim())
            .into_iter()
            .collect();
        if parts.is_empty() || self.transcript.len() == 0 {
            return false;
        }
        let step = StepDraft {
            model: self.model.clone(),
            time: self.time,
            ..StepDraft::default()
        };
        let draft = self.placed(block, Draft::new(Role::Assistant, parts));
        self.transcript.add_answer(step, draft);
        true
    }

    /// Reads program output: the model's name and the usage of the last call.
    fn program(&mut self, block: &Block, notes: &mut Notes) {
        for line in block.text.lines() {
            let model = ["Main model: ", "Model: "]
                .iter()
                .find_map(|start| line.strip_prefix(start));
            if let Some(name) = model.and_then(|rest| rest.split_whitespace().next()) {
                self.model = Some(name.to_owned());
            }
            let Some(usage) = line.strip_prefix("Tokens: ").and_then(usage) else {
                continue;
            };
            let usage = notes.usage(block.span.start, Some(usage));
            let last = self.transcript.builder.session().steps.len().checked_sub(1);
            if let Some(step) = last.and_then(|last| self.transcript.builder.step_mut(last)) {
                step.usage = step.usage.or(usage);
            }
        }
    }

    fn placed(&self, block: &Block, draft: Draft) -> Draft {
        Draft {
            time: self.time,
            raw: vec![block.span.clone()],
            ..draft
        }
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
