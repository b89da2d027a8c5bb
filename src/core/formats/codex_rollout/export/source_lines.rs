//! The lines of the source rollout that the export keeps: those of the messages that the managed context covers.

use crate::formats::{CannotExport, json, jsonl};
use crate::json::Value;
use crate::progress::Progress;
use crate::session::{Session, Span};
use jsonl::Record;

/// The kept lines of the source rollout.
pub(super) struct SourceLines<'a> {
    pub(super) bytes: &'a [u8],
    lines: Vec<SourceLine>,
}

/// A line with the data that the export needs.
struct SourceLine {
    span: Span,
    time: Option<String>,
    ordinal: Option<u64>,
    kind: LineKind,
}

enum LineKind {
    /// A session head, and whether the session's beginning is in another file.
    Head {
        is_continued: bool,
    },
    /// Codex's record of the state it has sent to the model: complete, or changes only.
    WorldState {
        is_full: bool,
    },
    /// Settings of a turn.
    Settings,
    /// Usage of a call.
    Count(Value),
    /// A message or the start of a turn.
    Start,
    Other,
}

impl<'a> SourceLines<'a> {
    /// Parses the lines of the first `covered_messages` messages, which the managed context covers. Later lines are left
    /// out.
    pub(super) fn of(
        session: &Session,
        bytes: &'a [u8],
        covered_messages: usize,
    ) -> Result<Self, CannotExport> {
        let lines =
            jsonl::map_records(bytes, &Progress::default(), 1, &mut Vec::new(), SourceLine::read);
        let mut lines = lines.unwrap_or_default();
        let end = end(session, covered_messages, &lines);
        lines.retain(|line| line.span.end <= end);
        let source_lines = Self { bytes: &bytes[..end], lines };
        source_lines.check()?;
        Ok(source_lines)
    }

    fn check(&self) -> Result<(), CannotExport> {
        let mut heads = self.lines.iter().filter_map(|line| match line.kind {
            LineKind::Head { is_continued } => Some(is_continued),
            _ => None,
        });
        let reason = match heads.next() {
            Some(false) => return Ok(()),
            Some(true) => "the beginning of this fork is only in its parent's file",
            None => "no line records the id of the session (a rollout of the oldest version)",
        };
        let reason = format!("{reason}, so Codex could not resume the export");
        Err(CannotExport { reason })
    }

    /// Iterates over the session heads, its own first.
    pub(super) fn heads(&self) -> impl Iterator<Item = &Span> {
        let is_head = |line: &&SourceLine| matches!(line.kind, LineKind::Head { .. });
        self.lines.iter().filter(is_head).map(|line| &line.span)
    }

    /// Returns whether the record at this byte range is a head.
    pub(super) fn is_head(&self, span: &Span) -> bool {
        let at = self.lines.binary_search_by_key(&span.start, |line| line.span.start);
        at.is_ok_and(|at| matches!(self.lines[at].kind, LineKind::Head { .. }))
    }

    /// Returns the time of the last line, as JSON.
    pub(super) fn time(&self) -> String {
        let last = self.lines.iter().rev().find_map(|line| line.time.as_deref());
        Value::from(last.unwrap_or("1970-01-01T00:00:00.000Z")).to_string()
    }

    /// Returns the number of the last line, if lines are numbered.
    pub(super) fn last_ordinal(&self) -> Option<u64> {
        self.lines.last()?.ordinal
    }

    /// Returns the counts of the last call and the totals so far.
    pub(super) fn last_count(&self) -> Option<&Value> {
        self.lines.iter().rev().find_map(|line| match &line.kind {
            LineKind::Count(info) => Some(info),
            _ => None,
        })
    }

    /// Returns the lines from which the instructions were made: the last complete state with later changes, and the
    /// settings.
    pub(super) fn baseline(&self) -> impl Iterator<Item = &'a [u8]> {
        let is_full =
            |line: &SourceLine| matches!(line.kind, LineKind::WorldState { is_full: true });
        let is_world = |line: &&SourceLine| matches!(line.kind, LineKind::WorldState { .. });
        let is_settings = |line: &&SourceLine| matches!(line.kind, LineKind::Settings);
        let start = self.lines.iter().rposition(is_full).unwrap_or(self.lines.len());
        let settings = self.lines.iter().rev().find(is_settings);
        let lines = self.lines[start..].iter().filter(is_world).chain(settings);
        let spans: Vec<Span> = lines.map(|line| line.span.clone()).collect();
        let bytes = self.bytes;
        spans.into_iter().map(move |span| &bytes[span])
    }
}

impl SourceLine {
    fn read(record: Record) -> Self {
        let value = &record.value;
        Self {
            time: json::str_at(value, &["timestamp"]).map(ToOwned::to_owned),
            ordinal: value.get("ordinal").and_then(Value::as_u64),
            kind: kind(value),
            span: record.span,
        }
    }
}

fn kind(value: &Value) -> LineKind {
    let inner = json::str_at(value, &["payload", "type"]);
    match (json::str_at(value, &["type"]), inner) {
        (Some("session_meta"), _) => LineKind::Head {
            is_continued: json::at(value, &["payload", "history_base"])
                .is_some_and(|v| !v.is_null()),
        },
        (Some("world_state"), _) => {
            LineKind::WorldState { is_full: json::is_true(value, &["payload", "full"]) }
        }
        (Some("turn_context"), _) => LineKind::Settings,
        (Some("event_msg"), Some("token_count")) => json::at(value, &["payload", "info"])
            .filter(|info| info.is_object())
            .map_or(LineKind::Other, |info| LineKind::Count(info.clone())),
        (Some("event_msg"), Some("user_message" | "task_started" | "turn_started"))
        | (Some("response_item" | "compacted"), _) => LineKind::Start,
        _ => LineKind::Other,
    }
}

/// Returns the end of the kept lines: the start of the first message or turn that the managed context does not cover.
fn end(session: &Session, covered_messages: usize, lines: &[SourceLine]) -> usize {
    let in_history = |range: std::ops::Range<usize>| {
        let messages = session.messages[range].iter().filter(|m| m.in_history);
        messages.filter_map(|m| m.raw.first())
    };
    let all = session.messages.len();
    let covered = covered_messages.min(all);
    let Some(first_uncovered) = in_history(covered..all).next() else {
        return session.source.bytes.len();
    };
    let covered_end = in_history(0..covered).map(|span| span.end).max().unwrap_or(0);
    let begins =
        |line: &&SourceLine| matches!(line.kind, LineKind::Start) && line.span.start >= covered_end;
    let first = lines.iter().find(begins).map(|line| line.span.start);
    first.unwrap_or(first_uncovered.start).min(first_uncovered.start)
}
