//! An opened session with what every panel asks about its messages, worked out once when it is loaded.

use crate::app::message_text::subject;
use crate::app::pasting::Pasted;
use crate::exec::Loaded;
use crate::safe_text;
use crate::session::{Body, Issue, Kind, Message, Part, Session, issues, kind_of};
use crate::tokens::TokenLedger;
use crate::units::Tokens;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Characters of a message's preview.
const PREVIEW: usize = 160;

/// Where a document came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A file.
    Path(PathBuf),
    /// A bundled example, by its file name in `sample_sessions`.
    Example(&'static str),
    /// The clipboard.
    Pasted(Pasted),
}

impl Origin {
    /// The file beside which something new is placed; none for what was pasted, since nobody knows where that belongs.
    pub fn beside(&self) -> Option<&Path> {
        match self {
            Self::Path(path) => Some(path),
            Self::Example(name) => Some(Path::new(name)),
            Self::Pasted(_) => None,
        }
    }

    /// The folder of the file, if it is one on this machine.
    pub fn folder(&self) -> Option<&Path> {
        match self {
            Self::Path(path) => path
                .parent()
                .filter(|folder| !folder.as_os_str().is_empty()),
            Self::Example(_) | Self::Pasted(_) => None,
        }
    }
}

/// An opened session. Never changes.
#[derive(Debug)]
pub struct Document {
    /// Tells documents apart, also two of the same file.
    pub id: u64,
    /// The same for all readings of a file that only grows: what is shown of it stays where it is.
    pub place: u64,
    /// Where it came from.
    pub origin: Origin,
    /// Session, weights, windows, warnings.
    pub loaded: Loaded,
    /// Which conversation of a file that holds several, from 0.
    pub conversation: usize,
    /// One a message.
    pub facts: Vec<Facts>,
    /// What the timeline marks.
    pub marks: Marks,
    /// Calls and results that do not match.
    pub issues: Vec<Issue>,
}

/// What the timeline marks, whatever the config.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// Tokens that the provider reported, by step.
    pub usage: Vec<(usize, Tokens)>,
    /// The step each turn begins with.
    pub turn_starts: Vec<usize>,
}

/// What is asked about one message again and again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// What most of it is, by weight.
    pub kind: Kind,
    /// The tool it calls or answers for.
    pub tool: Option<Box<str>>,
    /// Its start on one line.
    pub preview: Box<str>,
    /// Index of the step that wrote it, or that saw it first; none for what no call saw.
    pub step: Option<usize>,
    /// Messages that hold its calls' results or its results' calls.
    pub partners: Vec<usize>,
}

impl Document {
    /// Works out what the panels need.
    pub fn new(origin: Origin, loaded: Loaded, conversation: usize) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let session = &loaded.case.session;
        let mut partners = partners(session);
        let facts = session
            .messages
            .iter()
            .enumerate()
            .map(|(idx, message)| Facts {
                kind: heaviest_kind(&loaded, message),
                tool: session
                    .parts_of(message)
                    .iter()
                    .find_map(|p| p.body.tool())
                    .map(|tool| safe_text::one_line(tool, 200).into()),
                preview: preview(&loaded, message).into(),
                step: message.step.or_else(|| first_step_with(session, idx)),
                partners: std::mem::take(&mut partners[idx]),
            })
            .collect();
        let (id, marks) = (NEXT.fetch_add(1, Ordering::Relaxed), Marks::new(session));
        let issues = issues(session);
        Self {
            id,
            place: id,
            origin,
            loaded,
            conversation,
            facts,
            marks,
            issues,
        }
    }

    /// As what has become of an earlier reading, if its file has only grown since.
    #[must_use]
    pub fn following(self, before: &Self) -> Self {
        let source = &self.session().source.bytes;
        let has_grown = source.starts_with(&before.session().source.bytes);
        let place = if has_grown { before.place } else { self.place };
        Self { place, ..self }
    }

    /// What was said.
    pub fn session(&self) -> &Session {
        &self.loaded.case.session
    }

    /// Index of the last step; 0 where there is none.
    pub fn last_step(&self) -> usize {
        self.session().steps.len().saturating_sub(1)
    }

    /// Where it lies, for people.
    pub fn place(&self) -> String {
        match &self.origin {
            Origin::Path(path) => path.display().to_string(),
            Origin::Example(_) => "a bundled example".to_owned(),
            Origin::Pasted(_) => "from the clipboard, not saved in a file".to_owned(),
        }
    }

    /// The step to look at a message: `step` if its context goes that far, else the first whose does. The last one
    /// shows everything.
    pub fn step_that_shows(&self, message: usize, step: usize) -> usize {
        let last = self.last_step();
        let steps = &self.session().steps;
        if step >= last || steps[step].context_end > message {
            return step.min(last);
        }
        first_step_with(self.session(), message).unwrap_or(last)
    }

    /// The line of the file that a byte stands in, from 1.
    pub fn line_of(&self, byte: usize) -> usize {
        let bytes = &self.session().source.bytes;
        bytes.line_ends(&(0..byte.min(bytes.len()))) + 1
    }

    /// The heaviest of the messages that are new at a step, with its weight.
    pub fn biggest_growth(&self, ledger: &TokenLedger, step: usize) -> Option<(usize, Tokens)> {
        let session = self.session();
        let new = (step < session.steps.len()).then(|| session.new_messages(step))?;
        let in_history = new.filter(|m| session.messages[*m].in_history);
        in_history
            .map(|m| (m, ledger.message(m)))
            .max_by_key(|(_, tokens)| *tokens)
    }

    /// How the file's format is called.
    pub fn format_label(&self) -> &'static str {
        let name = self.session().source.format;
        crate::formats::by_name(name).map_or(name, |f| f.label)
    }
}

impl Marks {
    fn new(session: &Session) -> Self {
        let steps = || session.steps.iter().enumerate();
        let usage = steps()
            .filter_map(|(idx, step)| Some((idx, step.usage?.input)))
            .collect();
        let starts =
            steps().filter(|(idx, step)| *idx == 0 || session.steps[idx - 1].turn != step.turn);
        Self {
            usage,
            turn_starts: starts.map(|(idx, _)| idx).collect(),
        }
    }
}

fn heaviest_kind(loaded: &Loaded, message: &Message) -> Kind {
    let session = &loaded.case.session;
    let heaviest = heaviest(&loaded.case.ledger, message);
    let empty = Part {
        body: Body::Text("".into()),
        record: 0,
        block: 0,
    };
    kind_of(
        message,
        heaviest.map_or(&empty, |part| &session.parts[part]),
    )
}

/// The heaviest part; of equals the first, which is what it opens with.
fn heaviest(ledger: &TokenLedger, message: &Message) -> Option<usize> {
    let parts = message.parts.clone();
    parts.reduce(|a, b| {
        if ledger.part(b) > ledger.part(a) {
            b
        } else {
            a
        }
    })
}

fn preview(loaded: &Loaded, message: &Message) -> String {
    let session = &loaded.case.session;
    let parts = session.parts_of(message);
    let heaviest = heaviest(&loaded.case.ledger, message).map(|part| &session.parts[part]);
    let is_call = |p: &&Part| matches!(p.body, Body::ToolCall { .. });
    let shown = heaviest
        .filter(is_call)
        .or_else(|| parts.iter().find(|p| !p.body.text().trim().is_empty()))
        .or(parts.first());
    match shown.map(|p| &p.body) {
        None => "(empty)".to_owned(),
        Some(Body::ToolCall { arguments, .. }) => subject(arguments, PREVIEW),
        Some(Body::Media { mime, pixels, .. }) => media(mime, *pixels),
        Some(body) if body.text().trim().is_empty() => "(no text)".to_owned(),
        // A preview needs no more than a few times its length, however long the text is.
        Some(body) => safe_text::one_line(safe_text::head(body.text(), 8 * PREVIEW), PREVIEW),
    }
}

/// `image/png · 1280 × 720`.
pub fn media(mime: &str, pixels: Option<(u32, u32)>) -> String {
    let mime = if mime.is_empty() { "media" } else { mime };
    match pixels {
        Some((width, height)) => format!("{mime} · {width} × {height}"),
        None => mime.to_owned(),
    }
}

fn first_step_with(session: &Session, message: usize) -> Option<usize> {
    let step = session.steps.partition_point(|s| s.context_end <= message);
    (step < session.steps.len()).then_some(step)
}

/// For each message, the messages that hold the other half of its calls and results. Ids may repeat:
/// a result answers the latest call of its id that has none.
fn partners(session: &Session) -> Vec<Vec<usize>> {
    let mut open: HashMap<&str, Vec<usize>> = HashMap::new();
    let mut partners = vec![Vec::new(); session.messages.len()];
    for (idx, message) in session.messages.iter().enumerate() {
        for part in session.parts_of(message) {
            match &part.body {
                Body::ToolCall { call, .. } => open.entry(call).or_default().push(idx),
                Body::ToolResult { call, .. } => {
                    if let Some(caller) = open.get_mut(&**call).and_then(Vec::pop) {
                        join(&mut partners, caller, idx);
                    }
                }
                _ => {}
            }
        }
    }
    partners
}

fn join(partners: &mut [Vec<usize>], a: usize, b: usize) {
    for (from, to) in [(a, b), (b, a)] {
        if from != to && !partners[from].contains(&to) {
            partners[from].push(to);
        }
    }
}
