//! The rollout as it was, up to where the managed context ends.

use crate::formats::{CannotExport, json, jsonl};
use crate::progress::Progress;
use crate::session::{Session, Span};
use jsonl::Record;
use serde_json::Value;

/// The lines that stay.
pub(super) struct Past<'a> {
    pub(super) bytes: &'a [u8],
    lines: Vec<Line>,
}

/// A line, as far as the export has to know it.
struct Line {
    span: Span,
    time: Option<String>,
    ordinal: Option<u64>,
    what: What,
}

enum What {
    /// The head of a session; whether its beginning stands in another file.
    Head {
        is_continued: bool,
    },
    /// What Codex believes to have told the model about the world: all of it, or what changed.
    World {
        is_full: bool,
    },
    /// The settings of a turn.
    Settings,
    /// What a call took.
    Count(Value),
    /// Something is said, or a turn begins.
    Begins,
    Other,
}

impl<'a> Past<'a> {
    /// The lines up to the first message that the managed context does not know, those of index `known` and on.
    pub(super) fn of(
        session: &Session,
        bytes: &'a [u8],
        known: usize,
    ) -> Result<Self, CannotExport> {
        let lines = jsonl::map_records(bytes, &Progress::default(), 1, &mut Vec::new(), Line::read);
        let mut lines = lines.unwrap_or_default();
        let end = end(session, known, &lines);
        lines.retain(|line| line.span.end <= end);
        let past = Self {
            bytes: &bytes[..end],
            lines,
        };
        past.check()?;
        Ok(past)
    }

    fn check(&self) -> Result<(), CannotExport> {
        let mut heads = self.lines.iter().filter_map(|line| match line.what {
            What::Head { is_continued } => Some(is_continued),
            _ => None,
        });
        let reason = match heads.next() {
            Some(false) => return Ok(()),
            Some(true) => "this fork's beginning stands in its parent's file only",
            None => "no line says which session this is (a rollout of the oldest kind)",
        };
        let reason = format!("{reason}, so Codex could not take the copy up");
        Err(CannotExport { reason })
    }

    /// Heads of sessions: its own first.
    pub(super) fn heads(&self) -> impl Iterator<Item = &Span> {
        let is_head = |line: &&Line| matches!(line.what, What::Head { .. });
        self.lines.iter().filter(is_head).map(|line| &line.span)
    }

    /// Whether the record that stands here is a head.
    pub(super) fn is_head(&self, span: &Span) -> bool {
        let at = self
            .lines
            .binary_search_by_key(&span.start, |line| line.span.start);
        at.is_ok_and(|at| matches!(self.lines[at].what, What::Head { .. }))
    }

    /// When the last line was written, as JSON.
    pub(super) fn time(&self) -> String {
        let last = self
            .lines
            .iter()
            .rev()
            .find_map(|line| line.time.as_deref());
        Value::from(last.unwrap_or("1970-01-01T00:00:00.000Z")).to_string()
    }

    /// The number of the last line, where lines have one.
    pub(super) fn last_ordinal(&self) -> Option<u64> {
        self.lines.last()?.ordinal
    }

    /// What the last call took, with the sums so far.
    pub(super) fn last_count(&self) -> Option<&Value> {
        self.lines.iter().rev().find_map(|line| match &line.what {
            What::Count(info) => Some(info),
            _ => None,
        })
    }

    /// The lines that say what the instructions were made from: the state of the world since it was last written down
    /// in full, and the settings.
    pub(super) fn baseline(&self) -> impl Iterator<Item = &'a [u8]> {
        let is_full = |line: &Line| matches!(line.what, What::World { is_full: true });
        let is_world = |line: &&Line| matches!(line.what, What::World { .. });
        let is_settings = |line: &&Line| matches!(line.what, What::Settings);
        let start = self
            .lines
            .iter()
            .rposition(is_full)
            .unwrap_or(self.lines.len());
        let settings = self.lines.iter().rev().find(is_settings);
        let lines = self.lines[start..].iter().filter(is_world).chain(settings);
        let spans: Vec<Span> = lines.map(|line| line.span.clone()).collect();
        let bytes = self.bytes;
        spans.into_iter().map(move |span| &bytes[span])
    }
}

impl Line {
    fn read(record: Record) -> Self {
        let value = &record.value;
        Self {
            time: json::str_at(value, &["timestamp"]).map(ToOwned::to_owned),
            ordinal: value.get("ordinal").and_then(Value::as_u64),
            what: what(value),
            span: record.span,
        }
    }
}

fn what(value: &Value) -> What {
    let inner = json::str_at(value, &["payload", "type"]);
    match (json::str_at(value, &["type"]), inner) {
        (Some("session_meta"), _) => What::Head {
            is_continued: json::at(value, &["payload", "history_base"])
                .is_some_and(|v| !v.is_null()),
        },
        (Some("world_state"), _) => What::World {
            is_full: json::is_true(value, &["payload", "full"]),
        },
        (Some("turn_context"), _) => What::Settings,
        (Some("event_msg"), Some("token_count")) => json::at(value, &["payload", "info"])
            .filter(|info| info.is_object())
            .map_or(What::Other, |info| What::Count(info.clone())),
        (Some("event_msg"), Some("user_message" | "task_started" | "turn_started"))
        | (Some("response_item" | "compacted"), _) => What::Begins,
        _ => What::Other,
    }
}

/// Where the lines end that stay: before the first that begins something which the managed context does not know.
fn end(session: &Session, known: usize, lines: &[Line]) -> usize {
    let in_history = |range: std::ops::Range<usize>| {
        let messages = session.messages[range].iter().filter(|m| m.in_history);
        messages.filter_map(|m| m.raw.first())
    };
    let all = session.messages.len();
    let known = known.min(all);
    let Some(unknown) = in_history(known..all).next() else {
        return session.source.bytes.len();
    };
    let last = in_history(0..known).map(|span| span.end).max().unwrap_or(0);
    let begins = |line: &&Line| matches!(line.what, What::Begins) && line.span.start >= last;
    let first = lines.iter().find(begins).map(|line| line.span.start);
    first.unwrap_or(unknown.start).min(unknown.start)
}
