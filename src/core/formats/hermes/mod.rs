//! Sessions of Hermes Agent, built from its database or written for one session by `hermes sessions export`.
//!
//! - Messages are those of `OpenAI` Chat. `api_content` is what was sent instead of `content`.
//! - A compaction marks the messages so far (`compacted`) and writes the whole new context again: copies of the first
//!   messages, a summary, and copies of the last messages. Older versions continue in another session, which begins with
//!   these.
//! - Messages that the user took back have `active: 0`.
//! - Usage is recorded per model as totals, whose input excludes cached tokens.

mod store;

use super::content::any_message;
use super::notes::Notes;
use super::read_log::ReadLog;
use super::rows::{self, Row};
use super::transcript::Transcript;
use super::{Format, Input, ParseError, Parsed, Probe, RecordedData, content, counts, json};
use crate::json::Value;
use crate::progress::Progress;
use crate::session::{CallDraft, CutAnswer, Draft, Role, Usage};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

pub(super) const FORMAT: Format = Format {
    name: "hermes",
    label: "Hermes Agent session",
    detect,
    parse,
    recorded: &[RecordedData::Times, RecordedData::Compactions, RecordedData::SystemPrompt],
    database: Some(&store::DATABASE),
    ..Format::READ_ONLY
};

const MESSAGES: &str = "messages";
const USAGE: &str = "model_usage";
/// Beginnings of summaries.
// As in Hermes Agent 0.19.0, `agent/context_compressor.py`.
const SUMMARIES: [&str; 2] = ["[CONTEXT COMPACTION", "[CONTEXT SUMMARY]:"];
/// Maximum number of first messages that a compaction keeps.
// Chosen: more than the program keeps (default: 3).
const MAX_FIRST: usize = 20;

fn detect(probe: &Probe) -> Option<String> {
    let document = probe.document()?;
    document.get("started_at")?;
    document.get("source")?;
    let is_message = |message: &Value| {
        message.get("role").is_some()
            && message.get("timestamp").is_some()
            && message.get("content").is_some()
    };
    let messages = document.get(MESSAGES)?.as_array()?;
    messages
        .iter()
        .any(is_message)
        .then(|| "`started_at` and `source`, and messages with a `timestamp`".to_owned())
}

fn parse(input: &Input, progress: &Progress) -> Result<Parsed, ParseError> {
    let bytes: &[u8] = &input.bytes.whole();
    let whole = json::document_span(bytes);
    let mut log = ReadLog::default();
    let head = rows::members_except(bytes, &whole, &[MESSAGES]);
    let messages = rows::rows_at(bytes, &whole, &[MESSAGES], progress, &mut log.notes)?;
    let mut transcript = Transcript::new(input, FORMAT.name, None);
    start(&head, whole.start, &mut transcript, &mut log.notes);
    let is_taken_back = |row: &Row| {
        json::u64_at(&row.value, &["active"]) == Some(0)
            && json::u64_at(&row.value, &["compacted"]) != Some(1)
    };
    let (taken_back, sent): (Vec<Row>, Vec<Row>) = messages.into_iter().partition(is_taken_back);
    for _ in taken_back {
        log.report.count_record("taken back", false);
    }
    let identities = sent.iter().map(|row| identity(&row.value)).collect();
    let mut reader = HermesReader { transcript, rows: &sent, identities, context: Vec::new() };
    reader.read(progress, &mut log)?;
    let session = reader.transcript.finish();
    log.finish(input, session.into_iter().collect(), "a Hermes Agent session without a message")
}

fn start(head: &Value, at: usize, transcript: &mut Transcript, notes: &mut Notes) {
    let text = |key: &str| json::str_at(head, &[key]).filter(|text| !text.is_empty());
    transcript.title(text("title").unwrap_or_default());
    if let Some(model) = text("model") {
        transcript.builder.usual_model(model);
    }
    if let Some(folder) = text("cwd") {
        transcript.builder.project(folder);
    }
    if let Some(prompt) = text("system_prompt") {
        let parts = content::text_part(0, prompt).into_iter().collect();
        transcript.add_message(Draft::new(Role::System, parts));
    }
    let by_model = head.get(USAGE).and_then(Value::as_array).filter(|all| !all.is_empty());
    let totals = by_model.map_or(std::slice::from_ref(head), Vec::as_slice);
    for total in totals {
        let model = json::str_at(total, &["model"]).unwrap_or_default();
        if let Some(usage) = notes.usage(at, total_usage(total)) {
            transcript.builder.total(model, &usage);
        }
    }
}

fn total_usage(total: &Value) -> Option<Usage> {
    let count = |key| counts::tokens_at(total, &[key]);
    let (read, write) = (count("cache_read_tokens"), count("cache_write_tokens"));
    let input = count("input_tokens")? + read.unwrap_or_default() + write.unwrap_or_default();
    (input.0 > 0).then(|| Usage {
        input,
        cache_read: read,
        cache_write: write,
        output: count("output_tokens"),
        reasoning: count("reasoning_tokens"),
        ..Usage::default()
    })
}

struct HermesReader<'a> {
    transcript: Transcript,
    rows: &'a [Row],
    /// Hash of the content of each row.
    identities: Vec<u64>,
    /// The context so far: the row and the index of each message.
    context: Vec<(usize, usize)>,
}

impl HermesReader<'_> {
    fn read(&mut self, progress: &Progress, log: &mut ReadLog) -> Result<(), ParseError> {
        let summaries = (0..self.rows.len()).filter(|at| is_summary(&self.rows[*at].value));
        let summaries: Vec<usize> = summaries.collect();
        let mut summaries = summaries.into_iter().peekable();
        let mut at = 0;
        while at < self.rows.len() {
            progress.check_cancelled()?;
            while summaries.next_if(|summary| *summary < at).is_some() {}
            let summary = summaries.peek().filter(|summary| self.begins_context(at, **summary));
            if let Some(summary) = summary.copied() {
                at = self.compaction(at, summary, log);
            } else {
                self.add(at, log);
                at += 1;
            }
        }
        Ok(())
    }

    /// Returns whether the rows from `at` to a summary are copies of the first messages of the context.
    fn begins_context(&self, at: usize, summary: usize) -> bool {
        summary - at <= MAX_FIRST.min(self.context.len())
            && self.context.iter().zip(at..summary).all(|((old, _), new)| self.is_copy(*old, new))
    }

    fn is_copy(&self, old: usize, new: usize) -> bool {
        self.identities.get(new).is_some_and(|new| *new == self.identities[old])
    }

    /// Returns the number of last messages of a context that the rows from `after` on repeat.
    fn n_repeated(&self, context: &[(usize, usize)], after: usize) -> usize {
        let context: Vec<u64> = context.iter().map(|(row, _)| self.identities[*row]).collect();
        let rows = self.identities.get(after..).unwrap_or_default();
        overlap(&context, &rows[..rows.len().min(context.len())])
    }

    /// Adds the context that a compaction wrote. Returns the row after it.
    fn compaction(&mut self, at: usize, summary: usize, log: &mut ReadLog) -> usize {
        let n_first = summary - at;
        let before = std::mem::take(&mut self.context);
        let is_recorded = !before.is_empty();
        let mut kept: Vec<(usize, usize)> = before[..n_first].to_vec();
        if !is_recorded {
            let text = "the session begins with the summary of a compaction; what was sent before it is in another session or not recorded";
            log.notes.add(self.rows[at].span.start, text);
        }
        let draft = draft(&self.rows[summary]);
        log.report.count_record("summary", draft.is_some());
        if let Some(draft) = draft {
            self.transcript.builder.end_answer();
            let draft = Draft { is_summary: true, in_history: !is_recorded, ..draft };
            kept.push((summary, self.transcript.add_message(draft)));
        }
        // The last messages of the context follow, from the first one that all rows repeat.
        let after = summary + 1;
        let n_last = self.n_repeated(&before[n_first..], after);
        kept.extend(&before[before.len() - n_last..]);
        for _ in 0..n_first + n_last {
            log.report.count_record("copy of a kept message", true);
        }
        let system = self.transcript.builder.session().messages.first();
        let system = system.is_some_and(|first| first.role == Role::System).then_some(0);
        let messages = kept.iter().map(|(_, message)| *message);
        let messages = system.into_iter().chain(messages).collect();
        self.transcript.builder.compaction("", None, None, messages);
        self.context = kept;
        after + n_last
    }

    fn add(&mut self, at: usize, log: &mut ReadLog) {
        let row = &self.rows[at];
        let Some(draft) = draft(row) else {
            log.report.count_record("message", false);
            return;
        };
        log.report.count_record(draft.role.name(), true);
        let message = if draft.role == Role::Assistant {
            let cut = json::str_at(&row.value, &["finish_reason"]) == Some("length");
            let call = CallDraft {
                time: draft.time,
                cut: cut.then(CutAnswer::default),
                ..CallDraft::default()
            };
            self.transcript.add_answer(call, draft)
        } else {
            self.transcript.add_message(draft)
        };
        self.context.push((at, message));
    }
}

/// Returns a hash of what a copy of a message repeats.
fn identity(message: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    for key in ["role", "content", "tool_call_id", "tool_calls"] {
        message.get(key).map(Value::to_string).hash(&mut hasher);
    }
    hasher.finish()
}

/// Returns the number of elements of the longest end of `list` with which `next` begins.
fn overlap(list: &[u64], next: &[u64]) -> usize {
    // For each element of `next`, the longest beginning of `next` that ends there, without the one at the start.
    let mut borders = vec![0; next.len()];
    let longest = |borders: &[usize], mut n: usize, item: u64| {
        while n > 0 && next.get(n) != Some(&item) {
            n = borders[n - 1];
        }
        n + usize::from(next.get(n) == Some(&item))
    };
    for at in 1..next.len() {
        borders[at] = longest(&borders, borders[at - 1], next[at]);
    }
    list.iter().fold(0, |n, item| longest(&borders, n, *item))
}

fn is_summary(message: &Value) -> bool {
    let text = json::str_at(message, &["content"]).unwrap_or_default();
    json::u64_at(message, &["_compressed_summary"]) == Some(1)
        || SUMMARIES.iter().any(|start| text.starts_with(start))
}

/// Returns what is sent of a message.
fn draft(row: &Row) -> Option<Draft> {
    let sent = json::str_at(&row.value, &["api_content"]).filter(|text| !text.is_empty());
    let sent = sent.map(|text| {
        let mut value = row.value.clone();
        if let Some(members) = value.as_object_mut() {
            members.insert("content".to_owned(), text.into());
        }
        value
    });
    let draft = any_message::read(sent.as_ref().unwrap_or(&row.value), &row.span)?;
    Some(Draft {
        id: json::u64_at(&row.value, &["id"]).map(|id| id.to_string().into()),
        time: json::millis_at(&row.value, &["timestamp"]),
        ..draft
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_longest_end_that_the_next_rows_repeat() {
        assert_eq!(overlap(&[1, 2, 1, 2, 1], &[1, 2, 1, 3]), 3);
        assert_eq!(overlap(&[1, 1, 1], &[1, 1, 1]), 3);
        assert_eq!(overlap(&[1, 1, 2, 1, 1], &[1, 1, 2, 2]), 2);
        assert_eq!(overlap(&[1, 2], &[3]), 0);
        assert_eq!(overlap(&[], &[]), 0);
    }
}
