//! Actions that write messages to the daily memory file.

use super::super::error::{ErrorKind, classify};
use super::super::flush::{Flush, Flushed, Reason, daily_entry, daily_header, day_and_hour, flush};
use super::super::inject::inject;
use super::super::summary::Summarizer;
use super::super::trim::{Limits, is_due, trim_messages};
use super::{idle, instructions_tokens, split_instructions, term, with_instructions};
use crate::chat::{ChatMessage, PendingRequest, Replies};
use crate::engine::{FileContent, Memory, NewFile, RewriteInput, Rewritten};
use crate::json::json;

/// Summarizes the messages that the trim will drop, and inserts the summary before the first text kept. The trim itself
/// follows.
pub(super) fn remember(
    input: &RewriteInput<'_>,
    replies: &mut Replies<'_>,
) -> Result<Rewritten, PendingRequest> {
    let limits = Limits {
        max_turns: input.count("max_turns"),
        max_tokens: input.count("max_tokens") as u64,
        few_turns: input.count("few_turns"),
        has_memory: true,
    };
    let injects = input.number("inject") > 0.0;
    let mut memory = DailyMemory::of(input);
    let (system, conversation) = split_instructions(&input.messages);
    let tokens = instructions_tokens(system);
    if !is_due(conversation, tokens, &limits) {
        return Ok(memory.result(&[], None));
    }
    // The action that trims writes this log.
    let mut trim_log = Vec::new();
    let flushed = &mut memory.flushed;
    let trimmed = trim_messages(conversation, tokens, &limits, flushed, &mut trim_log);
    let mut after = conversation.to_vec();
    for flush in &trimmed.flushes {
        let summary = memory.write(flush, replies)?;
        if injects && let Some((target, summary)) = flush.target.as_ref().zip(summary) {
            inject(&mut after, 0, target, &summary);
        }
    }
    let changed = (after != conversation).then_some(after);
    let messages = changed.map(|conversation| with_instructions(system, &conversation));
    Ok(memory.result(&trimmed.flushes, messages))
}

/// Summarizes everything; the context is unchanged.
pub(super) fn remember_all(
    input: &RewriteInput<'_>,
    replies: &mut Replies<'_>,
) -> Result<Rewritten, PendingRequest> {
    if !input.error.is_empty() && classify(input.error, true) != ErrorKind::Overflow {
        return Ok(Rewritten::default());
    }
    let mut memory = DailyMemory::of(input);
    let (_, conversation) = split_instructions(&input.messages);
    let flushed = &mut memory.flushed;
    let flush = flush(conversation, Reason::Overflow, None, flushed, &mut Vec::new());
    memory.write(&flush, replies)?;
    Ok(memory.result(&[flush], None))
}

/// Key of the texts already summarized.
const FLUSHED: &str = "flushed";

/// Shown instead of the hour in a session without times.
const UNKNOWN_HOUR: &str = "time unknown";

/// Returns the name of a day's memory file. The shipped code uses the machine's time zone, which is not recorded, so the
/// day is in UTC here. Without recorded times, the name contains no day.
fn daily_file(day: Option<&str>) -> String {
    format!("memory/{}.md", day.unwrap_or("daily"))
}

/// The summarized texts and the daily file, as the process remembers them.
struct DailyMemory {
    flushed: Flushed,
    /// Whether the file of the day exists.
    has_file: bool,
    /// The day in UTC, if the session records times.
    day: Option<String>,
    hour: String,
    summarizer: Summarizer,
    log: Vec<String>,
    /// Additions to the file.
    entries: String,
}

impl DailyMemory {
    fn of(input: &RewriteInput<'_>) -> Self {
        let moment = input.since.and_then(|since| day_and_hour(since, input.now));
        let (day, hour) = moment.unzip();
        let started_file = input.memory["daily_memory_file"].as_str();
        Self {
            flushed: input.memory.shared(FLUSHED).cloned().unwrap_or_default(),
            has_file: started_file == Some(&daily_file(day.as_deref())),
            day,
            hour: hour.unwrap_or_else(|| UNKNOWN_HOUR.to_owned()),
            summarizer: Summarizer {
                text_chars: input.count("summary_chars"),
                max_tokens: input.count("summary_max_tokens") as u64,
            },
            log: Vec::new(),
            entries: String::new(),
        }
    }

    /// Summarizes the messages of a flush and adds the summary to the file. Returns the summary, if any.
    fn write(
        &mut self,
        flush: &Flush,
        replies: &mut Replies<'_>,
    ) -> Result<Option<String>, PendingRequest> {
        if !flush.is_dispatched() {
            return Ok(None);
        }
        self.log.push(format!(
            "info: [MemoryFlush] Async flush dispatched (reason={}, msgs={})",
            flush.reason.name(),
            flush.fresh.len()
        ));
        let summary = self.summarizer.summarize(&flush.fresh, replies)?;
        if let Some(summary) = &summary {
            let entry = daily_entry(flush.reason, &self.hour, summary);
            self.log.push(entry.trim().to_owned());
            let header = self.day.as_deref().filter(|_| !self.has_file);
            self.entries += &header.map_or_else(String::new, daily_header);
            self.entries += &entry;
            self.has_file = true;
        }
        Ok(summary)
    }

    /// Returns the effect of the action. `messages` are the context after it, if it changed.
    fn result(self, flushes: &[Flush], messages: Option<Vec<ChatMessage>>) -> Rewritten {
        let n_passed = flushes.iter().map(|flush| flush.n_passed).sum();
        let n_summarized = flushes.iter().map(|flush| flush.fresh.len()).sum();
        let terms = vec![
            term("flushes", flushes.len()),
            term("messages_passed", n_passed),
            term("messages_summarized", n_summarized),
        ];
        if n_summarized == 0 {
            return idle(terms);
        }
        let file = daily_file(self.day.as_deref());
        let memory = if self.has_file {
            json!({"daily_memory_file": file}).into()
        } else {
            Memory::default()
        };
        let files = new_entries(file, &self.entries);
        Rewritten {
            messages,
            fired: true,
            terms,
            log: self.log,
            files,
            memory: memory.with(FLUSHED, self.flushed),
            ..Rewritten::default()
        }
    }
}

/// Returns the additions to the daily file, if any.
fn new_entries(name: String, entries: &str) -> Vec<NewFile> {
    if entries.is_empty() {
        return Vec::new();
    }
    vec![NewFile { name, content: FileContent::Text(entries.into()), appends: true }]
}
