//! An opened session, and facts about its messages that are computed when it is loaded.

use crate::analysis::{heaviest_part, message_kind};
use crate::app::state::model::pasted::PastedText;
use crate::app::state::model::selection::CallRange;
use crate::app::state::model::subject::subject;
use crate::engine::Case;
use crate::exec::Loaded;
use crate::session::{Body, Issue, Kind, Message, Part, Session, issues};
use crate::tokens::TokenLedger;
use crate::units::Tokens;
use crate::{exec, safe_text};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Characters of a message preview.
const PREVIEW: usize = 160;

/// The source of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A file.
    Path(PathBuf),
    /// A bundled example, by its file name in `sample_sessions`.
    Example(&'static str),
    /// The clipboard.
    Pasted(PastedText),
}

impl Origin {
    /// Returns the file whose folder receives new files; `None` for pasted text, which has no folder.
    pub fn beside(&self) -> Option<&Path> {
        match self {
            Self::Path(path) => Some(path),
            Self::Example(name) => Some(Path::new(name)),
            Self::Pasted(_) => None,
        }
    }

    /// Returns the path, if it is a local file.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Path(path) => Some(path),
            Self::Example(_) | Self::Pasted(_) => None,
        }
    }

    /// Returns the folder of the file, if it is a local file.
    pub fn folder(&self) -> Option<&Path> {
        let folder = self.path()?.parent();
        folder.filter(|folder| !folder.as_os_str().is_empty())
    }
}

/// An opened session. Immutable.
#[derive(Debug)]
pub struct Document {
    /// Unique ID, also among documents of one file.
    pub id: u64,
    /// ID of the source: shared by all versions of a growing file, so that the view is preserved.
    pub source_id: u64,
    /// Source of the document.
    pub origin: Origin,
    /// Session, token counts, windows and warnings.
    pub loaded: Loaded,
    /// File name of the source, if this is a managed conversation that is unchanged since its export.
    pub managed_from: Option<String>,
    /// Index of the conversation in a file with several, from 0.
    pub conversation: usize,
    /// One entry per message.
    pub facts: Vec<MessageFacts>,
    /// Recorded marks of the timeline.
    pub marks: RecordedMarks,
    /// Calls and results without a match.
    pub issues: Vec<Issue>,
}

/// Timeline marks that do not depend on the config.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordedMarks {
    /// Tokens reported by the provider, by call.
    pub usage: Vec<(usize, Tokens)>,
    /// The first call of each turn.
    pub turn_starts: Vec<usize>,
}

/// Cached facts about a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageFacts {
    /// The kind with the most tokens.
    pub kind: Kind,
    /// The tool of its call or result.
    pub tool: Option<Box<str>>,
    /// The start of its text on one line.
    pub preview: Box<str>,
    /// Index of the call that wrote it or included it first; `None` if no call included it.
    pub call: Option<usize>,
    /// Messages with the results of its calls, or the calls of its results.
    pub partners: Vec<usize>,
}

impl Document {
    /// Creates a document and computes the facts about its messages.
    pub fn new(origin: Origin, loaded: Loaded, conversation: usize) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let session = &loaded.case.session;
        let mut partners = partners(&loaded.case);
        let facts = session
            .messages
            .iter()
            .enumerate()
            .map(|(idx, message)| MessageFacts {
                kind: message_kind(&loaded.case, message),
                tool: session
                    .parts_of(message)
                    .iter()
                    .find_map(|p| p.body.tool())
                    .map(|tool| safe_text::one_line(tool, 200).into()),
                preview: preview(&loaded, message).into(),
                call: session.call_of(idx),
                partners: std::mem::take(&mut partners[idx]),
            })
            .collect();
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        let (marks, issues) = (RecordedMarks::new(session), issues(session));
        let managed_from = origin.path().and_then(exec::source_of_managed);
        Self { id, source_id: id, managed_from, origin, loaded, conversation, facts, marks, issues }
    }

    /// Marks this as a newer version of `before` if the file has only grown since.
    #[must_use]
    pub fn following(self, before: &Self) -> Self {
        let source = &self.session().source.bytes;
        let has_grown = source.starts_with(&before.session().source.bytes);
        let source_id = if has_grown { before.source_id } else { self.source_id };
        Self { source_id, ..self }
    }

    /// Returns the session.
    pub fn session(&self) -> &Session {
        &self.loaded.case.session
    }

    /// Returns whether this is the given conversation of a source.
    pub fn is_from(&self, origin: &Origin, conversation: usize) -> bool {
        self.conversation == conversation && self.origin == *origin
    }

    /// Returns the number of messages.
    pub fn n_messages(&self) -> usize {
        self.session().messages.len()
    }

    /// Returns the names of the tools, in alphabetical order.
    pub fn tools(&self) -> Vec<&str> {
        let tools = self.facts.iter().filter_map(|facts| facts.tool.as_deref());
        tools.collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Returns the index of the last call, or 0 without calls.
    pub fn last_call(&self) -> usize {
        self.session().calls.len().saturating_sub(1)
    }

    /// Describes the source: the path of a file, `a bundled example`.
    pub fn source_text(&self) -> String {
        match &self.origin {
            Origin::Path(path) => match &self.managed_from {
                Some(source) => format!("{}\nManaged from {source}", path.display()),
                None => path.display().to_string(),
            },
            Origin::Example(_) => "a bundled example".to_owned(),
            Origin::Pasted(_) => "from the clipboard, not saved in a file".to_owned(),
        }
    }

    /// Returns the call at which to show a message: `call` if its context includes the message, else the first call
    /// that does. The last call shows everything.
    pub fn call_that_shows(&self, message: usize, call: usize) -> usize {
        let last = self.last_call();
        let calls = &self.session().calls;
        if call >= last || calls[call].context_end > message {
            return call.min(last);
        }
        self.session().first_call_with(message).unwrap_or(last)
    }

    /// Returns the line of a byte in the file, from 1.
    pub fn line_of(&self, byte: usize) -> usize {
        let bytes = &self.session().source.bytes;
        bytes.line_ends(&(0..byte.min(bytes.len()))) + 1
    }

    /// Returns the largest message added at a call, with its tokens.
    pub fn largest_new_message(
        &self,
        ledger: &TokenLedger,
        call: usize,
    ) -> Option<(usize, Tokens)> {
        let session = self.session();
        let new = (call < session.calls.len()).then(|| session.new_messages(call))?;
        let in_history = new.filter(|m| session.messages[*m].in_history);
        in_history.map(|m| (m, ledger.message(m))).max_by_key(|(_, tokens)| *tokens)
    }

    /// Returns whether one of these calls wrote a message or included it first.
    pub fn is_new_at(&self, message: usize, calls: CallRange) -> bool {
        self.facts[message].call.is_some_and(|call| calls.contains(call))
    }

    /// Returns the display name of the format.
    pub fn format_label(&self) -> &'static str {
        crate::formats::label(self.session().source.format)
    }
}

impl RecordedMarks {
    fn new(session: &Session) -> Self {
        let calls = || session.calls.iter().enumerate();
        let usage = calls().filter_map(|(idx, call)| Some((idx, call.usage?.input))).collect();
        let starts =
            calls().filter(|(idx, call)| *idx == 0 || session.calls[idx - 1].turn != call.turn);
        Self { usage, turn_starts: starts.map(|(idx, _)| idx).collect() }
    }
}

fn preview(loaded: &Loaded, message: &Message) -> String {
    let session = &loaded.case.session;
    let parts = session.parts_of(message);
    let heaviest = heaviest_part(&loaded.case.ledger, message).map(|part| &session.parts[part]);
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
        // A preview reads only a small multiple of its length from a long text.
        Some(body) => safe_text::one_line(safe_text::head(body.text(), 8 * PREVIEW), PREVIEW),
    }
}

/// Formats a media part: `image/png · 1280 × 720`.
pub fn media(mime: &str, pixels: Option<(u32, u32)>) -> String {
    let mime = if mime.is_empty() { "media" } else { mime };
    match pixels {
        Some((width, height)) => format!("{mime} · {width} × {height}"),
        None => mime.to_owned(),
    }
}

/// Returns, for each message, the messages with the matching calls and results.
fn partners(case: &Case) -> Vec<Vec<usize>> {
    let calls = &case.index.calls;
    // A result in a copy of a recorded compaction matches the copy of its call.
    let mut called_in = vec![None; calls.n_calls()];
    let mut partners = vec![Vec::new(); case.session.messages.len()];
    for (idx, message) in case.session.messages.iter().enumerate() {
        for part in message.parts.clone() {
            let Some(number) = calls.number(part) else {
                continue;
            };
            match (&case.session.parts[part].body, called_in[number as usize]) {
                (Body::ToolCall { .. }, _) => called_in[number as usize] = Some(idx),
                (Body::ToolResult { .. }, Some(caller)) => join(&mut partners, caller, idx),
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
