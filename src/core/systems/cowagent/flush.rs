//! The daily memory file: selection of messages leaving the context, and the entries written.

use super::block::text_of;
use super::inject::Target;
use crate::chat::{BlockBody, ChatMessage, Content};
use crate::json::Value;
use crate::languages::python::strip;
use crate::units::{self, Millis};
use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;
use std::time::Duration;

/// Prefix of a scheduled task's message in the role of the user.
const SCHEDULED: &str = "[SCHEDULED]";

/// Reason for writing messages to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// They are dropped: too many turns or tokens.
    Trim,
    /// The provider rejected the context.
    Overflow,
    /// The end of a day.
    DailySummary,
}

/// One write to memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Flush {
    /// The reason.
    pub reason: Reason,
    /// Number of messages passed.
    pub n_passed: usize,
    /// Messages whose texts were not passed before: they are summarized.
    pub fresh: Vec<ChatMessage>,
    /// Position of the summary in the context.
    pub target: Option<Target>,
}

/// Texts already passed in this process. The original stores their MD5; only equality matters.
///
/// Copies share the hashes: sorted lists, each more than twice as long as the next.
#[derive(Clone, Debug, Default)]
pub struct Flushed(Vec<Arc<[u64]>>);

impl Flush {
    /// Returns whether there is anything to summarize.
    pub fn is_dispatched(&self) -> bool {
        !self.fresh.is_empty()
    }
}

impl Flushed {
    fn contains(&self, hash: u64) -> bool {
        self.0.iter().any(|list| list.binary_search(&hash).is_ok())
    }

    fn extend(&mut self, new: BTreeSet<u64>) {
        if new.is_empty() {
            return;
        }
        let mut new: Vec<u64> = new.into_iter().collect();
        while let Some(list) = self.0.pop_if(|list| list.len() <= 2 * new.len()) {
            new.extend_from_slice(&list);
            new.sort_unstable();
        }
        self.0.push(new.into());
    }

    /// Returns the messages with new texts, and records those texts.
    fn fresh(&mut self, messages: &[ChatMessage]) -> Vec<ChatMessage> {
        let mut new = BTreeSet::new();
        let is_fresh = |message: &&ChatMessage| {
            let text = full_text(message);
            let mut hasher = DefaultHasher::new();
            text.hash(&mut hasher);
            let hash = hasher.finish();
            !strip(&text).is_empty() && !self.contains(hash) && new.insert(hash)
        };
        let fresh = without_scheduled(messages).into_iter().filter(is_fresh);
        let fresh = fresh.cloned().collect();
        self.extend(new);
        fresh
    }
}

/// Passes messages to memory.
pub fn flush(
    messages: &[ChatMessage],
    reason: Reason,
    target: Option<Target>,
    flushed: &mut Flushed,
    log: &mut Vec<String>,
) -> Flush {
    let fresh = flushed.fresh(messages);
    if !fresh.is_empty() {
        log.push(format!(
            "info: [MemoryFlush] Async flush dispatched (reason={}, msgs={})",
            reason.name(),
            fresh.len()
        ));
    }
    Flush { reason, n_passed: messages.len(), fresh, target }
}

impl Reason {
    /// Returns the name used in the log.
    pub fn name(self) -> &'static str {
        match self {
            Self::Trim => "trim",
            Self::Overflow => "overflow",
            Self::DailySummary => "daily_summary",
        }
    }

    fn heading(self) -> &'static str {
        match self {
            Self::Trim => "Trimmed Context",
            Self::Overflow => "Context Overflow Recovery",
            Self::DailySummary => "Daily Summary",
        }
    }
}

/// Returns day and hour (UTC), `YYYY-MM-DD` and `HH:MM`, of a time in seconds after the session began.
pub(super) fn day_and_hour(since: Millis, seconds: f64) -> Option<(String, String)> {
    let since = u64::try_from(since.0).ok()?;
    let elapsed = Duration::try_from_secs_f64(seconds.max(0.0)).ok()?;
    let text = units::rfc3339(Duration::from_millis(since).checked_add(elapsed)?)?;
    let (day, time) = text.split_once('T')?;
    Some((day.to_owned(), time.get(..5)?.to_owned()))
}

/// Returns the header of a day's file (`memory/YYYY-MM-DD.md`).
pub fn daily_header(date: &str) -> String {
    format!("# Daily Memory: {date}\n\n")
}

/// Returns the entry in the day's file for one write.
pub fn daily_entry(reason: Reason, clock: &str, summary: &str) -> String {
    format!("\n## {} ({clock})\n\n{summary}\n", reason.heading())
}

/// Returns a message's text blocks and plain strings joined by newlines, including empty ones, not stripped.
pub(super) fn full_text(message: &ChatMessage) -> String {
    match &message.content {
        Content::Text(text) => text.text.to_string(),
        Content::Blocks(blocks) => {
            let texts: Vec<&str> = blocks
                .iter()
                .filter_map(|block| match &block.body {
                    BlockBody::Other(Value::String(bare)) => Some(&**bare),
                    _ => super::block::is(block, "text").then(|| text_of(block)),
                })
                .collect();
            texts.join("\n")
        }
        Content::Missing | Content::Null | Content::Other(_) => String::new(),
    }
}

/// Leaves out messages of scheduled tasks, and an answer that directly follows.
fn without_scheduled(messages: &[ChatMessage]) -> Vec<&ChatMessage> {
    let mut kept = Vec::with_capacity(messages.len());
    let mut skips_answer = false;
    for message in messages {
        let is_answer = std::mem::take(&mut skips_answer) && message.is("assistant");
        if is_answer {
            continue;
        }
        let text = || full_text(message);
        if message.is("user") && strip(&text()).starts_with(SCHEDULED) {
            skips_answer = true;
        } else {
            kept.push(message);
        }
    }
    kept
}
