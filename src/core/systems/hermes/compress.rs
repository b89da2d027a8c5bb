//! `ContextCompressor.compress`.

use super::assemble::{assembled, grounded};
use super::cut::{forward, tail_start};
use super::prune::prune;
use super::request::summary_request;
use super::state::State;
use super::summary_text::{is_summary, text_of, without_prefix};
use crate::chat::{ChatMessage, PendingRequest, Replies, SummaryReply};
use crate::languages::python::strip;

/// Messages that must be left besides the head.
// As in hermes-agent 0.19.0, `agent/context_compressor.py`.
const MIN_MESSAGES: usize = 4;
const EMPTY: &str = "Context compression LLM returned empty content (provider=auto)";

/// Settings of the compressor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    pub(super) window: u64,
    pub(super) threshold: u64,
    /// Tokens of the tail.
    pub(super) tail: u64,
    pub(super) protect_first: usize,
    pub(super) protect_last: usize,
}

/// The result of a compression.
pub(super) enum Compressed {
    /// The history is the same.
    Unchanged,
    /// Only old results were replaced.
    Pruned(Vec<ChatMessage>),
    /// A part was summarized.
    Summarized(Vec<ChatMessage>),
    /// No summary was made, for this reason.
    Aborted(String),
}

pub(super) fn compress(
    all: &[ChatMessage],
    settings: Settings,
    state: &mut State,
    replies: &mut Replies<'_>,
) -> Result<Compressed, PendingRequest> {
    let is_first = state.n_compressions == 0 && state.summary.is_none();
    let head = if is_first { settings.protect_first } else { 0 };
    if all.len() <= head + MIN_MESSAGES {
        state.n_ineffective += 1;
        return Ok(Compressed::Unchanged);
    }
    let pruned = prune(all, settings.protect_last, settings.tail);
    let start = forward(&pruned, head);
    let end = tail_start(&pruned, start, settings.tail, settings.protect_last);
    if start >= end {
        state.n_ineffective += 1;
        return Ok(if pruned == all { Compressed::Unchanged } else { Compressed::Pruned(pruned) });
    }
    let known = pruned[..end].iter().rposition(is_summary);
    let turns = &pruned[known.map_or(start, |known| start.max(known + 1))..end];
    let previous = known.and_then(|known| {
        let kept = state.summary.clone();
        kept.or_else(|| Some(without_prefix(&text_of(&pruned[known])).to_owned()))
    });
    let previous = previous.filter(|previous| !previous.is_empty());
    state.summary.clone_from(&previous);
    let asked = summary_request(&pruned, turns, previous.as_deref(), settings.window);
    let text = match replies.reply_to(asked)? {
        SummaryReply::Text(text) if !strip(&text).is_empty() => text,
        SummaryReply::Text(_) | SummaryReply::ToolCall => {
            return Ok(Compressed::Aborted(EMPTY.to_owned()));
        }
        SummaryReply::Failed(why) => return Ok(Compressed::Aborted(why)),
    };
    let summary = grounded(strip(&text), turns);
    state.n_compressions += 1;
    let after = assembled(&pruned, start, end, &summary);
    state.summary = Some(summary);
    Ok(Compressed::Summarized(after))
}
