//! Aider's chat history, Markdown: `# aider chat started at` begins a session, `####` a person's words, `>` what the program
//! says, and the rest is the model.
//!
//! - Commands are not sent but for `/ask` and its like.
//! - A heading of the fourth level in an answer looks like a person's words. The program reports the tokens behind every
//!   answer; so, where a file has such reports, nobody speaks before one has come.
//! - Token counts are rounded. `sent` holds what was cached.

use super::notes::Notes;
use super::talk::Talk;
use super::{Carried, Format, ImportReport, Input, Parsed, Probe, Refused, Unread, content, time};
use crate::progress::Progress;
use crate::session::{Draft, Role, Session, Span, StepDraft, Usage};
use crate::units::{Millis, Tokens};
use serde_json::Value;

/// The row of the table.
pub(super) const FORMAT: Format = Format {
    name: "aider",
    label: "Aider chat history",
    detect,
    in_pieces: false,
    parse,
    export: None,
    carries: &[Carried::Usage, Carried::Times],
    kept: None,
    resume: None,
};

const START: &str = "# aider chat started at ";
/// Commands whose words go to a model, be it by a person's hand.
const SENT: [&str; 5] = ["/ask", "/code", "/architect", "/context", "/copy-context"];

fn detect(probe: &Probe) -> Option<String> {
    let text = probe.text()?;
    let first = text.lines().find(|line| !line.trim().is_empty())?;
    first
        .starts_with(START)
        .then(|| format!("Markdown that begins with `{}`", START.trim()))
}

/// What a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Start,
    Said,
    Program,
    Answer,
}

/// Lines of one kind that follow one another.
struct Block {
    kind: Kind,
    span: Span,
    text: String,
}

fn parse(input: &Input, progress: &Progress) -> Result<Parsed, Unread> {
    let mut notes = Notes::default();
    let mut report = ImportReport::default();
    let mut reader = Reader::new(input);
    for block in blocks(&input.bytes.whole(), &mut notes) {
        progress.go_on()?;
        if block.kind == Kind::Answer && block.text.trim().is_empty() {
            continue;
        }
        let in_context = reader.block(&block, &mut notes);
        let label = match block.kind {
            Kind::Start => "session start",
            Kind::Said if in_context => "person",
            Kind::Said => "command",
            Kind::Program => "program",
            Kind::Answer => "answer",
        };
        report.note(label, in_context);
    }
    let sessions = reader.finish();
    if sessions.is_empty() {
        let looks_like =
            "this looks like an Aider history in which nobody spoke to the model".to_owned();
        return Err(Refused { looks_like }.into());
    }
    Ok(Parsed {
        sessions,
        warnings: notes.warnings(&input.bytes),
        report,
    })
}

/// The file cut into blocks.
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
            Kind::Start | Kind::Said => false,
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

/// How the program reports what a call took.
const REPORT: &str = "> Tokens: ";

fn kind(line: &str, is_fenced: bool, is_answering: bool) -> Kind {
    if line.starts_with(START) {
        Kind::Start
    } else if is_fenced {
        Kind::Answer
    } else if line.starts_with("> ") || line == ">" {
        Kind::Program
    } else if line.starts_with("#### ") && !is_answering {
        Kind::Said
    } else {
        Kind::Answer
    }
}

/// A line without what marks its kind and the spaces that break it.
fn text_of(line: &str, kind: Kind) -> &str {
    match kind {
        Kind::Start => line.strip_prefix(START).unwrap_or(line).trim(),
        Kind::Said => line.strip_prefix("#### ").unwrap_or(line).trim_end(),
        Kind::Program => line.strip_prefix('>').unwrap_or(line).trim(),
        Kind::Answer => line,
    }
}

struct Reader<'a> {
    input: &'a Input,
    sessions: Vec<Session>,
    talk: Talk,
    time: Option<Millis>,
    model: Option<String>,
    n: usize,
}

impl<'a> Reader<'a> {
    fn new(input: &'a Input) -> Self {
        Self {
            input,
            sessions: Vec::new(),
            talk: Talk::new(input, FORMAT.name, None),
            time: None,
            model: None,
            n: 0,
        }
    }

    /// Reads a block; whether it is context.
    fn block(&mut self, block: &Block, notes: &mut Notes) -> bool {
        match block.kind {
            Kind::Start => {
                self.close();
                self.time = time::millis(&Value::from(block.text.as_str()));
                false
            }
            Kind::Said => self.said(block),
            Kind::Program => {
                self.program(block, notes);
                false
            }
            Kind::Answer => self.answer(block),
        }
    }

    fn said(&mut self, block: &Block) -> bool {
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
        self.talk
            .say(self.placed(block, Draft::new(Role::User, parts)));
        true
    }

    fn answer(&mut self, block: &Block) -> bool {
        let parts: Vec<_> = content::text_part(0, block.text.trim())
            .into_iter()
            .collect();
        if parts.is_empty() || self.talk.len() == 0 {
            return false;
        }
        let step = StepDraft {
            model: self.model.clone(),
            time: self.time,
            ..StepDraft::default()
        };
        let draft = self.placed(block, Draft::new(Role::Assistant, parts));
        self.talk.answer(step, draft);
        true
    }

    /// What the program says: its model, and what the last call took.
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
            let last = self.talk.builder.session().steps.len().checked_sub(1);
            if let Some(step) = last.and_then(|last| self.talk.builder.step_mut(last)) {
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
        let next = Talk::new(self.input, FORMAT.name, Some(self.n + 2));
        let talk = std::mem::replace(&mut self.talk, next);
        if talk.len() > 0 {
            self.n += 1;
            self.sessions.extend(talk.finish());
        } else {
            self.talk = talk;
        }
    }

    fn finish(mut self) -> Vec<Session> {
        self.close();
        self.sessions
    }
}

/// `12k sent, 1.2k cache write, 9.9k cache hit, 220 received. Cost: …`
fn usage(text: &str) -> Option<Usage> {
    let counts = text.split(" Cost").next().unwrap_or(text);
    let mut usage = Usage::default();
    // A comma may also stand within a number.
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

/// `1.2k` is 1200.
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
