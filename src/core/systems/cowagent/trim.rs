//! The trim before each run: drops the oldest half of too many turns, then for the budget converts to plain text or
//! drops another half.
//!
//! It runs once for each user message, not between the steps of a run, and does not check its result.

use super::estimate::messages_tokens;
use super::flush::{Flush, Flushed, Reason, flush};
use super::inject::injection_target;
use super::turn::compress_turn;
use super::turn::turns;
use crate::chat::ChatMessage;
use std::ops::Range;

/// `COMPRESS_THRESHOLD`: fewer turns than this are flattened, never dropped.
pub const FEW_TURNS: usize = 5;

/// Limits of the trim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of turns.
    pub max_turns: usize,
    /// The most tokens, including the instructions.
    pub max_tokens: u64,
    /// Fewer turns than this are flattened.
    pub few_turns: usize,
    /// Whether there is a memory for dropped messages.
    pub has_memory: bool,
}

/// The result of a trim.
#[derive(Clone, Debug, PartialEq)]
pub struct Trimmed {
    /// The conversation.
    pub messages: Vec<ChatMessage>,
    /// Number of messages dropped at the start; `None` if the turns were flattened, which changes all positions.
    pub dropped: Option<usize>,
    /// Writes to memory.
    pub flushes: Vec<Flush>,
}

/// Drops the oldest half of the turns if there are more than the limit. Returns the index of the first message kept,
/// and the number of dropped turns.
pub(super) fn turns_over_limit(turns: &[Range<usize>], max_turns: usize) -> Option<(usize, usize)> {
    (turns.len() > max_turns).then(|| older_half(turns))
}

/// Returns the start of the newer half, and the number of turns before it.
pub(super) fn older_half(turns: &[Range<usize>]) -> (usize, usize) {
    let n_removed = turns.len() / 2;
    (turns.get(n_removed).map_or(0, |turn| turn.start), n_removed)
}

/// Returns all turns as plain text.
pub(super) fn flattened(messages: &[ChatMessage], turns: &[Range<usize>]) -> Vec<ChatMessage> {
    let texts = turns.iter().map(|turn| compress_turn(&messages[turn.clone()]));
    texts.flatten().collect()
}

/// Returns whether [`trim_messages`] drops or flattens anything.
pub(super) fn is_due(messages: &[ChatMessage], system: u64, limits: &Limits) -> bool {
    let turns = turns(messages);
    turns_over_limit(&turns, limits.max_turns).is_some()
        || !turns.is_empty() && messages_tokens(messages) + system > limits.max_tokens
}

/// `_trim_messages`: runs the stages after the cut of old results. `system` is the tokens of the instructions.
pub fn trim_messages(
    messages: &[ChatMessage],
    system: u64,
    limits: &Limits,
    flushed: &mut Flushed,
    log: &mut Vec<String>,
) -> Trimmed {
    let mut pass = Pass { messages, limits, flushed, log, flushes: Vec::new() };
    let mut turns = turns(messages);
    let start = pass.limit_turns(&mut turns);
    let used = messages_tokens(&messages[start..]) + system;
    if turns.is_empty() || used <= limits.max_tokens {
        if start > 0 {
            let kept = messages.len() - start;
            let line = format!("info:    重建消息列表: {} -> {kept} 条消息", messages.len());
            pass.log.push(line);
        }
        return pass.kept_from(start);
    }
    if turns.len() < limits.few_turns {
        return pass.flatten(&turns, used, system);
    }
    pass.halve(&turns, used, system)
}

struct Pass<'a> {
    messages: &'a [ChatMessage],
    limits: &'a Limits,
    flushed: &'a mut Flushed,
    log: &'a mut Vec<String>,
    flushes: Vec<Flush>,
}

impl Pass<'_> {
    /// Returns the index of the first message kept.
    fn limit_turns(&mut self, turns: &mut Vec<Range<usize>>) -> usize {
        let Some((start, n_removed)) = turns_over_limit(turns, self.limits.max_turns) else {
            return 0;
        };
        self.log.push(turn_limit_line(turns.len(), n_removed, self.limits.max_turns));
        self.remember(0..start, n_removed);
        turns.drain(..n_removed);
        start
    }

    fn flatten(self, turns: &[Range<usize>], used: u64, system: u64) -> Trimmed {
        let texts = flattened(self.messages, turns);
        let left = messages_tokens(&texts) + system;
        let before = Size::new(self.messages, used);
        let after = Size::new(&texts, left);
        let (most, few) = (self.limits.max_tokens, self.limits.few_turns);
        let line = flatten_line(before, after, most, few, turns.len());
        self.log.push(line);
        Trimmed { messages: texts, dropped: None, flushes: self.flushes }
    }

    fn halve(mut self, turns: &[Range<usize>], used: u64, system: u64) -> Trimmed {
        let (start, n_removed) = older_half(turns);
        let first = turns.first().map_or(start, |turn| turn.start);
        let n_kept = turns.len() - n_removed;
        let line = halve_line(used, self.limits.max_tokens, n_kept, n_removed);
        self.log.push(line);
        self.remember(first..start, n_removed);
        let kept = &self.messages[start..];
        let after = Size::new(kept, messages_tokens(kept) + system);
        let before = Size::new(self.messages, used);
        self.log.push(removed_line(before, after, n_removed));
        self.kept_from(start)
    }

    /// Passes dropped messages to the memory, if there is one.
    fn remember(&mut self, dropped: Range<usize>, n_turns: usize) {
        if self.limits.has_memory && !dropped.is_empty() {
            let target = injection_target(self.messages, dropped.end, n_turns);
            let dropped = &self.messages[dropped];
            let flush = flush(dropped, Reason::Trim, target, self.flushed, self.log);
            self.flushes.push(flush);
        }
    }

    fn kept_from(self, start: usize) -> Trimmed {
        Trimmed {
            messages: self.messages[start..].to_vec(),
            dropped: Some(start),
            flushes: self.flushes,
        }
    }
}

/// Returns the log line for too many turns.
pub(super) fn turn_limit_line(n_turns: usize, n_removed: usize, max_turns: usize) -> String {
    format!(
        "info: 💾 上下文轮次超限: {n_turns} > {max_turns}，裁剪至 {} 轮（移除 {n_removed} 轮）",
        n_turns - n_removed
    )
}

/// Number of messages and their tokens, with the instructions.
#[derive(Clone, Copy)]
pub(super) struct Size {
    messages: usize,
    tokens: u64,
}

impl Size {
    pub(super) fn new(messages: &[ChatMessage], tokens: u64) -> Self {
        Self { messages: messages.len(), tokens }
    }
}

/// Returns the log line for fewer than `few` turns with more than `most` tokens.
pub(super) fn flatten_line(
    before: Size,
    after: Size,
    most: u64,
    few: usize,
    n_turns: usize,
) -> String {
    format!(
        "info: 📦 上下文tokens超限(轮次<{few}): ~{} > {most}，压缩全部 {n_turns} 轮为纯文本 \
         ({} -> {} 条消息，~{} -> ~{} tokens)",
        before.tokens, before.messages, after.messages, before.tokens, after.tokens
    )
}

/// Returns the log line for many turns with more than `most` tokens, before they are dropped.
pub(super) fn halve_line(used: u64, most: u64, n_kept: usize, n_removed: usize) -> String {
    format!(
        "info: 🔄 上下文tokens超限: ~{used} > {most}，裁剪至 {n_kept} 轮（移除 {n_removed} 轮）"
    )
}

/// Returns the log line after turns were dropped.
pub(super) fn removed_line(before: Size, after: Size, n_removed: usize) -> String {
    format!(
        "info:    移除了 {n_removed} 轮对话 ({} -> {} 条消息，~{} -> ~{} tokens)",
        before.messages, after.messages, before.tokens, after.tokens
    )
}
