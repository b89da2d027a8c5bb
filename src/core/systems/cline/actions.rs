//! Actions of presets.

use super::agentic::{Summarized, SummaryLimits, summarize};
use super::basic::compact;
use super::budget::Budget;
use super::shape::shortened_result;
use crate::chat::{ChatMessage, PendingRequest, Replies, Rule};
use crate::engine::{ActionKind, Edits, Hook, MessageEdit, NamedAction, RewriteInput, Rewritten};
use crate::json::Value;
use crate::systems::stage_settings::{numbers_only, summarizing};

/// Actions of presets.
pub static ACTIONS: &[NamedAction] = &[AGENTIC, BASIC, SHAPE];

/// Acts from `trigger` tokens on, and only measures if it is not on.
const AGENTIC: NamedAction = NamedAction::new(
    "cline.agentic",
    ActionKind::Summarize,
    "Summarizes everything but the newest messages.",
    |settings| summarizing(settings, compact_with_summary),
)
.with_numbers(&[
    "reported_input",
    "reported_output",
    "max_input",
    "trigger",
    "max_output",
    "model_chars",
    "keep",
    "max_tokens",
    "is_on",
    "forced",
]);

/// Acts if `cline.agentic` is off or its request failed at this call, and after a rejected request.
const BASIC: NamedAction = NamedAction::new(
    "cline.basic",
    ActionKind::Drop,
    "Drops old work and keeps what the user typed, with notices of files, commands and answers.",
    |settings| numbers_only(settings, compact_without_request),
)
.with_numbers(&[
    "reported_input",
    "reported_output",
    "max_input",
    "trigger",
    "max_output",
    "model_chars",
    "agentic_is_on",
    "forced",
]);

const SHAPE: NamedAction = NamedAction::new(
    "cline.shape",
    ActionKind::Cut,
    "Removes the middle of results above 8,000 characters for each request.",
    |settings| numbers_only(settings, shorten_results),
);

const NO_SUMMARY: &str = "Skipped agentic compaction: summarizer returned no summary text";

fn compact_with_summary(
    input: &RewriteInput<'_>,
    replies: &mut Replies<'_>,
) -> Result<Rewritten, PendingRequest> {
    let budget = Budget::new(input);
    let unchanged = Rewritten {
        memory: budget.state.to_memory().into(),
        ..Rewritten::counted(budget.request as u64)
    };
    let acts = input.flag("forced") || budget.request as f64 >= input.number("trigger");
    if !acts || !input.flag("is_on") {
        return Ok(unchanged);
    }
    let all = &input.messages;
    let limits = SummaryLimits {
        keep: input.count("keep"),
        max_input: input.count("max_input"),
        max_tokens: input.count("max_tokens") as u64,
    };
    let mut state = budget.state.clone();
    match summarize(all, &budget, limits, replies)? {
        Summarized::Nothing => Ok(unchanged),
        // It is tried again before each call.
        Summarized::Empty => {
            Ok(Rewritten { fired: true, log: vec![NO_SUMMARY.to_owned()], ..unchanged })
        }
        Summarized::Failed => {
            state.failed_at = Some(input.call as u64);
            Ok(Rewritten {
                fired: true,
                log: vec!["agentic".to_owned()],
                memory: state.to_memory().into(),
                ..unchanged
            })
        }
        Summarized::Done { first_kept, summary, metadata } => {
            let mut messages = all[..budget.start].to_vec();
            messages.push(summary);
            messages.extend_from_slice(&all[first_kept..]);
            state.is_compacted = true;
            state.digits = budget.digits_from(first_kept);
            let n_frozen = state.frozen_end.saturating_sub(first_kept);
            let is_left = n_frozen > 0;
            state.frozen_end = if is_left { budget.start + 1 + n_frozen } else { 0 };
            state.first = Value::Null;
            state.summary = metadata;
            Ok(Rewritten {
                messages: Some(messages),
                fired: true,
                memory: state.to_memory().into(),
                ..unchanged
            })
        }
    }
}

fn compact_without_request(input: &RewriteInput<'_>) -> Rewritten {
    let mut budget = Budget::new(input);
    let is_rejected = input.at == Hook::OverflowError;
    let has_failed = budget.state.failed_at == Some(input.call as u64);
    let is_next = has_failed || !input.flag("agentic_is_on");
    let is_full = input.flag("forced") || budget.request as f64 >= input.number("trigger");
    let acts = is_next && is_full;
    if is_rejected {
        let sum: usize = budget.messages.iter().map(super::stored::Stored::estimate).sum();
        budget.target = (sum / 2).max(1);
    } else if !acts {
        return Rewritten::default();
    }
    let all = &input.messages;
    let used = budget.request as f64;
    let Some(kept) = compact(all, &budget) else {
        return Rewritten::default();
    };
    let mut messages = all[..budget.start].to_vec();
    messages.extend(kept.messages);
    let mut state = budget.state;
    state.is_compacted = true;
    state.digits = String::new();
    state.frozen_end = messages.len();
    state.first = kept.first;
    Rewritten {
        messages: Some(messages),
        fired: true,
        terms: vec![("used".to_owned(), used)],
        memory: state.to_memory().into(),
        ..Rewritten::default()
    }
}

fn shorten_results(input: &RewriteInput<'_>) -> Rewritten {
    let shaped = input.messages.updated_state(SHAPED, Shaped::extend);
    Rewritten::edited(shaped.edits.clone())
}

/// The cached rule for results as they are sent.
const SHAPED: Rule = Rule::new("cline: shaped results");

/// Edits that shorten the results of a conversation.
#[derive(Clone, Debug, Default)]
struct Shaped {
    /// Number of messages read.
    n: usize,
    edits: Edits,
}

impl Shaped {
    /// Reads the new messages.
    fn extend(&mut self, messages: &[ChatMessage]) {
        for (at, message) in messages.iter().enumerate().skip(self.n) {
            if message.is("tool")
                && let Some(short) = shortened_result(&message.joined_text("\n"))
            {
                let now = Some(message.with_text(short));
                self.edits.grow([MessageEdit { at, now }]);
            }
        }
        self.n = messages.len();
    }
}
